/* tests/experiments/plug/answer_test.c -- frames that children answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/about.h"
#include "experiments/plug/columns.h"
#include "sim/bytes.h"
#include "sim/rng.h"
#include "tests/test.h"

enum { LINKS = 7, IDS = 10, FLOWS = 3 };

struct answer_frame {
	unsigned char b[512];
	size_t n;
};

static void put_32(struct answer_frame *f, uint32_t x)
{
	sim_store_32(f->b + f->n, x);
	f->n += 4;
}

static struct answer_frame a_head(uint32_t type, uint32_t n, uint32_t flagged,
    uint64_t n_blame)
{
	struct answer_frame f = {.n = 0};
	put_32(&f, type);
	put_32(&f, n);
	put_32(&f, flagged);
	put_32(&f, 0);
	sim_store_64(f.b + f.n, n_blame);
	f.n += 8;
	return f;
}

static struct answer_frame an_answer(const uint32_t id[], const double score[],
    uint32_t n, uint32_t flagged, const uint32_t blame[], uint32_t n_blame)
{
	struct answer_frame f = a_head(PLUG_ANSWER, n, flagged, n_blame);
	memcpy(f.b + f.n, score, n * sizeof(score[0]));
	f.n += n * sizeof(score[0]);
	for (uint32_t i = 0; i < n; i++)
		put_32(&f, id[i]);
	for (uint32_t i = 0; i < n_blame; i++)
		put_32(&f, blame[i]);
	return f;
}

static struct plug_limits limits(unsigned says)
{
	return (struct plug_limits){PLUG_ANSWER, LINKS, IDS, FLOWS, says};
}

static int take(const struct answer_frame *f, unsigned says,
    struct algo_verdicts *v, struct sim_err *e)
{
	const struct plug_limits l = limits(says);
	uint32_t names[IDS] = {0};
	struct plug_seen seen = {names, UINT32_MAX};
	size_t size;
	int rc = plug_frame_size(f->b, f->n, &l, &size, e);
	if (rc < 0)
		return rc;
	assert_int_equal(size, f->n);
	/* As stamps begin anew at the first of these. */
	for (int i = 0; i < 2; i++)
		rc = plug_frame_take(f->b, &l, &seen, v, e);
	return rc;
}

static void test_an_answer_is_taken_as_it_is(void **state)
{
	const uint32_t id[] = {6, 0, 9}, blame[] = {6, TOPO_NONE, 9};
	const double score[] = {1.5, -2, 0.25};
	const unsigned all =
	    PLUG_SAYS_FLAGS | PLUG_SAYS_BLAMES | PLUG_SAYS_SWITCHES;
	struct algo_verdicts v = {0};
	struct sim_err e;
	const struct answer_frame f = an_answer(id, score, 3, 1, blame, 3);
	(void)state;
	assert_int_equal(take(&f, all, &v, &e), 0);
	assert_int_equal(v.kind, ALGO_KIND_BOTH);
	assert_int_equal(v.n_links, LINKS);
	assert_int_equal(v.n, 3);
	assert_int_equal(v.n_flagged, 1);
	assert_true(v.flags);
	assert_memory_equal(v.link, id, sizeof(id));
	assert_memory_equal(v.score, score, sizeof(score));
	assert_memory_equal(v.blame, blame, sizeof(blame));
	const struct answer_frame none = an_answer(id, score, 0, 0, NULL, 0);
	assert_int_equal(take(&none, 0, &v, &e), 0);
	assert_int_equal(v.n + v.n_flows, 0);
	assert_int_equal(v.kind, ALGO_KIND_LINK);
	algo_verdicts_free(&v);
}

static void refuse(struct answer_frame f, unsigned says, const char *text)
{
	struct algo_verdicts v = {0};
	struct sim_err e = {0};
	assert_int_equal(take(&f, says, &v, &e), SIM_EDEP);
	if (!strstr(e.msg, text))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, text);
	algo_verdicts_free(&v);
}

static void test_what_cannot_be_is_refused(void **state)
{
	const uint32_t a[] = {1, 1}, sw[] = {7}, blame[] = {0, 7, 1};
	const double s[] = {1, 1}, inf[] = {INFINITY};
	struct answer_frame said = a_head(PLUG_FAILED, 3, 0, 0);
	(void)state;
	refuse(an_answer(a, s, 2, 0, NULL, 0), 0,
	    "component 1 is answered twice.");
	refuse(an_answer(sw, s, 1, 0, NULL, 0), 0,
	    "answer 0 is component 7 of 7.");
	refuse(an_answer(a, inf, 1, 0, NULL, 0), 0, "a score of inf.");
	refuse(an_answer(a, s, 1, 1, NULL, 0), 0, "does not say flags");
	refuse(an_answer(a, s, 1, 2, NULL, 0), PLUG_SAYS_FLAGS,
	    "accuses 2 of 1");
	refuse(an_answer(a, s, 0, 0, blame, 3), PLUG_SAYS_BLAMES,
	    "flow 1 is blamed on component 7 of 7.");
	refuse(an_answer(a, s, 0, 0, blame, 2), PLUG_SAYS_BLAMES,
	    "blames for 2 flows, where 3 are due.");
	refuse(an_answer(a, s, 0, 0, blame, 3), 0, "where 0 are due.");
	refuse(a_head(PLUG_ANSWER, LINKS + 1, 0, 0), 0,
	    "an answer of 8 components, where there are 7.");
	refuse(a_head(PLUG_OPENED, 0, 0, 0), 0, "a frame of type 5");
	refuse(a_head(PLUG_FAILED, PLUG_MAX_TEXT + 1, 0, 0), 0, "garbage");
	memcpy(said.b + said.n, "a\033b", 3);
	said.n += 3;
	refuse(said, 0, "it failed: a b.");
}

/* Bytes by chance behind heads that are nearly right: none is believed that is
 * not an answer, and nothing behind the N bytes is looked at. Most bytes are 0,
 * or none would be one. */
static void test_no_bytes_are_believed(void **state)
{
	struct algo_verdicts v = {0};
	unsigned n_taken = 0;
	(void)state;
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		struct plug_limits l = limits(run % 8);
		uint32_t names[IDS] = {0};
		struct plug_seen seen = {names, 0};
		size_t size;
		test_rng(&r, run);
		struct answer_frame f =
		    a_head(sim_rng_below(&r, 7), sim_rng_below(&r, 9),
			sim_rng_below(&r, 4), sim_rng_below(&r, 5));
		while (f.n < 200)
			f.b[f.n++] = sim_rng_below(&r, 32) > 0
			    ? 0
			    : (unsigned char)sim_rng_below(&r, 256);
		for (size_t n = 0; n < PLUG_HEAD_BYTES; n++) {
			assert_int_equal(plug_frame_size(f.b, n, &l, &size,
					     NULL),
			    0);
			assert_int_equal(size, 0);
		}
		if (plug_frame_size(f.b, f.n, &l, &size, NULL) < 0)
			continue;
		assert_in_range(size, PLUG_HEAD_BYTES, f.n);
		unsigned char *exact = malloc(size);
		memcpy(exact, f.b, size);
		if (plug_frame_take(exact, &l, &seen, &v, NULL) == 0)
			for (size_t i = 0; i < v.n; i++) {
				assert_true(
				    v.link[i] < IDS && isfinite(v.score[i]));
				n_taken++;
			}
		free(exact);
	}
	/* Some 40, so fewer than 1 in 10^6 seeds have as few. */
	assert_true(n_taken > 12);
	algo_verdicts_free(&v);
}

/* --- descriptions ----------------------------------------------------------- */

static int describe(const char *lines, struct plug_about *a, struct sim_err *e)
{
	char text[4096];
	snprintf(text, sizeof(text), "culprit 1\n%send\n", lines);
	return plug_about_read(a, text, strlen(text), e);
}

static void test_a_description_becomes_a_table(void **state)
{
	struct plug_about a;
	struct sim_err e;
	(void)state;
	assert_int_equal(describe("name x\ndoc d e\npaper p\nnew thing\n"
				  "needs flows all\nsays blames\n"
				  "columns link n_retx\n"
				  "param k u32 1 9 3 links how many of them\n"
				  "param yes bool 0 0 true 1\n",
			     &a, &e),
	    0);
	assert_string_equal(a.name, "x");
	assert_string_equal(a.doc, "d e");
	assert_int_equal(a.needs, 1 | 4);
	assert_int_equal(a.says, PLUG_SAYS_BLAMES);
	assert_int_equal(a.n_columns, 2);
	assert_string_equal(plug_column(a.column[0]).name, "link");
	assert_string_equal(a.field[PLUG_OWN_FIELDS].doc, "how many of them");
	assert_null(a.field[PLUG_OWN_FIELDS + 2].name);
	unsigned char params[256] = {0};
	assert_true(a.params_size <= sizeof(params));
	assert_int_equal(sim_field_defaults(a.field, params, &e), 0);
	uint32_t k;
	memcpy(&k, params + a.field[PLUG_OWN_FIELDS].offset, sizeof(k));
	assert_int_equal(k, 3);
	plug_about_free(&a);
}

static void test_a_wrong_description_is_refused(void **state)
{
	static const char *const wrong[][2] = {
	    {"doc x\n", "has no line \"name\""},
	    {"name 0123456789012345678901234567890123456789\n", "line 2"},
	    {"name x\nparam a u32 1 9\n", "NAME TYPE MIN MAX DEFAULT"},
	    {"name x\nparam a u64 1 9 1 1 d\n", "u32, f64 or bool"},
	    {"name x\nparam a u32 1 9 10 1 d\n", "line 3 .*its default"},
	    {"name x\nparam A u32 1 9 1 1 d\n", "made of a-z"},
	    {"name x\nparam audit u32 1 9 1 1 d\n", "it is taken"},
	    {"name x\nparam label u32 1 9 1 1 d\n", "it is taken"},
	    {"name x\nparam a u32 1 9 1 1 d\nparam a u32 1 9 1 1 d\n",
		"line 4"},
	    {"name x\nparam a u32 0 -9 1 1 d\n", "from 0 to -9 is no range"},
	    {"name x\nparam a f64 2 1 1 1 d\n", "from 2 to 1 is no range"},
	    {"name x\nsays much\n", "\"much\""},
	    {"name x\ncolumns off off\n", "named twice"},
	    {"name x\ncolumns zzzzzzzz\n", "no column is called \"zzzzzzzz\"."},
	    {"name x\ncolumns lnik\n", "did you mean \"link\"?"},
	    {"name \n", "a name has 1 to 31 bytes."},
	    {"name x\nparam a u32 -1 9 1 1 d\n", "is no range of a u32."},
	    {"name x\nparam a u32 0 4294967296 1 1 d\n",
		"is no range of a u32."},
	    {"name x\nparam a f64 1 1 1 1 d\n", "from 1 to 1 is no range"},
	    {"name x\nfailed that.\n", "that."},
	    {"name \033[31m\n", "is 27, which no text has"},
	    {"name x\nfailed no scipy\n", "no scipy."},
	    {"name x\nneeds tallies none\n", "line 3 .*\"none\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct plug_about a;
		struct sim_err e = {0};
		assert_true(describe(wrong[i][0], &a, &e) < 0);
		const char *want = wrong[i][1], *star = strstr(want, ".*");
		char first[64];
		snprintf(first, sizeof(first), "%.*s",
		    star ? (int)(star - want) : 60, want);
		if (!strstr(e.msg, first) || (star && !strstr(e.msg, star + 2)))
			fail_msg("\"%s\" does not say \"%s\"", e.msg, want);
		plug_about_free(&a);
	}
}

/* As many as there is room for, and then no more. */
static void test_what_is_too_much_of_a_description_is_refused(void **state)
{
	static char text[16384];
	(void)state;
	for (unsigned what = 0; what < 3; what++)
		for (unsigned more = 0; more < 2; more++) {
			static const char *const says[] =
			    {"line 3 of its description: a name has 1 to 31 "
			     "bytes.",
				"more than 32 parameters.",
				"more than 256 files."};
			static const unsigned most[] = {31, PLUG_MAX_PARAMS,
			    PLUG_MAX_FILES};
			struct plug_about a;
			struct sim_err e = {0};
			char *at = text;
			at += sprintf(at, "culprit 1\nname x\n%s",
			    what ? "" : "name ");
			for (unsigned i = 0; i < most[what] + more; i++)
				at += what == 0 ? sprintf(at, "y")
				    : what == 1
				    ? sprintf(at, "param p%u f64 0 1 0.5 s\n",
					  i)
				    : sprintf(at, "file /f%u\n", i);
			at += sprintf(at, "\nend\n");
			const int rc =
			    plug_about_read(&a, text, (size_t)(at - text), &e);
			if (more) {
				assert_int_equal(rc,
				    what ? SIM_ELIMIT : SIM_EINVAL);
				assert_non_null(strstr(e.msg, says[what]));
			} else {
				assert_int_equal(rc, 0);
				assert_int_equal(strlen(a.name), what ? 1 : 31);
				assert_int_equal(a.n_params,
				    what == 1 ? PLUG_MAX_PARAMS : 0);
				assert_int_equal(a.n_files,
				    what == 2 ? PLUG_MAX_FILES : 0);
				assert_int_equal(a.params_size,
				    sizeof(struct plug_params) +
					8 * a.n_params);
				assert_null(
				    a.field[PLUG_OWN_FIELDS + a.n_params].name);
			}
			if (rc == 0 && what == 2)
				assert_string_equal(a.file[PLUG_MAX_FILES - 1],
				    "/f255");
			plug_about_free(&a);
		}
}

/* Each word has its bit, and parameters have their types and bounds. */
static void test_words_and_parameters_are_what_they_say(void **state)
{
	struct plug_about a;
	struct sim_err e;
	(void)state;
	for (const struct plug_word *k = plug_about_needs; k->word; k++) {
		char line[64];
		snprintf(line, sizeof(line), "name x\nneeds %s\n", k->word);
		assert_int_equal(describe(line, &a, &e), 0);
		assert_int_equal(a.needs, k->bit);
		assert_int_equal(a.says, 0);
		plug_about_free(&a);
	}
	for (const struct plug_word *k = plug_about_says; k->word; k++) {
		char line[64];
		snprintf(line, sizeof(line), "name x\nsays %s\n", k->word);
		assert_int_equal(describe(line, &a, &e), 0);
		assert_int_equal(a.says, k->bit);
		assert_int_equal(a.needs, 0);
		plug_about_free(&a);
	}
	assert_int_equal(describe("name x\nwarns time, rand\nfile a b\n"
				  "param u u32 2 4294967295 4294967295 links\n"
				  "param f f64 -1.5 1e3 -0.5 s of it all\n"
				  "param b bool 0 0 false 1 whether\nend\n"
				  "name behind\n",
			     &a, &e),
	    0);
	assert_string_equal(a.name, "x");
	assert_string_equal(a.warns, "time, rand");
	assert_int_equal(a.n_files, 1);
	assert_string_equal(a.file[0], "a b");
	const struct sim_field *f = a.field + PLUG_OWN_FIELDS;
	assert_int_equal(a.n_params, 3);
	assert_true(f[0].type == SIM_F_U32 && f[1].type == SIM_F_F64 &&
	    f[2].type == SIM_F_BOOL);
	assert_true(f[0].min == 2 && f[0].max == 4294967295.);
	assert_true(f[1].min == -1.5 && f[1].max == 1e3);
	assert_true(f[2].min == 0 && f[2].max == 0);
	assert_string_equal(f[1].unit, "s");
	assert_string_equal(f[1].doc, "of it all");
	assert_string_equal(f[0].doc, "");
	assert_string_equal(f[2].def, "false");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(f[i].offset,
		    sizeof(struct plug_params) + 8 * i);
	assert_string_equal(a.field[0].name, "timeout");
	assert_string_equal(a.field[1].name, "audit");
	plug_about_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_answer_is_taken_as_it_is),
	    cmocka_unit_test(test_what_cannot_be_is_refused),
	    cmocka_unit_test(test_no_bytes_are_believed),
	    cmocka_unit_test(test_a_description_becomes_a_table),
	    cmocka_unit_test(test_a_wrong_description_is_refused),
	    cmocka_unit_test(test_what_is_too_much_of_a_description_is_refused),
	    cmocka_unit_test(test_words_and_parameters_are_what_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
