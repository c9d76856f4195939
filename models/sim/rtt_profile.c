/* models/sim/rtt_profile.c -- round-trip times in a healthy network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/rtt_profile.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "topo/ids.h"

/* What the paper says (section 4.1, Figure 4, and Table 1 for drop rates). All
 * of it is quoted from memory and unconfirmed.
 *
 *			     P50      P99      P99.9    P99.99     drop rate
 *	DC1 intra-pod        216 us   1.26 ms                      1.31e-5
 *	DC1 inter-pod        268 us   1.34 ms  23.35 ms 1397.63 ms 7.55e-5
 *	  and 800-1200 B     326 us   2.43 ms
 *	DC2 intra-pod                                              2.10e-5
 *	DC2 inter-pod                          11.07 ms  105.84 ms 7.63e-5
 *	a service's week           500-560 us                      4e-5
 *
 * How the figures below follow: hop_us and hop_queue_us from the gaps between
 * intra-pod and inter-pod (52 us at P50, 80 us at P99), 8 links apart both ways
 * together; host_us from P50; burst_us from P99; the stall's median and sigma
 * from P99.9 and P99.99, after the drop rate has been taken off the tail, since
 * lost SYNs are three quarters of what lies beyond P99.99; payload_us and
 * payload_wait from the row with a payload, of which byte_us is 10 Gb/s at each
 * link. host_queue_us, the loads and both shares are guesses that the paper's
 * quantiles hardly depend on. DC2's P50 and P99 are not known: all but its
 * stalls is DC1's.
 *
 * The service's P99 (Figure 5) is far below DC1's, and leaves no room for its
 * bursts: `calm` is DC2 at a load of 0.1, with bursts and stalls so rare that
 * P99 is that of the hosts' queue. Its drop rates are those of 4 links and of
 * 12 that make 4e-5 of as many probes within pods as between them. */
#define HOSTS_AND_LINKS                                                        \
	.host_us = 145, .hop_us = 4.5, .burst_us = 510, .payload_us = 48,      \
	.byte_us = 8e-4, .payload_wait = 2.1
#define BUSY                                                                   \
	.host_queue_us = 60, .hop_queue_us = 2.8, .load = 0.3,                 \
	.burst_share = 0.05, .stall_share = 0.003
const struct fabric_sim_rtt_profile fabric_sim_rtt_profiles[] = {
    {
	.name = "dc1",
	.doc = "storage and MapReduce, always busy (US West)",
	HOSTS_AND_LINKS,
	BUSY,
	.stall_median_us = 7860,
	.stall_sigma = 2.157,
	.intra_drop_rate = 1.31e-5,
	.inter_drop_rate = 7.55e-5,
    },
    {
	.name = "dc2",
	.doc = "interactive search, bursts of low throughput (US Central)",
	HOSTS_AND_LINKS,
	BUSY,
	.stall_median_us = 5990,
	.stall_sigma = 1.19,
	.intra_drop_rate = 2.10e-5,
	.inter_drop_rate = 7.63e-5,
    },
    {
	.name = "calm",
	.doc = "a service in a normal week, with hardly a burst",
	HOSTS_AND_LINKS,
	.host_queue_us = 64,
	.hop_queue_us = 0.73,
	.load = 0.1,
	.burst_share = 0.002,
	.stall_share = 0.001,
	.stall_median_us = 5990,
	.stall_sigma = 1.19,
	.intra_drop_rate = 2e-5,
	.inter_drop_rate = 6e-5,
    },
    {0},
};
#undef HOSTS_AND_LINKS
#undef BUSY

const struct fabric_sim_rtt_profile *fabric_sim_rtt_find(const char *name)
{
	const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_profiles;
	while (p->name && strcmp(p->name, name) != 0)
		p++;
	return p->name ? p : NULL;
}

int fabric_sim_rtt_init(struct fabric_sim_rtt *law,
    const struct fabric_sim_rtt_profile *p, unsigned n_hops, uint32_t payload,
    double load, struct sim_err *e)
{
	if (n_hops < 1 || n_hops > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_ERANGE,
		    "%u links one way are not in [1, %d].", n_hops,
		    TOPO_MAX_HOPS);
	if (payload > FABRIC_SIM_RTT_MAX_PAYLOAD)
		return sim_fail(e, SIM_ERANGE,
		    "a payload of %u bytes is not in [0, %d].", payload,
		    FABRIC_SIM_RTT_MAX_PAYLOAD);
	if (!(load >= 0 && load <= FABRIC_SIM_RTT_MAX_LOAD))
		return sim_fail(e, SIM_ERANGE, "load %g is not in [0, %g].",
		    load, FABRIC_SIM_RTT_MAX_LOAD);
	const double links = 2.0 * n_hops;
	/* The mean wait in an M/M/1 queue grows as load / (1 - load). The
	 * profile's hop_queue_us holds at its own load, so this is 1 there. */
	const double growth = load / (1 - load) / (p->load / (1 - p->load));
	*law = (struct fabric_sim_rtt){
	    .fixed_us = p->host_us + links * p->hop_us,
	    .queue_us = p->host_queue_us + links * p->hop_queue_us * growth,
	    .burst_us = p->burst_us,
	    .burst_share = p->burst_share,
	    .stall_share = p->stall_share,
	    .stall_mu = log(p->stall_median_us),
	    .stall_sigma = p->stall_sigma,
	};
	if (payload > 0) {
		law->fixed_us += p->payload_us + links * payload * p->byte_us;
		law->burst_us *= p->payload_wait;
	}
	/* A burst comes on top of the usual queue. */
	law->burst_us += law->queue_us;
	return 0;
}

/* To whole ns, the nearest. A stall may be of any length, but the clock
 * ends. */
static sim_ns to_ns(double us)
{
	const double ns = us * 1e3 + 0.5;
	return ns < 0x1p62 ? (sim_ns)ns : (sim_ns)1 << 62;
}

sim_ns fabric_sim_rtt_draw(const struct fabric_sim_rtt *law, struct sim_rng *r)
{
	const double u = sim_rng_u01(r);
	double us = law->fixed_us;
	if (u < law->stall_share)
		us +=
		    gsl_ran_lognormal(&r->gsl, law->stall_mu, law->stall_sigma);
	else if (u < law->stall_share + law->burst_share)
		us += gsl_ran_exponential(&r->gsl, law->burst_us);
	else
		us += gsl_ran_exponential(&r->gsl, law->queue_us);
	return to_ns(us);
}

double fabric_sim_rtt_tail(const struct fabric_sim_rtt *law, double rtt_us)
{
	const double x = rtt_us - law->fixed_us;
	if (!(x > 0))
		return 1;
	return law->stall_share *
	    gsl_cdf_lognormal_Q(x, law->stall_mu, law->stall_sigma) +
	    law->burst_share * exp(-x / law->burst_us) +
	    (1 - law->stall_share - law->burst_share) * exp(-x / law->queue_us);
}

/* The time whose tail is TAIL. The tail falls from 1 to 0 and has no flat part,
 * so the time is found by bisection: of the part beyond what is fixed, by its
 * logarithm, until both ends are neighbours. */
double fabric_sim_rtt_exceeded(const struct fabric_sim_rtt *law, double tail)
{
	double lo = -300, hi = 300;
	for (int i = 0; i < 100; i++) {
		const double mid = lo + (hi - lo) / 2;
		if (fabric_sim_rtt_tail(law, law->fixed_us + exp(mid)) > tail)
			lo = mid;
		else
			hi = mid;
	}
	return law->fixed_us + exp(hi);
}

/* Of probes that connect, a share drop_rate takes WAIT_US, the others follow
 * the law. Below the wait the tail is all of the share and the law's tail of
 * the others, beyond it the latter alone. So the answer is before the wait, at
 * it, or after it. */
double fabric_sim_rtt_exceeded_with_drops(const struct fabric_sim_rtt *law,
    double tail, double drop_rate, double wait_us)
{
	const double kept = 1 - drop_rate;
	if (tail > drop_rate) {
		const double before =
		    fabric_sim_rtt_exceeded(law, (tail - drop_rate) / kept);
		if (before < wait_us)
			return before;
	}
	if (tail >= kept)
		return wait_us;
	return fmax(wait_us, fabric_sim_rtt_exceeded(law, tail / kept));
}
