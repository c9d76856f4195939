/* experiments/spec/cost.c -- what a tool costs hosts and switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/cost.h"

#define F(n) .name = #n, .offset = offsetof(struct xp_cost_params, n)
const struct sim_field xp_cost_fields[] = {
    {F(on), .type = SIM_F_BOOL, .def = "false",
	.doc = "count what the tools cost"},
    {F(trace_probes), .type = SIM_F_U32, .def = "15", .min = 1, .max = 255,
	.unit = "probes", .when = "on=true",
	.doc = "of a traceroute (007: TTL up to 15)"},
    {F(probe_bytes), .type = SIM_F_U32, .def = "64", .min = 20, .max = 9000,
	.unit = "bytes", .when = "on=true",
	.doc = "of each of them, the least frame"},
    {F(answer_bytes), .type = SIM_F_U32, .def = "70", .min = 20, .max = 9000,
	.unit = "bytes", .when = "on=true",
	.doc = "of an ICMP answer: two IP headers, 16 bytes and Ethernet's"},
    {F(connect_packets), .type = SIM_F_U32, .def = "6", .min = 3, .max = 100,
	.unit = "packets", .when = "on=true",
	.doc = "of a connect and its end, both ways"},
    {F(packet_bytes), .type = SIM_F_U32, .def = "64", .min = 20, .max = 9000,
	.unit = "bytes", .when = "on=true",
	.doc = "of each of them, the least frame"},
    {F(report_bytes), .type = SIM_F_U32, .def = "64", .max = 9000,
	.unit = "bytes", .when = "on=true",
	.doc = "of a row that a host reports; ours"},
    {F(answers_s), .type = SIM_F_F64, .def = "100", .min = 1, .max = 1e9,
	.unit = "1/s", .when = "on=true",
	.doc = "ICMP answers of a switch at most (007)"},
    {F(send_us), .type = SIM_F_F64, .def = "4.5", .max = 1e6, .unit = "us",
	.when = "on=true",
	.doc = "host's CPU to send a crafted packet; measured, raw socket"},
    {F(connect_us), .type = SIM_F_F64, .def = "27", .max = 1e6, .unit = "us",
	.when = "on=true",
	.doc = "of both hosts for a connect and its end; measured, loopback"},
    {F(retx_us), .type = SIM_F_F64, .def = "5", .max = 1e6, .unit = "us",
	.when = "on=true",
	.doc = "host's CPU for a flow that sent again; unconfirmed, ours"},
    {F(copy_us), .type = SIM_F_F64, .def = "0.06", .max = 1e6, .unit = "us",
	.when = "on=true",
	.doc = "a server's CPU for a copy: parse and assembly; our bench"},
    {F(answer_us), .type = SIM_F_F64, .def = "100", .max = 1e6, .unit = "us",
	.when = "on=true",
	.doc = "a switch's CPU for an ICMP answer; unconfirmed, ours"},
    {0},
};
#undef F

static double cost_host_bytes(const struct xp_cost_params *p,
    const struct xp_cost_counts *c)
{
	const double all = c->sent_bytes + c->n_reported * p->report_bytes +
	    c->n_connects * p->connect_packets * p->packet_bytes;
	return all / c->n_hosts / c->seconds;
}

/* In millionths of a CPU. */
static double cost_host_cpu(const struct xp_cost_params *p,
    const struct xp_cost_counts *c)
{
	const double us = c->n_sent * p->send_us +
	    c->n_connects * p->connect_us + c->n_retx * p->retx_us +
	    c->n_copies * p->copy_us;
	return us / c->n_hosts / c->seconds;
}

static double cost_switch_bytes(const struct xp_cost_counts *c)
{
	return c->switch_bytes / c->n_switches / c->seconds;
}

static double cost_switch_cpu(const struct xp_cost_params *p,
    const struct xp_cost_counts *c)
{
	return c->n_answers * p->answer_us / c->n_switches / c->seconds;
}

void xp_cost_fill(const struct xp_cost_params *p,
    const struct xp_cost_counts *c, struct res_trial_metrics *m)
{
	m->host_bytes_s = cost_host_bytes(p, c);
	m->host_cpu = cost_host_cpu(p, c);
	m->switch_bytes_s = cost_switch_bytes(c);
	m->switch_cpu = cost_switch_cpu(p, c);
}

void xp_cost_fill_retx(const struct xp_cost_params *p,
    const struct xp_cost_counts *c, struct res_trial_metrics *m)
{
	m->retx_host_bytes_s = cost_host_bytes(p, c);
	m->retx_host_cpu = cost_host_cpu(p, c);
	m->retx_switch_bytes_s = cost_switch_bytes(c);
	m->retx_switch_cpu = cost_switch_cpu(p, c);
}

/* The probe of TTL k is carried by k - 1 switches, and the k-th gets it; those of
 * larger TTLs than the way is long go all of it. */
void xp_cost_traceroute(const struct xp_cost_params *p,
    struct xp_cost_counts *c, uint32_t n_switches, uint32_t n_answers)
{
	c->n_sent += p->trace_probes;
	c->sent_bytes += (double)p->trace_probes * p->probe_bytes;
	for (uint32_t ttl = 1; ttl <= p->trace_probes; ttl++)
		c->switch_bytes += (double)p->probe_bytes *
		    (ttl < n_switches ? ttl : n_switches);
	c->n_answers += n_answers;
	c->switch_bytes += (double)n_answers * p->answer_bytes;
}
