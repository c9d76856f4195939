/* tests/topo/mesh_cross_test.c -- flows of a mesh that cross something.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, about 40: one fires in 4 of 100,000 random seeds.
 */
#include "tests/rigs/law.h"
#include "tests/rigs/meshes.h"
#include "tests/test.h"
#include "topo/mesh_cross.h"

static void open_all(struct topo_mesh *m[N_MESHES])
{
	for (enum meshes_kind i = 0; i < N_MESHES; i++)
		m[i] = meshes_open(i);
}

static void close_all(struct topo_mesh *m[N_MESHES])
{
	for (enum meshes_kind i = 0; i < N_MESHES; i++)
		topo_mesh_close(m[i]);
}

/* Some host under a switch, or TOPO_NONE. */
static topo_host host_under(const struct topo_mesh *m, topo_switch s)
{
	for (topo_host h = 0; h < topo_mesh_n_hosts(m); h++)
		if (topo_mesh_tor_of(m, h) == s)
			return h;
	return TOPO_NONE;
}

static struct topo_via via_of(const struct topo_mesh *m, topo_link l)
{
	topo_node from, to;
	topo_mesh_link_ends(m, l, &from, &to);
	return (struct topo_via){from - topo_mesh_n_hosts(m),
	    to - topo_mesh_n_hosts(m)};
}

/* Of all flows from SRC to DST, by another way: the share that crosses VIA. */
static double share_of(const struct topo_mesh *m, struct topo_via via,
    topo_host src, topo_host dst)
{
	const uint32_t first = 2 * topo_mesh_n_hosts(m);
	double sum =
	    via.next == TOPO_NONE && topo_mesh_tor_of(m, src) == via.at;
	for (topo_link l = first; l < topo_mesh_n_links(m); l++) {
		const struct topo_via x = via_of(m, l);
		if (via.next == TOPO_NONE
			? x.next == via.at
			: x.at == via.at && x.next == via.next)
			sum += topo_mesh_path_share(m, src, dst, l);
	}
	return sum;
}

/* A sweep over VIA from each ToR to each; returns the pairs that cross. */
static uint64_t check_sweeps(struct topo_mesh_cross *c,
    const struct topo_mesh *m, struct topo_via via)
{
	const uint32_t n = topo_mesh_n_switches(m);
	uint64_t pairs = 0;
	for (topo_switch to = 0; to < n; to++) {
		const topo_host dst = host_under(m, to);
		if (dst == TOPO_NONE)
			continue;
		const double onward = topo_mesh_cross_sweep(c, via, to);
		for (topo_switch s = 0; s < n; s++) {
			const topo_host src = host_under(m, s);
			if (src == TOPO_NONE || s == to)
				continue;
			const double want = share_of(m, via, src, dst);
			assert_float_equal(c->reach[s] * onward, want, 1e-12);
			pairs += want > 0;
		}
	}
	return pairs;
}

static void sweeps_give_the_shares_of_all_pairs(void **state)
{
	(void)state;
	struct topo_mesh *m[N_MESHES];
	struct topo_mesh_cross c = {0};
	open_all(m);
	for (enum meshes_kind i = 0; i < N_MESHES; i++) {
		const topo_link n = topo_mesh_n_links(m[i]);
		assert_ok(topo_mesh_cross_begin(&c, m[i], test_err()));
		for (topo_link l = 2 * topo_mesh_n_hosts(m[i]); l < n; l += 3) {
			const struct topo_via via = via_of(m[i], l);
			assert_true(check_sweeps(&c, m[i], via) <=
			    topo_mesh_cross_most(m[i], via));
		}
		for (topo_switch s = 0; s < topo_mesh_n_switches(m[i]); s++) {
			const struct topo_via via = {s, TOPO_NONE};
			assert_true(check_sweeps(&c, m[i], via) <=
			    topo_mesh_cross_most(m[i], via));
		}
	}
	topo_mesh_cross_free(&c);
	close_all(m);
}

/* In a fat-tree of k = 4, with 8 ToRs: all that leaves a ToR, or a pod. Of a
 * switch those of all links into it count, though one flow has several ways. */
static void in_a_tree_the_bound_of_a_link_is_its_number(void **state)
{
	(void)state;
	struct topo_mesh *m = meshes_open(MESHES_FAT_TREE);
	assert_int_equal(topo_mesh_cross_most(m, (struct topo_via){0, 8}), 7);
	assert_int_equal(topo_mesh_cross_most(m, (struct topo_via){8, 0}), 7);
	assert_int_equal(topo_mesh_cross_most(m, (struct topo_via){8, 16}), 12);
	assert_int_equal(topo_mesh_cross_most(m, (struct topo_via){16, 8}), 12);
	assert_int_equal(topo_mesh_cross_most(m,
			     (struct topo_via){0, TOPO_NONE}),
	    7 + 2 * 7);
	topo_mesh_close(m);
}

/* Paths as numbers: those between two hosts, in the order of appearance. */
enum { MAX_PATHS = 64, DRAWS = 20000 };
struct paths {
	topo_link path[MAX_PATHS][TOPO_MAX_HOPS];
	unsigned n;
};

static unsigned number_of(struct paths *p, const topo_link path[], unsigned h)
{
	for (unsigned i = 0; i < p->n; i++)
		if (memcmp(p->path[i], path, h * sizeof(*path)) == 0)
			return i;
	assert_true(p->n < MAX_PATHS);
	memcpy(p->path[p->n], path, h * sizeof(*path));
	return p->n++;
}

static int crosses(const struct topo_mesh *m, struct topo_via via,
    const topo_link path[], unsigned h)
{
	for (unsigned i = 0; i + 1 < h; i++) {
		topo_node from, to;
		topo_mesh_link_ends(m, path[i], &from, &to);
		const struct topo_via x = {from - topo_mesh_n_hosts(m),
		    to - topo_mesh_n_hosts(m)};
		if (via.next == TOPO_NONE
			? x.next == via.at
			: x.at == via.at && x.next == via.next)
			return 1;
	}
	return 0;
}

/* Paths drawn given VIA against those among all that cross it. */
static void check_paths(struct topo_mesh_cross *c, const struct topo_mesh *m,
    struct topo_via via, topo_host src, topo_host dst)
{
	struct paths paths = {.n = 0};
	uint64_t got[2][MAX_PATHS] = {{0}};
	topo_link path[TOPO_MAX_HOPS];
	struct sim_seed where = {.seed = test_seed(), .run = via.at};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, via.next);
	for (unsigned i = 0; i < DRAWS;) {
		const unsigned h =
		    topo_mesh_path(m, 0, src, dst, sim_rng_u32(&r), path);
		if (!crosses(m, via, path, h))
			continue;
		got[0][number_of(&paths, path, h)]++;
		const unsigned given =
		    topo_mesh_cross_path(c, &r, via, src, dst, path);
		assert_int_equal(given, h);
		assert_true(crosses(m, via, path, h));
		got[1][number_of(&paths, path, h)]++;
		i++;
	}
	const double p = law_chi2_equal(got[0], got[1], MAX_PATHS);
	if (!(p >= 1e-6))
		fail_msg("from %u to %u over %u, %u: p = %g, seed %ju", src,
		    dst, via.at, via.next, p, (uintmax_t)test_seed());
}

static void paths_that_cross_have_the_law_of_those_that_happen_to(void **state)
{
	(void)state;
	struct topo_mesh *m[N_MESHES];
	struct topo_mesh_cross c = {0};
	open_all(m);
	for (enum meshes_kind i = 0; i < N_MESHES; i++) {
		/* In the odd mesh under ToR 1, to which ways are unlike. */
		const topo_host last = topo_mesh_n_hosts(m[i]) - 3;
		unsigned left = 5;
		assert_ok(topo_mesh_cross_begin(&c, m[i], test_err()));
		for (topo_link l = 2 * topo_mesh_n_hosts(m[i]);
		     l < topo_mesh_n_links(m[i]) && left > 0; l++) {
			struct topo_via via = via_of(m[i], l);
			const double share =
			    topo_mesh_path_share(m[i], 0, last, l);
			if (share == 0 || share == 1)
				continue;
			check_paths(&c, m[i], via, 0, last);
			via.at = via.next;
			via.next = TOPO_NONE;
			check_paths(&c, m[i], via, 0, last);
			left--;
		}
	}
	topo_mesh_cross_free(&c);
	close_all(m);
}

static int begin_afresh(void *arg, struct sim_err *e)
{
	struct topo_mesh_cross c = {0};
	const int rc = topo_mesh_cross_begin(&c, arg, e);
	topo_mesh_cross_free(&c);
	return rc;
}

/* As it was before it began: it may begin again, of another mesh. */
static void what_is_freed_is_empty(void **state)
{
	struct topo_mesh_cross c = {0};
	struct topo_mesh *m = meshes_open(MESHES_ODD);
	(void)state;
	assert_ok(topo_mesh_cross_begin(&c, m, test_err()));
	topo_mesh_cross_free(&c);
	assert_null(c.mesh);
	assert_null(c.order);
	assert_null(c.reach);
	assert_int_equal(c.cap_order, 0);
	assert_int_equal(c.cap_reach, 0);
	topo_mesh_cross_free(&c);
	topo_mesh_close(m);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct topo_mesh *m = meshes_open(MESHES_ODD);
	test_each_alloc_fails(begin_afresh, m);
	topo_mesh_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sweeps_give_the_shares_of_all_pairs),
	    cmocka_unit_test(in_a_tree_the_bound_of_a_link_is_its_number),
	    cmocka_unit_test(
		paths_that_cross_have_the_law_of_those_that_happen_to),
	    cmocka_unit_test(what_is_freed_is_empty),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("topo/mesh_cross", tests, NULL,
	    NULL);
}
