/* tests/algos/everflow/filter_test.c -- filters against a tree walker.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here is statistical: random expressions on random traces must agree
 * with the oracle each time.
 */
#include "algos/everflow/filter.h"

#include <regex.h>

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/mesh.h"

enum { MAX_COPIES = 7, MAX_TREE = 40, MAX_ELEMS = 6 };

static struct topo net;

static int open_net(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	return topo_open_clos(&net, &shape, test_err());
}

static int close_net(void **state)
{
	(void)state;
	topo_close(&net);
	return 0;
}

struct sample {
	struct algo_trace t;
	struct algo_hop hop[MAX_COPIES];
};

static int fits_at(const char *text, const struct sample *s, sim_ns now)
{
	struct algo_filter f;
	assert_ok(
	    algo_filter_compile(&f, text, &net, ALGO_IS_CONDITION, test_err()));
	return algo_filter_test(&f, &s->t, s->hop, now);
}

static int fits(const char *text, const struct sample *s)
{
	return fits_at(text, s, 0);
}

static void expect(const char *text, const struct sample *s, int want)
{
	if (fits(text, s) != want)
		fail_msg("%s: %d", text, !want);
}

/* A SYN of host 0 to host 7: tor0 t1.0 t2.1 t1.3 tor3. */
static struct sample syn_of_five(void)
{
	struct sample s = {.t = {.t_ns = 1000,
			       .end_ns = 9000,
			       .marks = ALGO_TRACE_COMPLETE | ALGO_TRACE_RETX,
			       .src_ip = topo_addr_of_host(0),
			       .dst_ip = topo_addr_of_host(7),
			       .seq = 77,
			       .n_bytes = 74,
			       .last_node = 3,
			       .src_port = 1024,
			       .dst_port = 80,
			       .ip_id = 5,
			       .n_hops = 5,
			       .proto = 6,
			       .flags = OBS_TCP_SYN}};
	static const char *const way[] = {"tor0", "t1.0", "t2.1", "t1.3",
	    "tor3"};
	for (unsigned i = 0; i < 5; i++) {
		topo_node n;
		assert_ok(topo_node_parse(&net, way[i], &n, test_err()));
		s.hop[i] = (struct algo_hop){.t_ns = 1000 + 2000 * i,
		    .node = n - net.n_hosts,
		    .in_link = TOPO_NONE,
		    .ttl = (uint8_t)(64 - i),
		    .ttl_in = (uint8_t)(64 - i),
		    .tos = i == 2 ? 3 : 0};
	}
	return s;
}

/* --- by hand -------------------------------------------------------------- */

static void examples_are_decided_as_by_hand(void **state)
{
	(void)state;
	const struct sample s = syn_of_five();
	static const char *const yes[] = {"", "  ", "ip.proto == 6",
	    "ip.proto == 6 && ip.dst == 10.0.0.0/8 && switch == 172.16.0.3",
	    "tcp.flags & SYN && path ~ \"tor0 . t2 * host7\"",
	    "tcp.flags == SYN", "tcp.flags & SYN|FIN", "complete", "retx",
	    "!drop", "!(drop || loop)", "switch == t2.1", "switch != t2.1",
	    "switch == t2", "all:switch != t2.0", "all:ip.ttl > 59",
	    "!all:ip.ttl > 60", "ip.ecn == 3", "ip.src == host0", "len == 5",
	    "first == tor0 && last == tor3", "via == t2.1", "last == tor",
	    "last != t1", "age == 0ns", "!(latency > 0ns)", "mirrors_lost == 0",
	    "tcp.src == 0x400", "ip.len == 60", "eth.type == 0x0800",
	    "path ~ \"*\"", "path ~ \"host0 * host7\"",
	    "path ~ \"tor t1 t2 t1 tor\"", "path ~ \"host0 tor0 . . . tor3\"",
	    "path ~ \"(tor0|tor1) (t1.0 t2.1|t1.1) * (host6|host7)\"",
	    "path ~ \"tor0 (. .|.) tor3 |*\"", "link == 0 || layer == 0"};
	static const char *const no[] = {"ip.proto == 17", "drop",
	    "udp.src != 1", "udp.src == 1024", "bth.opcode >= 0", "link != 0",
	    "outer.src != "
	    "10.0.0.1",
	    "all:switch == t2.1", "!(switch == t2.1)", "last == t1.3",
	    "latency >= 0ns", "path ~ \"tor0\"", "path ~ \"t1.0 *\"",
	    "path ~ \"host1 *\"", "path ~ \"* host7 tor3\"", "len < 5",
	    "ip.src == 10.0.0.2/31", "tcp.flags & FIN|RST", "ip.ttl > 64",
	    "complete && loop || drop && complete",
	    "!(complete || loop) || !(retx)"};
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		expect(yes[i], &s, 1);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		expect(no[i], &s, 0);
	assert_true(fits_at("age == 2us", &s, 3000));
	assert_true(fits_at("age > 1.5us && age < 0.0021ms", &s, 3000));
}

/* A guided probe by two switches and back: the round trip is that of the copies
 * of the first, whatever the second one's clockwork says. */
static void latency_is_between_copies_of_one_switch(void **state)
{
	(void)state;
	struct sample s = syn_of_five();
	s.t.n_hops = 3;
	s.hop[2].node = s.hop[0].node;
	assert_true(fits("latency == 4us", &s));
	assert_true(fits("latency > 3.9us && latency < 4001ns", &s));
	assert_false(fits("latency != 4us", &s));
	s.hop[1].t_ns = 900000;
	assert_true(fits("latency == 4us", &s));
}

static void a_pause_frame_has_no_ip(void **state)
{
	(void)state;
	struct sample s = syn_of_five();
	s.t.proto = 0;
	expect("eth.type == 34824", &s, 1);
	expect("ip.id >= 0 || ip.proto >= 0 || tcp.flags >= 0 || ip.src != "
	       "10.0.0.9",
	    &s, 0);
}

static void naks_are_told_by_opcode_and_syndrome(void **state)
{
	(void)state;
	struct sample s = syn_of_five();
	s.t.proto = 17;
	s.t.dst_port = OBS_PORT_ROCE;
	s.t.bth_opcode = OBS_BTH_ACK;
	s.t.aeth = 0x61;
	expect("bth.nak == 1 && bth.opcode == 0x11 && udp.dst == 4791", &s, 1);
	s.t.aeth = 0x1f;
	expect("bth.nak == 0", &s, 1);
}

/* --- mistakes ------------------------------------------------------------- */

static void mistakes_name_column_and_what_was_meant(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words;
		int code;
	} bad[] = {
	    {"ip.sorc == 10.0.0.1", "column 1: .*ip.sorc.*\"ip.src\"",
		SIM_EINVAL},
	    {"drop && confrimed", "column 9: .*\"confirmed\"", SIM_EINVAL},
	    {"drop &&", "column 8: a test was expected", SIM_EINVAL},
	    {"drop loop", "column 6: \"&&\"", SIM_EINVAL},
	    {"(drop", "column 6: .*column 1", SIM_EINVAL},
	    {"drop)", "column 5: ", SIM_EINVAL},
	    {"ip.ttl == 300", "column 11: ip.ttl is from 0 to 255; 300",
		SIM_ERANGE},
	    {"ip.ttl == -1", "column 11: \"-1\" is below 0", SIM_ERANGE},
	    {"ip.ttl == 010", "column 11: .*write 10", SIM_EINVAL},
	    {"ip.ttl == 0xzz", "column 11: ", SIM_EINVAL},
	    {"ip.ttl = 3", "column 8: ", SIM_EINVAL},
	    {"ip.ttl", "column 7: one of ==", SIM_EINVAL},
	    {"ip.ttl == tor3", "column 11: .*not a whole number", SIM_EINVAL},
	    {"ip.ttl == ", "column 11: a value was expected for ip.ttl",
		SIM_EINVAL},
	    {"tcp.flags & SYM", "column 13: .*\"SYN\"", SIM_EINVAL},
	    {"tcp.flags & SYN|", "column 17: ", SIM_EINVAL},
	    {"tcp.flags & 0", "column 13: .*fits nothing", SIM_EINVAL},
	    {"latency > 150", "column 11: .*is no time", SIM_EINVAL},
	    {"latency & 1us", "column 9: ", SIM_EINVAL},
	    {"latency > 1e3us", "column 11: ", SIM_EINVAL},
	    {"latency > 999999d", "column 11: .*2\\^63", SIM_ERANGE},
	    {"ip.src < 10.0.0.1", "column 8: ip.src takes == and !=, not <",
		SIM_EINVAL},
	    {"ip.src == 10.0.0.1/8", "column 11: .*behind its prefix",
		SIM_EINVAL},
	    {"ip.src == 10.0.0.0/33", "column 11: .*0 to 32", SIM_ERANGE},
	    {"ip.src == 10.0.0", "column 11: ", SIM_EINVAL},
	    {"switch == 10.0.0.1", "column 11: .*address of no switch",
		SIM_EINVAL},
	    {"switch == tor9", "column 11: .*no node.*\"tor", SIM_EINVAL},
	    {"switch == host1", "column 11: host1 is a host", SIM_EINVAL},
	    {"link == tor0->tor1", "column 9: .*no cable", SIM_EINVAL},
	    {"link == 9999", "column 9: ", SIM_ERANGE},
	    {"all:drop", "column 1: .*fields of copies.*drop", SIM_EINVAL},
	    {"all:len > 3", "column 1: .*fields of copies.*len", SIM_EINVAL},
	    {"path == \"*\"", "column 6: ", SIM_EINVAL},
	    {"path ~ tor3", "column 8: a path in quotes", SIM_EINVAL},
	    {"path ~ \"\"", "column 9: a node was expected", SIM_EINVAL},
	    {"path ~ \"tor0 tro1\"", "column 14: .*did you mean \"tor1\"",
		SIM_EINVAL},
	    {"path ~ \"tor0 (t1\"", "column 14: .*no \"\\)\"", SIM_EINVAL},
	    {"path ~ \"tor0 )\"", "column 14: .*no \"\\(\"", SIM_EINVAL},
	    {"path ~ \"tor0 (t1|)\"", "column 18: ", SIM_EINVAL},
	    {"path ~ \"tor0", "column 8: this quote has no end", SIM_EINVAL},
	    {"drop $ loop", "column 6: \"\\$\" begins nothing", SIM_EINVAL},
	    {"!!drop", "column 2: a test was expected", SIM_EINVAL},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct algo_filter f;
		struct sim_err e = {0};
		const int rc = algo_filter_compile(&f, bad[i].text, &net,
		    ALGO_IS_CONDITION, &e);
		regex_t r;
		assert_int_equal(regcomp(&r, bad[i].words,
				     REG_EXTENDED | REG_NOSUB),
		    0);
		if (rc != bad[i].code || regexec(&r, e.msg, 0, NULL, 0) != 0)
			fail_msg("%s: %s (%s)", bad[i].text, e.msg,
			    sim_err_text(rc));
		regfree(&r);
		const char end = e.msg[strlen(e.msg) - 1];
		assert_true(end == '.' || end == '?');
	}
}

static void properties_of_traces_are_for_conditions(void **state)
{
	(void)state;
	static const char *const word[] = {"len == 1", "first == tor0",
	    "last == tor0", "via == tor0", "latency > 1us", "mirrors_lost > 0",
	    "age > 1s"};
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		struct algo_filter f;
		struct sim_err e = {0};
		assert_ok(algo_filter_compile(&f, word[i], &net,
		    ALGO_IS_CONDITION, test_err()));
		assert_true(f.is_condition);
		assert_int_equal(algo_filter_compile(&f, word[i], &net,
				     ALGO_IS_FILTER, &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "of conditions, not of filters"));
	}
}

static void names_need_a_topology(void **state)
{
	(void)state;
	static const char *const word[] = {"switch == tor0", "switch == t2",
	    "ip.src == host0", "link == tor0->t1.0", "path ~ \"tor\"",
	    "path ~ \"tor0\""};
	struct algo_filter f;
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		struct sim_err e = {0};
		assert_int_equal(algo_filter_compile(&f, word[i], NULL,
				     ALGO_IS_FILTER, &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "of which topology?"));
	}
	/* What has none does without. */
	assert_ok(algo_filter_compile(&f,
	    "drop && ip.src == 10.0.0.1 && switch == 172.16.0.3 && path ~ "
	    "\". *\"",
	    NULL, ALGO_IS_FILTER, test_err()));
	struct sample s = syn_of_five();
	s.t.marks = ALGO_TRACE_SUSPECT;
	assert_true(algo_filter_test(&f, &s.t, s.hop, 0));
}

/* Names of a file may be addresses, tiers, or have blanks; without tiers none of
 * those is known. */
static void names_of_any_network_are_known(void **state)
{
	(void)state;
	static const struct topo_cable cable[] = {{0, 2}, {1, 4}, {2, 3},
	    {3, 4}};
	static const char *const name[] = {"A", "10.9.9.9", "10.10.0.10",
	    "New York", "t2"};
	const struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = 3,
	    .n_cables = 4,
	    .cable = cable,
	    .name = name};
	static const char *const yes[] = {"switch == 10.10.0.10",
	    "last == t2 && via == \"New York\"", "ip.dst == 10.9.9.9",
	    "path ~ \"A 10.10.0.10 . t2\"", "switch == 172.16.0.1"};
	const struct sample s = {.t = {.src_ip = topo_addr_of_host(0),
				     .dst_ip = topo_addr_of_host(1),
				     .proto = 6,
				     .n_hops = 3,
				     .last_node = 2},
	    .hop = {{.node = 0}, {.node = 1}, {.node = 2}}};
	struct topo_mesh *m;
	struct topo t;
	struct algo_filter f;
	struct sim_err e = {0};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		assert_ok(algo_filter_compile(&f, yes[i], &t, ALGO_IS_CONDITION,
		    test_err()));
		if (!algo_filter_test(&f, &s.t, s.hop, 0))
			fail_msg("%s does not fit", yes[i]);
	}
	assert_int_equal(algo_filter_compile(&f, "switch == t1", &t,
			     ALGO_IS_FILTER, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "a tier, but this network has none"));
	assert_int_equal(algo_filter_compile(&f, "path ~ \"tor *\"", &t,
			     ALGO_IS_FILTER, &e),
	    SIM_EINVAL);
	topo_close(&t);
}

static void limits_are_told(void **state)
{
	(void)state;
	char text[8192];
	struct algo_filter f;
	struct sim_err e = {0};
	const struct sample s = syn_of_five();
	for (unsigned n = 63; n <= 65; n++) {
		size_t at = 0;
		for (unsigned i = 0; i < n; i++)
			at += (size_t)sprintf(text + at, "%s%s",
			    i > 0 ? " && " : "", "complete");
		const int rc =
		    algo_filter_compile(&f, text, &net, ALGO_IS_FILTER, &e);
		assert_int_equal(rc, n <= 64 ? 0 : SIM_ELIMIT);
		if (n <= 64)
			assert_true(algo_filter_test(&f, &s.t, s.hop, 0));
	}
	assert_non_null(strstr(e.msg, "column 769: more than 64 tests"));
	for (unsigned n = 32; n <= 33; n++) {
		memset(text, '(', n);
		sprintf(text + n, "drop%.*s", (int)n,
		    ")))))))))))))))))))))))))))))))))))))))))))))))))");
		assert_int_equal(algo_filter_compile(&f, text, &net,
				     ALGO_IS_FILTER, &e),
		    n == 32 ? 0 : SIM_ELIMIT);
	}
	for (unsigned n = 63; n <= 64; n++) {
		size_t at = (size_t)sprintf(text, "path ~ \"");
		for (unsigned i = 0; i < n; i++)
			at += (size_t)sprintf(text + at, "* ");
		sprintf(text + at, "\"");
		assert_int_equal(algo_filter_compile(&f, text, &net,
				     ALGO_IS_FILTER, &e),
		    n == 63 ? 0 : SIM_ELIMIT);
		if (n == 63)
			assert_true(algo_filter_test(&f, &s.t, s.hop, 0));
	}
	/* Words, and names within paths. */
	for (int n = 159; n <= 160; n++) {
		sprintf(text, "switch == %0*d", n, 0);
		assert_true(algo_filter_compile(&f, text, &net, ALGO_IS_FILTER,
				&e) < 0);
		assert_int_equal(n == 160,
		    strstr(e.msg,
			"column 11: a word of 160 bytes; there may be "
			"159.") != NULL);
	}
	for (int n = 63; n <= 64; n++) {
		sprintf(text, "path ~ \"%0*d\"", n, 0);
		assert_int_equal(algo_filter_compile(&f, text, &net,
				     ALGO_IS_FILTER, &e),
		    SIM_EINVAL);
		assert_int_equal(n == 64,
		    strstr(e.msg,
			"a name of 64 bytes; nodes have at most 63.") != NULL);
	}
	memset(text, ' ', 5000);
	text[5000] = '\0';
	assert_int_equal(algo_filter_compile(&f, text, &net, ALGO_IS_FILTER,
			     &e),
	    SIM_ELIMIT);
}

/* --- the oracle ----------------------------------------------------------- */

/* One element of a random pattern: nodes of which one must come, or any hops. */
struct elem {
	int is_any;
	unsigned n;
	struct option {
		enum { ANY, HOST, SWITCH, TIER } kind;
		uint32_t id;
	} option[2];
};

struct tree {
	enum { TEST, AND, OR, MARK, PATH } kind;
	int not, all;
	struct tree *left, *right;
	unsigned field, op;
	uint64_t value, mask;
	unsigned n_elems;
	struct elem elem[MAX_ELEMS];
};

/* All values that a test on FIELD looks at. */
static unsigned oracle_values(unsigned field, const struct sample *s,
    sim_ns now, int64_t value[])
{
	const struct algo_trace *t = &s->t;
	const int ip = t->proto != 0, tcp = t->proto == 6, udp = t->proto == 17;
	const int roce = udp && t->dst_port == 4791;
	unsigned n = 0;
	int64_t one = -1, longest = -1;
	switch (field) {
	case ALGO_FIELD_ETH_TYPE:
		one = ip ? 0x800 : 0x8808;
		break;
	case ALGO_FIELD_IP_SRC:
		one = ip ? (int64_t)t->src_ip : -1;
		break;
	case ALGO_FIELD_IP_DST:
		one = ip ? (int64_t)t->dst_ip : -1;
		break;
	case ALGO_FIELD_IP_PROTO:
		one = ip ? t->proto : -1;
		break;
	case ALGO_FIELD_IP_ID:
		one = ip ? t->ip_id : -1;
		break;
	case ALGO_FIELD_IP_LEN:
		one = ip ? (int64_t)t->n_bytes - 14 : -1;
		break;
	case ALGO_FIELD_TCP_SRC:
		one = tcp ? t->src_port : -1;
		break;
	case ALGO_FIELD_TCP_DST:
		one = tcp ? t->dst_port : -1;
		break;
	case ALGO_FIELD_TCP_FLAGS:
		one = tcp ? t->flags : -1;
		break;
	case ALGO_FIELD_TCP_SEQ:
		one = tcp ? (int64_t)t->seq : -1;
		break;
	case ALGO_FIELD_UDP_SRC:
		one = udp ? t->src_port : -1;
		break;
	case ALGO_FIELD_UDP_DST:
		one = udp ? t->dst_port : -1;
		break;
	case ALGO_FIELD_BTH_OPCODE:
		one = roce ? t->bth_opcode : -1;
		break;
	case ALGO_FIELD_BTH_NAK:
		one = roce ? t->bth_opcode == 17 && t->aeth >> 5 == 3 : -1;
		break;
	case ALGO_FIELD_LEN:
		one = t->n_hops;
		break;
	case ALGO_FIELD_FIRST:
		one = t->n_hops ? (int64_t)s->hop[0].node : -1;
		break;
	case ALGO_FIELD_LAST:
		one = t->last_node;
		break;
	case ALGO_FIELD_MIRRORS_LOST:
		one = t->n_lost;
		break;
	case ALGO_FIELD_AGE:
		one = (int64_t)(now - t->t_ns);
		break;
	default:
		break;
	}
	if (one >= 0)
		value[n++] = one;
	for (unsigned i = 0; i < t->n_hops; i++) {
		const struct algo_hop *h = &s->hop[i];
		for (unsigned k = 0; k < i; k++)
			if (s->hop[k].node == h->node &&
			    llabs((int64_t)(h->t_ns - s->hop[k].t_ns)) >
				longest)
				longest =
				    llabs((int64_t)(h->t_ns - s->hop[k].t_ns));
		/* -2: this copy has none. */
		int64_t x = -3;
		switch (field) {
		case ALGO_FIELD_IP_TTL:
			x = h->ttl;
			break;
		case ALGO_FIELD_IP_DSCP:
			x = h->tos / 4;
			break;
		case ALGO_FIELD_IP_ECN:
			x = h->tos % 4;
			break;
		case ALGO_FIELD_OUTER_SRC:
			x = h->layer ? (int64_t)h->outer_src : -2;
			break;
		case ALGO_FIELD_SWITCH:
		case ALGO_FIELD_VIA:
			x = h->node;
			break;
		case ALGO_FIELD_LINK:
			x = h->in_link != TOPO_NONE ? (int64_t)h->in_link : -2;
			break;
		case ALGO_FIELD_LAYER:
			x = h->layer;
			break;
		default:
			break;
		}
		if (x != -3)
			value[n++] = x;
	}
	if (field == ALGO_FIELD_LATENCY && longest >= 0)
		value[n++] = longest;
	return n;
}

static int oracle_one(const struct tree *e, int64_t x)
{
	if (x < 0)
		return 0;
	const uint64_t m = (uint64_t)x & e->mask;
	switch (e->op) {
	case ALGO_FILTER_EQ:
		return m == e->value;
	case ALGO_FILTER_NE:
		return m != e->value;
	case ALGO_FILTER_LT:
		return m < e->value;
	case ALGO_FILTER_LE:
		return m <= e->value;
	case ALGO_FILTER_GT:
		return m > e->value;
	case ALGO_FILTER_GE:
		return m >= e->value;
	case ALGO_FILTER_TIER:
		return topo_tier_of(&net, (topo_switch)x) == e->value;
	case ALGO_FILTER_NOT_TIER:
		return topo_tier_of(&net, (topo_switch)x) != e->value;
	default:
		return m != 0;
	}
}

struct place {
	int is_host;
	uint32_t id;
};

static int oracle_is(const struct option *o, const struct place *p)
{
	switch (o->kind) {
	case ANY:
		return !p->is_host;
	case HOST:
		return p->is_host && p->id == o->id;
	case SWITCH:
		return !p->is_host && p->id == o->id;
	default:
		return !p->is_host && topo_tier_of(&net, p->id) == o->id;
	}
}

/* By trying everything. */
static int oracle_way(const struct elem *e, unsigned n, const struct place *p,
    unsigned left)
{
	if (n == 0)
		return left == 0;
	if (e->is_any)
		return oracle_way(e + 1, n - 1, p, left) ||
		    (left > 0 && !p->is_host &&
			oracle_way(e, n, p + 1, left - 1));
	for (unsigned i = 0; left > 0 && i < e->n; i++)
		if (oracle_is(&e->option[i], p) &&
		    oracle_way(e + 1, n - 1, p + 1, left - 1))
			return 1;
	return 0;
}

static int oracle_path(const struct tree *e, const struct sample *s)
{
	struct place p[MAX_COPIES + 2] = {
	    {1, s->t.src_ip - TOPO_ADDR_HOST_BASE}};
	const unsigned n = s->t.n_hops;
	for (unsigned i = 0; i < n; i++)
		p[i + 1] = (struct place){0, s->hop[i].node};
	p[n + 1] = (struct place){1, s->t.dst_ip - TOPO_ADDR_HOST_BASE};
	for (unsigned from = 0; from < 2; from++)
		for (unsigned to = n + 1; to <= n + 2; to++)
			if (oracle_way(e->elem, e->n_elems, p + from,
				to - from))
				return 1;
	return 0;
}

static int oracle(const struct tree *e, const struct sample *s, sim_ns now)
{
	int64_t value[MAX_COPIES + 1];
	unsigned n, n_true = 0;
	int is;
	switch (e->kind) {
	case AND:
		is = oracle(e->left, s, now) & oracle(e->right, s, now);
		break;
	case OR:
		is = oracle(e->left, s, now) | oracle(e->right, s, now);
		break;
	case MARK:
		is = (s->t.marks & e->mask) != 0;
		break;
	case PATH:
		is = oracle_path(e, s);
		break;
	default:
		n = oracle_values(e->field, s, now, value);
		for (unsigned i = 0; i < n; i++)
			n_true += (unsigned)oracle_one(e, value[i]);
		is = e->all ? n_true == n : n_true > 0;
	}
	return is ^ e->not ;
}

/* --- random expressions --------------------------------------------------- */

struct maker {
	struct sim_rng *r;
	struct tree tree[MAX_TREE];
	unsigned n;
	char text[4096];
	struct sim_text out;
};

static uint32_t below(struct maker *m, uint32_t n)
{
	return sim_rng_below(m->r, n);
}

static void put_name(struct maker *m, topo_node n)
{
	char name[64];
	topo_node_name(&net, n, name);
	sim_put(&m->out, "%s", name);
}

static void make_option(struct maker *m, struct option *o)
{
	static const char *const tier[] = {"tor", "t1", "t2"};
	o->kind = below(m, 4);
	switch (o->kind) {
	case ANY:
		sim_put(&m->out, ".");
		break;
	case HOST:
		put_name(m, o->id = below(m, net.n_hosts));
		break;
	case SWITCH:
		o->id = below(m, net.n_switches);
		put_name(m, net.n_hosts + o->id);
		break;
	default:
		sim_put(&m->out, "%s", tier[o->id = below(m, 3)]);
	}
}

static void make_path(struct maker *m, struct tree *e)
{
	sim_put(&m->out, "path ~ \"");
	e->kind = PATH;
	e->n_elems = 1 + below(m, MAX_ELEMS);
	for (unsigned i = 0; i < e->n_elems; i++) {
		struct elem *x = &e->elem[i];
		sim_put(&m->out, "%s", i > 0 ? " " : "");
		x->is_any = below(m, 3) == 0;
		if (x->is_any) {
			sim_put(&m->out, "*");
			continue;
		}
		x->n = 1 + below(m, 2);
		sim_put(&m->out, "%s", x->n > 1 ? "(" : "");
		make_option(m, &x->option[0]);
		if (x->n > 1) {
			sim_put(&m->out, "|");
			make_option(m, &x->option[1]);
			sim_put(&m->out, ")");
		}
	}
	sim_put(&m->out, "\"");
}

static void make_node_value(struct maker *m, struct tree *e)
{
	static const char *const tier[] = {"tor", "t1", "t2"};
	char addr[16];
	e->value = below(m, net.n_switches);
	switch (below(m, 3)) {
	case 0:
		topo_addr_format(topo_addr_of_switch((topo_switch)e->value),
		    addr);
		sim_put(&m->out, "%s", addr);
		break;
	case 1:
		put_name(m, net.n_hosts + (topo_node)e->value);
		break;
	default:
		e->value %= 3;
		sim_put(&m->out, "%s", tier[e->value]);
		e->op = e->op == ALGO_FILTER_EQ ? ALGO_FILTER_TIER
						: ALGO_FILTER_NOT_TIER;
	}
}

static void make_value(struct maker *m, struct tree *e, unsigned type)
{
	char text[64];
	const uint32_t bits = 29 + below(m, 4);
	switch (type) {
	case ALGO_FILTER_ADDRESS:
		e->value = topo_addr_of_host(below(m, net.n_hosts));
		e->mask = UINT32_MAX << (32 - bits);
		e->value &= e->mask;
		topo_addr_format((uint32_t)e->value, text);
		sim_put(&m->out, "%s/%u", text, bits);
		break;
	case ALGO_FILTER_NODE:
		make_node_value(m, e);
		break;
	case ALGO_FILTER_LINK:
		e->value = below(m, net.n_links);
		topo_link_name(&net, (topo_link)e->value, text);
		sim_put(&m->out, "%s", text);
		break;
	case ALGO_FILTER_TIME:
		e->value = 500 * below(m, 20);
		if (below(m, 2))
			sim_put(&m->out, "%.1fus", 1e-3 * (double)e->value);
		else
			sim_put(&m->out, "%.4fms", 1e-6 * (double)e->value);
		break;
	case ALGO_FILTER_FLAGS:
		e->value = 1 + below(m, 7);
		sim_put(&m->out, "%s%s%s%s%s", e->value & 1 ? "FIN" : "",
		    e->value & 1 && e->value & 6 ? " | " : "",
		    e->value & 2 ? "SYN" : "",
		    e->value & 2 && e->value & 4 ? "|" : "",
		    e->value & 4 ? "RST" : "");
		break;
	default: {
		static const uint32_t some[] = {0, 1, 2, 3, 4, 5, 6, 17, 64, 80,
		    1024, 4791, 0x800, 0x8808, 60};
		const uint32_t most = algo_filter_fields[e->field].most;
		do
			e->value = some[below(m, 15)];
		while (e->value > most);
		if (e->op == ALGO_FILTER_ANY && e->value == 0)
			e->value = 1;
		sim_put(&m->out, below(m, 2) ? "%llu" : "0x%llX",
		    (unsigned long long)e->value);
	}
	}
}

static void make_test(struct maker *m, struct tree *e)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">",
	    ">=", "&"};
	const unsigned what = below(m, 8);
	if (what == 0) {
		make_path(m, e);
		return;
	}
	if (what == 1) {
		const unsigned i = below(m, ALGO_TRACE_N_MARKS + 1);
		e->kind = MARK;
		e->mask = algo_filter_flags[i].marks;
		sim_put(&m->out, "%s", algo_filter_flags[i].word);
		return;
	}
	e->field = below(m, ALGO_N_FILTER_FIELDS);
	const struct algo_filter_field_info *i = &algo_filter_fields[e->field];
	e->mask = UINT64_MAX;
	e->op = below(m,
	    i->type == ALGO_FILTER_NUMBER || i->type == ALGO_FILTER_FLAGS ? 7
		: i->type == ALGO_FILTER_TIME                             ? 6
									  : 2);
	e->all = i->scope == ALGO_OF_COPY && below(m, 2);
	sim_put(&m->out, "%s%s %s ", e->all ? "all:" : "", i->word, ops[e->op]);
	make_value(m, e, i->type);
	if (e->op == ALGO_FILTER_ANY)
		e->mask = e->value;
}

/* In words, an OR within an AND stands in parentheses, and anything may. */
static struct tree *make_tree(struct maker *m, unsigned depth, int in_and)
{
	struct tree *e = &m->tree[m->n++];
	*e = (struct tree){.not = below(m, 4) == 0};
	const int is_leaf = depth == 0 || below(m, 3) == 0;
	const int is_or = !is_leaf && below(m, 2);
	const int in_parens =
	    (!is_leaf && e->not ) || (in_and && is_or) || below(m, 5) == 0;
	sim_put(&m->out, "%s%s", e->not ? "!" : "", in_parens ? "(" : "");
	if (is_leaf) {
		make_test(m, e);
	} else {
		e->kind = is_or ? OR : AND;
		e->left = make_tree(m, depth - 1, !is_or);
		sim_put(&m->out, "%s", is_or ? " || " : " && ");
		/* A chain of equals is read from the left; on the right it
		 * would need parentheses to be this tree, but means the same. */
		e->right = make_tree(m, depth - 1, !is_or);
	}
	sim_put(&m->out, "%s", in_parens ? ")" : "");
	return e;
}

static void make_sample(struct sim_rng *r, struct sample *s)
{
	static const uint16_t port[] = {80, 1024, 4791, 179};
	static const uint8_t proto[] = {0, 6, 6, 6, 17, 17};
	*s = (struct sample){
	    .t = {.t_ns = sim_rng_below(r, 5000),
		.marks = sim_rng_below(r, 1u << ALGO_TRACE_N_MARKS),
		.src_ip = topo_addr_of_host(sim_rng_below(r, net.n_hosts)),
		.dst_ip = topo_addr_of_host(sim_rng_below(r, net.n_hosts)),
		.seq = sim_rng_below(r, 6),
		.n_bytes = 14 + sim_rng_below(r, 70),
		.src_port = port[sim_rng_below(r, 4)],
		.dst_port = port[sim_rng_below(r, 4)],
		.ip_id = (uint16_t)sim_rng_below(r, 6),
		.n_hops = (uint16_t)sim_rng_below(r, MAX_COPIES + 1),
		.n_lost = (uint16_t)sim_rng_below(r, 3),
		.proto = proto[sim_rng_below(r, 6)],
		.flags = (uint8_t)sim_rng_below(r, 32),
		.bth_opcode = (uint8_t)(16 + sim_rng_below(r, 2)),
		.aeth = (uint8_t)sim_rng_below(r, 256)}};
	for (unsigned i = 0; i < s->t.n_hops; i++)
		s->hop[i] = (struct algo_hop){.t_ns = sim_rng_below(r, 10000),
		    .node = sim_rng_below(r, net.n_switches),
		    .in_link = sim_rng_below(r, 3)
			? sim_rng_below(r, net.n_links)
			: TOPO_NONE,
		    .outer_src =
			topo_addr_of_host(sim_rng_below(r, net.n_hosts)),
		    .layer = (uint8_t)sim_rng_below(r, 3),
		    .ttl = (uint8_t)sim_rng_below(r, 66),
		    .tos = (uint8_t)sim_rng_below(r, 16)};
	s->t.last_node = s->t.n_hops > 0 ? s->hop[s->t.n_hops - 1].node : 0;
}

static void random_expressions_agree_with_a_tree_walker(void **state)
{
	(void)state;
	unsigned n_true = 0, n_all = 0;
	for (uint32_t run = 0; run < 4000; run++) {
		struct sim_rng r;
		struct maker m = {.r = &r};
		struct algo_filter f;
		test_rng(&r, run);
		m.out = (struct sim_text){m.text, sizeof(m.text), 0};
		const struct tree *e = make_tree(&m, below(&m, 5), 0);
		if (algo_filter_compile(&f, m.text, &net, ALGO_IS_CONDITION,
			test_err()) < 0)
			fail_msg("run %u: %s: %s", run, m.text,
			    test_err()->msg);
		for (unsigned i = 0; i < 30; i++) {
			struct sample s;
			make_sample(&r, &s);
			const sim_ns now = 5000 + below(&m, 5000);
			const int want = oracle(e, &s, now);
			if (algo_filter_test(&f, &s.t, s.hop, now) != want)
				fail_msg("seed %llu run %u trace %u: %s",
				    (unsigned long long)test_seed(), run, i,
				    m.text);
			n_true += (unsigned)want;
			n_all++;
		}
	}
	/* A comparison of constants would prove nothing. */
	assert_true(n_true > n_all / 5 && n_true < 4 * (n_all / 5));
}

/* --- before assembly ------------------------------------------------------ */

static void header_only_filters_answer_alike_for_each_copy(void **state)
{
	(void)state;
	unsigned n = 0;
	for (uint32_t run = 0; run < 4000; run++) {
		struct sim_rng r;
		struct maker m = {.r = &r};
		struct algo_filter f;
		struct sample s;
		test_rng(&r, 10000 + run);
		m.out = (struct sim_text){m.text, sizeof(m.text), 0};
		make_tree(&m, below(&m, 3), 0);
		assert_ok(algo_filter_compile(&f, m.text, &net,
		    ALGO_IS_CONDITION, test_err()));
		if (!algo_filter_is_header_only(&f))
			continue;
		n++;
		make_sample(&r, &s);
		const int want = algo_filter_test(&f, &s.t, s.hop, 0);
		for (unsigned i = 0; i < s.t.n_hops; i++) {
			const struct obs_copy c = {.src_ip = s.t.src_ip,
			    .dst_ip = s.t.dst_ip,
			    .outer_src = s.hop[i].outer_src,
			    .seq = s.t.seq,
			    .n_bytes = s.t.n_bytes + 20u * s.hop[i].layer,
			    .node = s.hop[i].node,
			    .in_link = s.hop[i].in_link,
			    .src_port = s.t.src_port,
			    .dst_port = s.t.dst_port,
			    .ip_id = s.t.ip_id,
			    .proto = s.t.proto,
			    .ttl = s.hop[i].ttl,
			    .tos = s.hop[i].tos,
			    .flags = s.t.flags,
			    .layer = s.hop[i].layer,
			    .bth_opcode = s.t.bth_opcode,
			    .aeth = s.t.aeth};
			if (algo_filter_test_copy(&f, &c) != want)
				fail_msg("run %u: %s", run, m.text);
		}
	}
	assert_true(n > 400);
	struct algo_filter f;
	static const char *const not_so[] = {"ip.ttl > 3", "ip.len > 3", "drop",
	    "path ~ \"*\"", "switch == tor0", "ip.proto == 6 && layer > 0"};
	for (size_t i = 0; i < sizeof(not_so) / sizeof(not_so[0]); i++) {
		assert_ok(algo_filter_compile(&f, not_so[i], &net,
		    ALGO_IS_FILTER, test_err()));
		assert_false(algo_filter_is_header_only(&f));
	}
}

/* Hosts and switches are names: whoever swaps two hosts in the traces and in
 * the expression gets the same answers. */
static void relabelled_hosts_relabel_answers(void **state)
{
	(void)state;
	struct sample s = syn_of_five(), swapped = s;
	swapped.t.src_ip = s.t.dst_ip;
	swapped.t.dst_ip = s.t.src_ip;
	for (unsigned i = 0; i < 5; i++)
		swapped.hop[i] = s.hop[4 - i];
	expect("path ~ \"host0 tor0 * tor3 host7\"", &s, 1);
	expect("path ~ \"host7 tor3 * tor0 host0\"", &swapped, 1);
	expect("path ~ \"host0 tor0 * tor3 host7\"", &swapped, 0);
}

static void the_listing_has_each_step_with_its_text(void **state)
{
	(void)state;
	static const char text[] =
	    "ip.proto == 6 && (all:ip.ttl > 9 || !drop) && path ~ \"tor0 *\"";
	char out[2048];
	struct sim_text to = {out, sizeof(out), 0};
	struct algo_filter f;
	assert_ok(
	    algo_filter_compile(&f, text, &net, ALGO_IS_FILTER, test_err()));
	algo_filter_put(&f, text, &to);
	assert_string_equal(out,
	    " 0  eq       ffffffffffffffff 0000000000000006  once    yes 1, no "
	    "no  ; ip.proto == 6\n"
	    " 1  gt       ffffffffffffffff 0000000000000009  all of  yes 3, no "
	    "2  ; all:ip.ttl > 9\n"
	    " 2  marks    0000000000000006 0000000000000000  once    yes no, "
	    "no 3  ; drop\n"
	    " 3  path     0000000000000006 0000000000000000  once    yes yes, "
	    "no no  ; path ~ \"tor0 *\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(examples_are_decided_as_by_hand),
	    cmocka_unit_test(latency_is_between_copies_of_one_switch),
	    cmocka_unit_test(a_pause_frame_has_no_ip),
	    cmocka_unit_test(naks_are_told_by_opcode_and_syndrome),
	    cmocka_unit_test(mistakes_name_column_and_what_was_meant),
	    cmocka_unit_test(properties_of_traces_are_for_conditions),
	    cmocka_unit_test(names_need_a_topology),
	    cmocka_unit_test(names_of_any_network_are_known),
	    cmocka_unit_test(limits_are_told),
	    cmocka_unit_test(random_expressions_agree_with_a_tree_walker),
	    cmocka_unit_test(header_only_filters_answer_alike_for_each_copy),
	    cmocka_unit_test(relabelled_hosts_relabel_answers),
	    cmocka_unit_test(the_listing_has_each_step_with_its_text),
	};
	return cmocka_run_group_tests_name("algos/everflow/filter", tests,
	    open_net, close_net);
}
