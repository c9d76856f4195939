/* experiments/telemetry/cost.c -- what a telemetry costs, of counted rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/cost.h"

#include <math.h>
#include <string.h>

#define F(n) .name = #n, .offset = offsetof(struct xp_telemetry_cost, n)
const struct sim_field xp_telemetry_wire_fields[] = {
    {F(window), .type = SIM_F_F64, .def = "30", .min = 1e-3, .max = 1e6,
	.unit = "s", .doc = "that an epoch stands for (007)"},
    {F(int_head), .type = SIM_F_U32, .def = "16", .max = 1000, .unit = "bytes",
	.doc = "of INT in a packet: shim and header (INT 2.1; unconfirmed)"},
    {F(int_hop), .type = SIM_F_U32, .def = "4", .max = 1000, .unit = "bytes",
	.doc = "that a switch adds: its number (INT 2.1; unconfirmed)"},
    {F(int_packets), .type = SIM_F_U32, .def = "0", .max = 1e9,
	.unit = "packets", .doc = "of each flow that carry INT; 0: all"},
    {F(row), .type = SIM_F_U32, .def = "24", .min = 1, .max = 9000,
	.unit = "bytes",
	.doc = "of a reported flow: five-tuple, sent, lost; ours"},
    {F(hop), .type = SIM_F_U32, .def = "4", .max = 1000, .unit = "bytes",
	.doc = "of a row for each switch of a path that it names; ours"},
    {F(frame), .type = SIM_F_U32, .def = "1460", .min = 64, .max = 65535,
	.unit = "bytes", .doc = "of rows in a frame at most"},
    {F(head), .type = SIM_F_U32, .def = "54", .max = 1000, .unit = "bytes",
	.doc = "of a frame: Ethernet, IP and TCP"},
    {0},
};
#undef F

/* What is counted, of all hosts and switches together. */
struct telemetry_count {
	const struct xp_telemetry_cost *p;
	struct xp_cost_counts c;
	double carried; /* packets, once for each switch */
	double *report; /* [hosts] bytes of rows */
};

static void telemetry_count_int(struct telemetry_count *x, uint32_t n_sent,
    uint32_t n)
{
	const uint32_t most = x->p->int_packets;
	const double packets = most > 0 && n_sent > most ? most : n_sent;
	x->c.sent_bytes += packets * x->p->int_head;
	/* Behind the k-th switch there are k numbers in it. */
	x->c.switch_bytes += packets *
	    (n * (double)x->p->int_head + x->p->int_hop * (n * (n + 1.0) / 2));
}

/* A bounced probe is two rows, of which its host sent the first, or one. */
static void telemetry_count_probe(struct telemetry_count *x, uint32_t n_sent,
    int is_up, uint32_t n)
{
	if (is_up) {
		x->c.n_sent += n_sent;
		x->c.sent_bytes += (double)n_sent * x->p->each.probe_bytes;
	}
	x->carried += (double)n_sent * n;
	x->c.switch_bytes += (double)n_sent * n * x->p->each.probe_bytes;
}

static void telemetry_count_trace(struct telemetry_count *x, uint32_t n)
{
	const uint32_t probes = x->p->each.trace_probes;
	for (uint32_t ttl = 1; ttl <= probes; ttl++)
		x->carried += ttl < n ? ttl : n;
	x->carried += n;
	x->c.n_retx++;
	xp_cost_traceroute(&x->p->each, &x->c, n, n);
}

static void telemetry_count_row(struct telemetry_count *x,
    const struct obs_tallies *t, size_t i)
{
	const int known = t->path[i] != OBS_NO_PATH;
	const uint32_t n =
	    known ? obs_path_length(t->paths, t->path[i]) + 1 : 0;
	const topo_link cable = t->up[i] != TOPO_NONE ? t->up[i] : t->down[i];
	/* Hosts' cables are the first, in their order. */
	x->report[cable / 2] += x->p->row + (double)n * x->p->hop;
	if (t->is_probe[i])
		telemetry_count_probe(x, t->n_sent[i], t->up[i] != TOPO_NONE,
		    n);
	else if (known && t->telemetry & OBS_TELE_INT)
		telemetry_count_int(x, t->n_sent[i], n);
	else if (known)
		telemetry_count_trace(x, n);
}

/* The down link of a probe's way is its host's too, so that the bytes are those
 * of the host that reports. */
static void telemetry_count_reports(struct telemetry_count *x, uint32_t n_hosts,
    struct res_trial_metrics *m)
{
	double bytes = 0, frames = 0;
	for (uint32_t h = 0; h < n_hosts; h++) {
		const double n = ceil(x->report[h] / x->p->frame);
		frames += n;
		bytes += x->report[h] + n * x->p->head;
	}
	m->host_packets_s = (x->c.n_sent + frames) / n_hosts / x->c.seconds;
	m->collector_packets_s = frames / x->c.seconds;
	m->collector_bytes_s = bytes / x->c.seconds;
	x->c.sent_bytes += bytes;
}

static double telemetry_entries(const struct topo *topo,
    const struct telemetry *t)
{
	double n = t->rows.telemetry & OBS_TELE_INT ? topo->n_switches : 0;
	for (topo_switch s = 0;
	     t->rows.telemetry & OBS_TELE_A1 && s < topo->n_switches; s++)
		n += t->top[s];
	return n / topo->n_switches;
}

void xp_telemetry_cost_fill(const struct xp_telemetry_cost *p,
    const struct topo *topo, const struct telemetry *t, double report[],
    struct res_trial_metrics *m)
{
	struct telemetry_count x = {.p = p,
	    .c = {.seconds = p->window,
		.n_hosts = topo->n_hosts,
		.n_switches = topo->n_switches},
	    .report = report};
	memset(report, 0, topo->n_hosts * sizeof(*report));
	for (size_t i = 0; i < t->rows.n; i++)
		telemetry_count_row(&x, &t->rows, i);
	telemetry_count_reports(&x, topo->n_hosts, m);
	xp_cost_fill(&p->each, &x.c, m);
	m->switch_packets_s = x.carried / topo->n_switches / p->window;
	m->switch_entries = telemetry_entries(topo, t);
}
