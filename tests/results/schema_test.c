/* tests/results/schema_test.c -- each metric says what it is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/schema.h"

#include "sim/text.h"
#include "tests/test.h"

static const struct res_metric_list *list_of(const struct res_metric *m)
{
	const struct res_metric_list *l = NULL;
	assert_ptr_equal(res_metric_find(m->name, &l), m);
	return l;
}

/* All, with the list that has it. */
#define EACH(l, m)                                                             \
	for (const struct res_metric_list *l = res_metric_lists;               \
	     l < res_metric_lists + RES_N_LISTS; l++)                          \
		for (const struct res_metric *m = l->metric;                   \
		     m < l->metric + l->n; m++)

static void each_has_a_meaning_a_definition_and_a_unit(void **state)
{
	(void)state;
	EACH(l, m)
	{
		if (strlen(m->doc) < 5 || strlen(m->how) < 5 || !*m->unit)
			fail_msg("%s says too little", m->name);
		/* A dataset's long_name stands alone, and is no sentence. */
		if (strstr(m->doc, "of these") || strstr(m->doc, "they") ||
		    m->doc[strlen(m->doc) - 1] == '.' ||
		    m->how[strlen(m->how) - 1] == '.')
			fail_msg("%s: %s; %s", m->name, m->doc, m->how);
		/* A formula: of what is counted, or of other metrics. */
		if (strcmp(m->doc, m->how) == 0)
			fail_msg("%s is defined by its meaning", m->name);
		assert_true(m->range <= RES_RANGE_REAL);
	}
}

/* Its definition is the one over the other, and both count the same thing. */
static void each_ratio_names_numerator_and_denominator(void **state)
{
	size_t n = 0;
	(void)state;
	EACH(l, m)
	{
		const struct res_metric *num = res_metric_num(l, m);
		const struct res_metric *den = res_metric_den(l, m);
		char text[256];
		assert_int_equal(num != NULL, l->ratio);
		assert_int_equal(den != NULL, l->ratio);
		if (!l->ratio)
			continue;
		n++;
		snprintf(text, sizeof(text), "%s / %s", num->name, den->name);
		assert_string_equal(m->how, text);
		assert_string_equal(num->unit, den->unit);
		assert_string_equal(m->unit, "1");
		assert_int_equal(m->range, RES_RANGE_SHARE);
		/* What is divided is measured, and not divided itself. */
		assert_false(list_of(num)->ratio || list_of(den)->ratio);
		assert_int_equal(list_of(num)->of_trial, l->of_trial);
	}
	assert_true(
	    n == RES_N_RATIOS + RES_N_TRIAL_RATIOS + RES_N_REACH_RATIOS);
}

static void names_are_unique_and_all_are_listed(void **state)
{
	const char *name[RES_N_NAMES];
	size_t n = 0;
	(void)state;
	res_metric_names(name);
	EACH(l, m)
	{
		assert_ptr_equal(res_metric_find(m->name, NULL), m);
		assert_ptr_equal(list_of(m), l);
		assert_string_equal(name[n++], m->name);
	}
	assert_int_equal(n, RES_N_NAMES);
	assert_null(res_metric_find("recal", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_has_a_meaning_a_definition_and_a_unit),
	    cmocka_unit_test(each_ratio_names_numerator_and_denominator),
	    cmocka_unit_test(names_are_unique_and_all_are_listed),
	};
	return cmocka_run_group_tests_name("results/schema", tests, NULL, NULL);
}
