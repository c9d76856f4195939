/* tests/models/packet/pause_test.c -- models/packet/pause: storms and others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/pause.h"

#include "tests/test.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 4,
    .n_hosts = 2};

static struct packet_pause_params params(void)
{
	struct packet_pause_params p;
	assert_ok(sim_field_defaults(packet_pause_fields, &p, test_err()));
	return p;
}

/* What was told: of each link when first, when last, how many. */
enum { MAX_LINKS = 200, ON = 1 };
struct told {
	const struct topo *topo;
	sim_ns first[MAX_LINKS], last[MAX_LINKS], longest[MAX_LINKS];
	uint32_t n[MAX_LINKS];
	uint16_t quanta[MAX_LINKS]; /* of the latest */
	double off_ns[MAX_LINKS];
	uint64_t n_all;
	int refuse; /* this many frames from now; -1: never */
};

static int see(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct told *w = arg;
	topo_node from, to;
	assert_int_equal(p->ethertype, OBS_ETH_CONTROL);
	assert_int_equal(p->pfc_classes, 1 << 3);
	topo_link_ends(w->topo, in, &from, &to);
	assert_int_equal(to, w->topo->n_hosts + at);
	if (w->n[in] == 0)
		w->first[in] = t;
	else
		assert_true(t > w->last[in]);
	if (w->n[in] > 0 && t - w->last[in] > w->longest[in])
		w->longest[in] = t - w->last[in];
	if (w->n[in] > 0 && w->quanta[in] > 0)
		w->off_ns[in] += fmin((double)(t - w->last[in]),
		    obs_pause_ns(w->quanta[in], 40));
	w->last[in] = t;
	w->quanta[in] = p->pfc_quanta;
	w->n[in]++;
	w->n_all++;
	return w->refuse >= 0 && w->refuse-- == 0
	    ? sim_fail(e, SIM_EIO, "Enough.")
	    : 0;
}

/* Oracle: links of paths to HOST, by how far from it they end. Many digests of
 * every pair find them all: a miss has chance (1 - 1/8)^400 each. */
static void links_to(const struct topo *t, topo_host host, uint8_t away[])
{
	for (topo_host h = 0; h < t->n_hosts; h++)
		for (uint32_t k = 0; k < 400; k++) {
			topo_link path[TOPO_MAX_HOPS];
			const unsigned n =
			    topo_path(t, 1, h, host, topo_mix32(k), path);
			for (unsigned i = 1; i < n; i++)
				away[path[i]] = (uint8_t)(n - i);
		}
}

static void a_storm_pauses_all_links_towards_its_host(void **state)
{
	(void)state;
	for (uint32_t depth = 1; depth <= 5; depth++) {
		struct topo t = {0};
		struct told w = {.topo = &t, .refuse = -1};
		struct packet_pause_end end = {0};
		struct packet_pause_params p = params();
		const struct packet_eye eye = {&w, see};
		uint8_t away[MAX_LINKS] = {0};
		struct sim_rng r;
		const topo_host host = 3;
		test_rng(&r, depth);
		assert_ok(topo_open_clos(&t, &shape, test_err()));
		assert_in_range(t.n_links, 1, MAX_LINKS);
		links_to(&t, host, away);
		p.depth = depth;
		assert_ok(packet_pause_storm(&t, &p, host, SIM_MS, 50 * SIM_MS,
		    60 * SIM_MS, &r, &eye, NULL, &end, test_err()));
		uint32_t n = 0;
		for (topo_link l = 0; l < t.n_links; l++) {
			const topo_link back = topo_link_reverse(l);
			const int want = l == topo_link_of(host, TOPO_UP) ||
			    (away[back] > 1 && away[back] <= depth);
			if (want != (w.n[l] > 0))
				fail_msg("depth %u: link %u has %u frames",
				    depth, l, w.n[l]);
			n += w.n[l] > 0;
		}
		assert_int_equal(end.n_links, n);
		assert_int_equal(end.n_frames, w.n_all);
		topo_close(&t);
	}
}

/* Each link but the NIC's is paused after one that the switch is paused over,
 * and all are without a gap until the end, when switches say so. */
static void a_storm_spreads_hop_by_hop_and_has_no_gap(void **state)
{
	struct topo t = {0};
	struct told w = {.topo = &t, .refuse = -1};
	struct packet_pause_end end = {0};
	struct packet_pause_params p = params();
	const struct packet_eye eye = {&w, see};
	const sim_ns from = SIM_MS, to = 90 * SIM_MS;
	const topo_link root = topo_link_of(3, TOPO_UP);
	struct packet_pause_span held[MAX_LINKS];
	const double asked = obs_pause_ns(PACKET_PAUSE_QUANTA, p.gbps);
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_near(asked, 838848, 1);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	p.depth = 5;
	for (topo_link l = 0; l < t.n_links; l++)
		held[l] = (struct packet_pause_span){SIM_NEVER, 0};
	assert_ok(packet_pause_storm(&t, &p, 3, from, to, 99 * SIM_MS, &r, &eye,
	    held, &end, test_err()));
	assert_int_equal(w.first[root], from);
	for (topo_link l = 0; l < t.n_links; l++) {
		topo_node a, b;
		assert_int_equal(held[l].to_ns, w.n[l] > 0 ? to : 0);
		if (w.n[l] == 0)
			continue;
		assert_int_equal(held[l].from_ns, w.first[l]);
		topo_link_ends(&t, l, &a, &b);
		int has_cause = l == root;
		for (topo_link m = 0; m < t.n_links; m++) {
			topo_node c, d;
			topo_link_ends(&t, m, &c, &d);
			has_cause |= w.n[m] > 0 && d == a && c != b &&
			    w.first[m] <= w.first[l];
		}
		assert_true(has_cause);
		assert_true((double)w.longest[l] <= asked * p.refresh + 2);
		/* A frame each 0.5 * 0.975 pauses. */
		const double n = (double)(to - w.first[l]) / (asked * 0.4875);
		assert_near(w.n[l], n + 1, 3);
		assert_int_equal(w.quanta[l],
		    l == root ? PACKET_PAUSE_QUANTA : 0);
		assert_true(l == root ? w.last[l] < to : w.last[l] == to);
	}
	topo_close(&t);
}

/* Share of time: that of episodes times off / (off + on). With 25,000 pauses in
 * 100 episodes both have a standard error of about 0.1 of the share, mostly of
 * the lengths of episodes; 0.5 fails once in a million seeds. */
static void ordinary_pauses_take_their_share_of_time(void **state)
{
	struct topo t = {0};
	struct told w = {.topo = &t, .refuse = -1};
	struct packet_pause_end end = {0};
	struct packet_pause_params p = params();
	const struct packet_eye eye = {&w, see};
	const topo_link l = topo_link_of(3, TOPO_UP);
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	p.busy_us = 20000;
	p.busy_per_s = 20;
	assert_ok(packet_pause_busy(&t, &p, l, 0, 10 * SIM_SEC, &r, &eye, &end,
	    test_err()));
	const double want = 10e9 * 0.02 / (0.02 + 0.05) * 30 / 90;
	assert_near(w.off_ns[l] / want, 1, 0.5);
	assert_int_equal(end.n_frames, w.n_all);
	assert_int_equal(end.n_links, 1);
	assert_int_equal(w.n[l], w.n_all);
	p.busy_per_s = 0;
	assert_ok(packet_pause_busy(&t, &p, l, 0, 10 * SIM_SEC, &r, &eye, &end,
	    test_err()));
	assert_int_equal(end.n_frames, w.n_all);
	topo_close(&t);
}

/* Also from SIM_NEVER, when a storm ends that does not: what is added to it is a
 * time near 0. At 20 a second e^-20 of seeds have none there, and would let that
 * pass. */
static void ordinary_pauses_begin_where_they_are_asked_from(void **state)
{
	static const sim_ns from[] = {SIM_SEC, SIM_SEC + 1, SIM_NEVER - 1,
	    SIM_NEVER};
	struct topo t = {0};
	struct told w = {.topo = &t, .refuse = -1};
	struct packet_pause_end end = {0};
	struct packet_pause_params p = params();
	const struct packet_eye eye = {&w, see};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	p.busy_us = 2000;
	p.busy_per_s = 20;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		assert_ok(packet_pause_busy(&t, &p, topo_link_of(3, TOPO_UP),
		    from[i], SIM_SEC, &r, &eye, &end, test_err()));
	assert_int_equal(end.n_frames, 0);
	assert_int_equal(end.n_links, 0);
	topo_close(&t);
}

static void nothing_is_told_from_the_end_on(void **state)
{
	struct topo t = {0};
	struct told w = {.topo = &t, .refuse = -1};
	struct packet_pause_end end = {0};
	struct packet_pause_params p = params();
	const struct packet_eye eye = {&w, see};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	p.depth = 5;
	assert_ok(packet_pause_storm(&t, &p, 0, 0, SIM_NEVER, 20 * SIM_MS, &r,
	    &eye, NULL, &end, test_err()));
	for (topo_link l = 0; l < t.n_links; l++)
		assert_true(w.last[l] < 20 * SIM_MS);
	const uint64_t n = w.n_all;
	assert_ok(packet_pause_storm(&t, &p, 0, 5, 5, SIM_SEC, &r, &eye, NULL,
	    &end, test_err()));
	assert_ok(packet_pause_storm(&t, &p, 0, 5, 9, 5, &r, &eye, NULL, &end,
	    test_err()));
	assert_int_equal(w.n_all, n);
	topo_close(&t);
}

static int storm(void *arg, struct sim_err *e)
{
	struct told *w = arg;
	const struct packet_pause_params p = params();
	const struct packet_eye eye = {w, see};
	struct packet_pause_end end = {0};
	struct sim_rng r;
	test_rng(&r, 0);
	memset(w->n, 0, sizeof(w->n));
	return packet_pause_storm(w->topo, &p, 3, 0, SIM_MS, SIM_MS, &r, &eye,
	    NULL, &end, e);
}

static void errors_are_told(void **state)
{
	struct topo t = {0};
	struct told w = {.topo = &t, .refuse = -1};
	struct packet_pause_end end = {0};
	const struct packet_pause_params p = params();
	const struct packet_eye eye = {&w, see};
	struct sim_err e;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(packet_pause_storm(&t, &p, 12, 0, 1, 1, &r, &eye, NULL,
			     &end, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "a pause storm of host 12, which is not in [0, 11].");
	assert_int_equal(packet_pause_busy(&t, &p, topo_link_of(3, TOPO_DOWN),
			     0, 1, &r, &eye, &end, &e),
	    SIM_EINVAL);
	test_each_alloc_fails(storm, &w);
	for (int n = 0; n < 6; n++) {
		w.refuse = n;
		assert_int_equal(storm(&w, &e), SIM_EIO);
	}
	w.refuse = 4;
	memset(w.n, 0, sizeof(w.n));
	assert_int_equal(packet_pause_busy(&t, &p, topo_link_of(3, TOPO_UP), 0,
			     100 * SIM_SEC, &r, &eye, &end, &e),
	    SIM_EIO);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_storm_pauses_all_links_towards_its_host),
	    cmocka_unit_test(a_storm_spreads_hop_by_hop_and_has_no_gap),
	    cmocka_unit_test(ordinary_pauses_take_their_share_of_time),
	    cmocka_unit_test(ordinary_pauses_begin_where_they_are_asked_from),
	    cmocka_unit_test(nothing_is_told_from_the_end_on),
	    cmocka_unit_test(errors_are_told),
	};
	return cmocka_run_group_tests_name("models/packet/pause", tests, NULL,
	    NULL);
}
