/* tests/models/losses_test.c -- losses grow side by side, or not at all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/losses.h"

#include "tests/test.h"

enum { HOPS = 3 };

/* Row I of each of the arrays, no two values of which are alike. */
static void row(uint32_t i, uint32_t drops[HOPS], uint32_t buffer[HOPS],
    topo_link path[HOPS])
{
	for (uint32_t k = 0; k < HOPS; k++) {
		drops[k] = 100 * i + k;
		buffer[k] = 100000 + 100 * i + k;
		path[k] = 200000 + 100 * i + k;
	}
}

static int add_row(struct losses *l, uint32_t i, struct sim_err *e)
{
	uint32_t drops[HOPS], buffer[HOPS];
	topo_link path[HOPS];
	int rc;
	row(i, drops, buffer, path);
	if ((rc = losses_add_hops(l, drops, buffer, HOPS, e)) < 0 ||
	    (rc = losses_add_path(l, path, HOPS, e)) < 0 ||
	    (rc = losses_add_culprit(l, 7 * i, e)) < 0)
		return rc;
	return losses_add_early(l, 11 * i, e);
}

static void assert_rows(const struct losses *l, uint32_t n)
{
	assert_int_equal(l->n_drops, n * HOPS);
	assert_int_equal(l->n_buffer, l->has_buffer ? n * HOPS : 0);
	assert_int_equal(l->n_path, n * HOPS);
	assert_int_equal(l->n_culprits, n);
	assert_int_equal(l->n_early, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t drops[HOPS], buffer[HOPS];
		topo_link path[HOPS];
		row(i, drops, buffer, path);
		for (uint32_t k = 0; k < HOPS; k++) {
			assert_int_equal(l->drops[i * HOPS + k], drops[k]);
			assert_int_equal(l->path[i * HOPS + k], path[k]);
			if (l->has_buffer)
				assert_int_equal(l->buffer[i * HOPS + k],
				    buffer[k]);
		}
		assert_int_equal(l->culprit[i], 7 * i);
		assert_int_equal(l->early[i], 11 * i);
	}
}

/* With buffers and without; and once more where a window was before. */
static void arrays_are_parallel_and_serve_again(void **state)
{
	struct losses l = {0};
	(void)state;
	for (unsigned turn = 0; turn < 4; turn++) {
		losses_clear(&l);
		assert_int_equal(l.has_buffer, 0);
		l.has_buffer = turn % 2;
		assert_rows(&l, 0);
		for (uint32_t i = 0; i < 100; i++)
			assert_ok(add_row(&l, i, test_err()));
		assert_rows(&l, 100);
	}
	const uint32_t *before = l.drops;
	losses_clear(&l);
	assert_ptr_equal(l.drops, before);
	losses_free(&l);
	assert_null(l.drops);
	assert_int_equal(l.cap_drops, 0);
	losses_free(&l);
}

static void the_last_hops_are_taken_back(void **state)
{
	(void)state;
	for (uint8_t has = 0; has < 2; has++) {
		struct losses l = {.has_buffer = has};
		uint32_t drops[HOPS] = {1, 2, 3}, buffer[HOPS] = {4, 5, 6};
		assert_ok(losses_add_hops(&l, drops, buffer, 3, test_err()));
		assert_ok(losses_add_hops(&l, drops, buffer, 2, test_err()));
		losses_drop_hops(&l, 2);
		assert_int_equal(l.n_drops, 3);
		assert_int_equal(l.n_buffer, has ? 3 : 0);
		assert_ok(losses_add_drops(&l, drops + 1, 1, test_err()));
		assert_int_equal(l.n_drops, 4);
		assert_int_equal(l.n_buffer, has ? 3 : 0);
		assert_int_equal(l.drops[2], 3);
		assert_int_equal(l.drops[3], 2);
		losses_free(&l);
	}
}

/* What was not added to both arrays was added to none. */
static int add_twenty(void *arg, struct sim_err *e)
{
	struct losses l = {.has_buffer = 1};
	int rc = 0;
	uint32_t drops[HOPS], buffer[HOPS];
	topo_link path[HOPS];
	(void)arg;
	for (uint32_t i = 0; rc == 0 && i < 20; i++) {
		row(i, drops, buffer, path);
		rc = losses_add_hops(&l, drops, buffer, HOPS, e);
		assert_int_equal(l.n_drops, (i + (rc == 0)) * HOPS);
		assert_int_equal(l.n_buffer, l.n_drops);
		if (rc < 0) {
			assert_int_equal(add_row(&l, i, NULL), 0);
			assert_int_equal(l.drops[i * HOPS], drops[0]);
			assert_int_equal(l.buffer[i * HOPS], buffer[0]);
		} else if ((rc = losses_add_path(&l, path, HOPS, e)) == 0 &&
		    (rc = losses_add_culprit(&l, i, e)) == 0) {
			rc = losses_add_early(&l, i, e);
		}
	}
	losses_free(&l);
	return rc;
}

static void without_memory_nothing_is_added(void **state)
{
	(void)state;
	test_each_alloc_fails(add_twenty, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arrays_are_parallel_and_serve_again),
	    cmocka_unit_test(the_last_hops_are_taken_back),
	    cmocka_unit_test(without_memory_nothing_is_added),
	};
	return cmocka_run_group_tests_name("models/losses", tests, NULL, NULL);
}
