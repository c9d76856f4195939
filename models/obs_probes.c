/* models/obs_probes.c -- the table of probes: growing, emptying, checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_probes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/vec.h"

/* The columns share one `cap`, so each grows on a copy of it: a column that
 * has grown when a later one fails merely holds spare memory. */
static int reserve(struct obs_probes *t, struct sim_err *e)
{
	size_t cap = t->cap;
	int rc;
#define X(type, name, units, doc)                                              \
	cap = t->cap;                                                          \
	if ((rc = SIM_RESERVE(&t->name, &cap, t->n + 1, e)) < 0)               \
		return rc;
	OBS_PROBE_COLUMNS(X)
#undef X
	t->cap = cap;
	return 0;
}

int obs_probes_add(struct obs_probes *t, const struct obs_probe *probe,
    struct sim_err *e)
{
	int rc;
	if (t->n == t->cap && (rc = reserve(t, e)) < 0)
		return rc;
#define X(type, name, units, doc) t->name[t->n] = probe->name;
	OBS_PROBE_COLUMNS(X)
#undef X
	t->n++;
	return 0;
}

struct obs_probe obs_probes_at(const struct obs_probes *t, size_t i)
{
	struct obs_probe p;
#define X(type, name, units, doc) p.name = t->name[i];
	OBS_PROBE_COLUMNS(X)
#undef X
	return p;
}

void obs_probes_clear(struct obs_probes *t)
{
	t->n = 0;
}

void obs_probes_free(struct obs_probes *t)
{
#define X(type, name, units, doc) free(t->name);
	OBS_PROBE_COLUMNS(X)
#undef X
	*t = (struct obs_probes){0};
}

static int check_probe(const struct obs_probe *p, size_t i, uint32_t n_hosts,
    struct sim_err *e)
{
	if (p->src_host >= n_hosts ||
	    (p->dst_host >= n_hosts && p->level != OBS_LEVEL_INTER_DC))
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu is from host %u to %u"
		    ", but there are only %u hosts.",
		    i, p->src_host, p->dst_host, n_hosts);
	if (p->src_host == p->dst_host)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu is from host %u to itself.", i, p->src_host);
	if (p->outcome >= OBS_N_OUTCOMES)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: outcome %u is not in 0 to %d.", i, p->outcome,
		    OBS_N_OUTCOMES - 1);
	if (p->level < OBS_LEVEL_TOR || p->level > OBS_LEVEL_INTER_DC)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: level %u is not in %d to %d.", i, p->level,
		    OBS_LEVEL_TOR, OBS_LEVEL_INTER_DC);
	if (p->payload_bytes > OBS_MAX_PAYLOAD)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: a payload of %u bytes, more than %d.", i,
		    p->payload_bytes, OBS_MAX_PAYLOAD);
	if (p->outcome == OBS_CONNECTED && p->rtt_ns == 0)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu connected, yet in no time.", i);
	if (p->outcome == OBS_TIMED_OUT && p->rtt_ns > 0)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu timed out, yet has a round-trip time of %" PRIu64
		    " ns.",
		    i, p->rtt_ns);
	return 0;
}

int obs_probes_check(const struct obs_probes *t, uint32_t n_hosts,
    struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_probe p = obs_probes_at(t, i);
		int rc = check_probe(&p, i, n_hosts, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
