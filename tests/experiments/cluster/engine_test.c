/* tests/experiments/cluster/engine_test.c -- scripts word by word; Slurm's queue.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * squeue is a script of the test's, which writes what it is given to write.
 */
#include "experiments/cluster/engine.h"

#include <sys/stat.h>

#include "results/file.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static struct xp_plan engine_plan(const char *engine)
{
	return (struct xp_plan){.figure = "my fig",
	    .output = "/o/x y.h5",
	    .name = "culprit-my fig-12ab-3",
	    .n_shards = 3,
	    .engine = (uint32_t)sim_word_find(xp_engine_names, engine)};
}

/* --- scripts -------------------------------------------------------------- */

/* The file NAME as text, with the test's folder as /F; good until the next. */
static const char *script(const char *name)
{
	static char text[4096];
	void *bytes;
	size_t n;
	assert_ok(res_file_read(test_path(name), &bytes, &n, test_err()));
	struct sim_text to = {text, sizeof(text), 0};
	const char *from = bytes, *at;
	while ((at = strstr(from, test_folder))) {
		sim_put(&to, "%.*s/F", (int)(at - from), from);
		from = at + strlen(test_folder);
	}
	sim_put(&to, "%s", from);
	assert_true(to.n < sizeof(text));
	free(bytes);
	return text;
}

static int engine_write(const char *engine, uint32_t at_once,
    const char *const *words, const char *const *extra, struct sim_err *e)
{
	const struct xp_plan p = engine_plan(engine);
	const struct xp_job j = {.plan = &p,
	    .folder = test_folder,
	    .cwd = "/c d",
	    .program = "/bin/culprit",
	    .words = words,
	    .extra = extra,
	    .n_workers = 4,
	    .at_once = at_once};
	return xp_job_write(&j, e);
}

static const char *const words[] = {"s.yaml", "--set", "a=[1, 2]", NULL};
static const char *const none[] = {NULL};
static const char *const two[] = {"--time=1:00", "--x=a b", NULL};

#define SHARD_WHAT                                                             \
	"#!/bin/sh\n"                                                          \
	"# One shard of my fig, of 3: `sh shard.sh I`; or, as a task of an "   \
	"array or\n"                                                           \
	"# a rank of MPI, the one of that number. It goes on where it was "    \
	"ended before.\n"
#define SHARD_DO                                                               \
	"\ncd '/c d' || exit\n"                                                \
	"exec /bin/culprit run s.yaml --set 'a=[1, 2]' \\\n"                   \
	"    --quiet --jobs 4 --shard \"${1:-auto}/3\" -o /F/\n"
#define MERGE_WHAT                                                             \
	"#!/bin/sh\n"                                                          \
	"# All shards of my fig as one file; what is missing is told, and "    \
	"nothing written then.\n"
#define MERGE_DO                                                               \
	"\ncd '/c d' || exit\n"                                                \
	"exec /bin/culprit merge --force -o '/o/x y.h5' \\\n"                  \
	"    '/F/my fig'.*-of-3.h5\n"
#define SUBMIT_WHAT(engine)                                                    \
	"#!/bin/sh\n"                                                          \
	"# All 3 shards of my fig by " engine                                  \
	", or those named: `sh submit.sh I...`; then the merge.\n"

static void scripts_of_this_machine_are_these(void **state)
{
	static const char submit[] = SUBMIT_WHAT(
	    "local") "\n[ $# -gt 0 ] || set -- $(seq 3)\n"
		     "cd /F || exit\n"
		     "printf '%%s\\n' \"$@\" | xargs -P %d -n 1 sh -c \\\n"
		     "    'sh ./shard.sh \"$1\" >>\"$1\".log 2>&1 || :' sh\n"
		     "sh ./merge.sh >>merge.log 2>&1\n";
	char want[1024];
	(void)state;
	for (int at_once = 0; at_once < 3; at_once++) {
		assert_ok(engine_write("local", (uint32_t)at_once, words, none,
		    test_err()));
		assert_string_equal(script("shard.sh"), SHARD_WHAT SHARD_DO);
		assert_string_equal(script("merge.sh"), MERGE_WHAT MERGE_DO);
		snprintf(want, sizeof(want), submit, at_once ? at_once : 1);
		assert_string_equal(script("submit.sh"), want);
	}
}

static void scripts_of_gnu_parallel_are_these(void **state)
{
	static const char submit[] = SUBMIT_WHAT(
	    "parallel") "\n[ $# -gt 0 ] || set -- $(seq 3)\n"
			"parallel --will-cite --jobs %d --joblog "
			"/F/parallel.log "
			"--time=1:00 '--x=a b' \\\n"
			"    --workdir /F/ 'sh ./shard.sh {} >>{}.log 2>&1' "
			"::: \"$@\"\n"
			"cd /F/ && sh ./merge.sh >>merge.log 2>&1\n";
	char want[1024];
	(void)state;
	for (int at_once = 0; at_once < 3; at_once++) {
		assert_ok(engine_write("parallel", (uint32_t)at_once, words,
		    two, test_err()));
		assert_string_equal(script("shard.sh"), SHARD_WHAT SHARD_DO);
		assert_string_equal(script("merge.sh"), MERGE_WHAT MERGE_DO);
		snprintf(want, sizeof(want), submit, at_once ? at_once : 1);
		assert_string_equal(script("submit.sh"), want);
	}
}

static void scripts_of_slurm_are_these(void **state)
{
	static const char submit[] = SUBMIT_WHAT(
	    "slurm") "\ntasks=$(IFS=,; echo \"$*\")\n"
		     "job=$(sbatch --parsable --array=\"${tasks:-1-3}\"%s "
		     "/F/shard.sh) || exit\n"
		     "echo \"array ${job%%%%;*}\"\n"
		     "sbatch --parsable --dependency=afterany:\"${job%%%%;*}\" "
		     "/F/merge.sh\n";
	static const char *const limit[] = {"", "%1", "%2"};
	char want[1024];
	(void)state;
	for (uint32_t at_once = 0; at_once < 3; at_once++) {
		assert_ok(
		    engine_write("slurm", at_once, words, two, test_err()));
		assert_string_equal(script("shard.sh"),
		    SHARD_WHAT "#SBATCH --job-name=culprit-my fig-12ab-3\n"
			       "#SBATCH --output=\"/F/%a.log\"\n"
			       "#SBATCH --open-mode=append\n"
			       "#SBATCH --no-requeue\n"
			       "#SBATCH --ntasks=1\n"
			       "#SBATCH --cpus-per-task=4\n"
			       "#SBATCH --time=1:00\n"
			       "#SBATCH --x=a b\n" SHARD_DO);
		assert_string_equal(script("merge.sh"),
		    MERGE_WHAT
		    "#SBATCH --job-name=culprit-my fig-12ab-3-merge\n"
		    "#SBATCH --output=\"/F/merge.log\"\n"
		    "#SBATCH --open-mode=append\n"
		    "#SBATCH --no-requeue\n"
		    "#SBATCH --ntasks=1\n"
		    "#SBATCH --time=1:00\n"
		    "#SBATCH --x=a b\n" MERGE_DO);
		snprintf(want, sizeof(want), submit, limit[at_once]);
		assert_string_equal(script("submit.sh"), want);
	}
}

/* In names of files of output a % begins a pattern of Slurm's. */
static void a_percent_sign_of_a_folder_is_doubled_for_slurm(void **state)
{
	const struct xp_plan p = engine_plan("slurm");
	const struct xp_job j = {.plan = &p,
	    .folder = "/a%b%%",
	    .extra = none,
	    .n_workers = 1};
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	(void)state;
	xp_engine_slurm.put_head(out, &j, 0);
	fclose(out);
	assert_non_null(
	    strstr(text, "#SBATCH --output=\"/a%%b%%%%/%a.log\"\n"));
}

static void scripts_can_be_run_and_read_by_all(void **state)
{
	static const char *const name[] = {"shard.sh", "merge.sh", "submit.sh"};
	(void)state;
	assert_ok(engine_write("local", 1, words, none, test_err()));
	for (int i = 0; i < 3; i++) {
		struct stat s;
		assert_int_equal(stat(test_path(name[i]), &s), 0);
		assert_int_equal(s.st_mode & 07777, 0755);
	}
}

/* A blank is the first character that may be part of a word, and of each word
 * that is written. */
static void no_word_has_a_control_character(void **state)
{
	static const char *const bad[] = {"a\n", "\x1f", "ok\tno", "\x01"};
	static const char *const good[] = {" ", "a b~", "\xc3\xa4\x7f", NULL};
	(void)state;
	for (int i = 0; i < 4; i++) {
		const char *const list[] = {"fine", bad[i], NULL};
		char want[128];
		struct sim_err e;
		snprintf(want, sizeof(want),
		    "\"%s\" has a line break or a control character in it.",
		    bad[i]);
		assert_int_equal(engine_write("local", 1, list, none, &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg, want);
		assert_int_equal(engine_write("local", 1, words, list, &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg, want);
		struct xp_plan p = engine_plan("local");
		struct xp_job j = {.plan = &p,
		    .folder = test_folder,
		    .cwd = bad[i],
		    .program = "p",
		    .words = none,
		    .extra = none};
		assert_int_equal(xp_job_write(&j, &e), SIM_EINVAL);
		assert_string_equal(e.msg, want);
		j.cwd = "/";
		j.program = bad[i];
		assert_int_equal(xp_job_write(&j, &e), SIM_EINVAL);
		j.program = "p";
		j.folder = bad[i];
		assert_int_equal(xp_job_write(&j, &e), SIM_EINVAL);
		j.folder = test_folder;
		snprintf(p.output, sizeof(p.output), "/%s", bad[i]);
		assert_int_equal(xp_job_write(&j, &e), SIM_EINVAL);
	}
	assert_ok(engine_write("local", 1, good, good, test_err()));
}

static void engines_have_the_names_of_the_list(void **state)
{
	unsigned n = 0;
	(void)state;
	for (; xp_engines[n]; n++)
		assert_string_equal(xp_engines[n]->name, xp_engine_names[n]);
	assert_null(xp_engine_names[n]);
	assert_int_equal(n, 3);
	assert_null(xp_engine_local.ask);
	assert_null(xp_engine_local.put_end);
	assert_null(xp_engine_parallel.ask);
}

static void a_command_ends_the_array_and_the_merge(void **state)
{
	const struct xp_plan p = engine_plan("slurm");
	char text[128] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	(void)state;
	xp_engine_slurm.put_end(out, &p);
	fclose(out);
	assert_string_equal(text,
	    "scancel --name=culprit-my fig-12ab-3,culprit-my fig-12ab-3-merge");
}

/* --- the queue of Slurm --------------------------------------------------- */

/* Ask a squeue that is the shell script BODY. */
static int ask(const char *body, uint8_t shard[3], struct xp_queue *q,
    struct sim_err *e)
{
	struct xp_plan p = engine_plan("slurm");
	char path[256], text[2048];
	strcpy(p.name, "culprit-f-12ab-3");
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body);
	test_write("squeue", text);
	assert_int_equal(chmod(test_path("squeue"), 0755), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", test_folder);
	setenv("PATH", path, 1);
	memset(shard, 0, 3);
	*q = (struct xp_queue){.shard = shard};
	return xp_engine_slurm.ask(&p, q, e);
}

static void squeue_is_asked_for_the_array_and_the_merge(void **state)
{
	struct xp_queue q;
	uint8_t shard[3];
	struct sim_err e;
	(void)state;
	assert_int_equal(ask("printf '<%s>' \"$@\" >&2; exit 1", shard, &q, &e),
	    SIM_EIO);
	assert_string_equal(e.msg,
	    "squeue failed: <--noheader><--array><--name=culprit-f-12ab-3,"
	    "culprit-f-12ab-3-merge><--format=%j %K %t (%r)>.");
}

/* Of tasks 0 to 4 those from 1 to 3 are shards; a merge counts as a job alone,
 * and what is not of this plan, or says too little, as nothing. */
static void each_line_of_the_queue_is_a_job(void **state)
{
	struct xp_queue q;
	uint8_t shard[3];
	(void)state;
	assert_ok(ask("cat <<'END'\n"
		      "culprit-f-12ab-3 1 R (None)\n"
		      "culprit-f-12ab-3 3 PD (Priority)\n"
		      "culprit-f-12ab-3 4 R (None)\n"
		      "culprit-f-12ab-3 0 R (None)\n"
		      "culprit-f-12ab-3-merge N/A PD (Dependency)\n"
		      "culprit-f-12ab-4 2 R (None)\n"
		      "culprit-f-12ab-3 2\n"
		      "\nEND",
	    shard, &q, test_err()));
	assert_int_equal(q.n_jobs, 5);
	assert_int_equal(shard[0], XP_JOB_RUNS);
	assert_int_equal(shard[1], XP_JOB_NONE);
	assert_int_equal(shard[2], XP_JOB_WAITS);
	assert_string_equal(q.why, "");
	assert_ok(ask("", shard, &q, test_err()));
	assert_int_equal(q.n_jobs, 0);
}

/* What any job waits for, sooner or later, is not worth a word; nor is why one
 * that runs did wait. */
static void what_jobs_wait_for_is_told_if_it_is_odd(void **state)
{
	static const struct {
		const char *line, *why;
	} t[] = {
	    {"2 PD (None)", ""},
	    {"2 PD (Priority)", ""},
	    {"2 PD (Resources)", ""},
	    {"2 PD (Dependency)", ""},
	    {"2 PD (JobArrayTaskLimit)", ""},
	    {"2 PD (QOSMaxJobsLimit)", "(QOSMaxJobsLimit)"},
	    {"2 PD (Nodes required are down)", "(Nodes required are down)"},
	    {"2 PD", ""},
	    {"2 CG (QOSMaxJobsLimit)", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct xp_queue q;
		uint8_t shard[3];
		char body[256];
		snprintf(body, sizeof(body), "echo 'culprit-f-12ab-3 %s'",
		    t[i].line);
		assert_ok(ask(body, shard, &q, test_err()));
		assert_string_equal(q.why, t[i].why);
		assert_int_equal(q.n_jobs, 1);
		assert_int_equal(shard[1],
		    t[i].line[2] == 'P' ? XP_JOB_WAITS : XP_JOB_RUNS);
	}
}

static void a_squeue_that_fails_is_told_by_its_first_line(void **state)
{
	struct xp_queue q;
	uint8_t shard[3];
	struct sim_err e;
	(void)state;
	assert_int_equal(ask("echo one >&2; echo two >&2; exit 1", shard, &q,
			     &e),
	    SIM_EIO);
	assert_string_equal(e.msg, "squeue failed: one.");
	assert_int_equal(ask("echo 'culprit-f-12ab-3 1 R (None)'; exit 2",
			     shard, &q, &e),
	    SIM_EIO);
	assert_string_equal(e.msg, "squeue failed: without a word.");
	assert_int_equal(q.n_jobs, 0);
	assert_int_equal(shard[0], XP_JOB_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scripts_of_this_machine_are_these),
	    cmocka_unit_test(scripts_of_gnu_parallel_are_these),
	    cmocka_unit_test(scripts_of_slurm_are_these),
	    cmocka_unit_test(a_percent_sign_of_a_folder_is_doubled_for_slurm),
	    cmocka_unit_test(scripts_can_be_run_and_read_by_all),
	    cmocka_unit_test(no_word_has_a_control_character),
	    cmocka_unit_test(engines_have_the_names_of_the_list),
	    cmocka_unit_test(a_command_ends_the_array_and_the_merge),
	    cmocka_unit_test(squeue_is_asked_for_the_array_and_the_merge),
	    cmocka_unit_test(each_line_of_the_queue_is_a_job),
	    cmocka_unit_test(what_jobs_wait_for_is_told_if_it_is_odd),
	    cmocka_unit_test(a_squeue_that_fails_is_told_by_its_first_line),
	};
	return cmocka_run_group_tests_name("experiments/cluster/engine", tests,
	    test_folder_make, test_folder_remove);
}
