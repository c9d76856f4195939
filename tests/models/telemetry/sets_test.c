/* tests/models/telemetry/sets_test.c -- equal paths of racks, there and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/sets.h"

#include "tests/rigs/meshes.h"
#include "tests/test.h"

/* Sets and all that they point at. */
struct kept_sets {
	struct topo topo;
	struct obs_paths paths, legs;
	uint8_t has_all, too_many;
	struct telemetry_sets x;
};

static void kept_sets_of(struct kept_sets *k)
{
	k->x = (struct telemetry_sets){&k->topo, &k->paths, &k->legs,
	    &k->has_all, &k->too_many};
}

static void open_sets(struct kept_sets *k, enum meshes_kind kind)
{
	*k = (struct kept_sets){.has_all = 0};
	assert_ok(topo_open_mesh(&k->topo, meshes_open(kind), test_err()));
	kept_sets_of(k);
}

static void close_sets(struct kept_sets *k)
{
	obs_paths_free(&k->paths);
	obs_paths_free(&k->legs);
	topo_close(&k->topo);
}

/* Whatever was there before: the fat-tree has 8 racks, and set 8 a + b leads from
 * rack a to rack b. */
static void all_sets_stand_in_the_order_of_racks(void **state)
{
	(void)state;
	struct kept_sets k;
	uint32_t set;
	open_sets(&k, MESHES_FAT_TREE);
	assert_ok(obs_paths_between(&k.paths, &k.topo, 7, 3, &set, test_err()));
	for (unsigned turn = 0; turn < 2; turn++) {
		assert_ok(telemetry_sets_all(&k.x, test_err()));
		assert_int_equal(k.has_all, 1);
		assert_int_equal(k.too_many, 0);
		assert_int_equal(k.paths.n_sets, 64);
		for (uint32_t a = 0; a < 8; a++)
			for (uint32_t b = 0; b < 8; b++) {
				assert_int_equal(obs_paths_find(&k.paths, a, b),
				    8 * a + b);
				/* 1 to itself, 2 in the pod, 4 beyond. */
				assert_int_equal(obs_set_size(&k.paths,
						     8 * a + b),
				    a == b               ? 1
					: a / 2 == b / 2 ? 2
							 : 4);
			}
		/* Nothing is made anew while all are there. */
		assert_int_equal(k.paths.n_cleared, 1);
	}
	telemetry_sets_forget(&k.x);
	assert_int_equal(k.has_all, 0);
	assert_int_equal(k.paths.n_sets, 0);
	assert_ok(telemetry_sets_all(&k.x, test_err()));
	assert_int_equal(k.paths.n_sets, 64);
	close_sets(&k);
}

/* 12 racks of each pod have 51,200 paths to each of the other's: over a million
 * from the second rack on. */
static void too_many_are_not_kept(void **state)
{
	(void)state;
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 12,
	    .n_t1 = 16,
	    .n_t2 = 200,
	    .n_hosts = 1};
	struct kept_sets k = {.has_all = 0};
	assert_ok(topo_open_clos(&k.topo, &shape, test_err()));
	kept_sets_of(&k);
	for (unsigned turn = 0; turn < 2; turn++) {
		assert_ok(telemetry_sets_all(&k.x, test_err()));
		assert_int_equal(k.has_all, 0);
		assert_int_equal(k.too_many, 1);
		assert_int_equal(k.paths.n_sets, 0);
		/* Those of an epoch before are gone as well. */
		uint32_t set;
		assert_ok(obs_paths_between(&k.paths, &k.topo, 0, 1, &set,
		    test_err()));
	}
	/* The first time twice, behind them, too; then it is known. */
	assert_int_equal(k.paths.n_cleared, 4);
	close_sets(&k);
}

static void a_path_is_found_by_all_of_its_links(void **state)
{
	(void)state;
	struct kept_sets k;
	open_sets(&k, MESHES_ODD);
	assert_ok(telemetry_sets_all(&k.x, test_err()));
	const struct obs_paths *p = &k.paths;
	for (uint32_t set = 0; set < p->n_sets; set++)
		for (uint32_t i = 0; i < p->n; i++) {
			const topo_link *link = p->link + p->off[i];
			const unsigned n = obs_path_length(p, i);
			const int in =
			    i >= p->first[set] && i < p->first[set + 1];
			/* Those without links are all alike. */
			if (n == 0 && !in)
				continue;
			assert_int_equal(telemetry_sets_find(p, set, link, n),
			    in ? i : OBS_NO_PATH);
			if (n == 0 || !in)
				continue;
			topo_link other[TOPO_MAX_HOPS];
			memcpy(other, link, n * sizeof(*link));
			other[n - 1] ^= 1;
			assert_int_equal(telemetry_sets_find(p, set, other, n),
			    OBS_NO_PATH);
			assert_int_equal(telemetry_sets_find(p, set, link,
					     n - 1),
			    OBS_NO_PATH);
		}
	close_sets(&k);
}

/* The k-th way there is followed by the k-th back. */
static void assert_trips(const struct kept_sets *k, topo_switch tor,
    topo_switch s, uint32_t set)
{
	struct obs_paths legs = {0};
	uint32_t up, down;
	assert_ok(obs_paths_between(&legs, &k->topo, tor, s, &up, test_err()));
	assert_ok(
	    obs_paths_between(&legs, &k->topo, s, tor, &down, test_err()));
	const uint32_t n_up = obs_set_size(&legs, up),
		       n_down = obs_set_size(&legs, down);
	const uint32_t n = n_up > n_down ? n_up : n_down;
	assert_int_equal(obs_set_size(&k->paths, set), n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t a = legs.first[up] + i % n_up,
			       b = legs.first[down] + i % n_down,
			       both = k->paths.first[set] + i;
		const unsigned n_a = obs_path_length(&legs, a),
			       n_b = obs_path_length(&legs, b);
		const topo_link *way = k->paths.link + k->paths.off[both];
		assert_int_equal(obs_path_length(&k->paths, both), n_a + n_b);
		for (unsigned h = 0; h < n_a; h++)
			assert_int_equal(way[h], legs.link[legs.off[a] + h]);
		for (unsigned h = 0; h < n_b; h++)
			assert_int_equal(way[n_a + h],
			    legs.link[legs.off[b] + h]);
	}
	obs_paths_free(&legs);
}

static void a_trip_is_a_way_there_and_one_back(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < N_MESHES; kind++) {
		struct kept_sets k;
		open_sets(&k, (enum meshes_kind)kind);
		const topo_switch tor = topo_tor_of(&k.topo, 0);
		uint32_t n = 0;
		for (topo_switch s = 0; s < k.topo.n_switches; s++, n++) {
			uint32_t set;
			assert_ok(telemetry_sets_trips(&k.x, tor, s, &set,
			    test_err()));
			assert_int_equal(set, n);
			assert_trips(&k, tor, s, set);
			const size_t n_paths = k.paths.n;
			/* It is there now, and not made once more. */
			assert_ok(telemetry_sets_trips(&k.x, tor, s, &set,
			    test_err()));
			assert_int_equal(set, n);
			assert_int_equal(k.paths.n, n_paths);
			assert_int_equal(k.paths.n_sets, n + 1);
		}
		close_sets(&k);
	}
}

/* Ten switches in a row: with both cables of the host a trip to switch 7 has 16
 * links, and one to switch 8 would have 18. */
static void a_trip_that_is_too_long_is_refused(void **state)
{
	(void)state;
	enum { N = 10 };
	struct topo_cable cable[N + 1] = {{0, 2}, {1, 1 + N}};
	const struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = N,
	    .n_cables = N + 1,
	    .cable = cable};
	struct topo_mesh *m;
	struct kept_sets k = {.has_all = 0};
	struct sim_err e;
	uint32_t set;
	for (uint32_t i = 0; i + 1 < N; i++)
		cable[2 + i] = (struct topo_cable){2 + i, 3 + i};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&k.topo, m, test_err()));
	kept_sets_of(&k);
	assert_ok(telemetry_sets_trips(&k.x, 0, 7, &set, test_err()));
	assert_int_equal(obs_path_length(&k.paths, k.paths.first[set]), 14);
	k.has_all = 1;
	assert_int_equal(telemetry_sets_trips(&k.x, 0, 8, &set, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "a probe that comes back crosses 18 links, but ways have 16 at "
	    "most.");
	/* Half a set is not left behind. */
	assert_int_equal(k.paths.n_sets, 0);
	assert_int_equal(k.has_all, 0);
	close_sets(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_sets_stand_in_the_order_of_racks),
	    cmocka_unit_test(too_many_are_not_kept),
	    cmocka_unit_test(a_path_is_found_by_all_of_its_links),
	    cmocka_unit_test(a_trip_is_a_way_there_and_one_back),
	    cmocka_unit_test(a_trip_that_is_too_long_is_refused),
	};
	return cmocka_run_group_tests_name("models/telemetry/sets", tests, NULL,
	    NULL);
}
