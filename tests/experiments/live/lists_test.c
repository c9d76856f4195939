/* tests/experiments/live/lists_test.c -- pinglists in pieces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/lists.h"

#include "tests/test.h"

static struct algo_pinglist plan;

static int make_plan(void **state)
{
	struct algo_pinglist_params p;
	struct topo_clos shape;
	(void)state;
	if (sim_field_defaults(algo_pinglist_fields, &p, test_err()) < 0 ||
	    sim_field_defaults(topo_clos_fields, &shape, test_err()) < 0)
		return -1;
	shape.n_tors = 700;
	return algo_pinglist_open(&plan, &p, &shape, 1, test_err());
}

/* The oracle: what `culprit pinglist` writes. */
static size_t whole(uint32_t server, char **bytes)
{
	static struct algo_pinglist_xml x;
	size_t n;
	FILE *out = open_memstream(bytes, &n);
	assert_non_null(out);
	algo_pinglist_xml_open(&x, &plan);
	assert_ok(algo_pinglist_xml_write(&x, server, out, test_err()));
	fclose(out);
	return n;
}

static void pieces_of_any_size_make_the_list(void **state)
{
	static const size_t sizes[] = {1, 7, 100, 4095, 4096, 65536, 1 << 20};
	struct xp_http_lists l;
	struct xp_http_list *list;
	char *want, *got;
	(void)state;
	xp_http_lists_init(&l, &plan, NULL);
	const size_t n = whole(41, &want);
	assert_true(n > 2 * ALGO_PINGLIST_XML_CHUNK);
	got = malloc(n + (1 << 20));
	assert_non_null(got);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t at = 0, more;
		assert_ok(xp_http_list_take(&list, &l, 41, 0, test_err()));
		assert_false(list->is_whole);
		while ((more = xp_http_list_read(list, got + at, sizes[i])) > 0)
			at += more;
		assert_int_equal(at, n);
		assert_memory_equal(got, want, n);
		assert_int_equal(xp_http_list_read(list, got, 1), 0);
		xp_http_list_rest(list);
	}
	free(got);
	free(want);
	xp_http_lists_free(&l);
}

/* A buffer that nobody reads is used again, also when its last reader went away
 * in the middle of a list. */
static void a_buffer_at_rest_is_used_again(void **state)
{
	struct xp_http_lists l;
	struct xp_http_list *a, *b, *again;
	char *want, byte;
	(void)state;
	xp_http_lists_init(&l, &plan, NULL);
	assert_ok(xp_http_list_take(&a, &l, 1, 0, test_err()));
	assert_ok(xp_http_list_take(&b, &l, 2, 0, test_err()));
	assert_ptr_not_equal(a, b);
	xp_http_list_read(a, &byte, 1);
	xp_http_list_rest(a);
	assert_ok(xp_http_list_take(&again, &l, 3, 0, test_err()));
	assert_ptr_equal(again, a);
	const size_t n = whole(3, &want);
	assert_true(n > again->n);
	assert_memory_equal(again->buf, want, again->n);
	xp_http_list_rest(again);
	xp_http_list_rest(b);
	assert_int_equal(xp_http_list_take(&a, &l, plan.n_servers, 0, NULL),
	    SIM_ERANGE);
	free(want);
	xp_http_lists_free(&l);
}

static int take_one(void *arg, struct sim_err *e)
{
	struct xp_http_lists l;
	struct xp_http_list *list;
	(void)arg;
	xp_http_lists_init(&l, &plan, NULL);
	const int rc = xp_http_list_take(&list, &l, 1, 0, e);
	if (rc == 0)
		xp_http_list_rest(list);
	xp_http_lists_free(&l);
	return rc;
}

static void a_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(take_one, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_of_any_size_make_the_list),
	    cmocka_unit_test(a_buffer_at_rest_is_used_again),
	    cmocka_unit_test(a_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("experiments/live/lists", tests,
	    make_plan, NULL);
}
