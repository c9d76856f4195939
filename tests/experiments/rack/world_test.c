/* tests/experiments/rack/world_test.c -- experiments/rack: links, stalls, metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/score.h"

#include <math.h>

#include "experiments/spec/plane.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"
#include "topo/mesh.h"

#define SPEC                                                                   \
	"figure: f\nplane: rack\nalgorithms: [loss_cause]\n"                   \
	"topology: {n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 8}\n"
#define RACK                                                                   \
	"rack: {length: 0.2, shared: 6e5, ecn: 1e5, traffic: {gap: 10, few: "  \
	"500, ml_racks: 0.5, ml_share: 0.5}"

struct play {
	struct xp_spec spec;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_rack_world w;
	struct res_trial_metrics row;
};

static void play_open(struct play *x, const char *text)
{
	const struct sim_seed where = {.seed = 5};
	memset(x, 0, sizeof(*x));
	spec_open(&x->spec, text);
	assert_ok(xp_spec_point(&x->spec, 0, &x->c, test_err()));
	assert_ok(xp_topology_open(&x->c.topology, ".", &x->topo, test_err()));
	assert_ok(
	    scene_draw(&x->scene, &x->topo, &x->c.scene, &where, test_err()));
}

static void play_on(struct play *x, const char *text)
{
	play_open(x, text);
	assert_ok(
	    xp_rack_world_run(&x->w, xp_rack_of(&x->c), &x->scene, test_err()));
	assert_ok(xp_rack_score(&x->w, xp_rack_of(&x->c), &x->scene, 1, &x->row,
	    test_err()));
}

static void play_close(struct play *x)
{
	xp_rack_world_free(&x->w);
	scene_free(&x->scene);
	topo_close(&x->topo);
	xp_config_free(&x->c);
	xp_spec_free(&x->spec);
}

/* What the links of each host lost, inwards and outwards. */
static void play_lost(const struct play *x, uint64_t in[16], uint64_t out[16])
{
	memset(in, 0, 16 * sizeof(in[0]));
	memset(out, 0, 16 * sizeof(out[0]));
	for (size_t i = 0; i < x->w.lost.n; i++) {
		const uint32_t host = x->w.lost.host[i];
		assert_true(host < 16);
		in[host] += x->w.lost.link_in[i];
		out[host] += x->w.lost.link_out[i];
	}
}

static void links_lose_in_their_direction(void **state)
{
	struct play x;
	uint64_t in[16], out[16];
	(void)state;
	play_on(&x,
	    SPEC RACK "}\nfaults: [{rate: 0.05, links: [\"tor0->host3\"]}, "
		      "{rate: 0.05, links: [\"host12->tor1\"]}]\n");
	play_lost(&x, in, out);
	for (unsigned h = 0; h < 16; h++) {
		assert_int_equal(in[h] > 0, h == 3);
		assert_int_equal(out[h] > 0, h == 12);
	}
	assert_true(x.row.n_faults == 2);
	assert_true(x.row.link_bytes == (double)(in[3] + out[12]));
	assert_true(x.row.buffer_bytes == (double)x.w.totals.buffer);
	assert_true(x.row.buffer_bytes > 0);
	play_close(&x);
}

/* Bytes that come to HOST within F, by buckets of a millisecond. For 25 us after it
 * began what was on its way may come. */
static uint64_t came_in(const struct play *x, topo_host host,
    const struct truth_fault *f)
{
	const struct obs_samples *t = &x->w.samples;
	uint64_t n = 0;
	for (size_t k = 0; k < t->n; k++) {
		const sim_ns at =
		    x->w.runs.start_ns[t->run[k]] + t->bucket[k] * SIM_MS;
		if (x->w.runs.host[t->run[k]] == host &&
		    at >= f->from_ns + 25 * SIM_US && at + SIM_MS <= f->to_ns)
			n += t->in_bytes[k];
	}
	return n;
}

static void stalls_are_in_the_truth_and_in_buckets(void **state)
{
	struct play x, y;
	uint64_t n = 0;
	(void)state;
	play_on(&x, SPEC RACK ", stall: {count: 3, busy: true, lasts: 20}}\n");
	play_on(&y, SPEC RACK "}\n");
	assert_int_equal(truth_n_faulty(&x.scene.truth), 3);
	assert_int_equal(truth_n_faulty(&y.scene.truth), 0);
	for (size_t i = 0; i < 3; i++) {
		const struct truth_fault *f = &x.scene.truth.fault[i];
		topo_node from, host;
		topo_link_ends(&x.topo, f->link, &from, &host);
		assert_true(host < 16);
		assert_int_equal(f->to_ns - f->from_ns, 20 * SIM_MS);
		assert_near(f->delay_us, 10000, 1e-6);
		/* Nothing comes in while it lasts, where it would have. */
		assert_int_equal(came_in(&x, host, f), 0);
		n += came_in(&y, host, f);
	}
	assert_true(n > 1000000);
	/* The others' traffic is the same. */
	assert_true(x.row.dispersion_1ms == y.row.dispersion_1ms);
	play_close(&x);
	play_close(&y);
}

/* Whether a line to HOST that is never slowed down carries something at AT: what
 * was sent to it by then, one burst behind the other. */
static int is_busy_at(const struct play *x, uint32_t host, double at)
{
	const double gbps = xp_rack_of(&x->c)->rack.line_gbps;
	const struct res_true_bursts *b = &x->w.bursts;
	double free = 0;
	for (size_t i = 0; i < b->n; i++) {
		if (b->host[i] != host || b->out[i])
			continue;
		free = fmax(free, (double)b->start_ns[i]);
		const double end = free + (double)b->bytes[i] * 8 / gbps;
		if (at >= free - 1 && at <= end + 1)
			return 1;
		free = end;
	}
	return 0;
}

static void busy_hosts_stall_while_something_comes(void **state)
{
	struct play x;
	unsigned n_early = 0;
	(void)state;
	play_open(&x,
	    SPEC RACK ", stall: {count: 16, busy: true, lasts: 5}}\n");
	x.w.keep = 1;
	assert_ok(
	    xp_rack_world_run(&x.w, xp_rack_of(&x.c), &x.scene, test_err()));
	/* Each host once, as there are no more. */
	assert_int_equal(x.scene.truth.n_faults, 16);
	assert_int_equal(truth_n_faulty(&x.scene.truth), 16);
	for (size_t i = 0; i < 16; i++) {
		const struct truth_fault *f = &x.scene.truth.fault[i];
		topo_node from, host;
		topo_link_ends(&x.topo, f->link, &from, &host);
		assert_true(is_busy_at(&x, host, (double)f->from_ns));
		n_early += f->from_ns < 100 * SIM_MS;
	}
	/* Anywhere in what comes, not at its begin. */
	assert_true(n_early > 1 && n_early < 15);
	play_close(&x);
}

/* At their time, whatever comes, and each of another host. */
static void stalls_are_of_different_hosts_at_their_time(void **state)
{
	char text[512];
	(void)state;
	for (unsigned n = 1; n <= 16; n += 3) {
		struct play x;
		snprintf(text, sizeof(text),
		    SPEC RACK ", stall: {count: %u, at: {uniform: [50, 60]}, "
			      "lasts: {uniform: [2, 3]}}}\n",
		    n);
		play_on(&x, text);
		assert_int_equal(x.scene.truth.n_faults, n);
		assert_int_equal(truth_n_faulty(&x.scene.truth), n);
		for (size_t i = 0; i < n; i++) {
			const struct truth_fault *f = &x.scene.truth.fault[i];
			const sim_ns lasts = f->to_ns - f->from_ns;
			assert_true(f->from_ns >= 50 * SIM_MS);
			assert_true(f->from_ns <= 60 * SIM_MS);
			assert_true(lasts >= 2 * SIM_MS - 1);
			assert_true(lasts <= 3 * SIM_MS + 1);
			assert_near(f->delay_us, (double)lasts / 2e3, 1e-3);
			assert_int_equal(topo_class_of(&x.topo, f->link),
			    TOPO_TOR_HOST);
		}
		play_close(&x);
	}
}

/* Those that held less are neither in the truth nor in the samples; of all
 * others nothing changes. */
static void stalls_that_held_little_are_left_out(void **state)
{
	struct play x, y;
	uint32_t n_much = 0, n_runs = 0, n_rows = 0;
	(void)state;
	play_on(&x, SPEC RACK ", stall: {count: 12, busy: true, lasts: 5}}\n");
	play_on(&y,
	    SPEC RACK ", stall: {count: 12, busy: true, lasts: 5, "
		      "least: 60e3}}\n");
	uint8_t little[16] = {0};
	for (size_t i = 0; i < x.scene.truth.n_faults; i++) {
		const struct truth_fault *f = &x.scene.truth.fault[i];
		topo_node from, host;
		uint64_t held = 0;
		topo_link_ends(&x.topo, f->link, &from, &host);
		for (size_t k = 0; k < x.w.lost.n; k++)
			if (x.w.lost.host[k] == host)
				held += x.w.lost.held[k];
		little[host] = held < 60000;
		n_much += held >= 60000;
		assert_int_equal(truth_first_fault(&y.scene.truth, f->link, 0) <
			    y.scene.truth.n_faults &&
			y.scene.truth
				.fault[truth_first_fault(&y.scene.truth,
				    f->link, 0)]
				.link == f->link,
		    held >= 60000);
	}
	assert_true(n_much > 0 && n_much < 12);
	assert_int_equal(y.scene.truth.n_faults, n_much);
	for (size_t i = 0; i < x.w.runs.n; i++)
		n_runs += !little[x.w.runs.host[i]];
	assert_int_equal(y.w.runs.n, n_runs);
	for (size_t i = 0; i < x.w.samples.n; i++) {
		const uint32_t run = x.w.samples.run[i];
		if (little[x.w.runs.host[run]])
			continue;
		assert_int_equal(y.w.runs.host[y.w.samples.run[n_rows]],
		    x.w.runs.host[run]);
		assert_int_equal(y.w.samples.in_bytes[n_rows],
		    x.w.samples.in_bytes[i]);
		n_rows++;
	}
	assert_int_equal(y.w.samples.n, n_rows);
	play_close(&x);
	play_close(&y);
}

static uint64_t sum_of(const uint64_t x[], size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* Nothing of a world stays for the next one, not even what it was twice. */
static void a_world_is_played_anew(void **state)
{
	struct play x, y;
	(void)state;
	play_open(&y,
	    SPEC RACK "}\nfaults: {rate: 0.05, links: "
		      "[\"tor0->host3\", \"host12->tor1\"]}\n");
	play_open(&x,
	    SPEC RACK "}\nfaults: {rate: 0.05, links: "
		      "[\"tor0->host3\", \"host12->tor1\"]}\n");
	x.w.keep = y.w.keep = 1;
	for (int i = 0; i < 2; i++)
		assert_ok(xp_rack_world_run(&x.w, xp_rack_of(&x.c), &x.scene,
		    test_err()));
	assert_ok(
	    xp_rack_world_run(&y.w, xp_rack_of(&y.c), &y.scene, test_err()));
	assert_int_equal(x.w.runs.n, y.w.runs.n);
	assert_int_equal(x.w.samples.n, y.w.samples.n);
	assert_memory_equal(x.w.samples.in_bytes, y.w.samples.in_bytes,
	    y.w.samples.n * sizeof(*y.w.samples.in_bytes));
	assert_int_equal(x.w.lost.n, y.w.lost.n);
	assert_int_equal(x.w.bursts.n, y.w.bursts.n);
	assert_memory_equal(&x.w.totals, &y.w.totals, sizeof(y.w.totals));
	assert_true(x.w.n_racks == 2 && x.w.n_servers == 8);
	assert_memory_equal(x.w.dispersion, y.w.dispersion,
	    sizeof(y.w.dispersion));
	assert_ptr_equal(x.w.window.runs, &x.w.runs);
	assert_ptr_equal(x.w.window.samples, &x.w.samples);
	/* Sums are those of the rows, and of what racks say themselves. */
	const struct rack_losses *l = &x.w.lost;
	assert_int_equal(x.w.buffer, sum_of(l->buffer, l->n));
	assert_int_equal(x.w.link_in, sum_of(l->link_in, l->n));
	assert_int_equal(x.w.link_out, sum_of(l->link_out, l->n));
	assert_true(x.w.link_in > 0 && x.w.link_out > 0);
	assert_int_equal(x.w.buffer, x.w.totals.buffer);
	assert_int_equal(x.w.link_in + x.w.link_out, x.w.totals.link);
	/* What was offered has come, waits, or was lost. */
	assert_int_equal(x.w.totals.offered,
	    x.w.totals.arrived + x.w.totals.queued + x.w.totals.buffer +
		x.w.totals.link);
	play_close(&x);
	play_close(&y);
}

static int plane_hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	(void)e;
	*(struct xp_window *)arg = *w;
	return 4;
}

/* As a plane has it: one window of all that was counted, and two lines, or three
 * with what other planes are to be told. */
static void a_run_is_told_as_a_window_and_in_lines(void **state)
{
	static const char *const more[] = {"}\n", ", as_congestion: true}\n"};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct play x;
		struct xp_window got = {0};
		const struct xp_listener to = {&got, plane_hear};
		char spec[512], text[512] = "", want[512];
		void *plane;
		int n;
		snprintf(spec, sizeof(spec), SPEC RACK "%s", more[i]);
		play_open(&x, spec);
		assert_ok(
		    xp_plane_rack.open(&plane, &x.topo, &x.c, test_err()));
		assert_int_equal(xp_plane_rack.run(plane, &x.scene, &to, &x.row,
				     NULL),
		    4);
		const struct xp_rack_world *w = xp_rack_world_of(plane);
		assert_ptr_equal(got.seen, &w->window);
		assert_int_equal(got.lost->n_drops, 0);
		assert_true(got.first_row == 0 && got.n_rows == 1);
		assert_true(isnan(got.after_s) && got.n_early == 0);
		assert_ok(xp_plane_rack.again(plane, &(struct xp_listener){0},
		    test_err()));
		FILE *out = fmemopen(text, sizeof(text), "w");
		assert_non_null(out);
		xp_plane_rack.print(plane, &x.row, out);
		assert_int_equal(fclose(out), 0);
		const struct res_trial_metrics *r = &x.row;
		n = snprintf(want, sizeof(want),
		    "2 racks of 8 servers: %.0f bursts, %.0f of them lossy; "
		    "contention %.2f, 90 %% of it within %.1f\nlost in buffers "
		    "%.0f bytes, by links 0; %.0f timeouts; dispersion %.3g, "
		    "%.3g, %.3g at 1, 10, 100 ms\n",
		    r->n_bursts, r->n_lossy_bursts, r->contention_mean,
		    r->contention_p90, (double)w->totals.buffer,
		    (double)w->totals.n_rto, w->dispersion[0] / 2,
		    w->dispersion[1] / 2, w->dispersion[2] / 2);
		if (i == 1)
			snprintf(want + n, sizeof(want) - (size_t)n,
			    "congestion: { racks: 1, burst: %.3g, busy: %.3g, "
			    "ports: %.3g }, loss %.3g, wait %.0f us at most\n",
			    r->congestion_burst, r->congestion_busy,
			    r->congestion_ports, r->congestion_loss,
			    r->congestion_wait);
		assert_string_equal(text, want);
		assert_true(r->n_lossy_bursts > 0);
		xp_plane_rack.close(plane);
		play_close(&x);
	}
	xp_plane_rack.close(NULL);
}

static void metrics_are_of_all_racks(void **state)
{
	struct play x, again;
	(void)state;
	play_on(&x, SPEC RACK "}\n");
	play_on(&again, SPEC RACK "}\n");
	assert_memory_equal(&x.row, &again.row, sizeof(x.row));
	assert_int_equal(x.w.n_racks, 2);
	assert_int_equal(x.w.n_servers, 8);
	assert_true(x.row.n_bursts > 20);
	assert_true(
	    x.row.n_lossy_bursts > 0 && x.row.n_lossy_bursts <= x.row.n_bursts);
	assert_near(x.row.burst_rate * 16 * 0.2, x.row.n_bursts, 1e-9);
	assert_true(x.row.burst_contention >= 1 && x.row.burst_contention <= 8);
	assert_true(x.row.contention_mean <= x.row.contention_p90 + 1);
	assert_near(x.row.goodput * 16 * 0.2, (double)x.w.totals.arrived, 1e-3);
	assert_true(x.row.dispersion_1ms > 1);
	/* Sketches are counted. */
	uint64_t conns = 0;
	for (size_t i = 0; i < x.w.samples.n; i++)
		conns += x.w.samples.conns[i];
	assert_true(conns >= x.w.samples.n);
	play_close(&x);
	play_close(&again);
}

static void racks_differ_and_more_of_them_change_none(void **state)
{
	struct play x, y;
	(void)state;
	play_on(&x, SPEC RACK "}\n");
	play_on(&y,
	    "figure: f\nplane: rack\nalgorithms: [loss_cause]\n"
	    "topology: {n_pods: 1, n_tors: 4, n_t1: 2, n_t2: 2, n_hosts: "
	    "8}\n" RACK "}\n");
	size_t same = 0, of_two = 0;
	for (size_t i = 0; i < x.w.samples.n; i++) {
		assert_int_equal(x.w.samples.in_bytes[i],
		    y.w.samples.in_bytes[i]);
		if (x.w.runs.host[x.w.samples.run[i]] < 8)
			of_two = i + 1;
	}
	for (size_t i = of_two; i < x.w.samples.n && i - of_two < of_two; i++)
		same +=
		    x.w.samples.in_bytes[i] == x.w.samples.in_bytes[i - of_two];
	assert_true(same < of_two / 10);
	play_close(&x);
	play_close(&y);
}

static void what_a_rack_cannot_have_is_a_mistake(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {"faults: {count: 1, rate: 0.1}\n", "only links of hosts fail"},
	    {"faults: {rate: 0.1, links: [\"tor0->t1.0\"]}\n",
		"only links of hosts fail"},
	    {"faults: {kind: latency, count: 1, delay: 5}\n",
		"only links fail, by kind drop"},
	    {"faults: {count: 1, rate: 0.1, classes: [tor-host], from: 1}\n",
		"what fails does so all the time"},
	    {"faults: {rate: 0.1, classes: [tor-host], switches: 1}\n",
		"only links fail, by kind drop"},
	    {"faults: {rate: 0.1, at: [tor0]}\n",
		"only links fail, by kind drop"},
	    {"faults: [{rate: 0.1, links: [\"tor0->host3\"]}, {rate: 0.1, "
	     "links: [\"tor0->host3\", \"tor0->t1.0\"]}]\n",
		"5:47: on plane rack only links of hosts fail"},
	    {"faults: {count: 1, rate: 0.1, classes: [tor-host], to: 1}\n",
		"what fails does so all the time"},
	    {"faults: {count: 1, rate: 0.1, classes: [tor-host], spread: 1}\n",
		"what fails does so all the time"},
	    {"faults: {count: 1, rate: 0.1, classes: [tor-host], lasts: 1}\n",
		"what fails does so all the time"},
	    {"rack: {slot: 30}\n", "slot 30 us is above 25 us"},
	    {"rack: {quadrants: 3}\n", "8 servers can't be in 3 quadrants"},
	    {"rack: {widths: []}\n", "must not be empty"},
	    {"rack: {servers: 9}\n", "unknown key \"servers\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e;
		struct xp_spec s;
		char text[512];
		snprintf(text, sizeof(text), SPEC "%s", bad[i].text);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s\nsays: %s\nwanted: %s", text, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

/* Hosts 0 .. 5 at the ToRs that OF says in base 3, which all hang on a spine. */
static void open_six_hosts(struct topo *t, uint32_t tor[6], unsigned of)
{
	struct topo_cable cable[6 + 3];
	const struct topo_mesh_input in = {.n_hosts = 6,
	    .n_switches = 4,
	    .n_cables = 9,
	    .cable = cable};
	struct topo_mesh *m;
	for (uint32_t i = 0; i < 6; i++, of /= 3) {
		tor[i] = of % 3;
		cable[i] = (struct topo_cable){i, 6 + tor[i]};
	}
	for (uint32_t i = 0; i < 3; i++)
		cable[6 + i] = (struct topo_cable){6 + i, 9};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* By the definition: each ToR has none or as many as that of host 0, in a row. */
static int fits_by_hand(const uint32_t tor[6], uint32_t *n)
{
	uint32_t has[3] = {0};
	int fits = 1;
	for (unsigned i = 0; i < 6; i++) {
		fits &= has[tor[i]] == 0 || tor[i - 1] == tor[i];
		has[tor[i]]++;
	}
	*n = has[tor[0]];
	for (unsigned i = 0; i < 3; i++)
		fits &= has[i] == 0 || has[i] == *n;
	return fits;
}

static void racks_are_tors_with_as_many_hosts_in_a_row(void **state)
{
	unsigned n_fit = 0;
	struct topo t;
	uint32_t n;
	(void)state;
	for (unsigned of = 0; of < 729; of++) {
		uint32_t tor[6], want;
		open_six_hosts(&t, tor, of);
		const int fits = fits_by_hand(tor, &want);
		assert_int_equal(xp_rack_fits(&t, &n), fits);
		if (fits)
			assert_int_equal(n, want);
		n_fit += (unsigned)fits;
		topo_close(&t);
	}
	/* Of one ToR, of two with three each, and of three with two. */
	assert_int_equal(n_fit, 3 + 6 + 6);
	assert_ok(topo_open_clos(&t,
	    &(struct topo_clos){.n_pods = 2,
		.n_tors = 3,
		.n_t1 = 1,
		.n_t2 = 1,
		.n_hosts = 5},
	    test_err()));
	assert_int_equal(xp_rack_fits(&t, &n), 1);
	assert_int_equal(n, 5);
	topo_close(&t);
}

static void a_network_without_racks_is_refused(void **state)
{
	struct xp_spec spec;
	struct xp_rack_world w = {0};
	const struct xp_rack p = {.length_s = 0.1};
	struct scene scene = {0};
	struct sim_err e;
	struct topo t;
	uint32_t tor[6];
	(void)state;
	open_six_hosts(&t, tor, 1);
	scene.topo = &t;
	assert_int_equal(xp_rack_world_run(&w, &p, &scene, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "ToRs of this network don't have as many hosts each, in a row.");
	topo_close(&t);
	spec_write("net.graphml",
	    "<graphml><key id=\"k\" for=\"node\" attr.name=\"kind\" "
	    "attr.type=\"string\"/><graph edgedefault=\"undirected\">"
	    "<node id=\"a\"><data key=\"k\">switch</data></node>"
	    "<node id=\"b\"><data key=\"k\">switch</data></node>"
	    "<node id=\"x\"><data key=\"k\">host</data></node>"
	    "<node id=\"y\"><data key=\"k\">host</data></node>"
	    "<node id=\"z\"><data key=\"k\">host</data></node>"
	    "<edge source=\"a\" target=\"b\"/><edge source=\"x\" "
	    "target=\"a\"/><edge source=\"y\" target=\"b\"/>"
	    "<edge source=\"z\" target=\"b\"/></graph></graphml>\n");
	assert_int_equal(spec_load(&spec,
			     "figure: f\nplane: rack\nalgorithms: "
			     "[loss_cause]\ntopology: {kind: graphml, file: "
			     "net.graphml}\n",
			     &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg,
	    "x.yaml:4:11: on plane rack ToRs must have as many hosts each, in "
	    "a row."));
	xp_spec_free(&spec);
}

static void more_stalls_than_hosts_are_refused(void **state)
{
	struct play x;
	struct sim_err e;
	(void)state;
	play_open(&x, SPEC "rack: {stall: {count: 17}}\n");
	assert_int_equal(xp_rack_world_run(&x.w, xp_rack_of(&x.c), &x.scene,
			     &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "17 NICs are to stall, of 16 hosts.");
	play_close(&x);
}

static int play_life(void *arg, struct sim_err *e)
{
	struct play *x = arg;
	struct xp_rack_world w = {0};
	struct res_trial_metrics row = {0};
	struct xp_rack p = *xp_rack_of(&x->c);
	p.length_s = 0.01;
	truth_clear(&x->scene.truth);
	int rc = xp_rack_world_run(&w, &p, &x->scene, e);
	if (rc == 0)
		rc = xp_rack_score(&w, &p, &x->scene, 1, &row, e);
	xp_rack_world_free(&w);
	truth_free(&x->scene.truth);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct play x;
	(void)state;
	play_open(&x,
	    SPEC RACK ", stall: {count: 2}, sample: {truth: true}}\n");
	test_each_alloc_fails(play_life, &x);
	play_close(&x);
}

/* Runs on whole milliseconds by right clocks tell exactly what came in; those that
 * begin with a packet, and clocks that are wrong, cost something, and wide buckets
 * nearly all. */
static void counts_are_held_against_what_came_in(void **state)
{
	struct play x, late, wide, none;
	(void)state;
	play_on(&x, SPEC RACK ", sample: {truth: true, start: aligned}}\n");
	play_on(&late, SPEC RACK ", sample: {truth: true, clock_sd: 2000}}\n");
	play_on(&wide,
	    SPEC RACK ", widths: [50ms], sample: {truth: true, start: "
		      "aligned}}\n");
	play_on(&none, SPEC RACK "}\n");
	const struct res_trial_metrics *r = &x.row;
	assert_true(r->n_burst_ms > 20 && r->n_true_bursts > 10);
	assert_true(r->n_burst_ms == r->n_burst_ms_told);
	assert_true(r->n_burst_ms == r->n_burst_ms_right);
	assert_true(r->n_true_bursts == r->n_seen_bursts);
	assert_true(r->contention_off == 0);
	/* 200 ms less one, and 20 at either end, of two racks. */
	assert_near(r->true_contention * 2 * 159, r->n_burst_ms, 1e-9);
	assert_true(late.row.n_burst_ms_right < late.row.n_burst_ms);
	assert_true(late.row.contention_off > 0);
	assert_true(wide.row.n_burst_ms == r->n_burst_ms);
	assert_true(wide.row.n_burst_ms_right < r->n_burst_ms / 2);
	assert_true(none.row.n_burst_ms == 0); /* as it was */
	/* What is measured besides does not change. */
	assert_true(none.row.buffer_bytes == late.row.buffer_bytes);
	play_close(&x);
	play_close(&late);
	play_close(&wide);
	play_close(&none);
}

/* N queues that are full at all times have alpha / (1 + alpha n) of the buffer
 * each, of which a segment is a four-hundredth. Bounds are no statistics: queues
 * are at their limits. */
static void full_queues_share_as_the_dynamic_limit_has_it(void **state)
{
	static const struct {
		const char *spec;
		double share;
	} of[] = {
	    {"alpha: 1, traffic: {ml_share: 0.125,", 0.5},
	    {"alpha: 1, traffic: {ml_share: 0.5,", 0.2},
	    {"alpha: 0.25, traffic: {ml_share: 1,", 0.25 / 3},
	    {"policy: static, traffic: {ml_share: 0.5,", 0.125},
	};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char text[1024];
		struct play x;
		snprintf(text, sizeof(text),
		    SPEC "rack: {length: 0.1, shared: 6e5, ecn: 0, quadrants: "
			 "1, sample: {truth: true}, %s gap: 1e6, few: 0, "
			 "ml_racks: 1, ml_part: 1, ml_conns: 100, ml_volume: "
			 "1e9, barrier: 20, jitter: 0}}\n",
		    of[i].spec);
		play_on(&x, text);
		assert_near(x.row.queue_share, of[i].share,
		    0.02 * of[i].share + 1500 / 6e5);
		play_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_held_against_what_came_in),
	    cmocka_unit_test(full_queues_share_as_the_dynamic_limit_has_it),
	    cmocka_unit_test(links_lose_in_their_direction),
	    cmocka_unit_test(stalls_are_in_the_truth_and_in_buckets),
	    cmocka_unit_test(busy_hosts_stall_while_something_comes),
	    cmocka_unit_test(stalls_are_of_different_hosts_at_their_time),
	    cmocka_unit_test(stalls_that_held_little_are_left_out),
	    cmocka_unit_test(a_world_is_played_anew),
	    cmocka_unit_test(a_run_is_told_as_a_window_and_in_lines),
	    cmocka_unit_test(metrics_are_of_all_racks),
	    cmocka_unit_test(racks_differ_and_more_of_them_change_none),
	    cmocka_unit_test(what_a_rack_cannot_have_is_a_mistake),
	    cmocka_unit_test(racks_are_tors_with_as_many_hosts_in_a_row),
	    cmocka_unit_test(a_network_without_racks_is_refused),
	    cmocka_unit_test(more_stalls_than_hosts_are_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/rack/world", tests,
	    spec_folder_make, spec_folder_remove);
}
