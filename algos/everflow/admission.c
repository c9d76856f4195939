/* algos/everflow/admission.c -- does what is to be traced fit? Four capacities.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/admission.h"

#include <math.h>

#define AT(member) .offset = offsetof(struct algo_admission_params, member)
const struct sim_field algo_admission_fields[] = {
    {.name = "switch_budget",
	.type = SIM_F_F64,
	AT(switch_budget),
	.max = 1e15,
	.unit = "bytes/s",
	.def = "12500000",
	.doc = "that a switch may mirror; 0: any"},
    {.name = "link_bps",
	.type = SIM_F_F64,
	AT(link_bps),
	.max = 1e15,
	.unit = "bit/s",
	.def = "10000000000",
	.doc = "of a link; 0: any"},
    {.name = "link_most",
	.type = SIM_F_F64,
	AT(link_most),
	.max = 1,
	.unit = "1",
	.def = "0.05",
	.doc = "share of a link that copies may have"},
    {.name = "reshuffler_bps",
	.type = SIM_F_F64,
	AT(reshuffler_bps),
	.max = 1e15,
	.unit = "bit/s",
	.def = "10000000000",
	.doc = "that the reshuffler takes; 0: any"},
    {.name = "analyzer_pps",
	.type = SIM_F_F64,
	AT(analyzer_pps),
	.max = 1e12,
	.unit = "copies/s",
	.def = "1000000",
	.doc = "that an analyzer takes; 0: any"},
    {.name = "n_analyzers",
	.type = SIM_F_U32,
	AT(n_analyzers),
	.min = 1,
	.max = 4096,
	.unit = "analyzers",
	.def = "2",
	.doc = "that share the work"},
    {.name = "truncate",
	.type = SIM_F_U32,
	AT(truncate),
	.min = 1,
	.max = 9216,
	.unit = "bytes",
	.def = "128",
	.doc = "of a frame that a copy has"},
    {.name = "overhead",
	.type = SIM_F_U32,
	AT(overhead),
	.max = 1024,
	.unit = "bytes",
	.def = "50",
	.doc = "that carry a copy: outer headers"},
    {.name = "hops",
	.type = SIM_F_U32,
	AT(hops),
	.min = 1,
	.max = 64,
	.unit = "switches",
	.def = "5",
	.doc = "of the longest way, of which each mirrors"},
    {.name = "switch_share",
	.type = SIM_F_F64,
	AT(switch_share),
	.max = 1,
	.unit = "1",
	.def = "1",
	.doc = "of what is traced that one switch may see"},
    {.name = "link_share",
	.type = SIM_F_F64,
	AT(link_share),
	.max = 1,
	.unit = "1",
	.def = "1",
	.doc = "of all copies that one link may carry"},
    {0},
};
#undef AT

struct algo_load algo_admission_capacity(const struct algo_admission_params *p)
{
	return (struct algo_load){{
	    [ALGO_CAPACITY_SWITCH] = p->switch_budget,
	    [ALGO_CAPACITY_LINK] = p->link_bps * p->link_most / 8,
	    [ALGO_CAPACITY_RESHUFFLER] = p->reshuffler_bps,
	    [ALGO_CAPACITY_ANALYZERS] = p->analyzer_pps * p->n_analyzers,
	}};
}

struct algo_load algo_admission_need(const struct algo_admission_params *p,
    double packets_s, double bytes_s)
{
	const double mean = packets_s > 0 ? bytes_s / packets_s : 0;
	const double copy =
	    (mean < p->truncate ? mean : p->truncate) + p->overhead;
	const double copies_s = packets_s * p->hops;
	return (struct algo_load){{
	    [ALGO_CAPACITY_SWITCH] = packets_s * copy * p->switch_share,
	    [ALGO_CAPACITY_LINK] = copies_s * copy * p->link_share,
	    [ALGO_CAPACITY_RESHUFFLER] = 8 * copies_s * copy,
	    [ALGO_CAPACITY_ANALYZERS] = copies_s,
	}};
}

/* Bits by which NEED is to be halved to fit into ROOM. */
static unsigned admission_bits(double need, double room)
{
	unsigned n = 0;
	while (n <= ALGO_SAMPLE_MOST && !(ldexp(need, -(int)n) <= room))
		n++;
	return n;
}

int algo_admission_fits(const struct algo_admission_params *p,
    const struct algo_load *used, const struct algo_load *need,
    struct algo_refusal *why)
{
	const struct algo_load full = algo_admission_capacity(p);
	double worst = 0;
	int fits = 1;
	*why = (struct algo_refusal){0};
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++) {
		const double all = full.of[i], sum = used->of[i] + need->of[i];
		/* NaN fits nowhere. */
		if (all <= 0 || sum <= all)
			continue;
		const unsigned bits =
		    admission_bits(need->of[i], all - used->of[i]);
		if (bits > why->sample_bits)
			why->sample_bits = bits;
		if (fits || sum / all > worst) {
			worst = sum / all;
			why->bottleneck = i;
			why->need = need->of[i];
			why->used = used->of[i];
			why->capacity = all;
		}
		fits = 0;
	}
	return fits;
}

void algo_refusal_put(const struct algo_refusal *r, struct sim_text *out)
{
	static const char *const words[] = {
#define X(capacity, word, unit) word,
	    ALGO_CAPACITIES(X)
#undef X
	};
	static const char *const units[] = {
#define X(capacity, word, unit) unit,
	    ALGO_CAPACITIES(X)
#undef X
	};
	sim_put(out,
	    "%s: %.4g %s, of which %.4g are reserved; this needs %.4g more.",
	    words[r->bottleneck], r->capacity, units[r->bottleneck], r->used,
	    r->need);
	if (r->sample_bits > ALGO_SAMPLE_MOST)
		sim_put(out, " No sampling would fit.");
	else
		sim_put(out, " 1 packet in %u would fit.",
		    1u << r->sample_bits);
}
