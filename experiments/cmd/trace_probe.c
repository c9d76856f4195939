/* experiments/cmd/trace_probe.c -- culprit trace probe: round trips of a link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "algos/everflow/link_times.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_net.h"

struct args {
	const char *word[3]; /* spec, two switches */
	unsigned n_words;
	struct cmd_set set;
	uint64_t count;
	uint32_t interval_ms;
};

static void trace_probe_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (a->n_words == 3)
		argp_error(g->state, "\"%s\" is one word too many", arg);
	a->word[a->n_words++] = arg;
}

static void trace_probe_check(const void *args, struct argp_state *state)
{
	if (((const struct args *)args)->n_words < 3)
		argp_error(state,
		    "say SPEC and two switches, as in `culprit "
		    "trace probe SPEC tor0 t1.0`");
}

static const struct cmd_option trace_probe_options[] = {
    {"count", 'c', "N", "probes (default: 100)", .take = cmd_take_u64,
	.at = CMD_AT(count), .min = 1, .max = ALGO_PROBER_MAX_COUNT},
    {"interval", 'i', "MS", "from one to the next (default: 10)",
	.take = cmd_take_u32, .at = CMD_AT(interval_ms), .min = 1,
	.max = 10000},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. topology.n_pods=4; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {0},
};

static const struct cmd_line trace_probe_line = {
    .options = trace_probe_options,
    .word = {"WORD", .take = trace_probe_word},
    .without = "say SPEC and two switches",
    .check = trace_probe_check,
    .args_doc = "SPEC SWITCH NEIGHBOUR",
    .doc = "Build the network of a spec of plane everflow from network "
	   "namespaces, broken as the spec says but without its connections, "
	   "and time the link between two switches."
	   "\v"
	   "A guided probe is led by SWITCH, NEIGHBOUR and SWITCH again, which "
	   "mirror it. A round trip is the difference of the two copies of "
	   "SWITCH; what came once and not again was lost on the link, either "
	   "way. It takes root.",
};

/* --- the switches --------------------------------------------------------- */

static int trace_probe_switch(const struct topo *t, const char *name,
    topo_switch *s, struct sim_err *e)
{
	topo_node n;
	int rc = topo_node_parse(t, name, &n, e);
	if (rc == 0 && n < t->n_hosts)
		rc = sim_fail(e, SIM_EINVAL, "%s is a host, no switch.", name);
	*s = n - t->n_hosts;
	return rc;
}

static int trace_probe_ends(const struct topo *t, const struct args *a,
    topo_switch via[2], struct sim_err *e)
{
	int rc;
	if ((rc = trace_probe_switch(t, a->word[1], &via[0], e)) < 0 ||
	    (rc = trace_probe_switch(t, a->word[2], &via[1], e)) < 0)
		return rc;
	return topo_link_between(t, t->n_hosts + via[0], t->n_hosts + via[1]) !=
		TOPO_NONE
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "No link leads from %s to %s.",
		  a->word[1], a->word[2]);
}

/* --- what came of it ------------------------------------------------------ */

static int by_us(const void *a, const void *b)
{
	const double x = ((const struct algo_round *)a)->us;
	const double y = ((const struct algo_round *)b)->us;
	return (x > y) - (x < y);
}

static int trace_probe_tell(const struct cmd_trace_net *n, const struct args *a,
    const struct xp_live_seen *seen, struct sim_err *e)
{
	const struct algo_debug_in in = {.routing = {.topo = &n->topo},
	    .traces = seen->traces,
	    .counters = seen->counters,
	    .sent = seen->sent,
	    .now = SIM_NEVER};
	struct algo_rounds r;
	int rc = algo_rounds_make(&r, &in, e);
	if (rc < 0)
		return rc;
	printf("%s - %s: %zu probes, %zu came back", a->word[1], a->word[2],
	    seen->sent->n, r.n);
	qsort(r.round, r.n, sizeof(r.round[0]), by_us);
	if (r.n > 0)
		printf("; round trip %.1f us at least, p50 %.1f, p90 %.1f, p99 "
		       "%.1f, %.1f at most",
		    r.round[0].us, r.round[r.n / 2].us,
		    r.round[r.n * 9 / 10].us, r.round[r.n * 99 / 100].us,
		    r.round[r.n - 1].us);
	printf("\n");
	algo_rounds_free(&r);
	return 0;
}

/* The network is as the spec breaks it, with nobody else on it: the debuggers
 * are not asked, and the run ends when the probes have had their time. */
static int trace_probe_go(struct cmd_trace_net *n, const struct args *a,
    struct sim_err *e)
{
	struct xp_everflow *p =
	    (struct xp_everflow *)xp_everflow_of(&n->config);
	struct algo_probe_order o = {.id = 1,
	    .tuple = {0, 0, 49152, 9, TOPO_PROTO_TCP},
	    .n_via = 3,
	    .count = (uint32_t)a->count,
	    .interval_ns = a->interval_ms * SIM_MS};
	struct xp_live_seen seen;
	int rc = trace_probe_ends(&n->topo, a, o.via, e);
	if (rc < 0)
		return rc;
	o.via[2] = o.via[0];
	p->debug = 0;
	p->prober.host_per_s = ALGO_PROBER_HOST_MAX;
	p->prober.target_per_s = ALGO_PROBER_TARGET_MAX;
	n->scene.traffic.epoch_ns = o.count * o.interval_ns;
	p->settle_s = 1e-9 * (double)xp_desk_settle_ns(p) + 1;
	if ((rc = cmd_trace_net_build(n, e)) < 0)
		return rc;
	xp_live_order(n->live, &o, 1);
	rc = xp_live_run(n->live, &n->scene, NULL, 0, 0, NULL, &seen, e);
	return rc < 0 ? rc : trace_probe_tell(n, a, &seen, e);
}

int cmd_trace_probe(int argc, char **argv)
{
	struct cmd_trace_net n = {.live = NULL};
	struct args a = {.count = 100, .interval_ms = 10};
	struct sim_err e = {0};
	cmd_parse(&trace_probe_line, argc, argv, &a);
	const int read = cmd_trace_net_read(&n, a.word[0], &a.set, 0, 0, &e);
	const int rc = read < 0 ? 0 : trace_probe_go(&n, &a, &e);
	return cmd_trace_net_end(&n, read, rc, &e);
}
