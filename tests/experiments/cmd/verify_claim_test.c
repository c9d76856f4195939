/* tests/experiments/cmd/verify_claim_test.c -- a claim as it is told, line by line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/verify_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include "results/file.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static char told[8192];

/* What is written to stdout between the two is TOLD. */
static int claim_listen(void)
{
	fflush(stdout);
	const int had = dup(1);
	const int fd =
	    open(test_path("told"), O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_true(had >= 0 && fd >= 0 && dup2(fd, 1) == 1);
	close(fd);
	return had;
}

static void claim_heard(int had)
{
	void *bytes;
	size_t n;
	fflush(stdout);
	assert_int_equal(dup2(had, 1), 1);
	close(had);
	assert_ok(res_file_read(test_path("told"), &bytes, &n, test_err()));
	assert_true(n < sizeof(told));
	memcpy(told, bytes, n);
	told[n] = '\0';
	free(bytes);
}

static void assert_tells(const struct xp_claim *c, const struct xp_finding *f,
    const char *left, const char *want)
{
	const int had = claim_listen();
	cmd_claim_print(c, f, "dir/", left);
	claim_heard(had);
	assert_string_equal(told, want);
}

static void assert_tells_json(const struct xp_claim *c,
    const struct xp_finding *f, int first, const char *want)
{
	const int had = claim_listen();
	cmd_claim_json(c, f, first);
	claim_heard(had);
	assert_string_equal(told, want);
}

static const struct xp_claim claim = {.id = "fig1",
    .figure = "f",
    .text = "says so",
    .metric = "accuracy_kept",
    .algorithm = "vote",
    .printed = "96 %",
    .certainty = XP_HIGH,
    .relation = XP_AT_LEAST,
    .value = 0.96,
    .rounding = 0.005};

static void one_reading_is_a_line(void **state)
{
	struct xp_claim c = claim;
	struct xp_case one = {.by = {{.verdict = XP_AGREES,
				  .ours = 0.97,
				  .lo = 0.96,
				  .hi = 0.98,
				  .seen = 0.011,
				  .n_points = 1,
				  .where = "nowhere"}}};
	struct xp_finding f = {.verdict = {XP_AGREES},
	    .n_readings = 1,
	    .n_cases = 1,
	    .cases = &one};
	(void)state;
	assert_tells(&c, &f, "",
	    "fig1                         >= 96 %   agrees    0.9700 [0.9600, "
	    "0.9800] sees 0.01  \n"
	    "    unconfirmed, R+: says so\n");

	/* Of several points the worst is told, and what measured nothing. */
	one.by[0] = (struct xp_reading){.verdict = XP_DIFFERS,
	    .ours = NAN,
	    .lo = 0.25,
	    .hi = 0.75,
	    .n_points = 2,
	    .n_blank = 1,
	    .where = "n = 3"};
	f.verdict[0] = XP_DIFFERS;
	c.certainty = XP_STATED;
	strcpy(c.note, "a note");
	assert_tells(&c, &f, "half",
	    "fig1                         >= 96 %   DIFFERS   0.2500 to 0.7500"
	    "                   \n"
	    "    stated: says so\n"
	    "    1 of 3 points measured nothing\n"
	    "    at n = 3\n"
	    "    partial: half\n"
	    "    a note\n"
	    "    why: dir/differs.md, fig1\n");
	one.by[0].n_outside = 2;
	one.by[0].n_blank = 0;
	c.certainty = XP_MEASURED;
	c.relation = XP_WORDS;
	*c.printed = '\0';
	f.verdict[0] = XP_UNDECIDED;
	strcpy(f.why, "a reason");
	assert_tells(&c, &f, "",
	    "fig1                         in words  DIFFERS   0.2500 to 0.7500"
	    "                   \n"
	    "    another simulator: says so\n"
	    "    at n = 3; 2 of 2 points differ\n"
	    "    a reason\n");
	f.verdict[0] = XP_DEPENDS;
	assert_tells(&c, &f, "",
	    "fig1                         in words  DIFFERS   0.2500 to 0.7500"
	    "                   \n"
	    "    another simulator: says so\n"
	    "    at n = 3; 2 of 2 points differ\n"
	    "    a reason\n"
	    "    why: dir/differs.md, fig1\n");
}

static void what_did_not_run_is_told_without_numbers(void **state)
{
	const struct xp_finding f = {.n_readings = 1, .why = "no f.h5"};
	struct xp_case none = {.guess = ""};
	const struct xp_finding one = {.n_readings = 1,
	    .n_cases = 1,
	    .cases = &none,
	    .why = "no f.h5"};
	(void)state;
	assert_tells(&claim, &f, "half",
	    "fig1                         >= 96 %   not run\n"
	    "    unconfirmed, R+: says so\n"
	    "    no f.h5\n");
	assert_tells(&claim, &one, "",
	    "fig1                         >= 96 %   not run                   "
	    "                   \n"
	    "    unconfirmed, R+: says so\n"
	    "    no f.h5\n");
}

/* Two readings stand beside each other, and each value of a guess has a line. */
static void readings_and_guesses_are_told_apart(void **state)
{
	const struct xp_reading yes = {.verdict = XP_AGREES,
				    .ours = 0.97,
				    .lo = 0.96,
				    .hi = 0.98,
				    .seen = 0.5,
				    .n_points = 1},
				no = {.verdict = XP_DIFFERS,
				    .ours = 0.5,
				    .lo = 0.4,
				    .hi = 0.6,
				    .seen = 0.25,
				    .n_points = 3,
				    .n_outside = 1,
				    .where = "there"};
	struct xp_case two[] = {{.guess = "conns 60", .by = {yes, no}},
	    {.guess = "conns 90", .by = {no, yes}}};
	struct xp_finding f = {.verdict = {XP_AGREES, XP_DIFFERS},
	    .n_readings = 2,
	    .n_cases = 1,
	    .cases = two};
	(void)state;
	assert_tells(&claim, &f, "",
	    "fig1                         >= 96 %   agrees    0.9700 [0.9600, "
	    "0.9800] sees 0.5    DIFFERS   0.5000 [0.4000, 0.6000] sees 0.2\n"
	    "    unconfirmed, R+: says so\n"
	    "    hit by a fault: at there; 1 of 3 points differ\n"
	    "    why: dir/differs.md, fig1\n");
	f.n_cases = 2;
	f.verdict[0] = f.verdict[1] = XP_DEPENDS;
	assert_tells(&claim, &f, "",
	    "fig1                         >= 96 %   depends | depends\n"
	    "    unconfirmed, R+: says so\n"
	    "  conns 60                             agrees    0.9700 [0.9600, "
	    "0.9800] sees 0.5    DIFFERS   0.5000 [0.4000, 0.6000] sees 0.2\n"
	    "    hit by a fault: at there; 1 of 3 points differ\n"
	    "  conns 90                             DIFFERS   0.5000 [0.4000, "
	    "0.6000] sees 0.2    agrees    0.9700 [0.9600, 0.9800] sees 0.5\n"
	    "    at there; 1 of 3 points differ\n"
	    "    why: dir/differs.md, fig1\n");
	assert_tells_json(&claim, &f, 1,
	    "\n{\"id\": \"fig1\", \"figure\": \"f\", \"certainty\": \"R+\", "
	    "\"text\": \"says so\", \"metric\": \"accuracy_kept\", "
	    "\"algorithm\": \"vote\", \"relation\": \">=\", \"printed\": "
	    "\"96 %\", \"value\": 0.96, \"rounding\": 0.005, \"verdict\": "
	    "\"depends\", \"verdict_accuracy_fault\": \"depends\", "
	    "\"cases\": [{\"guess\": \"conns 60\", "
	    "\"own\": {\"verdict\": \"agrees\", \"ours\": 0.97, \"lo\": 0.96, "
	    "\"hi\": 0.98, \"seen\": 0.5, \"points\": 1, \"unmeasured\": 0, "
	    "\"outside\": 0, \"where\": \"\"}, "
	    "\"accuracy_fault\": {\"verdict\": \"DIFFERS\", \"ours\": 0.5, "
	    "\"lo\": 0.4, \"hi\": 0.6, \"seen\": 0.25, \"points\": 3, "
	    "\"unmeasured\": 0, \"outside\": 1, \"where\": \"there\"}}, "
	    "{\"guess\": \"conns 90\", "
	    "\"own\": {\"verdict\": \"DIFFERS\", \"ours\": 0.5, \"lo\": 0.4, "
	    "\"hi\": 0.6, \"seen\": 0.25, \"points\": 3, \"unmeasured\": 0, "
	    "\"outside\": 1, \"where\": \"there\"}, "
	    "\"accuracy_fault\": {\"verdict\": \"agrees\", \"ours\": 0.97, "
	    "\"lo\": 0.96, \"hi\": 0.98, \"seen\": 0.5, \"points\": 1, "
	    "\"unmeasured\": 0, \"outside\": 0, \"where\": \"\"}}], "
	    "\"why\": \"\", \"note\": \"\", \"must\": false}");
}

static void an_object_without_a_number_has_no_value(void **state)
{
	struct xp_claim c = claim;
	const struct xp_finding f = {.n_readings = 1, .why = "none"};
	(void)state;
	c.must = 1;
	c.relation = XP_WORDS;
	*c.printed = '\0';
	assert_tells_json(&c, &f, 0,
	    ",\n{\"id\": \"fig1\", \"figure\": \"f\", \"certainty\": \"R+\", "
	    "\"text\": \"says so\", \"metric\": \"accuracy_kept\", "
	    "\"algorithm\": \"vote\", \"relation\": \"in words\", "
	    "\"printed\": \"\", \"verdict\": \"not run\", \"cases\": [], "
	    "\"why\": \"none\", \"note\": \"\", \"must\": true}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_reading_is_a_line),
	    cmocka_unit_test(what_did_not_run_is_told_without_numbers),
	    cmocka_unit_test(readings_and_guesses_are_told_apart),
	    cmocka_unit_test(an_object_without_a_number_has_no_value),
	};
	return cmocka_run_group_tests_name("experiments/cmd/verify_claim",
	    tests, test_folder_make, test_folder_remove);
}
