/* tests/real/netns_ebpf_test.c -- what the kernel does and counts, to the bit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "models/netns/ebpf.h"
#include "tests/real/faulty.h"
#include "topo/addr.h"

enum { N_FLOWS = 300, FOREVER_S = 30 };

static struct faulty rig;
static struct obs_flow flow[N_FLOWS];
static struct netns_flow_end end[N_FLOWS];

static const struct netns_faults_params usual = {.by = NETNS_FAULTS_EBPF,
    .seed = 1};

/* --- frames --------------------------------------------------------------- */

struct frame {
	struct ether_header ether;
	struct iphdr ip;
	uint16_t src_port, dst_port;
	char rest[30];
} __attribute__((packed));

static struct frame frame_of(const struct topo_tuple *t)
{
	return (struct frame){
	    .ether = {.ether_type = htons(ETHERTYPE_IP)},
	    .ip = {.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(struct frame) - 14),
		.ttl = 64,
		.protocol = t->proto,
		.saddr = htonl(t->src_ip),
		.daddr = htonl(t->dst_ip)},
	    .src_port = htons(t->src_port),
	    .dst_port = htons(t->dst_port),
	};
}

static int try(topo_link l, const struct frame *f)
{
	const int rc = netns_ebpf_try(rig.f, l, f, sizeof(*f), test_err());
	assert_ok(rc < 0 ? rc : 0);
	return rc;
}

/* --- holes ---------------------------------------------------------------- */

static void add_hole(topo_switch at, enum blackhole_rule_type type,
    double share, uint64_t salt)
{
	struct truth_hole h = {.at = at, .to_ns = SIM_NEVER};
	assert_ok(blackhole_rule_init(&h.rule, type, share, salt, test_err()));
	assert_ok(truth_add_hole(&rig.truth, &h, test_err()));
}

static struct topo_tuple draw_tuple(struct sim_rng *r)
{
	return (struct topo_tuple){topo_addr_of_host(sim_rng_below(r, 4096)),
	    topo_addr_of_host(sim_rng_below(r, 4096)), (uint16_t)sim_rng_u32(r),
	    (uint16_t)sim_rng_u32(r),
	    sim_rng_below(r, 4) == 0 ? IPPROTO_UDP : IPPROTO_TCP};
}

/* All links into all switches, with none, one and several holes; hosts have
 * none. */
static void holes_take_what_the_truth_says_bit_for_bit(void **state)
{
	enum { N = 40000 };
	uint32_t n_taken = 0;
	struct sim_rng r;
	lab_needs(state);
	faulty_open(&rig, &usual);
	const struct topo *t = &rig.lab.t;
	test_rng(&r, 1);
	for (topo_switch s = 0; s < t->n_switches; s++)
		for (uint32_t i = 0; i < s % 4; i++)
			add_hole(s, 1 + (s + i) % 2,
			    s == 7 ? 1 : sim_rng_u01(&r) / 4,
			    (uint64_t)sim_rng_u32(&r) << 32);
	faulty_apply(&rig, 0);
	for (unsigned i = 0; i < N; i++) {
		const topo_link l = sim_rng_below(&r, t->n_links);
		const struct topo_tuple tuple = draw_tuple(&r);
		const struct frame f = frame_of(&tuple);
		topo_node from, to;
		topo_link_ends(t, l, &from, &to);
		const int want = to >= t->n_hosts &&
		    truth_swallows(&rig.truth, to - t->n_hosts, &tuple, 0);
		if (try(l, &f) != want)
			fail_msg("seed %llu, packet %u on link %u: not %d",
			    (unsigned long long)test_seed(), i, l, want);
		n_taken += (uint32_t)want;
	}
	assert_in_range(n_taken, N / 20, N / 2);
	faulty_close(&rig);
}

static void holes_pass_what_they_have_no_rule_for(void **state)
{
	const struct topo_tuple tuple = {topo_addr_of_host(3),
	    topo_addr_of_host(9), 5, 6, TOPO_PROTO_TCP};
	struct frame f = frame_of(&tuple);
	lab_needs(state);
	faulty_open(&rig, &usual);
	topo_node from, to;
	const topo_link l = faulty_link(&rig, "host0->tor0");
	topo_link_ends(&rig.lab.t, l, &from, &to);
	add_hole(to - rig.lab.t.n_hosts, BLACKHOLE_RULE_TUPLE, 1, 4);
	faulty_apply(&rig, 0);
	assert_int_equal(try(l, &f), 1);
	f.ip.protocol = IPPROTO_ICMP;
	assert_int_equal(try(l, &f), 0);
	f.ip.protocol = TOPO_PROTO_TCP;
	f.ether.ether_type = htons(ETHERTYPE_ARP);
	assert_int_equal(try(l, &f), 0);
	faulty_close(&rig);
}

/* Type 2 sees ports behind IP options, and takes a fragment without ports for
 * one of ports 0. */
static void holes_find_ports_where_they_are(void **state)
{
	struct sim_rng r;
	lab_needs(state);
	faulty_open(&rig, &usual);
	topo_node from, to;
	const topo_link l = faulty_link(&rig, "host0->tor0");
	topo_link_ends(&rig.lab.t, l, &from, &to);
	add_hole(to - rig.lab.t.n_hosts, BLACKHOLE_RULE_TUPLE, 0.5, 4);
	const struct blackhole_rule *rule = &rig.truth.hole[0].rule;
	faulty_apply(&rig, 0);
	test_rng(&r, 2);
	for (unsigned i = 0; i < 200; i++) {
		struct topo_tuple tuple = draw_tuple(&r);
		struct frame f = frame_of(&tuple);
		const uint16_t port[] = {f.src_port, f.dst_port};
		f.ip.ihl = 7;
		f.src_port = f.dst_port = 0;
		memcpy(f.rest + 4, port, sizeof(port));
		assert_int_equal(try(l, &f),
		    blackhole_rule_drops(rule, &tuple));
		f = frame_of(&tuple);
		f.ip.frag_off = htons(77);
		tuple.src_port = tuple.dst_port = 0;
		assert_int_equal(try(l, &f),
		    blackhole_rule_drops(rule, &tuple));
	}
	faulty_close(&rig);
}

/* --- losses --------------------------------------------------------------- */

/* SplitMix64 as its paper has it: state, then output. */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Which of the next N packets of link L are lost. */
static void lose(topo_link l, uint8_t lost[], unsigned n)
{
	const struct topo_tuple tuple = {topo_addr_of_host(3),
	    topo_addr_of_host(9), 5, 6, TOPO_PROTO_TCP};
	const struct frame f = frame_of(&tuple);
	for (unsigned i = 0; i < n; i++)
		lost[i] = (uint8_t)try(l, &f);
}

static void losses_are_those_of_the_seed_and_the_link(void **state)
{
	enum { N = 5000 };
	static uint8_t a[N], b[N];
	struct netns_faults_params other = usual;
	const double rate = 0.3;
	lab_needs(state);
	other.seed = 2;
	for (unsigned pass = 0; pass < 3; pass++) {
		faulty_open(&rig, pass < 2 ? &usual : &other);
		faulty_add_loss(&rig, 9, rate);
		faulty_apply(&rig, 0);
		lose(9, pass == 0 ? a : b, N);
		if (pass > 0)
			assert_int_equal(memcmp(a, b, N) == 0, pass == 1);
		faulty_close(&rig);
	}
	faulty_open(&rig, &usual);
	const struct sim_seed where = {.seed = 1};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_LOSS, 9);
	uint64_t key = (uint64_t)sim_rng_u32(&r) << 32;
	key |= sim_rng_u32(&r);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(a[i],
		    (double)(splitmix(&key) >> 1) < rate * 0x1p63);
	faulty_close(&rig);
}

static void rates_of_0_and_1_are_exact(void **state)
{
	enum { N = 2000 };
	static uint8_t lost[N];
	lab_needs(state);
	faulty_open(&rig, &usual);
	faulty_add_loss(&rig, 8, 1);
	faulty_add_loss(&rig, 9, 0);
	faulty_apply(&rig, 0);
	lose(8, lost, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(lost[i], 1);
	lose(9, lost, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(lost[i], 0);
	faulty_close(&rig);
}

/* --- what is told of drops ------------------------------------------------ */

static struct netns_drop *list;
static size_t cap_list, n_list;

static uint64_t drops_of(const struct topo_tuple *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < n_list; i++)
		if (memcmp(&list[i].tuple.src_ip, &t->src_ip, 12) == 0)
			n += list[i].n_random + list[i].n_hole;
	return n;
}

static void lossy_run(const struct netns_faults_params *p, double rate)
{
	faulty_open(&rig, p);
	faulty_add_loss(&rig, faulty_link(&rig, "t1.0->tor1"), rate);
	faulty_add_loss(&rig, faulty_link(&rig, "tor0->t1.1"), rate);
	faulty_add_loss(&rig, faulty_link(&rig, "host4->tor2"), rate);
	faulty_apply(&rig, 0);
	faulty_draw(&rig, flow, N_FLOWS, 60, 300, 1);
	faulty_run(&rig, flow, N_FLOWS, FOREVER_S, end);
	assert_ok(
	    netns_faults_drops(rig.f, &list, &cap_list, &n_list, test_err()));
}

static void drops_of_flows_add_up_to_those_of_links(void **state)
{
	uint64_t sum[FAULTY_MAX_LINKS] = {0};
	lab_needs(state);
	lossy_run(&usual, 0.03);
	for (size_t i = 0; i < n_list; i++) {
		struct netns_drop one = {.tuple = list[i].tuple,
		    .link = list[i].link};
		sum[list[i].link] += list[i].n_random;
		assert_int_equal(list[i].n_hole, 0);
		assert_ok(netns_faults_drop_of(rig.f, &one, test_err()));
		assert_int_equal(one.n_random, list[i].n_random);
	}
	for (topo_link l = 0; l < rig.lab.t.n_links; l++) {
		assert_int_equal(sum[l], rig.count[l].n_random);
		assert_int_equal(rig.count[l].n_untold, 0);
	}
	assert_true(sum[faulty_link(&rig, "t1.0->tor1")] > 0);
	struct netns_drop none = {.tuple = {1, 2, 3, 4, 5}, .n_random = 9};
	assert_ok(netns_faults_drop_of(rig.f, &none, test_err()));
	assert_int_equal(none.n_random, 0);
	faulty_close(&rig);
}

/* By the tracepoint, and by the counter of the socket, which counts segments:
 * in rare cases one call sends two. */
static void retransmissions_are_told_and_have_a_drop(void **state)
{
	size_t n_told = 0, n_silent = 0;
	uint64_t n_missed;
	lab_needs(state);
	lossy_run(&usual, 0.03);
	for (size_t i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple there = faulty_tuple(&flow[i]);
		const struct topo_tuple back = {there.dst_ip, there.src_ip,
		    there.dst_port, there.src_port, there.proto};
		size_t n = 0;
		for (size_t k = 0; k < rig.n_retx; k++)
			if (memcmp(&rig.retx[k].tuple.src_ip, &there.src_ip,
				12) == 0) {
				assert_int_equal(rig.retx[k].host,
				    flow[i].src_host);
				n++;
			}
		assert_int_equal(end[i].state, NETNS_FLOW_DONE);
		assert_true(n <= flow[i].n_retx);
		n_silent += n == 0 && flow[i].n_retx > 0;
		if (n > 0)
			assert_true(drops_of(&there) + drops_of(&back) > 0);
		n_told += n;
	}
	assert_true(n_told > 0);
	/* Of a flow nothing is told only where the kernel did not call. */
	assert_ok(netns_ebpf_missed((struct netns_faults_ebpf *)rig.f,
	    "lab_retransmit", &n_missed, test_err()));
	assert_in_range(n_silent, 0, n_missed);
	for (size_t k = 1; k < rig.n_retx; k++)
		assert_true(rig.retx[k].at_ns >= rig.retx[k - 1].at_ns);
	faulty_close(&rig);
}

static void drops_without_room_are_counted(void **state)
{
	struct netns_faults_params p = usual;
	uint64_t n_told = 0, n_untold = 0, n = 0;
	lab_needs(state);
	p.max_drops = 16;
	lossy_run(&p, 0.05);
	assert_in_range(n_list, 1, 16);
	for (size_t i = 0; i < n_list; i++)
		n_told += list[i].n_random;
	for (topo_link l = 0; l < rig.lab.t.n_links; l++) {
		n += rig.count[l].n_random;
		n_untold += rig.count[l].n_untold;
	}
	assert_true(n_untold > 0);
	assert_int_equal(n_told + n_untold, n);
	faulty_close(&rig);
}

static void the_audit_sees_each_of_our_drops(void **state)
{
	struct netns_audit a[NETNS_AUDIT_MAX];
	uint64_t n = 0, n_seen = 0, n_missed = 0;
	size_t n_reasons;
	lab_needs(state);
	lossy_run(&usual, 0.03);
	assert_ok(netns_faults_audit(rig.f, a, &n_reasons, test_err()));
	for (size_t i = 0; i < n_reasons; i++) {
		if (strcmp(a[i].reason, "TC_INGRESS") == 0)
			n_seen = a[i].n;
		if (strcmp(a[i].reason, "MISSED") == 0)
			n_missed = a[i].n;
		if (!a[i].expected)
			fail_msg("%llu packets dropped: %s, at %llx",
			    (unsigned long long)a[i].n, a[i].reason,
			    (unsigned long long)a[i].at);
	}
	for (topo_link l = 0; l < rig.lab.t.n_links; l++)
		n += rig.count[l].n_random;
	/* All of them, but for those that the kernel did not tell of. */
	assert_in_range(n, n_seen, n_seen + n_missed);
	faulty_close(&rig);
}

/* One that loses and one that only looks: another network of the machine. */
static void another_network_is_not_looked_at(void **state)
{
	static struct faulty other;
	struct netns_audit a[NETNS_AUDIT_MAX];
	size_t n;
	lab_needs(state);
	faulty_open(&other, &usual);
	lossy_run(&usual, 0.05);
	assert_true(rig.n_retx > 0);
	assert_ok(
	    netns_faults_retx_read(other.f, other.retx, 1, &n, test_err()));
	assert_int_equal(n, 0);
	assert_ok(netns_faults_audit(other.f, a, &n, test_err()));
	assert_int_equal(n, 0);
	assert_ok(netns_faults_count(other.f, other.count, test_err()));
	for (topo_link l = 0; l < other.lab.t.n_links; l++)
		assert_int_equal(other.count[l].packets, 0);
	faulty_close(&other);
	faulty_close(&rig);
}

/* --- nothing is left ------------------------------------------------------ */

enum { N_PROGRAMS = 3, N_MAPS = 9 };
struct left {
	uint32_t program[N_PROGRAMS], map[N_MAPS];
};

static uint32_t id_of_program(const struct bpf_object *o, const char *name)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	bpf_obj_get_info_by_fd(bpf_program__fd(
				   bpf_object__find_program_by_name(o, name)),
	    &info, &size);
	return info.id;
}

static struct left find_left(void)
{
	const struct bpf_object *o =
	    ((struct netns_faults_ebpf *)rig.f)->object;
	struct left left = {
	    .program = {id_of_program(o, "lab_ingress"),
		id_of_program(o, "lab_retransmit"),
		id_of_program(o, "lab_freed")},
	};
	const struct bpf_map *m;
	size_t n = 0;
	bpf_object__for_each_map(m, o)
	{
		struct bpf_map_info info = {0};
		__u32 size = sizeof(info);
		bpf_obj_get_info_by_fd(bpf_map__fd(m), &info, &size);
		assert_true(n < N_MAPS);
		left.map[n++] = info.id;
	}
	assert_int_equal(n, N_MAPS);
	return left;
}

static unsigned count_left(const struct left *left)
{
	unsigned n = 0;
	for (unsigned i = 0; i < N_PROGRAMS + N_MAPS; i++) {
		const int fd = i < N_PROGRAMS
		    ? bpf_prog_get_fd_by_id(left->program[i])
		    : bpf_map_get_fd_by_id(left->map[i - N_PROGRAMS]);
		n += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return n;
}

static _Noreturn void be_killed(int to)
{
	alarm(60);
	faulty_open(&rig, &usual);
	faulty_add_loss(&rig, 3, 0.5);
	faulty_apply(&rig, 0);
	const struct left left = find_left();
	if (write(to, &left, sizeof(left)) == sizeof(left))
		for (;;)
			pause();
	_exit(1);
}

/* The kernel tears namespaces down by and by. */
static void a_killed_process_leaves_nothing(void **state)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	struct left left;
	int ends[2];
	lab_needs(state);
	faulty_open(&rig, &usual); /* or skip */
	faulty_close(&rig);
	assert_int_equal(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0)
		be_killed(ends[1]);
	assert_true(child > 0);
	assert_int_equal(read(ends[0], &left, sizeof(left)), sizeof(left));
	assert_int_equal(count_left(&left), N_PROGRAMS + N_MAPS);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	const double began = lab_seconds();
	while (count_left(&left) > 0 && lab_seconds() < began + 20)
		nanosleep(&pause, NULL);
	assert_int_equal(count_left(&left), 0);
	print_message("time: all gone %.0f ms after a kill\n",
	    1e3 * (lab_seconds() - began));
	close(ends[0]);
	close(ends[1]);
}

/* --- a kernel without types ----------------------------------------------- */

/* In a child, for which /sys/kernel/btf is empty. */
static _Noreturn void open_without_types(int to)
{
	struct sim_err e = {0};
	struct netns_faults *f;
	if (unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL) == 0)
		e.code =
		    netns_faults_open(&f, rig.lab.net, &rig.lab.t, &usual, &e);
	_exit(write(to, &e, sizeof(e)) != sizeof(e));
}

static void a_kernel_without_types_is_told(void **state)
{
	struct sim_err e;
	int ends[2];
	lab_needs(state);
	faulty_open(&rig, &usual); /* or skip */
	netns_faults_close(rig.f);
	rig.f = NULL;
	assert_int_equal(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0)
		open_without_types(ends[1]);
	assert_int_equal(read(ends[0], &e, sizeof(e)), sizeof(e));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(e.code, SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "/sys/kernel/btf/vmlinux"));
	close(ends[0]);
	close(ends[1]);
	faulty_close(&rig);
}

/* --- time ----------------------------------------------------------------- */

static void time_attaching(const struct topo_clos *shape)
{
	struct netns_faults *f;
	struct lab lab;
	lab_open(&lab, shape, 7);
	double t = lab_seconds();
	int rc = netns_faults_open(&f, lab.net, &lab.t, &usual, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		lab_close(&lab);
		skip();
	}
	assert_ok(rc);
	t = lab_seconds() - t;
	double gone = lab_seconds();
	netns_faults_close(f);
	gone = lab_seconds() - gone;
	print_message("time: %u ends attached in %.0f ms, detached in %.0f\n",
	    lab.t.n_links, 1e3 * t, 1e3 * gone);
	lab_close(&lab);
}

static void networks_of_64_and_976_ends_attach(void **state)
{
	const struct topo_clos large = {.n_pods = 2,
	    .n_tors = 10,
	    .n_t1 = 8,
	    .n_t2 = 8,
	    .n_hosts = 10};
	lab_needs(state);
	time_attaching(&faulty_shape);
	time_attaching(&large);
}

/* Nanoseconds of the program for one packet, by the kernel's own clock. */
static double time_of_packet(topo_link l)
{
	enum { REPEAT = 200000 };
	const struct topo_tuple tuple = {topo_addr_of_host(3),
	    topo_addr_of_host(9), 5, 6, TOPO_PROTO_TCP};
	const struct frame f = frame_of(&tuple);
	const struct bpf_object *o =
	    ((struct netns_faults_ebpf *)rig.f)->object;
	struct __sk_buff skb = {.ifindex = netns_ifindex(l)};
	topo_node from, to;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &f,
	    .data_size_in = sizeof(f), .ctx_in = &skb,
	    .ctx_size_in = sizeof(skb), .repeat = REPEAT);
	topo_link_ends(&rig.lab.t, l, &from, &to);
	assert_ok(netns_enter(rig.lab.net, to, test_err()));
	assert_int_equal(bpf_prog_test_run_opts(
			     bpf_program__fd(bpf_object__find_program_by_name(o,
				 "lab_ingress")),
			     &options),
	    0);
	assert_ok(netns_leave(rig.lab.net, test_err()));
	return options.duration;
}

static void packets_take_little_time(void **state)
{
	lab_needs(state);
	faulty_open(&rig, &usual);
	const topo_link up = faulty_link(&rig, "host0->tor0");
	const topo_link down = faulty_link(&rig, "tor0->host0");
	topo_node from, to;
	topo_link_ends(&rig.lab.t, up, &from, &to);
	faulty_apply(&rig, 0);
	const double plain = time_of_packet(down);
	faulty_add_loss(&rig, down, 0.01);
	add_hole(to - rig.lab.t.n_hosts, BLACKHOLE_RULE_TUPLE, 0, 4);
	faulty_apply(&rig, 0);
	const double lossy = time_of_packet(down), hole = time_of_packet(up);
	print_message("time: the program takes %.0f ns a packet, %.0f with "
		      "losses of 1 %%, %.0f with a hole\n",
	    plain, lossy, hole);
	assert_true(plain < 1000 && lossy < 1000 && hole < 1000);
	faulty_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holes_take_what_the_truth_says_bit_for_bit),
	    cmocka_unit_test(holes_pass_what_they_have_no_rule_for),
	    cmocka_unit_test(holes_find_ports_where_they_are),
	    cmocka_unit_test(losses_are_those_of_the_seed_and_the_link),
	    cmocka_unit_test(rates_of_0_and_1_are_exact),
	    cmocka_unit_test(drops_of_flows_add_up_to_those_of_links),
	    cmocka_unit_test(retransmissions_are_told_and_have_a_drop),
	    cmocka_unit_test(drops_without_room_are_counted),
	    cmocka_unit_test(the_audit_sees_each_of_our_drops),
	    cmocka_unit_test(another_network_is_not_looked_at),
	    cmocka_unit_test(a_killed_process_leaves_nothing),
	    cmocka_unit_test(a_kernel_without_types_is_told),
	    cmocka_unit_test(networks_of_64_and_976_ends_attach),
	    cmocka_unit_test(packets_take_little_time),
	};
	return cmocka_run_group_tests_name("models/netns/ebpf", tests,
	    lab_begin, NULL);
}
