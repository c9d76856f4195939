/* tests/real/netns_mirror_test.c -- switches of namespaces mirror what they see.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <unistd.h>

#include "algos/everflow/guided.h"
#include "algos/everflow/mirror_rule.h"
#include "tests/packets.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "topo/addr.h"

enum { N_TIMED = 100000 };

static struct lab lab;
static struct netns_mirror *mirror;
static struct algo_mirror_table table;
static struct obs_mirror seen;

/* All rules, and 1 in 4 packets by ID. */
static void mirror_begin(void **state)
{
	struct algo_mirror_params p;
	lab_needs(state);
	assert_ok(sim_field_defaults(algo_mirror_fields, &p, test_err()));
	p.rules = (1u << OBS_N_COPY_KINDS) - 1;
	p.sample_n = 4;
	assert_ok(algo_mirror_table(&table, &p, test_err()));
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n};
	lab_open(&lab, &faulty_shape, 7);
	const int rc =
	    netns_mirror_open(&mirror, lab.net, &lab.t, &want, test_err());
	obs_mirror_clear(&seen);
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		lab_close(&lab);
		skip();
	}
	assert_ok(rc);
}

static void mirror_end(void)
{
	netns_mirror_close(mirror);
	lab_close(&lab);
	obs_mirror_free(&seen);
}

/* All copies that come until none does for WAIT_MS. */
static void read_copies(int wait_ms)
{
	struct pollfd p = {.fd = netns_mirror_fd(mirror), .events = POLLIN};
	size_t n;
	while (poll(&p, 1, wait_ms) == 1)
		assert_ok(
		    netns_mirror_read(mirror, &seen, 1000, &n, test_err()));
}

/* --- what one switch sees ------------------------------------------------- */

static void same_copy(const struct obs_copy *got, const struct obs_copy *want,
    unsigned run)
{
#define X(type, column, unit, doc)                                             \
	if (got->column != want->column)                                       \
		fail_msg("seed %llu, packet %u: " #column                      \
			 " is %llu, wanted %llu",                              \
		    (unsigned long long)test_seed(), run,                      \
		    (unsigned long long)got->column,                           \
		    (unsigned long long)want->column);
	OBS_COPY_COLUMNS(X)
#undef X
}

/* The oracle is the same packet before it was bytes, and obs_match(), which
 * takes no bytes. */
static void switches_see_what_the_packet_is(void **state)
{
	enum { N = 20000 };
	uint32_t n_seen = 0;
	struct sim_rng r;
	uint8_t frame[FRAMES_MAX];
	topo_node from, to;
	double ns;
	mirror_begin(state);
	test_rng(&r, 1);
	for (unsigned i = 0; i < N; i++) {
		struct obs_packet p;
		size_t n;
		const topo_link l = sim_rng_below(&r, lab.t.n_links);
		packets_any(&p, &r);
		frames_write(&p, frame);
		assert_ok(netns_mirror_try(mirror, l, frame, p.n_bytes, 1, &ns,
		    test_err()));
		assert_ok(netns_mirror_read(mirror, &seen, 10, &n, test_err()));
		topo_link_ends(&lab.t, l, &from, &to);
		const int hit = to < lab.t.n_hosts
		    ? -1
		    : obs_match(table.row, table.n, &p, 0);
		const int mirrored =
		    hit >= 0 && table.row[hit].kind != OBS_MATCH_NEVER;
		if (n != (size_t)mirrored)
			fail_msg("seed %llu, packet %u: %zu copies, wanted %d",
			    (unsigned long long)test_seed(), i, n, mirrored);
		if (n == 0)
			continue;
		struct obs_copy want = obs_copy_of(&p), got;
		got = obs_mirror_at(&seen, n_seen++);
		want.t_ns = got.t_ns;
		want.mirror_seq = got.mirror_seq;
		want.node = to - lab.t.n_hosts;
		want.in_link = l;
		want.kind = table.row[hit].kind;
		same_copy(&got, &want, i);
	}
	print_message("%u of %u packets were mirrored\n", n_seen, N);
	assert_in_range(n_seen, N / 20, N * 9 / 10);
	mirror_end();
}

/* --- what the network sees ------------------------------------------------ */

enum { MAX_EXPECTED = 8192 };
static struct obs_copy expected[MAX_EXPECTED];
static size_t n_expected;

static int by_packet_and_hop(const void *a, const void *b)
{
	const struct obs_copy *x = a, *y = b;
	if (x->digest != y->digest)
		return x->digest < y->digest ? -1 : 1;
	return x->ttl != y->ttl ? y->ttl - x->ttl : y->layer - x->layer;
}

/* What came is what was expected, in whatever order. */
static void all_came(void)
{
	static struct obs_copy got[MAX_EXPECTED];
	assert_true(seen.n <= MAX_EXPECTED);
	for (size_t i = 0; i < seen.n; i++)
		got[i] = obs_mirror_at(&seen, i);
	qsort(got, seen.n, sizeof(got[0]), by_packet_and_hop);
	qsort(expected, n_expected, sizeof(got[0]), by_packet_and_hop);
	print_message("time: %zu of %zu copies came\n", seen.n, n_expected);
	assert_int_equal(seen.n, n_expected);
	for (size_t i = 0; i < n_expected; i++) {
		expected[i].t_ns = got[i].t_ns;
		expected[i].mirror_seq = got[i].mirror_seq;
		same_copy(&got[i], &expected[i], (unsigned)i);
	}
}

/* P comes into a switch by link L. */
static void expect(const struct obs_packet *p, topo_link l)
{
	topo_node from, to;
	const int hit = obs_match(table.row, table.n, p, 0);
	if (hit < 0 || table.row[hit].kind == OBS_MATCH_NEVER)
		return;
	assert_true(n_expected < MAX_EXPECTED);
	struct obs_copy *c = &expected[n_expected++];
	topo_link_ends(&lab.t, l, &from, &to);
	*c = obs_copy_of(p);
	c->node = to - lab.t.n_hosts;
	c->in_link = l;
	c->kind = table.row[hit].kind;
}

/* A flow and its path as the tracer found it, which knows nothing of
 * mirrors. */
struct traced {
	struct lab_flow f;
	unsigned n;
	topo_link path[TOPO_MAX_HOPS];
};

/* N flows among all hosts. What is mirrored of the traces is thrown away. */
static void trace_flows(struct traced flow[], unsigned n)
{
	struct sim_rng r;
	test_rng(&r, 3);
	for (unsigned i = 0; i < n; i++) {
		const topo_host src = sim_rng_below(&r, lab.t.n_hosts);
		flow[i].f = (struct lab_flow){.src = src,
		    .dst = (src + 1 + sim_rng_below(&r, lab.t.n_hosts - 1)) %
			lab.t.n_hosts,
		    .src_port = (uint16_t)(10000 + i),
		    .dst_port = i % 40 == 7 ? OBS_PORT_BGP : 80};
		flow[i].n = lab_trace(&lab, &flow[i].f, flow[i].path);
		for (unsigned k = 0; k < flow[i].n; k++)
			assert_int_not_equal(flow[i].path[k], TOPO_NONE);
	}
	read_copies(100);
	obs_mirror_clear(&seen);
}

/* Send P, and expect it at each switch of its flow's path. */
static void send_expected(int raw, const struct traced *flow,
    struct obs_packet p)
{
	frames_send(raw, &p);
	for (unsigned i = 0; i + 1 < flow->n; i++) {
		expect(&p, flow->path[i]);
		p.ip.ttl--;
	}
}

static struct obs_packet some_packet(const struct lab_flow *f, unsigned i)
{
	static const struct {
		uint8_t flags, tos;
		uint16_t id;
	} kinds[] = {{OBS_TCP_SYN, 0, 8}, {OBS_TCP_SYN | OBS_TCP_ACK, 0, 12},
	    {OBS_TCP_FIN | OBS_TCP_ACK, 0, 16}, {OBS_TCP_RST, 0, 20},
	    {OBS_TCP_ACK, 0, 1 + 4 * 77}, {OBS_TCP_ACK, 0, 2 + 4 * 77},
	    {OBS_TCP_ACK, OBS_TOS_DEBUG, 8}, {OBS_TCP_ACK | OBS_TCP_PSH, 0, 8}};
	struct obs_packet p =
	    frames_tcp(f, kinds[i % 8].flags, kinds[i % 8].id, i + 1);
	p.ip.tos = kinds[i % 8].tos;
	return p;
}

static void all_copies_of_known_packets_come_and_no_others(void **state)
{
	enum { N = 400 };
	static struct traced flow[N];
	mirror_begin(state);
	n_expected = 0;
	trace_flows(flow, N);
	for (unsigned i = 0; i < N; i++) {
		const int raw = frames_open(&lab, flow[i].f.src);
		send_expected(raw, &flow[i], some_packet(&flow[i].f, i));
		close(raw);
	}
	read_copies(100);
	all_came();
	mirror_end();
}

/* Numbers of copies tell those that are lost: of each switch they are 0, 1, ...
 * as its counter says. */
static void copies_are_numbered_by_switch(void **state)
{
	enum { N = 100 };
	struct netns_mirror_count count[16];
	uint32_t next[16] = {0};
	mirror_begin(state);
	assert_true(lab.t.n_switches <= 16);
	for (unsigned i = 0; i < N; i++)
		frames_send_once(&lab,
		    &(struct lab_flow){i % 12, (i + 5) % 12,
			(uint16_t)(1000 + i), 80},
		    OBS_TCP_SYN, i);
	read_copies(100);
	netns_mirror_count(mirror, count);
	for (size_t i = 0; i < seen.n; i++)
		assert_int_equal(seen.mirror_seq[i], next[seen.node[i]]++);
	for (topo_switch s = 0; s < lab.t.n_switches; s++) {
		assert_int_equal(count[s].n_copies, next[s]);
		assert_int_equal(count[s].n_full + count[s].n_failed, 0);
	}
	mirror_end();
}

/* Nobody reads a ring that has room for some 50 copies. */
static void a_full_ring_is_counted(void **state)
{
	struct netns_mirror_count count[16];
	uint64_t n = 0, n_full = 0;
	mirror_begin(state);
	netns_mirror_close(mirror);
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n,
	    .ring_bytes = 4096};
	assert_ok(
	    netns_mirror_open(&mirror, lab.net, &lab.t, &want, test_err()));
	for (unsigned i = 0; i < 200; i++)
		frames_send_once(&lab, &(struct lab_flow){0, 5, 1000, 80},
		    OBS_TCP_SYN, i);
	read_copies(100);
	netns_mirror_count(mirror, count);
	for (topo_switch s = 0; s < lab.t.n_switches; s++) {
		n += count[s].n_copies;
		n_full += count[s].n_full;
	}
	assert_true(n_full > 0 && seen.n > 0);
	assert_int_equal(seen.n + n_full, n);
	mirror_end();
}

/* --- what it costs -------------------------------------------------------- */

/* A program that leaves all undecided: what is measured of it is the measuring. */
static double time_of_nothing(const void *frame, uint32_t n)
{
	const struct bpf_insn insn[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K,
					    .dst_reg = BPF_REG_0},
	    {.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
	    .data_size_in = n, .repeat = N_TIMED);
	const int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "nothing", "GPL",
	    insn, 2, NULL);
	assert_true(fd >= 0);
	assert_int_equal(bpf_prog_test_run_opts(fd, &options), 0);
	close(fd);
	return options.duration;
}

/* The least of some measurements, as others have the machine, too. */
static double time_of(const struct obs_packet *p)
{
	uint8_t frame[FRAMES_MAX];
	double least = INFINITY, least_nothing = INFINITY, ns;
	const topo_link l = topo_link_of(0, TOPO_UP);
	frames_write(p, frame);
	for (int i = 0; i < 9; i++) {
		assert_ok(netns_mirror_try(mirror, l, frame, p->n_bytes,
		    N_TIMED, &ns, test_err()));
		least = fmin(least, ns);
		least_nothing =
		    fmin(least_nothing, time_of_nothing(frame, p->n_bytes));
		read_copies(0);
		obs_mirror_clear(&seen);
	}
	return least - least_nothing;
}

static void packets_are_mirrored_in_little_time(void **state)
{
	const struct lab_flow f = {0, 9, 10000, 80};
	mirror_begin(state);
	struct obs_packet plain = frames_tcp(&f, OBS_TCP_ACK, 8, 1),
			  syn = frames_tcp(&f, OBS_TCP_SYN, 8, 1), wrapped;
	const struct obs_ip ip = {1, 2, 8, 64, 0, OBS_PROTO_IPIP};
	plain.n_bytes = syn.n_bytes = 300;
	wrapped = plain;
	obs_packet_wrap(&wrapped, &ip);
	const double no = time_of(&plain), yes = time_of(&syn),
		     deep = time_of(&wrapped);
	print_message("time: %zu rules take %.1f ns a packet that none takes, "
		      "%.1f within another; a copy in the ring %.1f ns\n",
	    table.n, no, deep, yes);
	assert_true(no < 1000 && yes < 1000 && deep < 1000);
	mirror_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(switches_see_what_the_packet_is),
	    cmocka_unit_test(all_copies_of_known_packets_come_and_no_others),
	    cmocka_unit_test(copies_are_numbered_by_switch),
	    cmocka_unit_test(a_full_ring_is_counted),
	    cmocka_unit_test(packets_are_mirrored_in_little_time),
	};
	return cmocka_run_group_tests_name("models/netns/mirror", tests,
	    lab_begin, NULL);
}
