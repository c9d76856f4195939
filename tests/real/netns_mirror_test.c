/* tests/real/netns_mirror_test.c -- switches of namespaces mirror what they see.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "algos/everflow/guided.h"
#include "algos/everflow/mirror_rule.h"
#include "algos/everflow/prober.h"
#include "experiments/everflow/copies.h"
#include "experiments/everflow/ether.h"
#include "models/fabric.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "tests/rigs/packets.h"
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

/* Switch L gets P, which by ROW is to be mirrored or not; the oracle is the same
 * packet before it was bytes, and obs_match(), which takes no bytes. Returns how
 * many copies it wants. */
static int try_packet(topo_link l, const struct obs_packet *p,
    const struct obs_match_row row[], size_t n_rows, unsigned run)
{
	uint8_t frame[FRAMES_MAX];
	topo_node from, to;
	size_t n;
	frames_write(p, frame);
	assert_ok(netns_mirror_try(mirror, l,
	    &(struct netns_frame){frame, p->n_bytes, 1}, test_err()));
	obs_mirror_clear(&seen);
	assert_ok(netns_mirror_read(mirror, &seen, 10, &n, test_err()));
	topo_link_ends(&lab.t, l, &from, &to);
	const int hit = to < lab.t.n_hosts ? -1 : obs_match(row, n_rows, p, 0);
	const int mirrored = hit >= 0 && row[hit].kind != OBS_MATCH_NEVER;
	if (n != (size_t)mirrored)
		fail_msg("seed %llu, packet %u: %zu copies, wanted %d",
		    (unsigned long long)test_seed(), run, n, mirrored);
	if (!mirrored)
		return 0;
	struct obs_copy want = obs_copy_of(p), got = obs_mirror_at(&seen, 0);
	want.t_ns = got.t_ns;
	want.mirror_seq = got.mirror_seq;
	want.node = to - lab.t.n_hosts;
	want.in_link = l;
	want.kind = row[hit].kind;
	same_copy(&got, &want, run);
	return 1;
}

static void switches_see_what_the_packet_is(void **state)
{
	enum { N = 20000 };
	int n_seen = 0;
	struct sim_rng r;
	mirror_begin(state);
	test_rng(&r, 1);
	for (unsigned i = 0; i < N; i++) {
		struct obs_packet p;
		const topo_link l = sim_rng_below(&r, lab.t.n_links);
		packets_any(&p, &r);
		n_seen += try_packet(l, &p, table.row, table.n, i);
	}
	print_message("%d of %u packets were mirrored\n", n_seen, N);
	assert_in_range(n_seen, N / 20, N * 9 / 10);
	mirror_end();
}

/* Bits of a byte or two of P, of which one may be another than P has. */
static struct obs_match_row row_near(const struct obs_packet *p,
    struct sim_rng *r)
{
	struct obs_match_row row = {.inner = (uint8_t)sim_rng_below(r, 2),
	    .kind = (uint8_t)sim_rng_below(r, OBS_N_COPY_KINDS)};
	const struct obs_match_key key = obs_match_key(p, row.inner);
	uint8_t *value = (uint8_t *)&row.value, *mask = (uint8_t *)&row.mask;
	for (uint32_t n = 1 + sim_rng_below(r, 2); n > 0; n--) {
		const uint32_t at = sim_rng_below(r, sizeof(key));
		mask[at] = (uint8_t)sim_rng_u32(r);
		value[at] = ((const uint8_t *)&key)[at] & mask[at];
		if (sim_rng_below(r, 4) == 0)
			value[at] ^= mask[at] & -mask[at];
	}
	return row;
}

/* Whatever rows want, also of fields that the usual ones do not look at. */
static void any_rows_take_what_they_hit(void **state)
{
	enum { N = 20000, MAX_ROWS = 4 };
	int n_seen = 0;
	struct sim_rng r;
	mirror_begin(state);
	test_rng(&r, 2);
	for (unsigned i = 0; i < N; i++) {
		struct obs_match_row row[MAX_ROWS];
		struct obs_packet p;
		const uint32_t n = 1 + sim_rng_below(&r, MAX_ROWS);
		packets_any(&p, &r);
		for (uint32_t k = 0; k < n; k++)
			row[k] = row_near(&p, &r);
		assert_ok(netns_mirror_rules(mirror, row, n, test_err()));
		n_seen += try_packet(topo_link_of(0, TOPO_UP), &p, row, n, i);
	}
	print_message("%d of %u packets were mirrored\n", n_seen, N);
	assert_in_range(n_seen, N / 4, N * 95 / 100);
	mirror_end();
}

/* --- when ----------------------------------------------------------------- */

/* Times by tick are those of the last clock that was read in it: they never
 * fall, and a tick of the kernel, which is 1 ms at least, has one. */
static void times_by_tick_are_early_by_a_tick_at_most(void **state)
{
	enum { N = 20000 };
	const struct lab_flow f = {0, 9, 10000, 80};
	const struct obs_packet syn = frames_tcp(&f, OBS_TCP_SYN, 8, 1);
	struct obs_packet debug = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t bytes[FRAMES_MAX];
	size_t n_times = 1;
	debug.ip.tos = OBS_TOS_DEBUG;
	mirror_begin(state);
	netns_mirror_close(mirror);
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n,
	    .by_tick = ~(1u << OBS_COPY_DEBUG)};
	assert_ok(
	    netns_mirror_open(&mirror, lab.net, &lab.t, &want, test_err()));
	for (unsigned i = 0; i < N; i++) {
		const struct obs_packet *p = i % 100 == 50 ? &debug : &syn;
		frames_write(p, bytes);
		assert_int_equal(netns_mirror_try(mirror,
				     topo_link_of(0, TOPO_UP),
				     &(struct netns_frame){bytes, p->n_bytes,
					 1},
				     test_err()),
		    0);
	}
	read_copies(0);
	assert_int_equal(seen.n, N);
	for (size_t i = 1; i < N; i++) {
		assert_true(seen.t_ns[i] >= seen.t_ns[i - 1]);
		/* A clock that is read is later than all before. */
		if (seen.kind[i] == OBS_COPY_DEBUG)
			assert_true(seen.t_ns[i] > seen.t_ns[i - 1]);
		else
			n_times += seen.t_ns[i] > seen.t_ns[i - 1];
	}
	const uint64_t all_ns = seen.t_ns[N - 1] - seen.t_ns[0];
	print_message("time: %zu times of %d copies within %.1f ms\n", n_times,
	    N - N / 100, 1e-6 * (double)all_ns);
	assert_true(n_times <= 2 + all_ns / SIM_MS);
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

/* What writers of other processes and the one who reads share. */
struct pace {
	volatile uint32_t n_read[2];
};

/* N copies by processor CPU, in a process of its own, each of them when the one
 * before was read. */
static pid_t copy_on(unsigned cpu, unsigned n, const struct pace *pace)
{
	const struct lab_flow f = {0, 9, (uint16_t)cpu, 80};
	const struct obs_packet syn = frames_tcp(&f, OBS_TCP_SYN, 8, 1);
	uint8_t bytes[FRAMES_MAX];
	const struct netns_frame frame = {bytes, syn.n_bytes, 1};
	cpu_set_t one;
	const pid_t child = fork();
	if (child != 0)
		return child;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	frames_write(&syn, bytes);
	/* A test that fails leaves nobody waiting for it. */
	int rc = prctl(PR_SET_PDEATHSIG, SIGKILL);
	rc |= sched_setaffinity(0, sizeof(one), &one);
	for (unsigned i = 0; rc == 0 && i < n; i++) {
		while (pace->n_read[cpu] < i)
			sched_yield();
		rc = netns_mirror_try(mirror, topo_link_of(0, TOPO_UP), &frame,
		    NULL);
	}
	_exit(rc != 0);
}

/* Two write and one reads, who sleeps whenever there are none. He is woken for
 * each copy, or all three wait for each other. */
static void no_copy_waits_unheard(void **state)
{
	enum { EACH = 10000 };
	int status, rc;
	size_t n;
	pid_t child[2];
	mirror_begin(state);
	const unsigned n_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	struct pollfd p = {netns_mirror_fd(mirror), POLLIN, 0};
	struct pace *pace = mmap(NULL, sizeof(*pace), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(pace != MAP_FAILED);
	for (unsigned i = 0; i < n_cpus; i++)
		assert_true((child[i] = copy_on(i, EACH, pace)) > 0);
	for (size_t done = 0; done < n_cpus * EACH; done++) {
		while (seen.n == done) {
			if ((rc = poll(&p, 1, 3000)) != 1)
				fail_msg("poll %d: %zu of %u copies are read",
				    rc, seen.n, n_cpus * EACH);
			assert_ok(netns_mirror_read(mirror, &seen, 7, &n,
			    test_err()));
		}
		pace->n_read[seen.src_port[done]]++;
	}
	for (unsigned i = 0; i < n_cpus; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	assert_ok(netns_mirror_read(mirror, &seen, 7, &n, test_err()));
	assert_int_equal(n, 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	munmap(pace, sizeof(*pace));
	mirror_end();
}

/* --- over the network ----------------------------------------------------- */

enum { COLLECTOR = 11, MAX_READERS = 2 };

static struct xp_ether *reader[MAX_READERS];
static struct xp_copies copies;
static struct obs_mirror part[MAX_READERS]; /* what each of them read */

/* Switches send their copies to a host, at which N readers share them. */
static void collector_begin(void **state, unsigned n)
{
	mirror_begin(state);
	netns_mirror_close(mirror);
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n,
	    .collector = topo_addr_of_host(COLLECTOR)};
	const struct xp_ether_params p = {.ifindex = netns_ifindex(
					      topo_link_of(COLLECTOR,
						  TOPO_DOWN)),
	    .address = want.collector,
	    .group = n > 1 ? 77 : 0};
	assert_ok(
	    netns_mirror_open(&mirror, lab.net, &lab.t, &want, test_err()));
	assert_ok(netns_enter(lab.net, COLLECTOR, test_err()));
	for (unsigned i = 0; i < n; i++)
		assert_ok(xp_ether_open(&reader[i], &p, test_err()));
	assert_ok(netns_leave(lab.net, test_err()));
	assert_ok(xp_copies_open(&copies, &lab.t, 0, test_err()));
	copies.index_is_link = 1;
	copies.kinds = table;
}

static int take_frame(void *arg, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct sim_err *e)
{
	return xp_copies_take(&copies, unix_ns, ethertype, bytes, n, arg, e);
}

static void collect(unsigned n_readers, int wait_ms)
{
	struct pollfd p[MAX_READERS];
	size_t n;
	for (unsigned i = 0; i < n_readers; i++)
		p[i] = (struct pollfd){xp_ether_fd(reader[i]), POLLIN, 0};
	while (poll(p, n_readers, wait_ms) > 0)
		for (unsigned i = 0; i < n_readers; i++)
			assert_ok(xp_ether_read(reader[i], 100, take_frame,
			    &part[i], &n, test_err()));
	for (unsigned i = 0; i < n_readers; i++)
		assert_int_equal(xp_ether_lost(reader[i]), 0);
}

static void collector_end(void)
{
	for (unsigned i = 0; i < MAX_READERS; i++) {
		xp_ether_close(reader[i]);
		reader[i] = NULL;
		obs_mirror_free(&part[i]);
	}
	xp_copies_free(&copies);
	mirror_end();
}

static void throw_away(unsigned n_readers)
{
	collect(n_readers, 200);
	for (unsigned i = 0; i < n_readers; i++)
		obs_mirror_clear(&part[i]);
}

static void copies_cross_the_network_to_a_collector(void **state)
{
	enum { N = 400 };
	static struct traced flow[N];
	struct netns_mirror_count count[16];
	uint64_t n = 0;
	collector_begin(state, 1);
	n_expected = 0;
	trace_flows(flow, N);
	throw_away(1);
	for (unsigned i = 0; i < N; i++) {
		const int raw = frames_open(&lab, flow[i].f.src);
		send_expected(raw, &flow[i], some_packet(&flow[i].f, i));
		close(raw);
	}
	collect(1, 200);
	seen = part[0];
	part[0] = (struct obs_mirror){0};
	all_came();
	for (int i = ALGO_ERSPAN_FINE + 1; i < ALGO_N_ERSPAN_ENDS; i++)
		assert_int_equal(copies.n_end[i], 0);
	netns_mirror_count(mirror, count);
	for (topo_switch s = 0; s < lab.t.n_switches; s++) {
		assert_int_equal(count[s].n_failed, 0);
		n += count[s].n_copies;
	}
	/* Those that were thrown away were copies, too; none of a copy. */
	assert_int_equal(n, copies.n_copies);
	collector_end();
}

/* Both directions of a connection, bare and within other headers, go to the one
 * that its first copy went to; and not all to one. */
static void readers_share_by_the_innermost_packet(void **state)
{
	enum { N = 200 };
	static uint8_t who[N]; /* bits of readers */
	size_t n[MAX_READERS] = {0};
	collector_begin(state, 2);
	for (unsigned i = 0; i < N; i++) {
		const struct lab_flow there = {i % 11, (i + 4) % 11,
					  (uint16_t)(20000 + i), 80},
				      back = {there.dst, there.src, 80,
					  there.src_port};
		const struct obs_ip ip = {topo_addr_of_host(there.src),
		    topo_addr_of_switch(i % 12), 8, 64, 0, OBS_PROTO_IPIP};
		struct obs_packet p = frames_tcp(&there, OBS_TCP_SYN, 8, i);
		const int raw = frames_open(&lab, there.src);
		frames_send(raw, &p);
		obs_packet_wrap(&p, &ip);
		frames_send(raw, &p);
		close(raw);
		frames_send_once(&lab, &back, OBS_TCP_SYN, i);
	}
	collect(2, 200);
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < part[k].n; i++) {
			assert_true(part[k].seq[i] < N);
			who[part[k].seq[i]] |= (uint8_t)(1u << k);
		}
	for (unsigned i = 0; i < N; i++) {
		assert_true(who[i] == 1 || who[i] == 2);
		n[who[i] - 1]++;
	}
	print_message("time: %zu and %zu of %d connections\n", n[0], n[1], N);
	/* A fair coin is outside of this once in 10^12. */
	assert_in_range(n[0], 50, 150);
	collector_end();
}

/* --- routing -------------------------------------------------------------- */

/* 600 flows: what the tracer found hop by hop is what the kernel says when it is
 * asked where it would send such a packet, and what the copies of the SYN say. */
static void the_kernel_tells_its_choice(void **state)
{
	enum { N = 600 };
	static struct traced flow[N];
	static struct obs_copy c[N * TOPO_MAX_HOPS];
	size_t n_same = 0, at = 0;
	topo_node from, to;
	topo_link next;
	mirror_begin(state);
	trace_flows(flow, N);
	for (unsigned i = 0; i < N; i++)
		frames_send_once(&lab, &flow[i].f, OBS_TCP_SYN, i);
	read_copies(100);
	assert_true(seen.n <= N * TOPO_MAX_HOPS);
	for (size_t i = 0; i < seen.n; i++)
		c[i] = obs_mirror_at(&seen, i);
	qsort(c, seen.n, sizeof(c[0]), by_packet_and_hop);
	for (unsigned i = 0; i < N; i++) {
		const struct traced *x = &flow[i];
		const struct topo_tuple t = {topo_addr_of_host(x->f.src),
		    topo_addr_of_host(x->f.dst), x->f.src_port, x->f.dst_port,
		    TOPO_PROTO_TCP};
		int same = 1;
		for (unsigned k = 0; k + 1 < x->n; k++, at++) {
			topo_link_ends(&lab.t, x->path[k], &from, &to);
			assert_ok(netns_next(lab.net, to - lab.t.n_hosts,
			    x->path[k], &t, &next, test_err()));
			assert_true(at < seen.n);
			same &= next == x->path[k + 1] &&
			    c[at].in_link == x->path[k] && c[at].seq == i;
		}
		n_same += same;
	}
	print_message("time: %zu of %d paths are those of the SYN's copies and "
		      "of the kernel's routes\n",
	    n_same, N);
	assert_int_equal(n_same, N);
	assert_int_equal(at, seen.n);
	mirror_end();
}

/* --- guided probes -------------------------------------------------------- */

/* All pairs of neighbours among switches: the trunks. */
static unsigned trunks_of(topo_link out[])
{
	unsigned n = 0;
	topo_node from, to;
	for (topo_link l = 0; l < lab.t.n_links; l++) {
		topo_link_ends(&lab.t, l, &from, &to);
		if (from >= lab.t.n_hosts && to >= lab.t.n_hosts)
			out[n++] = l;
	}
	return n;
}

static int by_order_and_time(const void *a, const void *b)
{
	const struct obs_copy *x = a, *y = b;
	if (x->digest != y->digest)
		return x->digest < y->digest ? -1 : 1;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* The copies of one probe, in the order of time: it comes to S1 within two
 * headers, each switch before that taking one off its TTL, goes to S2 within
 * one, and back to S1 as it is. Returns the round trip as S1 saw it. */
static uint64_t check_probe(const struct obs_copy c[], size_t n, topo_switch s1,
    topo_switch s2)
{
	topo_node from, to, before = topo_tor_of(&lab.t, 11);
	assert_in_range(n, 3, TOPO_MAX_HOPS + 2);
	for (size_t i = 0; i < n; i++) {
		const unsigned layer = i + 2 == n ? 1 : i + 1 == n ? 0 : 2;
		topo_link_ends(&lab.t, c[i].in_link, &from, &to);
		assert_int_equal(c[i].layer, layer);
		assert_int_equal(c[i].ttl, layer == 2 ? 64 - i : 63);
		assert_int_equal(c[i].ttl_in, layer == 0 ? 63 : 64);
		assert_int_equal(c[i].kind, OBS_COPY_DEBUG);
		assert_int_equal(to - lab.t.n_hosts, c[i].node);
		if (i > 0)
			assert_int_equal(from - lab.t.n_hosts, before);
		else
			assert_int_equal(from, 11);
		before = c[i].node;
	}
	assert_int_equal(c[n - 3].node, s1);
	assert_int_equal(c[n - 2].node, s2);
	assert_int_equal(c[n - 1].node, s1);
	return c[n - 1].t_ns - c[n - 3].t_ns;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* From the last host, over every trunk there and back. */
static void guided_probes_go_by_the_switches_that_they_name(void **state)
{
	enum { MAX_TRUNKS = 64, EACH = 100, MAX = MAX_TRUNKS * EACH };
	static uint64_t round_trip[MAX];
	static struct obs_copy c[MAX * 8];
	topo_link trunk[MAX_TRUNKS];
	uint8_t bytes[ALGO_GUIDED_MAX];
	topo_node s1, s2;
	size_t n_probes = 0;
	mirror_begin(state);
	const unsigned n_trunks = trunks_of(trunk);
	const int raw = frames_open(&lab, 11);
	for (unsigned k = 0; k < EACH; k++) {
		for (unsigned i = 0; i < n_trunks; i++) {
			topo_link_ends(&lab.t, trunk[i], &s1, &s2);
			s1 -= lab.t.n_hosts;
			s2 -= lab.t.n_hosts;
			const uint32_t self = topo_addr_of_host(11);
			const struct algo_guided g = {.order = i,
			    .number = k,
			    .tuple = {self, 0, 7, 9, TOPO_PROTO_TCP},
			    .sender = self,
			    .n_via = 3,
			    .via = {s1, s2, s1}};
			frames_send_bytes(raw, bytes,
			    algo_guided_write(&g, bytes));
		}
		read_copies(0);
	}
	close(raw);
	read_copies(100);
	assert_true(seen.n <= MAX * 8);
	for (size_t i = 0; i < seen.n; i++)
		c[i] = obs_mirror_at(&seen, i);
	qsort(c, seen.n, sizeof(c[0]), by_order_and_time);
	for (size_t i = 0, end; i < seen.n; i = end) {
		for (end = i; end < seen.n && c[end].digest == c[i].digest;)
			end++;
		topo_link_ends(&lab.t, trunk[c[i].digest >> 32], &s1, &s2);
		round_trip[n_probes++] = check_probe(&c[i], end - i,
		    s1 - lab.t.n_hosts, s2 - lab.t.n_hosts);
	}
	assert_int_equal(n_probes, n_trunks * EACH);
	qsort(round_trip, n_probes, sizeof(round_trip[0]), by_time);
	print_message("time: %zu of %u guided probes; round trip of a link "
		      "%.1f us at least, p50 %.1f, p90 %.1f, p99 %.1f\n",
	    n_probes, n_trunks * EACH, 1e-3 * (double)round_trip[0],
	    1e-3 * (double)round_trip[n_probes / 2],
	    1e-3 * (double)round_trip[n_probes * 9 / 10],
	    1e-3 * (double)round_trip[n_probes * 99 / 100]);
	mirror_end();
}

/* --- agents --------------------------------------------------------------- */

static size_t n_told; /* packets that the fabric said it sent */

static int told_sent(void *arg, topo_host host, const void *data, size_t n,
    struct sim_err *e)
{
	struct algo_guided g;
	(void)arg, (void)host;
	n_told++;
	return algo_guided_read(data, n, lab.t.n_switches, &g, e);
}

static int no_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	(void)arg, (void)host, (void)token;
	return sim_fail(e, SIM_EUNSUPPORTED, "Nothing to fetch.");
}

static int no_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t n, struct sim_err *e)
{
	(void)data, (void)n;
	return no_fetch(arg, host, token, e);
}

static struct fabric_real *open_fabric(void)
{
	static const struct fabric_real_services services = {.fetch = no_fetch,
	    .upload = no_upload,
	    .sent = told_sent,
	    .fd = -1};
	struct fabric_real_host host[12];
	struct fabric_real_params p;
	struct fabric_real *f;
	assert_ok(sim_field_defaults(fabric_real_fields, &p, test_err()));
	p.n_classes = 0;
	for (topo_host h = 0; h < 12; h++)
		host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    netns_fd(lab.net, h)};
	assert_ok(fabric_real_open(&f, host, 12, &p, test_err()));
	assert_ok(fabric_real_serve(f, &services, test_err()));
	return f;
}

/* The very agent of the simulator: it is ordered to probe each trunk ten times,
 * by hosts in turn. */
static void probers_probe_what_they_are_ordered_to(void **state)
{
	enum { EACH = 10, MAX_TRUNKS = 64 };
	static unsigned char mail[12][ALGO_PROBER_MESSAGE];
	struct algo_probe_order order[MAX_TRUNKS] = {0};
	struct fabric_agents agents = {0};
	struct algo_prober_params p;
	topo_link trunk[MAX_TRUNKS];
	uint32_t n_seen[MAX_TRUNKS] = {0};
	const struct sim_seed where = {.seed = test_seed()};
	topo_node s1, s2;
	mirror_begin(state);
	const unsigned n = trunks_of(trunk);
	struct fabric_real *f = open_fabric();
	assert_ok(sim_field_defaults(algo_prober_fields, &p, test_err()));
	p.host_per_s = ALGO_PROBER_HOST_MAX;
	p.target_per_s = ALGO_PROBER_TARGET_MAX;
	assert_ok(
	    fabric_agents_open(&agents, &algo_prober, &p, 12, test_err()));
	fabric_agents_renew(&agents, &where);
	for (unsigned i = 0; i < n; i++) {
		topo_link_ends(&lab.t, trunk[i], &s1, &s2);
		s1 -= lab.t.n_hosts;
		s2 -= lab.t.n_hosts;
		order[i] = (struct algo_probe_order){.id = 1 + i,
		    .tuple = {0, 0, 7, 9, TOPO_PROTO_TCP},
		    .n_via = 3,
		    .via = {s1, s2, s1},
		    .count = EACH,
		    .interval_ns = SIM_MS};
		assert_ok(fabric_real_order(f, i % 12, mail[i % 12],
		    algo_prober_write(&order[i], 1, 0, mail[i % 12]),
		    test_err()));
		n_told = 0;
		for (unsigned turn = 0; n_told < EACH && turn < 1000; turn++) {
			struct fabric *base = fabric_real_fabric(f);
			assert_ok(fabric_run(base, &agents,
			    base->ops->now(base) + 10 * SIM_MS, NULL, NULL,
			    test_err()));
		}
		assert_int_equal(n_told, EACH);
	}
	read_copies(100);
	/* Only the last copy of a probe has no outer header. */
	for (size_t i = 0; i < seen.n; i++)
		if (seen.layer[i] == 0)
			n_seen[seen.seq[i] - 1]++;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(n_seen[i], EACH);
	assert_int_equal(fabric_real_count(f)->n_sent, n * EACH);
	assert_int_equal(fabric_real_count(f)->n_unsent, 0);
	fabric_agents_close(&agents);
	fabric_real_close(f);
	mirror_end();
}

/* --- what it costs -------------------------------------------------------- */

/* The least of some measurements, as others have the machine, too. */
static double time_of(const struct obs_packet *p)
{
	uint8_t bytes[FRAMES_MAX];
	const struct netns_frame frame = {bytes, p->n_bytes, N_TIMED};
	struct netns_cost least = {INFINITY, INFINITY}, c;
	frames_write(p, bytes);
	for (int i = 0; i < 9; i++) {
		assert_ok(netns_mirror_cost(mirror, topo_link_of(0, TOPO_UP),
		    &frame, &c, test_err()));
		least.ns = fmin(least.ns, c.ns);
		least.empty_ns = fmin(least.empty_ns, c.empty_ns);
		read_copies(0);
		obs_mirror_clear(&seen);
	}
	return least.ns - least.empty_ns;
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
	    cmocka_unit_test(any_rows_take_what_they_hit),
	    cmocka_unit_test(times_by_tick_are_early_by_a_tick_at_most),
	    cmocka_unit_test(all_copies_of_known_packets_come_and_no_others),
	    cmocka_unit_test(copies_are_numbered_by_switch),
	    cmocka_unit_test(a_full_ring_is_counted),
	    cmocka_unit_test(no_copy_waits_unheard),
	    cmocka_unit_test(copies_cross_the_network_to_a_collector),
	    cmocka_unit_test(readers_share_by_the_innermost_packet),
	    cmocka_unit_test(the_kernel_tells_its_choice),
	    cmocka_unit_test(guided_probes_go_by_the_switches_that_they_name),
	    cmocka_unit_test(probers_probe_what_they_are_ordered_to),
	    cmocka_unit_test(packets_are_mirrored_in_little_time),
	};
	return cmocka_run_group_tests_name("models/netns/mirror", tests,
	    lab_begin, NULL);
}
