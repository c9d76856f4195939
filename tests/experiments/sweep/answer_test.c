/* tests/experiments/sweep/answer_test.c -- an answer's components, and its lines.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/answer.h"

#include "tests/test.h"

/* Switch 1 failed with link 8, and switches 0 and 2 both with link 10; link 12
 * alone. */
struct scenario {
	struct topo topo;
	struct truth truth;
	struct algo_verdicts v;
};

static void scenario_open(struct scenario *s, enum algo_kind kind)
{
	static const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_hosts = 3};
	static const topo_link bad[] = {8, 10, 12};
	*s = (struct scenario){0};
	assert_ok(topo_open_clos(&s->topo, &shape, test_err()));
	for (size_t i = 0; i < 3; i++)
		assert_ok(truth_add_fault(&s->truth,
		    &(struct truth_fault){.link = bad[i],
			.rate = .1,
			.to_ns = SIM_NEVER},
		    test_err()));
	assert_ok(truth_add_part(&s->truth, 8, 1, test_err()));
	assert_ok(truth_add_part(&s->truth, 10, 0, test_err()));
	assert_ok(truth_add_part(&s->truth, 10, 2, test_err()));
	truth_sort(&s->truth);
	assert_ok(algo_verdicts_reserve(&s->v, 14, test_err()));
	assert_ok(algo_verdicts_reserve_flows(&s->v, 1, test_err()));
	s->v.kind = kind;
	s->v.n_links = s->topo.n_links;
	s->v.n_flows = 1;
}

static void scenario_close(struct scenario *s)
{
	algo_verdicts_free(&s->v);
	truth_free(&s->truth);
	topo_close(&s->topo);
}

/* A link where links are blamed, or nobody is by who names both; else a switch,
 * by its number there. */
static void a_culprit_is_named_as_the_verdict_names(void **state)
{
	static const struct {
		enum algo_kind kind;
		uint32_t blame;
		topo_link culprit;
		uint32_t want;
	} cases[] = {
	    {ALGO_KIND_LINK, 3, 8, 8},
	    {ALGO_KIND_LINK, TOPO_NONE, 12, 12},
	    {ALGO_KIND_LINK, 3, TOPO_NONE, TOPO_NONE},
	    {ALGO_KIND_SWITCH, 1, 8, 1},
	    {ALGO_KIND_SWITCH, 3, 8, 1},
	    {ALGO_KIND_SWITCH, TOPO_NONE, 8, 1},
	    {ALGO_KIND_SWITCH, TOPO_NONE, TOPO_NONE, TOPO_NONE},
	    {ALGO_KIND_SWITCH, 2, TOPO_NONE, TOPO_NONE},
	    /* Of two that failed that which is blamed, or the smaller. */
	    {ALGO_KIND_SWITCH, 2, 10, 2},
	    {ALGO_KIND_SWITCH, 1, 10, 0},
	    {ALGO_KIND_SWITCH, 1, 12, TOPO_NONE},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scenario s;
		scenario_open(&s, cases[i].kind);
		s.v.blame[0] = cases[i].blame;
		if (xp_answer_culprit(&s.truth, &s.v, 0, cases[i].culprit) !=
		    cases[i].want)
			fail_msg("case %zu", i);
		scenario_close(&s);
	}
	struct scenario s;
	scenario_open(&s, ALGO_KIND_BOTH);
	const uint32_t n = s.topo.n_links;
	s.v.blame[0] = n + 1;
	assert_int_equal(xp_answer_culprit(&s.truth, &s.v, 0, 8), n + 1);
	assert_int_equal(xp_answer_culprit(&s.truth, &s.v, 0, 10), n);
	assert_int_equal(xp_answer_culprit(&s.truth, &s.v, 0, 12), TOPO_NONE);
	s.v.blame[0] = 8;
	assert_int_equal(xp_answer_culprit(&s.truth, &s.v, 0, 8), 8);
	s.v.blame[0] = TOPO_NONE;
	assert_int_equal(xp_answer_culprit(&s.truth, &s.v, 0, 8), 8);
	scenario_close(&s);
}

static void components_have_names_and_may_have_failed(void **state)
{
	struct scenario s;
	char name[64];
	(void)state;
	scenario_open(&s, ALGO_KIND_BOTH);
	const uint32_t n = s.topo.n_links;
	xp_answer_name(&s.topo, &s.v, 1, name);
	assert_string_equal(name, "tor0->host0");
	xp_answer_name(&s.topo, &s.v, n + 1, name);
	assert_string_equal(name, "tor1");
	for (uint32_t id = 0; id < n + s.topo.n_switches; id++)
		assert_int_equal(xp_answer_is_faulty(&s.truth, &s.v, id),
		    id == 8 || id == 10 || id == 12 ||
			(id >= n && id <= n + 2));
	scenario_close(&s);
}

static const char *print(struct scenario *s, const struct truth *truth,
    const struct res_algo_metrics *m, char text[2048])
{
	FILE *out = fmemopen(text, 2048, "w");
	assert_non_null(out);
	xp_answer_print("label", &s->topo, truth, m, &s->v, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Ten at most, and behind them those that are said to be full alone. */
static void ten_are_shown_the_most_suspect_first(void **state)
{
	struct scenario s;
	struct res_algo_metrics m;
	char text[2048];
	(void)state;
	for (size_t i = 0; i < RES_N_ALGO_METRICS; i++)
		((double *)&m)[i] = NAN;
	m.n_flagged_true = 1;
	m.n_flagged = 2;
	scenario_open(&s, ALGO_KIND_LINK);
	s.v.n = 2;
	s.v.n_flagged = 1;
	s.v.link[0] = 12;
	s.v.score[0] = 0.25;
	s.v.link[1] = 0;
	s.v.score[1] = 12345.678;
	s.v.way[1] = ALGO_WAY_LOSES;
	assert_string_equal(print(&s, &s.truth, &m, text),
	    "label\n"
	    "  precision          0.5000 (1/2)\n"
	    "    1 tor0->t1.0               score 0.25       accused FAULTY\n"
	    "    2 host0->tor0              score 1.235e+04  loses at a "
	    "rate\n");
	assert_string_equal(print(&s, NULL, NULL, text),
	    "label\n"
	    "    1 tor0->t1.0               score 0.25       accused\n"
	    "    2 host0->tor0              score 1.235e+04  loses at a "
	    "rate\n");
	for (size_t n = 10; n <= 14; n++) {
		char more[64] = "";
		s.v.n = n;
		s.v.n_flagged = 0;
		for (size_t i = 0; i < n; i++) {
			s.v.link[i] = (topo_link)i;
			s.v.score[i] = 20 - (double)i;
			s.v.way[i] = i == 12 ? ALGO_WAY_BURSTS : 0;
		}
		print(&s, NULL, NULL, text);
		assert_non_null(strstr(text, "\n   10 "));
		assert_null(strstr(text, "\n   11 "));
		assert_null(strstr(text, "\n   12 "));
		assert_int_equal(strstr(text, "\n   13 ") &&
			strstr(text, "full queue"),
		    n >= 13);
		if (n > 10)
			snprintf(more, sizeof(more), "      and %zu more\n",
			    n - 10 - (n >= 13));
		assert_int_equal(strstr(text, "more") != NULL, n > 10);
		assert_string_equal(text + strlen(text) - strlen(more), more);
	}
	scenario_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_culprit_is_named_as_the_verdict_names),
	    cmocka_unit_test(components_have_names_and_may_have_failed),
	    cmocka_unit_test(ten_are_shown_the_most_suspect_first),
	};
	return cmocka_run_group_tests_name("experiments/sweep/answer", tests,
	    NULL, NULL);
}
