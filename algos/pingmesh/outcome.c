/* algos/pingmesh/outcome.c -- what became of a probe, as record and counters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/outcome.h"

/* Section 4.2 in the agent's own counters: TCP doubles its wait, so one loss is
 * seen as a time from r on, two from 3 r and three from 7 r. DEPARTS: no
 * tolerance, since counters are for alerts and the drop rate proper is worked
 * out from records. */
static void outcome_count_drops(struct algo_pingmesh_counters *count,
    sim_ns rto, sim_ns rtt_ns)
{
	if (rtt_ns >= rto && rtt_ns < 3 * rto)
		count->n_drop_1++;
	else if (rtt_ns >= 3 * rto && rtt_ns < 7 * rto)
		count->n_drop_2++;
}

static void outcome_count_answer(struct algo_pingmesh_counters *count,
    uint8_t answer)
{
	switch ((enum agent_answer)answer) {
	case AGENT_ANSWER_OK:
		count->n_http_ok++;
		break;
	case AGENT_ANSWER_OTHER:
		count->n_http_other++;
		break;
	case AGENT_ANSWER_MALFORMED:
		count->n_http_malformed++;
		break;
	case AGENT_ANSWER_CUT:
		count->n_http_cut++;
		break;
	case AGENT_ANSWER_LATE:
		count->n_http_late++;
		break;
	default:
		break;
	}
}

int algo_pingmesh_outcome(struct algo_pingmesh_record *r,
    struct algo_pingmesh_counters *count, sim_ns rto,
    const struct agent_event *ev)
{
	const int stood = ev->outcome == AGENT_CONNECTED;
	const int asked = stood && r->ping == AGENT_PING_HTTP;
	if (ev->outcome >= AGENT_N_OUTCOMES || ev->answer >= AGENT_N_ANSWERS ||
	    (ev->answer != AGENT_ANSWER_NOT_ASKED) != asked)
		return 0;
	count->n_connected += stood;
	count->n_unconnected += !stood;
	if (!stood)
		return 1;
	r->rtt_ns = ev->rtt_ns;
	r->echo_ns = ev->echo_ns;
	r->answer = ev->answer;
	outcome_count_drops(count, rto, ev->rtt_ns);
	outcome_count_answer(count, ev->answer);
	return 1;
}
