/* tests/experiments/pingmesh/net_test.c -- Pingmesh on a network that is none.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here is of the simulator: a fabric of a few lines, whose services
 * answer later than they are asked, and out of order.
 */
#include "experiments/pingmesh/net.h"

#include "experiments/pingmesh/run.h"
#include "tests/rigs/pingmesh.h"

enum { MAX_PENDING = 4096 };
#define RTT  (250 * SIM_US)
#define LATE (70 * SIM_MS)

struct pending {
	sim_ns at;
	topo_host host;
	struct agent_event ev;
};

struct fake {
	struct xp_net net;
	struct fabric fabric;
	struct fault_services services;
	sim_ns now;
	struct pending pending[MAX_PENDING];
	size_t n;
	unsigned n_begun, n_fetches, n_uploads, n_connects, n_closed;
	unsigned n_slow; /* connects that lost their first SYN */
};

/* --- the fabric ----------------------------------------------------------- */

static struct fake *of_fabric(const struct fabric *f)
{
	return (struct fake *)((char *)(uintptr_t)f -
	    offsetof(struct fake, fabric));
}

static sim_ns now(const struct fabric *f)
{
	return of_fabric(f)->now;
}

static struct agent_event *later(struct fake *x, topo_host host, sim_ns at,
    enum agent_event_kind kind, uint64_t token)
{
	assert_true(x->n < MAX_PENDING);
	struct pending *p = &x->pending[x->n++];
	*p = (struct pending){.at = at > x->now ? at : x->now, .host = host};
	p->ev.kind = kind;
	p->ev.token = token;
	return &p->ev;
}

/* Every tenth connect takes a second more. */
static void begin_connect(struct fake *x, topo_host host,
    const struct agent_action *a)
{
	const int slow = x->n_connects++ % 10 == 0;
	const sim_ns rtt = RTT + (slow ? SIM_SEC : 0);
	struct agent_event *ev =
	    later(x, host, x->now + rtt, AGENT_CONNECT_DONE, a->token);
	ev->outcome = AGENT_CONNECTED;
	ev->rtt_ns = rtt;
	x->n_slow += (unsigned)slow;
}

static int submit(struct fabric *f, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	struct fake *x = of_fabric(f);
	const struct fault_services *s = &x->services;
	int rc = 0;
	for (; rc == 0 && n > 0; a++, n--) {
		switch (a->kind) {
		case AGENT_SET_TIMER:
			later(x, host, a->at_ns, AGENT_TIMER, a->token);
			break;
		case AGENT_FETCH:
			x->n_fetches++;
			later(x, host, x->now + LATE * (8 - host),
			    AGENT_FETCH_DONE, a->token)
			    ->ok = 1;
			break;
		case AGENT_UPLOAD:
			x->n_uploads++;
			rc = s->upload(s->arg, host, x->now, a->data,
			    a->n_bytes, e);
			later(x, host, x->now + LATE, AGENT_UPLOAD_DONE,
			    a->token)
			    ->ok = 1;
			break;
		case AGENT_COUNTERS:
			rc = s->counters(s->arg, host, x->now, a->data,
			    a->n_bytes, e);
			break;
		default:
			assert_int_equal(a->kind, AGENT_CONNECT);
			begin_connect(x, host, a);
		}
	}
	return rc;
}

static int poll(struct fabric *f, sim_ns until, struct agent_event ev[],
    topo_host host[], sim_ns at[], size_t cap, size_t *n, struct sim_err *e)
{
	struct fake *x = of_fabric(f);
	const struct fault_services *s = &x->services;
	size_t k = 0;
	(void)cap;
	for (size_t i = 1; i < x->n; i++)
		if (x->pending[i].at < x->pending[k].at)
			k = i;
	*n = x->n > 0 && x->pending[k].at < until;
	x->now = *n ? x->pending[k].at : until;
	if (*n == 0)
		return 0;
	const struct pending p = x->pending[k];
	x->pending[k] = x->pending[--x->n];
	ev[0] = p.ev;
	host[0] = p.host;
	at[0] = p.at;
	return p.ev.kind == AGENT_FETCH_DONE
	    ? s->fetch(s->arg, p.host, p.at, &ev[0].data, &ev[0].n, e)
	    : 0;
}

static const struct fabric_ops fabric_ops = {.name = "fake",
    .now = now,
    .submit = submit,
    .poll = poll};

/* --- the network ---------------------------------------------------------- */

static int begin(struct xp_net *net, struct scene *scene,
    const struct fault_services *s, struct fabric **f, struct sim_err *e)
{
	struct fake *x = (struct fake *)net;
	(void)scene, (void)e;
	x->services = *s;
	x->now = 0;
	x->n = 0;
	x->n_begun++;
	*f = &x->fabric;
	return 0;
}

static int run(struct xp_net *net, struct fabric_agents *a, sim_ns until,
    struct sim_err *e)
{
	struct fake *x = (struct fake *)net;
	return fabric_run(&x->fabric, a, until, NULL, NULL, e);
}

static void close_net(struct xp_net *net)
{
	((struct fake *)net)->n_closed++;
}

static const struct xp_net_ops ops = {begin, run, close_net, NULL};

static struct fake fake;

static void open_fake(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.net = (struct xp_net){&ops, "fake", 1};
	fake.fabric.ops = &fabric_ops;
	fake.fabric.n_hosts = PINGMESH_HOSTS;
	fake.fabric.caps.syn_rto_ns[0] = 1 * SIM_SEC;
	fake.fabric.caps.syn_rto_ns[1] = 2 * SIM_SEC;
	fake.fabric.caps.syn_rto_ns[2] = 4 * SIM_SEC;
}

/* --- tests ---------------------------------------------------------------- */

static const char section[] =
    "duration: 60, window: 60, pinglist: {tor_interval_s: 10, dc_interval_s: "
    "10}, agent: {probe_timeout: 8, upload_interval: 2}, connect: {timers: "
    "linux}";

static void a_run_on_any_network_is_read_alike(void **state)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics m;
	struct xp_pingmesh_plane *p;
	struct pingmesh g;
	(void)state;
	pingmesh_open(&g, &pingmesh_tiny, section);
	open_fake();
	/* A link that a quarter of the paths between pods cross. Nobody knows
	 * which, so to the truth each path has a quarter of its loss. */
	scenes_add_fault(&g.s, topo_clos_link_t1(&g.s.topo.clos, 0, 1, TOPO_UP),
	    0.5);
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g.s.topo, &g.p, &fake.net, test_err()));
	for (uint32_t i = 0; i < 2; i++) {
		fake.n_connects = fake.n_slow = 0;
		assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g.s, i), &m,
		    &none, test_err()));
		assert_int_equal(fake.n_begun, i + 1);
		assert_int_equal(fake.n_fetches, (i + 1) * PINGMESH_HOSTS);
		assert_true(fake.n_uploads > PINGMESH_HOSTS);
		assert_int_equal(m.n_live_agents, PINGMESH_HOSTS);
		/* Each host has 4 peers, a list within 31 s, and probes each of
		 * them within 10 more, and every 10: at least twice. Probes that
		 * are sent during the lag, after the last window, are in no row. */
		assert_in_range(m.n_probes, PINGMESH_HOSTS * 4 * 2,
		    fake.n_connects);
		assert_int_equal(m.n_connected, m.n_probes);
		assert_near(m.n_drop, m.n_probes / 10, 1);
		assert_int_equal(m.n_unclear, 0);
		assert_int_equal(m.n_lost_records, 0);
		assert_near(m.p50_us, RTT / 1e3, 1e-9);
		/* Half of the peers are in the other pod, and one of the two
		 * ways there crosses a quarter of the bad link. */
		assert_near(m.true_drop_rate, 0.5 * 0.25 * 0.5, 0.003);
	}
	xp_pingmesh_plane_close(p);
	assert_int_equal(fake.n_closed, 0); /* the caller closes it */
	pingmesh_close(&g);
}

static void a_network_that_waits_otherwise_is_refused(void **state)
{
	struct xp_world *w;
	struct pingmesh g;
	struct sim_err e;
	(void)state;
	pingmesh_open(&g, &pingmesh_tiny, section);
	open_fake();
	fake.fabric.caps.syn_rto_ns[1] = 1 * SIM_SEC;
	assert_ok(xp_world_open(&w, &g.s.topo, &g.p, &fake.net, 2, test_err()));
	assert_int_equal(xp_world_begin(w, scenes_draw(&g.s, 0), &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "Hosts of fabric fake wait 1 s after SYN 2, and not 2 s as "
	    "connect.timers says.");
	fake.fabric.caps.syn_rto_ns[1] = 0; /* gives up after 1 s */
	assert_int_equal(xp_world_begin(w, &g.s.scene, &e), SIM_EMISMATCH);
	xp_world_close(w);
	pingmesh_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_run_on_any_network_is_read_alike),
	    cmocka_unit_test(a_network_that_waits_otherwise_is_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/net", tests,
	    NULL, NULL);
}
