/* tests/models/connects/many_test.c -- rows of connects in bulk that stand for many.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a network where nothing is left to chance, so that rows and their counts are
 * held to what the truth says of each connect.
 */
#include "models/connects/connects.h"

#include "tests/rigs/whole_mesh.h"

static const struct topo_clos shape = {4, 8, 4, 4, 8, .n_cables = 0};
enum { HOSTS = 256 };

struct rows {
	struct connects_row row[20000];
	size_t n;
};
static struct rows rows;

static int take_row(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct rows *x = arg;
	(void)e;
	assert_true(x->n < sizeof(x->row) / sizeof(x->row[0]));
	x->row[x->n++] = *r;
	return 0;
}

/* No connect is lost, or late, by itself. */
static void set_up_quiet(struct whole_mesh *m)
{
	whole_mesh_begin(m, &shape, 0);
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++)
		m->p.law[i].stall_share = m->p.law[i].burst_share = 0;
	whole_mesh_open(m);
}

static const struct scene *fill_rows(struct whole_mesh *m, double from_s,
    double to_s)
{
	const struct connects_taker taker = {&rows, take_row, NULL};
	const struct scene *s = scenes_draw(&m->s, 0);
	rows.n = 0;
	assert_ok(connects_begin(m->c, s, test_err()));
	assert_ok(connects_window(m->c, (sim_ns)(from_s * 1e9),
	    (sim_ns)(to_s * 1e9), 0, &taker, test_err()));
	return s;
}

/* R is of all that its pair sends in [from, to), from the first on. */
static void assert_all_of(const struct whole_mesh *m,
    const struct connects_row *r, sim_ns from, sim_ns to, unsigned outcome)
{
	sim_ns first =
	    connects_phase(m->c, connects_level_of(r->hops), r->src, r->dst);
	while (first < from)
		first += 10 * SIM_SEC;
	assert_int_equal(r->outcome, outcome);
	assert_int_equal(r->sent_ns, first);
	assert_int_equal(r->n,
	    connects_due(m->c, connects_level_of(r->hops), r->src, r->dst, from,
		to));
	assert_int_equal(r->n_lost, 3);
	assert_int_equal(r->rtt_ns, 0);
	for (const struct connects_row *x = rows.row; x < r; x++)
		assert_false(x->src == r->src && x->dst == r->dst &&
		    x->outcome == r->outcome);
}

static void add_off(struct whole_mesh *m, uint32_t at[], uint32_t n,
    double from_s, double to_s)
{
	struct fault_params *f = scenes_add_group(&m->s);
	f->kind = FAULT_HOST_OFF;
	f->at = at;
	f->n_at = n;
	f->from_s = from_s;
	f->to_s = to_s;
}

/* The last SYN goes 9 s after the first: what a hole drops until then is one row
 * a pair. Who was off before, or will be long after, is no reason for more. */
static void what_a_hole_drops_throughout_is_one_row(void **state)
{
	uint32_t past[8], future[8];
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		past[i] = 200 + i;
		future[i] = 208 + i;
	}
	for (int k = 0; k < 2; k++) {
		struct whole_mesh m;
		set_up_quiet(&m);
		struct fault_params *f =
		    whole_mesh_add_hole(&m, FAULT_BLACK_HOLE_1, 5, 0.5);
		if (k)
			f->to_s = 209;
		add_off(&m, past, 8, 20, 40);
		add_off(&m, future, 8, 250, 260);
		fill_rows(&m, 100, 200);
		assert_in_range(rows.n, 350, 480);
		assert_int_equal(rows.n % 2, 0);
		for (size_t i = 0; i < rows.n; i++) {
			const struct connects_row *r = &rows.row[i];
			assert_all_of(&m, r, 100 * SIM_SEC, 200 * SIM_SEC,
			    CONNECTS_TIMED_OUT);
			assert_true(r->src / 8 == 5 || r->dst / 8 == 5);
		}
		whole_mesh_close(&m);
	}
}

/* If it ends sooner those are told one by one whose last SYN is sent when it is no
 * more, which gets through. */
static void what_outlasts_a_hole_is_told_one_by_one(void **state)
{
	struct whole_mesh m;
	uint64_t n_late = 0, n_want = 0;
	(void)state;
	set_up_quiet(&m);
	whole_mesh_add_hole(&m, FAULT_BLACK_HOLE_1, 5, 0.5)->to_s = 205;
	fill_rows(&m, 100, 200);
	for (size_t i = 0; i < rows.n; i++) {
		const struct connects_row *r = &rows.row[i];
		if (r->outcome == CONNECTS_TIMED_OUT) {
			assert_all_of(&m, r, 100 * SIM_SEC, 196 * SIM_SEC,
			    CONNECTS_TIMED_OUT);
			n_want += connects_due(m.c, connects_level_of(r->hops),
			    r->src, r->dst, 196 * SIM_SEC, 200 * SIM_SEC);
			continue;
		}
		assert_int_equal(r->outcome, CONNECTS_CONNECTED);
		assert_int_equal(r->n, 1);
		assert_int_equal(r->n_lost, 2);
		assert_true(r->sent_ns >= 196 * SIM_SEC);
		assert_in_range(r->rtt_ns, 9 * SIM_SEC, 10 * SIM_SEC);
		n_late++;
	}
	assert_in_range(rows.n - n_late, 350, 480);
	assert_int_equal(n_late, n_want);
	whole_mesh_close(&m);
}

/* Of each peer a row that it was not called, and one that it called in vain. */
static void a_server_that_is_off_has_two_rows_a_peer(void **state)
{
	uint32_t host = 7;
	struct whole_mesh m;
	(void)state;
	set_up_quiet(&m);
	add_off(&m, &host, 1, 103, 209);
	fill_rows(&m, 95, 200);
	assert_int_equal(rows.n, 2 * (7 + 31));
	for (size_t i = 0; i < rows.n; i++) {
		const struct connects_row *r = &rows.row[i];
		assert_true((r->src == 7) != (r->dst == 7));
		assert_all_of(&m, r, 103 * SIM_SEC, 200 * SIM_SEC,
		    r->src == 7 ? CONNECTS_UNTOLD : CONNECTS_TIMED_OUT);
	}
	whole_mesh_close(&m);
}

static int is_swallowed(const struct scene *s, const struct topo_tuple *t)
{
	const struct topo_tuple back = {t->dst_ip, t->src_ip, t->dst_port,
	    t->src_port, t->proto};
	return truth_swallows(&s->truth, 5, t, 150 * SIM_SEC) ||
	    truth_swallows(&s->truth, 5, &back, 150 * SIM_SEC);
}

/* Of all connects of the pair in [95, 237) s. */
static uint64_t n_swallowed_of(const struct whole_mesh *m,
    const struct scene *s, unsigned level, topo_host src, topo_host dst,
    struct sim_rng *r)
{
	const sim_ns phase = connects_phase(m->c, level, src, dst);
	uint64_t n = 0;
	for (uint64_t k = 0; phase + k * 10 * SIM_SEC < 237 * SIM_SEC; k++) {
		const struct topo_tuple t =
		    whole_mesh_tuple(m, level, src, dst, k, r);
		n += phase + k * 10 * SIM_SEC >= 95 * SIM_SEC &&
		    is_swallowed(s, &t);
	}
	return n;
}

static uint64_t n_swallowed(const struct whole_mesh *m, const struct scene *s,
    struct sim_rng *r)
{
	uint64_t n = 0;
	for (topo_host h = 0; h < HOSTS; h++)
		for (unsigned level = 0; level < 2; level++)
			for (uint32_t j = 0; j < m->p.mesh.n_peers[level];
			     j++) {
				const topo_host d =
				    whole_mesh_peer(&shape, level, h, j);
				if (h / 8 == 5 || d / 8 == 5)
					n += n_swallowed_of(m, s, level, h, d,
					    r);
			}
	return n;
}

/* Where ports come again: just the connects whose five-tuple the ToR's hole
 * drops, each a row at its time. */
static void five_tuples_fail_at_their_turns(void **state)
{
	(void)state;
	for (int of_list = 0; of_list < 2; of_list++) {
		struct whole_mesh m;
		struct sim_rng any;
		uint64_t n = 0;
		test_rng(&any, 0);
		set_up_quiet(&m);
		/* A turn in 240 s, or 24 / gcd(24, 38) = 12 with one count. */
		m.p.ports =
		    (struct connects_ports){24, 40000, 81, (uint8_t)of_list, 1};
		whole_mesh_open(&m);
		whole_mesh_add_hole(&m, FAULT_BLACK_HOLE_2, 5, 0.1);
		const struct scene *s = fill_rows(&m, 95, 237);
		for (size_t i = 0; i < rows.n; i++) {
			const struct connects_row *r = &rows.row[i];
			const unsigned level = connects_level_of(r->hops);
			const sim_ns phase =
			    connects_phase(m.c, level, r->src, r->dst);
			if (r->outcome != CONNECTS_TIMED_OUT)
				continue;
			const uint64_t k =
			    (r->sent_ns - phase) / (10 * SIM_SEC);
			assert_int_equal(r->sent_ns, phase + k * 10 * SIM_SEC);
			assert_true(r->sent_ns >= 95 * SIM_SEC);
			assert_true(r->sent_ns < 237 * SIM_SEC);
			const struct topo_tuple t = whole_mesh_tuple(&m, level,
			    r->src, r->dst, k, &any);
			assert_true(is_swallowed(s, &t));
			assert_int_equal(r->n, 1);
			assert_int_equal(r->n_lost, 3);
			n++;
		}
		const uint64_t want = n_swallowed(&m, s, &any);
		assert_int_equal(n, want);
		assert_true(n > 500);
		whole_mesh_close(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_hole_drops_throughout_is_one_row),
	    cmocka_unit_test(what_outlasts_a_hole_is_told_one_by_one),
	    cmocka_unit_test(a_server_that_is_off_has_two_rows_a_peer),
	    cmocka_unit_test(five_tuples_fail_at_their_turns),
	};
	return cmocka_run_group_tests_name("models/connects, rows of many",
	    tests, NULL, NULL);
}
