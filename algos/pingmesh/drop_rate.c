/* algos/pingmesh/drop_rate.c -- Pingmesh's drop rate, read from connect times.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/drop_rate.h"

#include <inttypes.h>
#include <math.h>

#include "sim/stat.h"

const char *const algo_drop_groups[] = {"all", "intra_tor", "intra_pod",
    "inter_pod", "inter_dc", NULL};

int algo_drop_ladder_init(struct algo_drop_ladder *l, const sim_ns wait_ns[],
    unsigned n_waits, sim_ns tolerance_ns, struct sim_err *e)
{
	sim_ns sum = 0;
	*l = (struct algo_drop_ladder){.tolerance_ns = tolerance_ns};
	if (n_waits == 0)
		return sim_fail(e, SIM_EINVAL,
		    "a SYN ladder needs at least one wait.");
	if (n_waits > ALGO_DROP_MAX_WAITS)
		return sim_fail(e, SIM_ELIMIT,
		    "a SYN ladder of %u waits, more than %d.", n_waits,
		    ALGO_DROP_MAX_WAITS);
	for (unsigned i = 0; i < n_waits; i++) {
		/* Halved and compared, because 2 * tolerance may not fit;
		 * equality is asked for apart, as halving an odd wait
		 * rounds. */
		if (wait_ns[i] / 2 < tolerance_ns ||
		    wait_ns[i] == 2 * tolerance_ns)
			return sim_fail(e, SIM_EINVAL,
			    "wait %u of the SYN ladder is %" PRIu64
			    " ns, which is not more than twice the tolerance"
			    " of %" PRIu64 " ns.",
			    i, wait_ns[i], tolerance_ns);
		/* A rung's upper end, rung + tolerance, must fit too, or the
		 * comparison below would wrap around. */
		if (wait_ns[i] > SIM_NEVER - tolerance_ns - sum)
			return sim_fail(e, SIM_EINVAL,
			    "wait %u of the SYN ladder, %" PRIu64
			    " ns, ends beyond the clock.",
			    i, wait_ns[i]);
		sum += wait_ns[i];
		l->rung_ns[i] = sum;
	}
	l->n_rungs = n_waits;
	return 0;
}

/* Section 4.2 reads losses from connect times: about 3 s is one SYN lost, about
 * 9 s two. A time between the rungs is neither a round trip nor a
 * retransmission, for instance a host that stalled, and is counted apart. */
int algo_drop_n_lost(const struct algo_drop_ladder *l, sim_ns rtt_ns)
{
	if (rtt_ns < l->rung_ns[0] - l->tolerance_ns)
		return 0;
	for (unsigned i = 0; i < l->n_rungs; i++)
		if (rtt_ns >= l->rung_ns[i] - l->tolerance_ns &&
		    rtt_ns <= l->rung_ns[i] + l->tolerance_ns)
			return (int)i + 1;
	return -1;
}

/* Section 4.2: rate = (3 s + 9 s connects) / all successful connects. A 9 s
 * connect counts once although it lost two SYNs, since those losses are not
 * independent, and failures count nowhere, since a dead server is no dropped
 * packet. */
static void drop_rate_count(struct algo_drop_rate *r, uint8_t outcome,
    int n_lost)
{
	if (outcome != OBS_CONNECTED) {
		r->n_failed++;
		return;
	}
	r->n_success++;
	r->n_drop += n_lost > 0;
	r->n_unclear += n_lost < 0;
}

int algo_drop_rate_judge(struct algo_drop_rate out[], double conf,
    struct sim_err *e)
{
	for (int g = 0; g < ALGO_DROP_N_GROUPS; g++) {
		struct algo_drop_rate *r = &out[g];
		/* DEPARTS: the paper gives rates without intervals; without
		 * successes it has no rate either, which is NaN here. */
		r->rate = r->n_success
		    ? (double)r->n_drop / (double)r->n_success
		    : NAN;
		const int rc = sim_binomial_interval(r->n_drop, r->n_success,
		    conf, &r->lo, &r->hi, e);
		if (rc < 0)
			return sim_wrap(e, rc, "drop rate of %s",
			    algo_drop_groups[g]);
	}
	return 0;
}

int algo_drop_rate(const struct obs_probes *t, const struct topo_dc *dc,
    const struct algo_drop_ladder *ladder, double conf,
    struct algo_drop_rate out[], struct sim_err *e)
{
	int rc;
	for (int g = 0; g < ALGO_DROP_N_GROUPS; g++)
		out[g] = (struct algo_drop_rate){0};
	if ((rc = obs_probes_check(t, dc->first_host, dc->clos.all_hosts, e)) <
	    0)
		return rc;
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_probe p = obs_probes_at(t, i);
		const int n_lost = algo_drop_n_lost(ladder, p.rtt_ns);
		drop_rate_count(&out[ALGO_DROP_ALL], p.outcome, n_lost);
		drop_rate_count(&out[algo_drop_group_of(dc, p.src_host,
				    p.dst_host, p.level)],
		    p.outcome, n_lost);
	}
	return algo_drop_rate_judge(out, conf, e);
}
