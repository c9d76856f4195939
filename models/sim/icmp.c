/* models/sim/icmp.c -- ICMP messages of switches, and their limit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/icmp.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static const char *const source_names[] = {"ingress", "loopback", NULL};

const struct sim_field fabric_sim_icmp_fields[] = {
    {"t_max", SIM_F_F64, offsetof(struct fabric_sim_icmp_params, t_max),
	.min = 0, .max = 1e9, .unit = "1/s", .def = "100",
	.doc = "ICMP messages a switch may send; 0: any number"},
    {"burst", SIM_F_U32, offsetof(struct fabric_sim_icmp_params, burst),
	.min = 1, .max = 1e6, .unit = "messages", .def = "50",
	.doc = "how many of these at once", .when = "t_max!=0"},
    {"source", SIM_F_ENUM, offsetof(struct fabric_sim_icmp_params, source),
	.names = source_names, .def = "ingress",
	.doc = "address they come from: names the link, or the switch alone"},
    {"latency", SIM_F_DIST, offsetof(struct fabric_sim_icmp_params, latency_us),
	.min = 0, .max = 1e7, .unit = "us", .def = "{uniform: [20, 200]}",
	.doc = "time a switch takes to answer"},
    {0},
};

int fabric_sim_icmp_begin(struct fabric_sim_icmp *m,
    const struct fabric_sim_icmp_params *p, uint32_t n_switches,
    sim_ns epoch_ns, struct sim_err *e)
{
	int rc = SIM_RESERVE(&m->sw, &m->cap, n_switches, e);
	if (rc < 0)
		return rc;
	m->n_switches = n_switches;
	m->limit = sim_bucket_of(p->t_max, p->burst);
	m->n_seconds = (uint32_t)((epoch_ns + SIM_SEC - 1) / SIM_SEC);
	m->load = (struct fabric_sim_icmp_load){
	    .n_all = (uint64_t)n_switches * m->n_seconds};
	/* A zeroed bucket is a full one. */
	if (n_switches > 0)
		memset(m->sw, 0, n_switches * sizeof(m->sw[0]));
	return 0;
}

void fabric_sim_icmp_free(struct fabric_sim_icmp *m)
{
	free(m->sw);
	*m = (struct fabric_sim_icmp){0};
}

/* Add a switch's second to the load: it is over, or the epoch is. The classes
 * are those of 007's Table 1, for seconds of the epoch alone. */
static void count_second(const struct fabric_sim_icmp *m,
    const struct fabric_sim_icmp_switch *s, struct fabric_sim_icmp_load *load)
{
	if (s->n > load->max)
		load->max = s->n;
	if (s->second >= m->n_seconds)
		return;
	load->n_low += s->n > 0 && s->n <= 3;
	load->n_high += s->n > 3;
}

int fabric_sim_icmp_answer(struct fabric_sim_icmp *m, topo_switch id,
    sim_ns now)
{
	struct fabric_sim_icmp_switch *s = &m->sw[id];
	const uint32_t second = (uint32_t)(now / SIM_SEC);
	if (!sim_bucket_take(&m->limit, &s->bucket, now)) {
		m->load.n_suppressed++;
		return 0;
	}
	/* A switch's second is put away when it sends in a later one; seconds
	 * in which it sends nothing need no count. */
	if (second != s->second) {
		count_second(m, s, &m->load);
		s->second = second;
		s->n = 0;
	}
	s->n++;
	m->load.n_sent++;
	return 1;
}

struct fabric_sim_icmp_load fabric_sim_icmp_load(
    const struct fabric_sim_icmp *m)
{
	/* The seconds that switches are still counting have not been added yet;
	 * they are added to a copy, so that counting can go on. */
	struct fabric_sim_icmp_load load = m->load;
	for (uint32_t i = 0; i < m->n_switches; i++)
		count_second(m, &m->sw[i], &load);
	return load;
}
