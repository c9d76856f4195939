/* tests/results/traces_test.c -- files of traces: there and back, and damaged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With TRACES_FILE=PATH it writes the traces by hand there and does nothing
 * else: tests/cli/trace.sh reads them.
 */
#include "results/traces.h"

#include <fcntl.h>
#include <unistd.h>

#include <hdf5.h>

#include "results/file.h"
#include "results/provenance.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/rigs/traces.h"
#include "tests/test.h"

/* --- there and back -------------------------------------------------------- */

#define SAME(type, name, unit, doc)                                            \
	if (a.name != b.name)                                                  \
		fail_msg("row %zu: another " #name, i);

static void assert_hops(const struct algo_hops *want, uint64_t off,
    const struct algo_hop hop[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct algo_hop a = algo_hops_at(want, off + i),
				      b = hop[i];
		ALGO_HOP_COLUMNS(SAME)
	}
}

struct window {
	const struct traces *x;
	sim_ns from, to;
	size_t next; /* of x's traces */
	size_t n_given, most;
};

static size_t window_next(const struct window *w)
{
	const struct algo_traces *t = &w->x->store.traces;
	size_t i = w->next;
	while (i < t->n && (t->t_ns[i] < w->from || t->t_ns[i] >= w->to))
		i++;
	return i;
}

static int window_take(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct window *w = arg;
	const size_t i = window_next(w);
	(void)e;
	assert_int_equal(id, i);
	const struct algo_trace a = algo_traces_at(&w->x->store.traces, i),
				b = *t;
	ALGO_TRACE_COLUMNS(SAME)
	assert_hops(&w->x->store.hops, t->hop_off, hop, t->n_hops);
	w->next = i + 1;
	return ++w->n_given == w->most;
}

static void assert_window(struct res_traces *r, const struct traces *x,
    sim_ns from, sim_ns to)
{
	struct window w = {.x = x, .from = from, .to = to};
	struct algo_trace_store s = {0};
	assert_ok(res_traces_each(r, from, to, window_take, &w, test_err()));
	assert_int_equal(window_next(&w), x->store.traces.n);
	assert_ok(res_traces_load(r, from, to, &s, test_err()));
	assert_int_equal(s.traces.n, w.n_given);
	for (size_t i = 0, off = 0; i < s.traces.n; i++) {
		assert_int_equal(s.traces.hop_off[i], off);
		off += s.traces.n_hops[i];
		assert_true(off <= s.hops.n);
	}
	algo_traces_free(&s.traces);
	algo_hops_free(&s.hops);
}

static void assert_rest(struct res_traces *r, const struct traces *x)
{
	struct algo_counters c = {0};
	struct obs_guided g = {0};
	struct res_findings f = {0};
	struct res_cycles cycle = {0};
	struct res_counter_names names = {0};
	assert_ok(res_traces_names(r, &names, test_err()));
	assert_int_equal(names.n, 2);
	assert_int_equal(names.id[1], 3);
	assert_string_equal(names.name[1].text, "syns");
	res_counter_names_free(&names);
	assert_ok(res_traces_counters(r, 0, SIM_NEVER, &c, test_err()));
	assert_ok(res_traces_guided(r, 0, SIM_NEVER, &g, test_err()));
	assert_ok(res_traces_findings(r, &f, &cycle, test_err()));
	assert_int_equal(g.n, x->guided.n);
	assert_int_equal(f.n, x->n_findings);
	/* A sum that ended at 0 is of no span. */
	size_t k = 0;
	for (size_t i = 0; i < x->counters.n; i++) {
		const struct algo_counter a = algo_counters_at(&x->counters, i);
		if (a.t_ns == 0)
			continue;
		const struct algo_counter b = algo_counters_at(&c, k++);
		ALGO_COUNTER_COLUMNS(SAME)
	}
	assert_int_equal(c.n, k);
	for (size_t i = 0; i < g.n; i++) {
		const struct obs_guided_probe a = obs_guided_at(&x->guided, i),
					      b = obs_guided_at(&g, i);
		OBS_GUIDED_COLUMNS(SAME)
	}
	for (size_t i = 0; i < f.n; i++) {
		const struct algo_finding a = res_finding_at(&f, &cycle, i);
		const struct algo_finding *b = &x->finding[i];
		assert_string_equal(f.debugger[i].text, "loop");
		assert_true(a.cause == b->cause && a.link == b->link &&
		    a.node == b->node && a.score == b->score &&
		    a.rate == b->rate && a.lo == b->lo && a.hi == b->hi &&
		    a.excess_us == b->excess_us && a.from_ns == b->from_ns &&
		    a.to_ns == b->to_ns && a.persistent == b->persistent &&
		    a.intermittent == b->intermittent &&
		    a.n_cycle == b->n_cycle);
		assert_memory_equal(a.cycle, b->cycle, sizeof(a.cycle));
		assert_true(a.value.src_ip == b->value.src_ip &&
		    a.value.dst_port == b->value.dst_port &&
		    a.value.proto == b->value.proto &&
		    a.mask.src_port == b->mask.src_port &&
		    a.mask.dst_port == b->mask.dst_port);
	}
	algo_counters_free(&c);
	obs_guided_free(&g);
	res_findings_free(&f);
	res_cycles_free(&cycle);
}

static void what_is_written_is_read_back_by_time(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 37, 1024, 8192, 8193, 20000};
	const char *path = test_path("x.h5");
	for (uint32_t run = 0; run < 7; run++) {
		struct traces x;
		struct res_traces *r;
		struct sim_rng g;
		const sim_ns d = 40 * SIM_SEC;
		test_rng(&g, run);
		traces_random(&x, sizes[run], d, &g);
		assert_ok(traces_write(&x, path, test_err()));
		assert_ok(res_traces_open(&r, path, test_err()));
		assert_int_equal(res_traces_n(r), sizes[run]);
		assert_window(r, &x, 0, SIM_NEVER);
		assert_window(r, &x, d / 4, d / 2);
		assert_window(r, &x, d / 3, d / 3);
		assert_window(r, &x, d, SIM_NEVER);
		assert_rest(r, &x);
		res_traces_close(r);
		traces_free(&x);
	}
}

static void its_attributes_are_read_back(void **state)
{
	(void)state;
	const char *path = test_path("x.h5");
	struct traces x;
	struct res_traces *r;
	traces_by_hand(&x);
	assert_ok(traces_write(&x, path, test_err()));
	assert_ok(res_traces_open(&r, path, test_err()));
	const struct res_traces_info *i = res_traces_info(r);
	assert_string_equal(i->spec, x.info.spec);
	assert_string_equal(i->culprit, res_version());
	assert_true(i->seed == 7 && i->point == 2 && i->run == 5 &&
	    i->n_hosts == 8 && i->n_switches == 10 && i->n_links == 48 &&
	    i->ecmp_seed == 99 && i->knows_hash == 1 &&
	    i->end_ns == 30 * SIM_SEC);
	res_traces_close(r);
	traces_free(&x);
}

static void assert_meanings(hid_t file, const char *column, const char *want)
{
	char *got = NULL;
	hid_t set = H5Dopen2(file, column, H5P_DEFAULT);
	hid_t attr = H5Aopen(set, "flag_meanings", H5P_DEFAULT);
	hid_t type = H5Aget_type(attr);
	assert_true(H5Aread(attr, type, (void *)&got) >= 0);
	if (strncmp(got, want, strlen(want)) != 0)
		fail_msg("%s: %s", column, got);
	H5free_memory(got);
	H5Tclose(type);
	H5Aclose(attr);
	H5Dclose(set);
}

static void numbers_that_stand_for_words_say_so(void **state)
{
	(void)state;
	const char *path = test_path("words.h5");
	struct traces x;
	traces_by_hand(&x);
	assert_ok(traces_write(&x, path, test_err()));
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	assert_true(file >= 0);
	assert_meanings(file, "traces/kind", "control debug sample ");
	assert_meanings(file, "counters/kind", "link_packets link_bytes ");
	assert_meanings(file, "findings/cause", "LATENCY TRANSIENT RANDOM ");
	H5Fclose(file);
	traces_free(&x);
}

static void one_trace_is_found_and_reading_may_stop(void **state)
{
	(void)state;
	const char *path = test_path("x.h5");
	struct traces x;
	struct res_traces *r;
	struct sim_rng g;
	struct sim_err e = {0};
	test_rng(&g, 100);
	traces_random(&x, 9000, SIM_SEC, &g);
	assert_ok(traces_write(&x, path, test_err()));
	assert_ok(res_traces_open(&r, path, test_err()));
	for (uint64_t id = 0; id < 9000; id += 1234) {
		struct window w = {.x = &x, .to = SIM_NEVER, .next = id};
		assert_ok(res_traces_one(r, id, window_take, &w, test_err()));
		assert_int_equal(w.n_given, 1);
	}
	struct window w = {.x = &x, .to = SIM_NEVER, .most = 5};
	assert_ok(
	    res_traces_each(r, 0, SIM_NEVER, window_take, &w, test_err()));
	assert_int_equal(w.n_given, 5);
	assert_int_equal(res_traces_one(r, 9000, window_take, &w, &e),
	    SIM_ERANGE);
	assert_non_null(strstr(e.msg, "x.h5 has 9000 traces"));
	res_traces_close(r);
	traces_free(&x);
}

static void equal_rows_give_equal_bytes(void **state)
{
	(void)state;
	struct traces x;
	struct sim_rng g;
	test_rng(&g, 200);
	traces_random(&x, 3000, SIM_SEC, &g);
	const char *a = test_path("a.h5"), *b = test_path("b.h5");
	assert_ok(traces_write(&x, a, test_err()));
	assert_ok(traces_write(&x, b, test_err()));
	test_assert_same_bytes(a, b);
	traces_free(&x);
}

/* --- what is refused -------------------------------------------------------- */

static void rows_that_no_reader_would_take_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("refused.h5");
	static const char *const words[] = {"kind 7", "marks 2048",
	    "last_node 10", "lost_link 48", "before the first", "node 10",
	    "in_link 48", "layer 5", "at 18446744073709551615"};
	struct traces x;
	traces_by_hand(&x);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct res_traces_out *w;
		struct sim_err e = {0};
		struct algo_trace t = algo_traces_at(&x.store.traces, 0);
		struct algo_hop hop[5];
		for (unsigned k = 0; k < 5; k++)
			hop[k] = algo_hops_at(&x.store.hops, k);
		assert_ok(res_traces_create(&w, path, &x.info, test_err()));
		switch (i) {
		case 0:
			t.kind = OBS_N_COPY_KINDS;
			break;
		case 1:
			t.marks = 1u << ALGO_TRACE_N_MARKS;
			break;
		case 2:
			t.last_node = 10;
			break;
		case 3:
			t.lost_link = 48;
			break;
		case 4:
			t.end_ns = t.t_ns - 1;
			break;
		case 5:
			hop[4].node = 10;
			break;
		case 6:
			hop[0].in_link = 48;
			break;
		case 7:
			hop[2].layer = OBS_MAX_OUTER + 1;
			break;
		default:
			t.t_ns = t.end_ns = SIM_NEVER;
		}
		assert_int_equal(res_traces_add(w, &t, hop, &e), SIM_EINVAL);
		if (!strstr(e.msg, words[i]) || !strstr(e.msg, path))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, words[i]);
		assert_int_equal(res_traces_finish(w, 1, &e), SIM_EIO);
		assert_int_equal(fopen(path, "r") != NULL, 0);
	}
	traces_free(&x);
}

static void counters_probes_and_findings_are_checked(void **state)
{
	(void)state;
	struct traces x;
	struct res_traces_out *w;
	struct sim_err e = {0};
	traces_by_hand(&x);
	static const struct algo_counter counter[] =
	    {{.kind = ALGO_N_COUNTER_KINDS},
		{.kind = ALGO_COUNTER_LINK_BYTES, .id = 48},
		{.kind = ALGO_COUNTER_MIRROR_LOST, .id = 10},
		{.kind = ALGO_COUNTER_MUX_LATENCY, .id = 8},
		{.kind = ALGO_COUNTER_LINK_LATENCY, .sub = ALGO_LATENCY_BINS},
		{.kind = ALGO_COUNTER_CUSTOM, .value = INFINITY}};
	for (size_t i = 0; i < sizeof(counter) / sizeof(counter[0]); i++) {
		struct algo_counters c = {0};
		assert_ok(algo_counters_add(&c, &counter[i], test_err()));
		assert_ok(res_traces_create(&w, test_path("r.h5"), &x.info,
		    test_err()));
		assert_int_equal(res_traces_add_counters(w, &c, &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "counter 0 has "));
		res_traces_discard(w);
		algo_counters_free(&c);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct obs_guided g = {0};
		const struct obs_guided_probe p = {.src_host = i ? 8 : 0,
		    .via0 = 0,
		    .via1 = i ? 0 : 10,
		    .via2 = TOPO_NONE};
		assert_ok(obs_guided_add(&g, &p, test_err()));
		assert_ok(res_traces_create(&w, test_path("r.h5"), &x.info,
		    test_err()));
		assert_int_equal(res_traces_add_guided(w, &g, &e), SIM_EINVAL);
		assert_non_null(strstr(e.msg, i ? "src_host 8" : "via 10"));
		res_traces_discard(w);
		obs_guided_free(&g);
	}
	for (unsigned i = 0; i < 5; i++) {
		struct algo_finding f = x.finding[0];
		switch (i) {
		case 0:
			f.cause = ALGO_N_CAUSES;
			break;
		case 1:
			f.link = 48;
			break;
		case 2:
			f.node = 18;
			break;
		case 3:
			f.cycle[1] = 18;
			break;
		default:
			f.n_cycle = 17;
		}
		assert_ok(res_traces_create(&w, test_path("r.h5"), &x.info,
		    test_err()));
		assert_int_equal(res_traces_add_findings(w, "loop", &f, 1, &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "finding 0 has "));
		res_traces_discard(w);
	}
	traces_free(&x);
}

/* --- damage ----------------------------------------------------------------- */

static void assert_refused(const char *path, int code, const char *word)
{
	struct res_traces *r;
	struct sim_err e = {0};
	const int rc = res_traces_open(&r, path, &e);
	if (rc != code || !strstr(e.msg, word) || !strstr(e.msg, path))
		fail_msg("%s (%s), wanted %s with \"%s\"", sim_err_text(rc),
		    e.msg, sim_err_text(code), word);
}

/* Bytes of a good file, which is written once: syncing takes longer than all
 * the rest. */
static const unsigned char *good_bytes(size_t *n)
{
	static unsigned char bytes[1 << 18];
	static size_t n_bytes;
	if (n_bytes == 0) {
		const char *path = test_path("good.h5");
		struct traces x;
		void *read;
		traces_by_hand(&x);
		assert_ok(traces_write(&x, path, test_err()));
		assert_ok(res_file_read(path, &read, &n_bytes, test_err()));
		assert_true(n_bytes < sizeof(bytes));
		memcpy(bytes, read, n_bytes);
		free(read);
		traces_free(&x);
	}
	*n = n_bytes;
	return bytes;
}

static hid_t good_file(const char *path)
{
	size_t n;
	const unsigned char *bytes = good_bytes(&n);
	h5_edit_put(path, bytes, n);
	const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	return file;
}

/* Every 11th byte flipped somewhere, and every 997th length. */
static void each_flipped_byte_and_each_cut_is_refused(void **state)
{
	(void)state;
	const char *path = test_path("bad.h5");
	size_t n;
	const unsigned char *bytes = good_bytes(&n);
	h5_edit_put(path, bytes, n);
	const int fd = open(path, O_WRONLY);
	for (size_t i = 0; i < n; i += 11) {
		const unsigned char bad = bytes[i] ^ (1 << i % 8);
		assert_true(pwrite(fd, &bad, 1, (off_t)i) == 1);
		assert_refused(path, SIM_EPARSE, "it");
		assert_true(pwrite(fd, &bytes[i], 1, (off_t)i) == 1);
	}
	for (size_t i = n - n % 997; i > 0; i -= 997) {
		assert_int_equal(ftruncate(fd, (off_t)i), 0);
		assert_refused(path, SIM_EPARSE, "it");
	}
	close(fd);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("other");
	assert_refused(test_path("missing"), SIM_EIO, "No such file");
	assert_ok(res_file_write(path, "drop\n", 5, test_err()));
	assert_refused(path, SIM_EPARSE, "does not end as");
	/* Sealed, but a file of something else. */
	hid_t file = good_file(path);
	assert_true(H5Adelete(file, "traces_version") >= 0);
	h5_edit_seal(file, path);
	assert_refused(path, SIM_EPARSE, "it is no file of traces");
}

static void names_are_checked_and_may_be_missing(void **state)
{
	struct res_traces_info info = {.spec = ""};
	struct res_counter_names names = {0};
	struct res_traces_out *w;
	struct res_traces *r;
	struct sim_err e;
	char name[65];
	(void)state;
	memset(name, 'x', 64);
	name[64] = '\0';
	for (int empty = 0; empty < 2; empty++) {
		const char *path = test_path("names.h5");
		assert_ok(res_traces_create(&w, path, &info, test_err()));
		assert_int_equal(res_traces_add_name(w, 0, empty ? "" : name,
				     &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "name of"));
		res_traces_discard(w);
	}
	/* As of files that were written before there were names. */
	const char *path = test_path("old.h5");
	hid_t file = good_file(path);
	assert_true(H5Ldelete(file, "names", H5P_DEFAULT) >= 0);
	h5_edit_seal(file, path);
	assert_ok(res_traces_open(&r, path, test_err()));
	assert_ok(res_traces_names(r, &names, test_err()));
	assert_int_equal(names.n, 0);
	res_traces_close(r);
}

static void each_missing_attribute_table_and_column_is_named(void **state)
{
	(void)state;
	static const char *const attr[] = {"spec", "culprit", "seed", "point",
	    "run", "n_hosts", "n_switches", "n_links", "ecmp_seed",
	    "knows_hash", "end_ns"};
	static const char *const part[] = {"traces", "traces_index", "hops",
	    "counters", "guided"};
	static const char *const column[] = {"traces/marks", "hops/node",
	    "counters/value", "guided/via2", "traces_index/first_ns"};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(attr) / sizeof(attr[0]); i++) {
		hid_t file = good_file(path);
		assert_true(H5Adelete(file, attr[i]) >= 0);
		h5_edit_seal(file, path);
		assert_refused(path, SIM_EPARSE, attr[i]);
	}
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		hid_t file = good_file(path);
		assert_true(H5Ldelete(file, part[i], H5P_DEFAULT) >= 0);
		h5_edit_seal(file, path);
		assert_refused(path, SIM_EPARSE, part[i]);
	}
	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		for (unsigned how = 0; how < 3; how++) {
			hid_t file = good_file(path);
			hid_t set = H5Dopen2(file, column[i], H5P_DEFAULT);
			hid_t type = H5Dget_type(set);
			H5Dclose(set);
			assert_true(
			    H5Ldelete(file, column[i], H5P_DEFAULT) >= 0);
			if (how == 1)
				h5_edit_column(file, column[i], type, 299);
			if (how == 2)
				h5_edit_column(file, column[i], H5T_IEEE_F32LE,
				    1);
			H5Tclose(type);
			h5_edit_seal(file, path);
			assert_refused(path, SIM_EPARSE, "column ");
		}
}

static void values_that_cannot_be_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("odd.h5");
	hid_t file = good_file(path);
	h5_edit_count(file, "traces_version", 0, 99);
	h5_edit_seal(file, path);
	assert_refused(path, SIM_EMISMATCH, "version 99");
	file = good_file(path);
	h5_edit_count(file, "n_links", 0, UINT64_C(1) << 32);
	h5_edit_seal(file, path);
	assert_refused(path, SIM_EPARSE, "n_links 4294967296");
}

static int take_any(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	(void)arg, (void)id, (void)t, (void)hop, (void)e;
	return 0;
}

/* All of a file, whatever it holds. */
static int read_all(const char *path, struct sim_err *e)
{
	struct res_traces *r;
	struct algo_counters c = {0};
	struct obs_guided g = {0};
	struct res_findings f = {0};
	struct res_cycles cycle = {0};
	struct algo_trace_store s = {0};
	struct res_counter_names names = {0};
	int rc = res_traces_open(&r, path, e);
	if (rc < 0)
		return rc;
	if ((rc = res_traces_names(r, &names, e)) == 0 &&
	    (rc = res_traces_each(r, 0, SIM_NEVER, take_any, NULL, e)) == 0 &&
	    (rc = res_traces_load(r, 0, SIM_NEVER, &s, e)) == 0 &&
	    (rc = res_traces_counters(r, 0, SIM_NEVER, &c, e)) == 0 &&
	    (rc = res_traces_guided(r, 0, SIM_NEVER, &g, e)) == 0)
		rc = res_traces_findings(r, &f, &cycle, e);
	res_traces_close(r);
	res_counter_names_free(&names);
	algo_traces_free(&s.traces);
	algo_hops_free(&s.hops);
	algo_counters_free(&c);
	obs_guided_free(&g);
	res_findings_free(&f);
	res_cycles_free(&cycle);
	return rc;
}

static void rows_that_cannot_be_are_refused_when_read(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t row, value;
		const char *word;
	} cell[] = {
	    {"traces/kind", 1, 9, "kind 9"},
	    {"traces/hop_off", 0, 3, "trace 1 has"},
	    {"traces/hop_off", 2, UINT64_MAX, "trace 2 has"},
	    {"traces/n_hops", 4, 60000, "trace 4 has 60000 hops"},
	    {"traces/last_node", 3, 10, "last_node 10"},
	    {"hops/node", 19, 77, "node 77"},
	    {"counters/kind", 5, 200, "kind 200"},
	    {"findings/cause", 0, 99, "cause 99"},
	    {"findings/n_cycle", 0, 3, "cycle of 3"},
	    {"findings/n_cycle", 0, 200, "cycle of 200"},
	    {"findings/cycle_off", 0, 1, "from 1 on"},
	    {"cycles/node", 1, 500, "node 500"},
	};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		struct sim_err e = {0};
		hid_t file = good_file(path);
		h5_edit_cell(file, cell[i].name, cell[i].row, cell[i].value);
		h5_edit_seal(file, path);
		const int rc = read_all(path, &e);
		if (rc != SIM_EPARSE || !strstr(e.msg, cell[i].word) ||
		    !strstr(e.msg, path))
			fail_msg("%s: %s lacks \"%s\"", cell[i].name, e.msg,
			    cell[i].word);
	}
}

/* --- resources -------------------------------------------------------------- */

static int write_one(void *x, struct sim_err *e)
{
	return traces_write(x, test_path("alloc.h5"), e);
}

static int read_one(void *arg, struct sim_err *e)
{
	(void)arg;
	return read_all(test_path("alloc.h5"), e);
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct traces x;
	traces_by_hand(&x);
	test_each_alloc_fails(write_one, &x);
	test_each_alloc_fails(read_one, NULL);
	traces_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_back_by_time),
	    cmocka_unit_test(its_attributes_are_read_back),
	    cmocka_unit_test(numbers_that_stand_for_words_say_so),
	    cmocka_unit_test(one_trace_is_found_and_reading_may_stop),
	    cmocka_unit_test(equal_rows_give_equal_bytes),
	    cmocka_unit_test(rows_that_no_reader_would_take_are_refused),
	    cmocka_unit_test(counters_probes_and_findings_are_checked),
	    cmocka_unit_test(names_are_checked_and_may_be_missing),
	    cmocka_unit_test(each_flipped_byte_and_each_cut_is_refused),
	    cmocka_unit_test(other_files_are_refused),
	    cmocka_unit_test(each_missing_attribute_table_and_column_is_named),
	    cmocka_unit_test(values_that_cannot_be_are_refused),
	    cmocka_unit_test(rows_that_cannot_be_are_refused_when_read),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	const char *path = getenv("TRACES_FILE");
	if (path) {
		struct traces x;
		traces_by_hand(&x);
		const int rc = traces_write(&x, path, test_err());
		traces_free(&x);
		return rc < 0;
	}
	return cmocka_run_group_tests_name("results/traces", tests,
	    test_folder_make, test_folder_remove);
}
