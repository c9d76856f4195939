/* tests/models/obs_paths_test.c -- sets of equal paths, and rows that use them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_paths.h"

#include "models/obs_tallies.h"
#include "tests/test.h"
#include "topo/mesh.h"

static const struct topo_clos shape = {.n_pods = 3,
    .n_tors = 4,
    .n_t1 = 3,
    .n_t2 = 5,
    .n_hosts = 2};

static void paths_open_fat_tree(struct topo *t)
{
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, 6, 0, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

static uint32_t set_between(struct obs_paths *p, const struct topo *t,
    topo_switch from, topo_switch to)
{
	uint32_t set;
	assert_ok(obs_paths_between(p, t, from, to, &set, test_err()));
	return set;
}

static void a_clos_has_as_many_paths_as_its_shape_says(void **state)
{
	(void)state;
	struct topo t;
	struct obs_paths p = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(obs_paths_find(&p, 0, 0), OBS_NO_PATH);
	const uint32_t self = set_between(&p, &t, 2, 2),
		       pod = set_between(&p, &t, 0, 3),
		       far = set_between(&p, &t, 0, 4);
	assert_int_equal(obs_set_size(&p, self), 1);
	assert_int_equal(obs_path_length(&p, p.first[self]), 0);
	assert_int_equal(obs_set_size(&p, pod), shape.n_t1);
	assert_int_equal(obs_path_length(&p, p.first[pod]), 2);
	assert_int_equal(obs_set_size(&p, far),
	    shape.n_t1 * shape.n_t2 * shape.n_t1);
	assert_int_equal(obs_path_length(&p, p.first[far]), 4);
	assert_int_equal(set_between(&p, &t, 0, 4), far);
	assert_int_equal(obs_paths_find(&p, 4, 0), OBS_NO_PATH);
	assert_ok(obs_paths_check(&p, t.n_links, test_err()));
	obs_paths_free(&p);
	topo_close(&t);
}

/* Of the paths between two ToRs of a network that is symmetric, those over a
 * link are the share of flows that cross it; each leads on from where the one
 * before ended. */
static void assert_shares(const struct topo *t, const struct obs_paths *p,
    uint32_t set, topo_host src, topo_host dst)
{
	uint32_t *n = calloc(t->n_links, sizeof(*n));
	assert_non_null(n);
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++) {
		topo_node at = t->n_hosts + topo_tor_of(t, src), from, to;
		for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++) {
			topo_link_ends(t, p->link[k], &from, &to);
			assert_int_equal(from, at);
			at = to;
			n[p->link[k]]++;
		}
		assert_int_equal(at, t->n_hosts + topo_tor_of(t, dst));
	}
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l++)
		assert_near(n[l] / (double)obs_set_size(p, set),
		    topo_path_share(t, src, dst, l), 1e-12);
	free(n);
}

/* 1 if the fabric links of a path, which has a host's cable at either end, are
 * a path of the set. */
static int paths_has(const struct obs_paths *p, uint32_t set,
    const topo_link path[], unsigned n)
{
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++)
		if (obs_path_length(p, i) == n - 2 &&
		    memcmp(p->link + p->off[i], path + 1,
			(n - 2) * sizeof(*path)) == 0)
			return 1;
	return 0;
}

static void paths_hold_every_pair(const struct topo *t)
{
	struct obs_paths p = {0};
	for (topo_host a = 0; a < t->n_hosts; a++)
		for (topo_host b = 0; b < t->n_hosts; b += 3) {
			topo_link path[TOPO_MAX_HOPS];
			if (a == b)
				continue;
			const uint32_t set = set_between(&p, t,
			    topo_tor_of(t, a), topo_tor_of(t, b));
			assert_shares(t, &p, set, a, b);
			for (uint32_t k = 0; k < 20; k++)
				assert_true(paths_has(&p, set, path,
				    topo_path(t, 7, a, b, topo_mix32(k),
					path)));
		}
	assert_ok(obs_paths_check(&p, t->n_links, test_err()));
	/* An emptied one finds nothing, and can be filled again. */
	obs_paths_clear(&p);
	assert_int_equal(obs_paths_find(&p, 0, 1), OBS_NO_PATH);
	assert_int_equal(set_between(&p, t, 0, 1), 0);
	obs_paths_free(&p);
}

static void paths_are_those_that_flows_take(void **state)
{
	(void)state;
	struct topo t;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	paths_hold_every_pair(&t);
	topo_close(&t);
	paths_open_fat_tree(&t);
	paths_hold_every_pair(&t);
	topo_close(&t);
}

static int paths_of_all_pairs(void *arg, struct sim_err *e)
{
	const struct topo *t = arg;
	struct obs_paths p = {0};
	uint32_t set;
	int rc = 0;
	for (topo_switch a = 0; rc == 0 && a < 5; a++)
		for (topo_switch b = 0; rc == 0 && b < 5; b++)
			rc = obs_paths_between(&p, t, a, b, &set, e);
	obs_paths_free(&p);
	return rc;
}

/* What was begun is taken back: the set is not found, and the next one is
 * right. */
static void a_set_that_fails_is_not_there(void **state)
{
	(void)state;
	struct topo t;
	struct obs_paths p = {0};
	uint32_t set;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	test_each_alloc_fails(paths_of_all_pairs, &t);
	test_fail_alloc(6);
	assert_int_equal(obs_paths_between(&p, &t, 0, 4, &set, test_err()),
	    SIM_ENOMEM);
	test_fail_alloc(0);
	assert_int_equal(obs_paths_find(&p, 0, 4), OBS_NO_PATH);
	assert_int_equal(set_between(&p, &t, 0, 4), 0);
	assert_int_equal(obs_set_size(&p, 0), 45);
	obs_paths_free(&p);
	topo_close(&t);
}

static void damaged_paths_are_told(void **state)
{
	(void)state;
	struct topo t;
	struct obs_paths p = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	set_between(&p, &t, 0, 1);
	set_between(&p, &t, 0, 4);
	assert_int_equal(obs_paths_check(&p, 50, test_err()), SIM_EINVAL);
	assert_non_null(strstr(test_err()->msg, "but there are only 50."));
	p.off[2]--;
	p.off[1] += 5;
	assert_int_equal(obs_paths_check(&p, t.n_links, test_err()),
	    SIM_EINVAL);
	assert_non_null(
	    strstr(test_err()->msg, "path 1: its links are 7 to 3"));
	p.off[2]++;
	p.off[1] -= 5;
	p.first[1] = 0;
	assert_int_equal(obs_paths_check(&p, t.n_links, test_err()),
	    SIM_EINVAL);
	assert_non_null(strstr(test_err()->msg, "set 0: its paths are 0 to 0"));
	obs_paths_free(&p);
	topo_close(&t);
}

static void rows_are_checked(void **state)
{
	(void)state;
	struct topo t;
	struct obs_paths p = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	set_between(&p, &t, 0, 1);
	set_between(&p, &t, 0, 4);
	const struct obs_tally good = {.up = 0,
	    .down = TOPO_NONE,
	    .set = 1,
	    .path = 3,
	    .n_sent = 40,
	    .n_lost = 40,
	    .flow = UINT32_MAX,
	    .is_probe = 1};
	struct obs_tally bad[7];
	const char *const text[] = {"up is link 9999", "of set 2",
	    "took path 2, but its set 1 has 3 to 47", "took path 48",
	    "41 of 40", "0 of 0", "of flow 5, but there are only 5"};
	for (unsigned i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].up = 9999;
	bad[1].set = 2;
	bad[2].path = 2;
	bad[3].path = 48;
	bad[4].n_lost = 41;
	bad[5].n_sent = bad[5].n_lost = 0;
	bad[6].flow = 5;
	for (unsigned i = 0; i < 7; i++) {
		struct obs_tallies table = {.paths = &p};
		assert_ok(obs_tallies_add(&table, &good, test_err()));
		assert_ok(obs_tallies_check(&table, t.n_links, 5, test_err()));
		assert_ok(obs_tallies_add(&table, &bad[i], test_err()));
		assert_int_equal(obs_tallies_check(&table, t.n_links, 5,
				     test_err()),
		    SIM_EINVAL);
		assert_non_null(strstr(test_err()->msg, text[i]));
		obs_tallies_free(&table);
	}
	obs_paths_free(&p);
	topo_close(&t);
}

/* 16 * 256 * 16 ways up and down between pods are 65,536. */
static void a_set_has_at_most_65536_paths(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		const struct topo_clos wide = {.n_pods = 2,
		    .n_tors = 2,
		    .n_t1 = 16,
		    .n_t2 = 256 + more,
		    .n_hosts = 1};
		struct topo t;
		struct obs_paths p = {0};
		struct sim_err e;
		uint32_t set;
		assert_ok(topo_open_clos(&t, &wide, test_err()));
		set_between(&p, &t, 0, 1);
		const int rc = obs_paths_between(&p, &t, 0, 2, &set, &e);
		if (!more) {
			assert_ok(rc);
			assert_int_equal(set, 1);
			assert_int_equal(obs_set_size(&p, 1), OBS_MOST_PATHS);
		} else {
			assert_int_equal(rc, SIM_ELIMIT);
			assert_string_equal(e.msg,
			    "more than 65536 equal paths lead from switch 0 to "
			    "switch 2.");
			assert_int_equal(p.n_sets, 1);
			assert_int_equal(p.n, 16);
			assert_int_equal(obs_paths_find(&p, 0, 2), OBS_NO_PATH);
		}
		obs_paths_free(&p);
		topo_close(&t);
	}
}

/* N switches in a row; the first has a host, and so has number OTHER. */
static void open_row(struct topo *t, uint32_t n, uint32_t other)
{
	struct topo_cable cable[300] = {{0, 2}, {1, 2 + other}};
	const struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = n,
	    .n_cables = n + 1,
	    .cable = cable};
	struct topo_mesh *m;
	for (uint32_t i = 0; i + 1 < n; i++)
		cable[2 + i] = (struct topo_cable){2 + i, 3 + i};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* Twenty switches in a row, the first and the third of which have hosts: 16 links
 * lead to the 17th, and more than are had to the next. */
static void a_path_has_at_most_16_links(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs_paths p = {0};
	struct sim_err e;
	uint32_t set;
	open_row(&t, 20, 2);
	set = set_between(&p, &t, 0, 16);
	assert_int_equal(obs_path_length(&p, p.first[set]), TOPO_MAX_HOPS);
	assert_int_equal(obs_paths_between(&p, &t, 0, 17, &set, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "a path has more than 16 links.");
	assert_int_equal(p.n_sets, 1);
	/* From outside as many may come, and no more. */
	topo_link link[TOPO_MAX_HOPS] = {0};
	assert_ok(obs_paths_open(&p, 1, 1, test_err()));
	assert_ok(obs_paths_add(&p, link, TOPO_MAX_HOPS, test_err()));
	assert_ok(obs_paths_add(&p, link, 1, test_err()));
	assert_ok(obs_paths_check(&p, t.n_links, test_err()));
	p.off[2]++;
	assert_int_equal(obs_paths_check(&p, t.n_links, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "path 1: its links are 16 to 33, but there are from 0 to 16.");
	obs_paths_free(&p);
	topo_close(&t);
}

/* Ways are counted in a byte: behind 254 links all switches are equally far. */
static void a_switch_too_far_for_counting_has_no_path(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs_paths p = {0};
	struct sim_err e;
	uint32_t set;
	open_row(&t, 257, 1);
	assert_int_equal(obs_paths_between(&p, &t, 254, 0, &set, &e),
	    SIM_ELIMIT);
	assert_int_equal(obs_paths_between(&p, &t, 256, 0, &set, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "no path leads from switch 256 to switch 0.");
	assert_int_equal(p.n + p.n_sets, 0);
	obs_paths_free(&p);
	topo_close(&t);
}

/* Sets are numbered by 32 bits, of which the last two are none's. */
static void there_are_below_2_32_sets(void **state)
{
	(void)state;
	struct obs_paths p = {.n_sets = UINT32_MAX - 1};
	struct sim_err e;
	assert_int_equal(obs_paths_open(&p, 0, 1, &e), SIM_ELIMIT);
	assert_string_equal(e.msg, "there are too many sets.");
	assert_int_equal(p.n_sets, UINT32_MAX - 1);
}

/* Of links below N the last is good and the next is not; offsets begin at 0, and
 * no set has more paths than there are. */
static void the_ends_of_paths_are_checked(void **state)
{
	(void)state;
	struct obs_paths p = {0};
	struct sim_err e;
	assert_ok(obs_paths_open(&p, 3, 4, test_err()));
	assert_ok(obs_paths_add(&p, (topo_link[]){5, 9}, 2, test_err()));
	assert_ok(obs_paths_check(&p, 10, test_err()));
	assert_int_equal(obs_paths_check(&p, 9, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "path 0 crosses link 9, but there are only 9.");
	p.off[0] = 1;
	assert_int_equal(obs_paths_check(&p, 10, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "path 0: its links begin at 1, not at 0.");
	p.off[0] = 0;
	p.first[1] = 2;
	assert_int_equal(obs_paths_check(&p, 10, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "set 0: its paths are 0 to 2, but it needs one at least and there "
	    "are 1 in all.");
	p.first[1] = 1;
	/* Offsets stay below 2^32 with the longest of paths. */
	p.off[1] = UINT32_MAX - TOPO_MAX_HOPS + 1;
	assert_int_equal(obs_paths_add(&p, (topo_link[]){5}, 1, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "there are too many paths.");
	p.off[1] = 2;
	const uint32_t n_cleared = p.n_cleared;
	obs_paths_clear(&p);
	assert_int_equal(p.n_cleared, n_cleared + 1);
	assert_int_equal(p.n + p.n_sets, 0);
	assert_int_equal(obs_paths_find(&p, 3, 4), OBS_NO_PATH);
	obs_paths_free(&p);
}

/* Of each value the last that is good, and what is said of the next. */
static void each_value_of_a_row_has_its_bound(void **state)
{
	(void)state;
	struct topo t;
	struct obs_paths p = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	set_between(&p, &t, 0, 1);
	set_between(&p, &t, 0, 4);
	const struct obs_tally good = {.up = 7,
	    .down = 9,
	    .set = 1,
	    .path = 47,
	    .n_sent = 1,
	    .n_lost = 1,
	    .flow = 4};
	struct obs_tally row[10];
	const char *const text[10] = {NULL, NULL, NULL, NULL,
	    "row 0: up is link 10, but there are only 10.",
	    "row 0: down is link 10, but there are only 10.",
	    "row 0 is of set 2, but there are only 2.",
	    "row 0 took path 48, but its set 1 has 3 to 47.",
	    "row 0: 2 of 1 packets were lost; a flow sends one at least and "
	    "loses no more than it sends.",
	    "row 0 is of flow 5, but there are only 5."};
	for (unsigned i = 0; i < 10; i++)
		row[i] = good;
	row[1].path = 3;
	row[2].path = OBS_NO_PATH;
	row[3].flow = UINT32_MAX;
	row[3].up = row[3].down = TOPO_NONE;
	row[4].up = 10;
	row[5].down = 10;
	row[6].set = 2;
	row[7].path = 48;
	row[8].n_lost = 2;
	row[9].flow = 5;
	for (unsigned i = 0; i < 10; i++) {
		struct obs_tallies table = {.paths = &p};
		struct sim_err e = {0};
		assert_ok(obs_tallies_add(&table, &row[i], test_err()));
		assert_int_equal(obs_tallies_check(&table, 10, 5, &e),
		    text[i] ? SIM_EINVAL : 0);
		assert_string_equal(e.msg, text[i] ? text[i] : "");
		obs_tallies_free(&table);
	}
	obs_paths_free(&p);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_clos_has_as_many_paths_as_its_shape_says),
	    cmocka_unit_test(paths_are_those_that_flows_take),
	    cmocka_unit_test(a_set_that_fails_is_not_there),
	    cmocka_unit_test(damaged_paths_are_told),
	    cmocka_unit_test(rows_are_checked),
	    cmocka_unit_test(a_set_has_at_most_65536_paths),
	    cmocka_unit_test(a_path_has_at_most_16_links),
	    cmocka_unit_test(a_switch_too_far_for_counting_has_no_path),
	    cmocka_unit_test(there_are_below_2_32_sets),
	    cmocka_unit_test(the_ends_of_paths_are_checked),
	    cmocka_unit_test(each_value_of_a_row_has_its_bound),
	};
	return cmocka_run_group_tests_name("models/obs_paths", tests, NULL,
	    NULL);
}
