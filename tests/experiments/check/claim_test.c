/* tests/experiments/check/claim_test.c -- what is read of a file of claims.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * verify_test.c has what comes of claims; here is what each key becomes.
 */
#include "experiments/check/claim.h"

#include "sim/text.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define HEAD "id: x, figure: f, certainty: S, text: t"

static int claim_load(struct xp_claims *c, const char *keys, struct sim_err *e)
{
	char text[1024];
	snprintf(text, sizeof(text), "claims:\n- {%s}\n", keys);
	spec_write("x.yaml", text);
	return xp_claims_load(c, spec_path("x.yaml"), e);
}

/* The claim of these keys behind HEAD; what it borrows of the tree is gone. */
static struct xp_claim claim_of(const char *keys)
{
	struct xp_claims c;
	char all[900];
	snprintf(all, sizeof(all), HEAD ", %s", keys);
	assert_ok(claim_load(&c, all, test_err()));
	assert_int_equal(c.n, 1);
	const struct xp_claim x = c.claim[0];
	xp_claims_free(&c);
	assert_int_equal(c.n, 0);
	assert_null(c.claim);
	return x;
}

static void each_key_is_kept(void **state)
{
	struct xp_claims c;
	(void)state;
	assert_ok(claim_load(&c,
	    "id: an_id, figure: a_figure, certainty: M, text: a text, note: "
	    "a note, metric: n_flagged, algorithm: vote, per: alg1, relation: "
	    "\"<\", value: 1.5, over: pool, runs: 1000000000, must: true, at: "
	    "{plane: exact}, guess: [noise]",
	    test_err()));
	const struct xp_claim *x = &c.claim[0];
	assert_string_equal(x->id, "an_id");
	assert_string_equal(x->figure, "a_figure");
	assert_int_equal(x->certainty, XP_MEASURED);
	assert_string_equal(x->text, "a text");
	assert_string_equal(x->note, "a note");
	assert_string_equal(x->metric, "n_flagged");
	assert_string_equal(x->algorithm, "vote");
	assert_string_equal(x->minus, "");
	assert_string_equal(x->per, "alg1");
	assert_int_equal(x->relation, XP_BELOW);
	assert_string_equal(x->printed, "1.5");
	assert_int_equal(x->over, XP_POOL);
	assert_int_equal(x->runs, 1000000000);
	assert_int_equal(x->must, 1);
	assert_int_equal(x->in_range, 0);
	assert_string_equal(x->at->key[0], "plane");
	assert_string_equal(x->guess->child[0]->text, "noise");
	xp_claims_free(&c);
}

static void what_is_not_given_is_nothing(void **state)
{
	const struct xp_claim x = claim_of("note: why not");
	(void)state;
	assert_int_equal(x.certainty, XP_STATED);
	assert_int_equal(x.relation, XP_WORDS);
	assert_int_equal(x.over, XP_EACH);
	assert_int_equal(x.runs, 0);
	assert_int_equal(x.must, 0);
	assert_int_equal(x.in_range, 0);
	assert_null(x.at);
	assert_null(x.guess);
	assert_string_equal(x.metric, "");
	assert_string_equal(x.printed, "");
	assert_true(x.value == 0 && x.rounding == 0);
}

static void names_are_those_of_their_values(void **state)
{
	static const char *const certain[] = {"S", "Q", "R+", "R", "R-"};
	static const char *const over[] = {"each", "pool", "trend"};
	static const struct {
		const char *name;
		enum xp_relation r;
	} relations[] = {{">=", XP_AT_LEAST}, {"<=", XP_AT_MOST}, {"~", XP_IS},
	    {">", XP_ABOVE}, {"<", XP_BELOW}};
	char keys[256];
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct xp_claims c;
		snprintf(keys, sizeof(keys),
		    "id: x, figure: f, certainty: %s, text: t, note: n",
		    certain[i]);
		assert_ok(claim_load(&c, keys, test_err()));
		assert_int_equal(c.claim[0].certainty, i);
		xp_claims_free(&c);
		snprintf(keys, sizeof(keys),
		    "metric: recall, algorithm: a, relation: \"%s\", value: 1",
		    relations[i].name);
		assert_int_equal(claim_of(keys).relation, relations[i].r);
	}
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(keys, sizeof(keys),
		    "metric: recall, algorithm: a, over: %s", over[i]);
		assert_int_equal(claim_of(keys).over, i);
	}
}

/* Half a unit of the last digit, whatever its unit; none of zero. */
static void digits_tell_how_a_number_was_rounded(void **state)
{
	static const struct {
		const char *printed;
		double value, rounding;
	} cases[] = {
	    {"98 %", 0.98, 0.005},
	    {"90.0 %", 0.9, 0.0005},
	    {"90.47 %", 0.9047, 0.00005},
	    {"1", 1, 0.5},
	    {"1.5", 1.5, 0.05},
	    {"1.18", 1.18, 0.005},
	    {"-12", -12, 0.5},
	    {"-0.25", -0.25, 0.005},
	    {"1250", 1250, 0.5},
	    {"0", 0, 0},
	    {"0.00", 0, 0},
	    {"0 %", 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char keys[256];
		snprintf(keys, sizeof(keys),
		    "metric: recall, algorithm: a, relation: \"~\", value: %s",
		    cases[i].printed);
		const struct xp_claim x = claim_of(keys);
		assert_string_equal(x.printed, cases[i].printed);
		assert_near(x.value, cases[i].value, 1e-12);
		assert_near(x.rounding, cases[i].rounding, 1e-12);
	}
}

static void other_numbers_are_refused_as_printed(void **state)
{
	static const char *const cases[] = {"1e3", "90%", ".5", "1.", "-", "+1",
	    "--1", "1.5.2", "98 % ?", "x", "- 1", "1 %%", "-.5"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char keys[256], says[256];
		struct xp_claims c;
		struct sim_err e;
		snprintf(keys, sizeof(keys),
		    HEAD ", metric: recall, algorithm: a, relation: \"~\", "
			 "value: \"%s\"",
		    cases[i]);
		snprintf(says, sizeof(says),
		    "%s is no number as printed, such as 98 %%, 90.47 %% or "
		    "1.5.",
		    cases[i]);
		assert_int_equal(claim_load(&c, keys, &e), SIM_EINVAL);
		if (!strstr(e.msg, says))
			fail_msg("no \"%s\" in \"%s\"", says, e.msg);
		xp_claims_free(&c);
	}
}

static void assert_quantity(const struct xp_claim *c, uint32_t num,
    uint32_t less, uint32_t den, int of_trial)
{
	assert_int_equal(c->what.num, num);
	assert_int_equal(c->what.less, less);
	assert_int_equal(c->what.den, den);
	assert_int_equal(c->what.of_trial, of_trial);
}

static void every_metric_of_one_owner_is_found(void **state)
{
	(void)state;
	for (unsigned k = 0; k < RES_LIST_REACH; k++) {
		const struct res_metric_list *l = &res_metric_lists[k];
		for (unsigned i = 0; i < l->n; i++) {
			const struct res_metric *m = &l->metric[i];
			char keys[256];
			snprintf(keys, sizeof(keys), "metric: %s%s", m->name,
			    l->of_trial ? "" : ", algorithm: a");
			const struct xp_claim c = claim_of(keys);
			assert_quantity(&c, l->ratio ? m->num : i, XP_NO_COLUMN,
			    l->ratio ? m->den : XP_NO_COLUMN, l->of_trial);
			assert_int_equal(xp_claim_is_share(&c), l->ratio);
		}
	}
}

static void a_difference_is_of_two_numbers_of_one_owner(void **state)
{
	static const struct {
		const char *metric, *says;
	} bad[] = {
	    {"recall - n_flagged",
		"recall - n_flagged: only two metrics of "
		"one owner have a difference, and no "
		"ratios."},
	    {"n_flagged - recall", "only two metrics of one owner"},
	    {"n_flagged - n_drop", "only two metrics of one owner"},
	    {"n_drop - n_flagged", "only two metrics of one owner"},
	    {"n_flagged - n_flaged",
		"there is no metric \"n_flaged\"; did you mean \"n_flagged\"?"},
	    {"n_flaged - n_flagged",
		"there is no metric \"n_flaged\"; did you mean \"n_flagged\"?"},
	    {"zzzzzzzzzzzz", "there is no metric \"zzzzzzzzzzzz\"."},
	    {"n_flagged -n_drop", "there is no metric \"n_flagged -n_drop\""},
	};
	struct xp_claim c =
	    claim_of("metric: n_flagged - n_flagged_true, algorithm: a");
	(void)state;
	assert_quantity(&c, RES_ALGO_n_flagged, RES_ALGO_n_flagged_true,
	    XP_NO_COLUMN, 0);
	assert_string_equal(c.metric, "n_flagged - n_flagged_true");
	c = claim_of("metric: n_flows - n_drop");
	assert_quantity(&c, RES_TRIAL_n_flows, RES_TRIAL_n_drop, XP_NO_COLUMN,
	    1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_claims all;
		struct sim_err e;
		char keys[256];
		snprintf(keys, sizeof(keys), HEAD ", metric: %s, algorithm: a",
		    bad[i].metric);
		assert_int_equal(claim_load(&all, keys, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].says) || strchr(e.msg, '\n'))
			fail_msg("\"%s\" is not \"%s\"", e.msg, bad[i].says);
		xp_claims_free(&all);
	}
}

static void bounds_that_are_not_given_are_open(void **state)
{
	struct xp_claim c;
	(void)state;
	c = claim_of("metric: n_flagged, algorithm: a, within: {from: 1.5, "
		     "to: 3}");
	assert_true(c.in_range && c.from == 1.5 && c.to == 3);
	assert_true(xp_claim_is_share(&c));
	c = claim_of("metric: n_flagged, algorithm: a, within: {to: -3}");
	assert_true(c.in_range && c.from == -INFINITY && c.to == -3);
	c = claim_of("metric: n_flagged, algorithm: a, within: {from: 2}");
	assert_true(c.in_range && c.from == 2 && c.to == INFINITY);
	c = claim_of("metric: n_flagged, algorithm: a, per: b");
	assert_false(xp_claim_is_share(&c));
	c = claim_of("metric: recall, algorithm: a, minus: b");
	assert_true(xp_claim_is_share(&c));
	/* Nobody says so, as `per` is refused with either. */
	c.per[0] = 'b';
	assert_false(xp_claim_is_share(&c));
}

static void ranges_lists_and_values_are_places(void **state)
{
	struct xp_claims c;
	(void)state;
	assert_ok(claim_load(&c,
	    HEAD ", metric: recall, algorithm: a, at: {a: 1, b: [1, 2], c: "
		 "{from: 1, to: 2}, d: {to: 7}}, guess: [e, f]",
	    test_err()));
	const struct sim_yaml_node *at = c.claim[0].at;
	assert_int_equal(at->n, 4);
	assert_true(xp_claim_bound(at->child[2], "from", 9) == 1);
	assert_true(xp_claim_bound(at->child[2], "to", 9) == 2);
	assert_true(xp_claim_bound(at->child[3], "from", 9) == 9);
	assert_true(xp_claim_bound(at->child[3], "to", 9) == 7);
	assert_int_equal(c.claim[0].guess->n, 2);
	xp_claims_free(&c);
}

/* Each is one mistake, at its line and column of the file, and no more. */
static void keys_need_or_rule_out_each_other(void **state)
{
#define METRIC ", metric: recall, algorithm: a"
#define NUMBER ", metric: n_flagged, algorithm: a"
#define PER    "`per` is for metrics that are no ratios, without `within`."
#define MINUS  "`minus` goes neither with `per` nor with a trend."
#define WITHIN                                                                 \
	"within is {from: number, to: number}, of a metric that is no ratio."
#define RANGE "a range of b is {from: number, to: number}."
#define RUNS  "`runs` and certainty M go together."
#define BOTH  "`relation` and `value` go together."
	static const struct {
		const char *keys, *says;
	} cases[] = {
	    {HEAD,
		":2:3: without `metric` a claim needs a `note` that says "
		"why it can't be compared."},
	    {HEAD ", metric: recall",
		":2:3: a claim with a metric needs `algorithm`."},
	    {HEAD ", metric: n_drop, algorithm: a",
		":2:3: n_drop is the trial's own, of no algorithm."},
	    {HEAD ", metric: n_drop, minus: a",
		"n_drop is the trial's own, of no algorithm."},
	    {HEAD ", metric: n_drop, per: a",
		"n_drop is the trial's own, of no algorithm."},
	    {HEAD NUMBER ", minus: b, per: c", MINUS},
	    {HEAD NUMBER ", minus: b, over: trend", MINUS},
	    {HEAD METRIC ", per: b", PER},
	    {HEAD NUMBER ", per: b, within: {from: 1}", PER},
	    {HEAD METRIC ", within: {from: 1}", WITHIN},
	    {HEAD NUMBER ", within: {}", WITHIN},
	    {HEAD NUMBER ", within: 3", WITHIN},
	    {HEAD NUMBER ", within: [1, 3]", WITHIN},
	    {HEAD NUMBER ", within: {from: 1, till: 3}", WITHIN},
	    {HEAD NUMBER ", within: {till: 1, to: 3}", WITHIN},
	    {HEAD NUMBER ", within: {from: one}", WITHIN},
	    {HEAD NUMBER ", within: {from: [1]}", WITHIN},
	    {HEAD METRIC ", at: [a]", "at is a map of axes to values."},
	    {HEAD METRIC ", at: {a: 1, b: {form: 1}}", RANGE},
	    {HEAD METRIC ", at: {a: {to: 1}, b: {}}", RANGE},
	    {HEAD METRIC ", guess: []", "guess is a list of axes."},
	    {HEAD METRIC ", guess: [a, [b]]", "guess is a list of axes."},
	    {HEAD METRIC ", guess: a", "guess is a list of axes."},
	    {HEAD METRIC ", relation: \"~\"", BOTH},
	    {HEAD METRIC ", value: 1", BOTH},
	    {HEAD METRIC ", runs: 1", RUNS},
	    {"id: x, figure: f, certainty: M, text: t" METRIC, RUNS},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_claims c;
		struct sim_err e;
		assert_int_equal(claim_load(&c, cases[i].keys, &e), SIM_EINVAL);
		if (!strstr(e.msg, cases[i].says) || strchr(e.msg, '\n'))
			fail_msg("case %zu: \"%s\" is not \"%s\"", i, e.msg,
			    cases[i].says);
		xp_claims_free(&c);
	}
	/* Without a metric no number of another simulator is compared. */
	claim_of("metric: n_flagged, algorithm: a, minus: b, over: pool");
	claim_of("metric: n_flagged, algorithm: a, per: b, over: trend");
}

static int load_text(struct xp_claims *c, const char *text, struct sim_err *e)
{
	spec_write("x.yaml", text);
	return xp_claims_load(c, spec_path("x.yaml"), e);
}

static void claims_are_a_list_whose_ids_differ(void **state)
{
#define ONE(id) "- {id: " id ", figure: f, certainty: S, text: t, note: n}\n"
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"claims: 3\n",
		"x.yaml:1:9: claims is a list of {id: ..., "
		"figure: ..., ...}."},
	    {"{}\n", "claims is a list of {id: ..., figure: ..., ...}."},
	    {"claims:\n" ONE("a") ONE("b") ONE("a"),
		"x.yaml:4:8: two claims have the id \"a\"."},
	    {"claims:\n" ONE("a") ONE("b") ONE("b"),
		"x.yaml:4:8: two claims have the id \"b\"."},
	    {"claims: []\nclaim: []\n", "claim"},
	};
	struct xp_claims c;
	struct sim_err e;
	(void)state;
	assert_ok(
	    load_text(&c, "claims:\n" ONE("a") ONE("b") ONE("ab"), test_err()));
	assert_int_equal(c.n, 3);
	assert_string_equal(c.claim[0].id, "a");
	assert_string_equal(c.claim[1].id, "b");
	assert_string_equal(c.claim[2].id, "ab");
	xp_claims_free(&c);
	assert_ok(load_text(&c, "claims: []\n", test_err()));
	assert_int_equal(c.n, 0);
	xp_claims_free(&c);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(load_text(&c, bad[i].text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].says) || strchr(e.msg, '\n'))
			fail_msg("\"%s\" is not \"%s\"", e.msg, bad[i].says);
		xp_claims_free(&c);
	}
	assert_int_equal(xp_claims_load(&c, spec_path("none.yaml"), &e),
	    SIM_EIO);
	xp_claims_free(&c);
}

static int load_once(void *arg, struct sim_err *e)
{
	struct xp_claims c;
	const int rc = xp_claims_load(&c, arg, e);
	if (rc == SIM_ENOMEM)
		assert_non_null(strstr(e->msg, "no memory to read "));
	xp_claims_free(&c);
	return rc;
}

static void no_memory_is_told_with_the_file(void **state)
{
	(void)state;
	spec_write("x.yaml",
	    "claims:\n- {" HEAD ", metric: n_flagged - n_flagged_true, "
	    "algorithm: a, within: {from: 1}, at: {b: {to: 3}}, guess: [c], "
	    "relation: \"~\", value: 3 %}\n" ONE("a"));
	test_each_alloc_fails(load_once, (void *)spec_path("x.yaml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_key_is_kept),
	    cmocka_unit_test(what_is_not_given_is_nothing),
	    cmocka_unit_test(names_are_those_of_their_values),
	    cmocka_unit_test(digits_tell_how_a_number_was_rounded),
	    cmocka_unit_test(other_numbers_are_refused_as_printed),
	    cmocka_unit_test(every_metric_of_one_owner_is_found),
	    cmocka_unit_test(a_difference_is_of_two_numbers_of_one_owner),
	    cmocka_unit_test(bounds_that_are_not_given_are_open),
	    cmocka_unit_test(ranges_lists_and_values_are_places),
	    cmocka_unit_test(keys_need_or_rule_out_each_other),
	    cmocka_unit_test(claims_are_a_list_whose_ids_differ),
	    cmocka_unit_test(no_memory_is_told_with_the_file),
	};
	return cmocka_run_group_tests_name("experiments/check/claim", tests,
	    spec_folder_make, spec_folder_remove);
}
