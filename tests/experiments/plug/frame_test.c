/* tests/experiments/plug/frame_test.c -- what a child is told, byte by byte.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Frames are taken apart by the layout that frame.h states.
 */
#include "experiments/plug/frame.h"

#include "experiments/plug/columns.h"
#include "models/obs_tallies.h"
#include "tests/test.h"

/* Where in a frame is read next. */
struct taker {
	const unsigned char *b;
	size_t at, end;
};

static uint64_t take_int(struct taker *t, size_t size)
{
	uint64_t x = 0;
	assert_true(t->at + size <= t->end);
	for (size_t i = size; i-- > 0;)
		x = x << 8 | t->b[t->at + i];
	t->at += size;
	return x;
}

/* Up to the next multiple of 8 there are zeros. */
static void take_padding(struct taker *t)
{
	while (t->at % 8 != 0)
		assert_int_equal(take_int(t, 1), 0);
}

static void take_array(struct taker *t, const void *want, size_t n, size_t size)
{
	assert_true(t->at + n * size <= t->end);
	assert_memory_equal(t->b + t->at, want, n * size);
	t->at += n * size;
	take_padding(t);
}

/* Begins a frame of TYPE; the next begins where it ends. */
static struct taker frame_at(const struct plug_bytes *b, size_t at,
    uint32_t type)
{
	struct taker t = {b->b, at, b->n};
	assert_int_equal(take_int(&t, 4), type);
	assert_int_equal(take_int(&t, 4), 0);
	const uint64_t n = take_int(&t, 8);
	assert_int_equal(n % 8, 0);
	assert_true(t.at + n <= b->n);
	t.end = t.at + n;
	return t;
}

static uint8_t column_named(const char *name)
{
	for (unsigned i = 0; plug_column(i).name; i++)
		if (strcmp(plug_column(i).name, name) == 0)
			return (uint8_t)i;
	fail_msg("no column %s", name);
	return 0;
}

static struct plug_about about(const char *const columns[])
{
	struct plug_about a = {.n_columns = 0};
	for (; columns[a.n_columns]; a.n_columns++)
		a.column[a.n_columns] = column_named(columns[a.n_columns]);
	return a;
}

/* --- the network ---------------------------------------------------------- */

static void a_network_is_told_whole(void **state)
{
	static const char *const names[] = {"link", "n_retx", NULL};
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 1,
	    .n_t2 = 1,
	    .n_hosts = 2};
	struct {
		struct plug_params own;
		uint32_t many;
		uint32_t pad;
		double share;
	} params = {.many = 7, .share = 0.25};
	struct plug_about a = about(names);
	struct plug_bytes to = {.n = 5};
	struct topo t;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	a.n_params = 2;
	a.field[PLUG_OWN_FIELDS] = (struct sim_field){.name = "many",
	    .type = SIM_F_U32,
	    .offset = (size_t)((char *)&params.many - (char *)&params)};
	a.field[PLUG_OWN_FIELDS + 1] = (struct sim_field){.name = "share",
	    .type = SIM_F_F64,
	    .offset = (size_t)((char *)&params.share - (char *)&params)};
	for (int again = 0; again < 2; again++) {
		char want[1024];
		int n = snprintf(want, sizeof(want),
		    "topology %u %u %u\ncolumns link n_retx\nparam many 7\n"
		    "param share 0.25\n",
		    t.n_hosts, t.n_switches, t.n_links);
		for (topo_node k = 0; k < t.n_hosts + t.n_switches; k++) {
			char name[64];
			topo_node_name(&t, k, name);
			n += snprintf(want + n, sizeof(want) - (size_t)n,
			    "node %s\n", name);
		}
		n += snprintf(want + n, sizeof(want) - (size_t)n, "end\n");
		assert_ok(plug_put_topo(&to, &a, &params, &t, test_err()));
		struct taker f = frame_at(&to, 0, 4);
		assert_int_equal(f.end, to.n);
		assert_int_equal(take_int(&f, 8), n);
		take_array(&f, want, (size_t)n, 1);
		for (int side = 0; side < 2; side++) {
			for (topo_link l = 0; l < t.n_links; l++) {
				topo_node end[2];
				topo_link_ends(&t, l, &end[0], &end[1]);
				assert_int_equal(take_int(&f, 4), end[side]);
			}
			take_padding(&f);
		}
		for (topo_host h = 0; h < t.n_hosts; h++)
			assert_int_equal(take_int(&f, 4), topo_tor_of(&t, h));
		take_padding(&f);
		for (topo_link l = 0; l < t.n_links; l++)
			assert_int_equal(take_int(&f, 1), topo_class_of(&t, l));
		take_padding(&f);
		assert_int_equal(f.at, f.end);
	}
	free(to.b);
	topo_close(&t);
}

/* --- windows -------------------------------------------------------------- */

struct frame_window {
	struct obs w;
	struct obs_tallies rows;
	struct obs_paths paths;
};

static void add_path_set(struct frame_window *x, topo_switch from,
    topo_switch to)
{
	const topo_link link[] = {from + 1, to + 2, 9};
	assert_ok(obs_paths_open(&x->paths, from, to, test_err()));
	assert_ok(obs_paths_add(&x->paths, link, 3, test_err()));
	assert_ok(obs_paths_add(&x->paths, link, 1, test_err()));
}

static void window_open(struct frame_window *x)
{
	*x = (struct frame_window){
	    .w = {.complete = 1, .n_flows = 1000, .n_packets = 50000}};
	for (uint32_t i = 0; i < 3; i++) {
		const struct obs_flow flow = {.start_ns = 10 + i,
		    .src_host = i,
		    .src_port = (uint16_t)(500 + i),
		    .n_retx = 2 * i};
		const topo_link link[] = {i, i + 1, i + 2};
		const struct obs_tally row = {.path = i, .n_sent = 40 + i};
		assert_ok(obs_add_flow(&x->w, &flow, link, i, test_err()));
		if (i < 2)
			assert_ok(obs_tallies_add(&x->rows, &row, test_err()));
	}
	add_path_set(x, 3, 4);
	x->rows.paths = &x->paths;
	x->rows.telemetry = OBS_TELE_A2;
	x->w.tallies = &x->rows;
}

static void window_close(struct frame_window *x)
{
	obs_free(&x->w);
	obs_tallies_free(&x->rows);
	obs_paths_free(&x->paths);
}

static void take_head(struct taker *f, const struct frame_window *x)
{
	assert_int_equal(take_int(f, 8), 1);
	assert_int_equal(take_int(f, 8), 77);
	assert_int_equal(take_int(f, 8), x->w.flows.n);
	assert_int_equal(take_int(f, 8), x->w.hops.n);
	assert_int_equal(take_int(f, 8), 1000);
	assert_int_equal(take_int(f, 8), 50000);
}

/* Columns in the order in which they were asked for; who asks for none of sums is
 * not told how many there are, and who asks for no paths has none. */
static void a_window_has_the_columns_that_were_asked_for(void **state)
{
	static const char *const names[] = {"n_retx", "link", "src_port", "off",
	    NULL};
	const struct plug_about a = about(names);
	struct plug_bytes to = {.n = 0};
	struct plug_told told = {.n_sets = 5};
	struct frame_window x;
	(void)state;
	window_open(&x);
	assert_ok(plug_put_window(&to, &a, &told, &x.w, 77, test_err()));
	struct taker f = frame_at(&to, 0, 1);
	assert_int_equal(f.end, to.n);
	take_head(&f, &x);
	take_array(&f, x.w.flows.n_retx, 3, 4);
	take_array(&f, x.w.hops.link, x.w.hops.n, 4);
	take_array(&f, x.w.flows.src_port, 3, 2);
	take_array(&f, x.w.hops.off, 4, 8);
	assert_int_equal(f.at, f.end);
	assert_int_equal(told.n_sets, 5);
	window_close(&x);
	free(to.b);
}

static void take_paths(struct taker *f, const struct frame_window *x)
{
	assert_int_equal(take_int(f, 8), x->paths.n_sets);
	assert_int_equal(take_int(f, 8), x->paths.n);
	assert_int_equal(take_int(f, 8), x->paths.off[x->paths.n]);
	take_array(f, x->paths.link, x->paths.off[x->paths.n], 4);
	take_array(f, x->paths.first, x->paths.n_sets + 1, 4);
	take_array(f, x->paths.to, x->paths.n_sets, 4);
	assert_int_equal(f->at, f->end);
}

/* Paths are told before the first window, and when there are others. */
static void paths_are_told_when_they_change(void **state)
{
	static const char *const names[] = {"n_sent", "path_link", "n_retx",
	    "set_first", "set_to", NULL};
	const struct plug_about a = about(names);
	struct plug_bytes to = {.n = 0};
	struct plug_told told = {.paths = NULL};
	struct frame_window x;
	(void)state;
	window_open(&x);
	for (int i = 0; i < 7; i++) {
		size_t at = 0;
		/* New are the first, more sets, and what begins anew. */
		const int is_new = i == 0 || i == 2 || i == 4 || i == 6;
		if (i == 2)
			add_path_set(&x, 1, 2);
		if (i == 4) {
			obs_paths_clear(&x.paths);
			add_path_set(&x, 3, 4);
			add_path_set(&x, 1, 2);
		}
		if (i == 6)
			told = (struct plug_told){.paths = NULL};
		assert_ok(
		    plug_put_window(&to, &a, &told, &x.w, 77, test_err()));
		if (is_new) {
			struct taker p = frame_at(&to, 0, 6);
			take_paths(&p, &x);
			at = p.end;
		}
		struct taker f = frame_at(&to, at, 1);
		assert_int_equal(f.end, to.n);
		take_head(&f, &x);
		assert_int_equal(take_int(&f, 8), 2);
		assert_int_equal(take_int(&f, 8), OBS_TELE_A2);
		take_array(&f, x.rows.n_sent, 2, 4);
		take_array(&f, x.w.flows.n_retx, 3, 4);
		assert_int_equal(f.at, f.end);
		assert_ptr_equal(told.paths, &x.paths);
		assert_int_equal(told.n_sets, x.paths.n_sets);
		assert_int_equal(told.n_paths, x.paths.n);
	}
	window_close(&x);
	free(to.b);
}

/* An empty window has the one offset, 0, and no sums. */
static void an_empty_window_has_one_offset(void **state)
{
	static const char *const names[] = {"off", "n_sent", "set_first", NULL};
	const struct plug_about a = about(names);
	struct plug_bytes to = {.n = 0};
	struct plug_told told = {.paths = NULL};
	const struct obs w = {.n_flows = 0};
	(void)state;
	assert_ok(plug_put_window(&to, &a, &told, &w, 3, test_err()));
	struct taker f = frame_at(&to, 0, 1);
	assert_int_equal(f.end, to.n);
	for (int i = 0; i < 8; i++)
		assert_int_equal(take_int(&f, 8), i == 1 ? 3 : 0);
	assert_int_equal(take_int(&f, 8), 0);
	assert_int_equal(f.at, f.end);
	free(to.b);
}

static int tell_once(void *arg, struct sim_err *e)
{
	static const char *const names[] = {"n_sent", "path_link", "n_retx",
	    NULL};
	const struct frame_window *x = arg;
	const struct plug_about a = about(names);
	struct plug_bytes to = {.n = 0};
	struct plug_told told = {.n_sets = 1};
	const int rc = plug_put_window(&to, &a, &told, &x->w, 77, e);
	/* What is not sent was not told. */
	assert_ptr_equal(told.paths, rc < 0 ? NULL : (const void *)&x->paths);
	free(to.b);
	return rc;
}

static void a_window_that_was_not_sent_was_not_told(void **state)
{
	struct frame_window x;
	(void)state;
	window_open(&x);
	test_each_alloc_fails(tell_once, &x);
	window_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_network_is_told_whole),
	    cmocka_unit_test(a_window_has_the_columns_that_were_asked_for),
	    cmocka_unit_test(paths_are_told_when_they_change),
	    cmocka_unit_test(an_empty_window_has_one_offset),
	    cmocka_unit_test(a_window_that_was_not_sent_was_not_told),
	};
	return cmocka_run_group_tests_name("experiments/plug/frame", tests,
	    NULL, NULL);
}
