/* tests/experiments/plot/gnuplot_test.c -- what scripts of gnuplot's are told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot itself is asked in tests/cli/plot.sh.
 */
#include "experiments/plot/gnuplot.h"

#include <unistd.h>

#include "results/schema.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static char *vars;

static void told(const struct xp_figure *f)
{
	free(vars);
	assert_ok(xp_gnuplot_describe(&vars, f, test_err()));
}

static void has(const char *want)
{
	if (!strstr(vars, want))
		fail_msg("%s\nhas no %s", vars, want);
}

static void has_not(const char *other)
{
	if (strstr(vars, other))
		fail_msg("%s\nhas %s", vars, other);
}

/* A copy that the cube frees in place of what it had. */
static void set_text(char **of, const char *text)
{
	free(*of);
	*of = strdup(text);
	assert_non_null(*of);
}

static void results_tell_what_they_are(void **state)
{
	struct res_cube c;
	(void)state;
	plain_cube(&c, 3, 2);
	struct xp_figure f = {.cube = &c,
	    .path = "a b.h5",
	    .title = "Plain",
	    .run_s = 0.25,
	    .x = "faults.count"};
	told(&f);
	assert_memory_equal(vars,
	    "title=\"Plain\";paper=\"none\";partial=\"\";runs=2;run_s=0.25;"
	    "x=\"faults.count\";algos=\"'vote' 'alg1'\";each=\"< '",
	    94);
	has("/gnuplot_test' table --runs 'a b.h5'\";pipe_from=\"< '");
	has("/gnuplot_test' table \";pipe_of=\" 'a b.h5'\";");
	has_not("claim_");
	has_not("curves");
	/* A name that would end the shell's quotes has no pipes. */
	f.path = "it's.h5";
	told(&f);
	has_not("each=");
	has_not("pipe_");
	res_cube_put(&c, 1, 0, RES_FAILED, NULL);
	res_cube_put(&c, 2, 1, RES_CRASHED, NULL);
	told(&f);
	has("partial=\"partial: 4 of 6 runs\";");
	res_cube_free(&c);
}

/* Nothing in a file of results is a command or a second variable. */
static void words_of_results_are_words(void **state)
{
	struct res_cube c;
	(void)state;
	plain_cube(&c, 1, 1);
	set_text(&c.paper, "a\"b\\c`d\ne\tf 'g'");
	set_text(&c.algo[0], "it's");
	const struct xp_figure f = {.cube = &c,
	    .path = "x",
	    .title = "`id`",
	    .x = "x"};
	told(&f);
	has("title=\"\\`id\\`\";");
	has("paper=\"a\\\"b\\\\c\\`def 'g'\";");
	has("algos=\"\\\"it's\\\" 'alg1'\";");
	res_cube_free(&c);
}

static void claims_are_named_by_their_metrics(void **state)
{
	static const struct {
		const char *metric, *text;
		uint32_t confirmed;
	} t[] = {{"recall", "all", 1}, {"f", "most", 0}, {"recall", "half", 0},
	    {"x;!id", "bad", 1}, {"", "none", 1}, {"recall", "few", 1}};
	struct res_cube c;
	(void)state;
	plain_cube(&c, 1, 1);
	c.n_claims = sizeof(t) / sizeof(t[0]);
	c.claim = calloc(c.n_claims, sizeof(*c.claim));
	assert_non_null(c.claim);
	for (size_t i = 0; i < c.n_claims; i++) {
		c.claim[i].metric = strdup(t[i].metric);
		c.claim[i].text = strdup(t[i].text);
		c.claim[i].confirmed = t[i].confirmed;
	}
	const struct xp_figure f = {.cube = &c,
	    .path = "'",
	    .title = "",
	    .x = ""};
	told(&f);
	has("algos=\"'vote' 'alg1'\";claim_recall=\"all\";"
	    "claim_f=\"most (unconfirmed)\";"
	    "claim_recall_2=\"half (unconfirmed)\";claim_recall_3=\"few\";");
	has_not("bad");
	has_not("id");
	res_cube_free(&c);
}

static void a_picture_is_told_by_arrays(void **state)
{
	static const struct res_metric share = {.name = "recall",
					   .unit = "1",
					   .doc = "found"},
				       count = {.name = "n_drops",
					   .unit = "packets",
					   .doc = "lost"};
	const char *tick[] = {"5%", "b"};
	struct res_panel panel[] = {{"one", &share, 0, 0, 2, 1, 1, 0, 0.5},
	    {"two", &count, 2, 2, 1, 0, 0, -1, 7}};
	struct res_curve curve[] = {{"vote", 1, 0, 4}, {"alg1", 0, 4, 3},
	    {"vote", 1, 7, 1}};
	struct res_entry entry[] = {{"alg1", 1}, {"3 links", 0}};
	struct res_picture p = {.x_name = "faults.rate",
	    .x_unit = "1",
	    .x_with = "conns",
	    .y_name = "share",
	    .by_name = "algorithm",
	    .log_y = 1,
	    .low = 0.5,
	    .high = 2,
	    .bars = RES_SPREADS,
	    .n_across = 3,
	    .n_ticks = 2,
	    .tick = tick,
	    .n_panels = 2,
	    .n_curves = 3,
	    .n_entries = 2,
	    .n_below = 4,
	    .panel = panel,
	    .curve = curve,
	    .entry = entry};
	struct res_cube c;
	(void)state;
	plain_cube(&c, 1, 1);
	const struct xp_figure f = {.cube = &c,
	    .path = "'",
	    .title = "",
	    .x = "",
	    .picture = &p,
	    .curves = "c.tsv"};
	told(&f);
	has("curves=\"c.tsv\";x_label=\"faults.rate, with conns\";"
	    "y_label=\"share\";by_label=\"algorithm\";"
	    "bars=\"bars: 10 % to 90 % of runs\";"
	    "below=\"; 4 points of 0 are not on this scale\";"
	    "heatmap=0;log_x=0;log_y=1;x_low=0.5;x_high=2;n_across=3;"
	    "n_panels=2;n_entries=2;n_x_ticks=2;n_y_ticks=0;"
	    "array x_tick[2]=[\"5%%\",\"b\"];array y_tick[1]=[0];");
	has("array panel_place[2]=[0,2];array panel_first[2]=[1,3];"
	    "array panel_last[2]=[2,3];array panel_share[2]=[1,0];"
	    "array panel_from_0[2]=[1,0];"
	    "array panel_title[2]=[\"one\",\"two\"];"
	    "array panel_least[2];array panel_most[2];"
	    "panel_least[1]=0;panel_most[1]=0.5;"
	    "panel_least[2]=-1;panel_most[2]=7;"
	    "array panel_metric[2]=[\"recall\",\"n_drops (packets)\"];"
	    "array panel_about[2]=[\"recall: found\",\"n_drops: lost\"];");
	has("array curve_first[3]=[0,4,7];array curve_last[3]=[3,6,7];"
	    "array curve_entry[3]=[2,1,2];array entry_is_algo[2]=[1,0];"
	    "array entry[2]=[\"alg1\",\"3 links\"];");
	p.bars = RES_NO_BARS;
	p.x_unit = "s";
	p.x_with = "";
	told(&f);
	has("x_label=\"faults.rate (s)\";");
	has("bars=\"\";below=\"4 points of 0 are not on this scale\";");
	p.n_below = 0;
	p.bars = RES_INTERVALS;
	told(&f);
	has("bars=\"bars: 95 % intervals\";below=\"\";");
	p.bars = RES_INTERVALS | RES_SPREADS;
	told(&f);
	has("bars=\"bars: 95 % intervals, where there are none 10 % to 90 % "
	    "of runs\";");
	res_cube_free(&c);
}

static void a_file_in_memory_is_read_by_its_path(void **state)
{
	char path[32], got[8] = "";
	int fd;
	(void)state;
	assert_ok(xp_gnuplot_hold(&fd, path, "a\tb\n", 4, test_err()));
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof(got), f), 4);
	assert_string_equal(got, "a\tb\n");
	fclose(f);
	close(fd);
	assert_null(fopen(path, "r"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(results_tell_what_they_are),
	    cmocka_unit_test(words_of_results_are_words),
	    cmocka_unit_test(claims_are_named_by_their_metrics),
	    cmocka_unit_test(a_picture_is_told_by_arrays),
	    cmocka_unit_test(a_file_in_memory_is_read_by_its_path),
	};
	const int rc = cmocka_run_group_tests_name("experiments/plot/gnuplot",
	    tests, NULL, NULL);
	free(vars);
	return rc;
}
