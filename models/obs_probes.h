/* models/obs_probes.h -- what probes saw: one row a connect, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns are borrowed by readers for the length of a call. Rows need no order.
 * Hosts have the ids of the whole network, whether a table holds what all of
 * them sent or those of one data centre.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.4: a probe is a TCP connect from a
 *        new source port, maybe with a payload that is echoed afterwards. */
#ifndef MODELS_OBS_PROBES_H
#define MODELS_OBS_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/table.h"
#include "sim/time.h"
#include "topo/ids.h"

enum obs_outcome {
	OBS_CONNECTED,
	OBS_TIMED_OUT, /* no answer to any SYN */
	OBS_REFUSED,   /* a reset: the network carried both ways */
	OBS_N_OUTCOMES
};

enum obs_level {
	OBS_LEVEL_TOR = 1, /* the peer is under the same ToR */
	OBS_LEVEL_DC,      /* the same index under another ToR */
	OBS_LEVEL_INTER_DC /* in another data centre */
};

enum { OBS_MAX_PAYLOAD = 65536 };

/*  X(type, column, units, meaning) */
#define OBS_PROBE_COLUMNS(X)                                                   \
	X(uint64_t, sent_ns, "ns", "first SYN, since the run began")           \
	X(uint64_t, rtt_ns, "ns", "connect time; 0 = none")                    \
	X(uint32_t, src_host, "1", "host id of the sender")                    \
	X(uint32_t, dst_host, "1", "host id of the peer")                      \
	X(uint16_t, src_port, "1", "TCP source port")                          \
	X(uint16_t, dst_port, "1", "TCP destination port")                     \
	X(uint8_t, outcome, "1", "enum obs_outcome")                           \
	X(uint8_t, level, "1", "enum obs_level")                               \
	X(uint8_t, class, "1", "QoS class; 0 is the most urgent")              \
	X(uint32_t, payload_bytes, "bytes", "echoed after connecting; 0 = none")

enum { OBS_MAX_WAITS = 8 };

struct obs_probes {
	sim_ns syn_wait_ns[OBS_MAX_WAITS]; /* of the senders' TCP, before SYN 2,
					      3, ...; 0 ends the list */
	SIM_TABLE_ARRAYS(OBS_PROBE_COLUMNS)
};
struct obs_probe {
	SIM_TABLE_FIELDS(OBS_PROBE_COLUMNS)
};
SIM_TABLE(obs_probes, obs_probe, OBS_PROBE_COLUMNS)

/* Connect times from FROM on and below TO. */
struct obs_probe_span {
	sim_ns from, to;
};

/* Probes that may be too many for one table: all of them as tables one after the
 * other, each good until the next is asked for. So there is one reader at a time.
 * Zeroed is none. */
struct obs_probe_source {
	size_t n;                       /* probes in all */
	const sim_ns *syn_wait_ns;      /* [OBS_MAX_WAITS], as of each table */
	const struct obs_probes *whole; /* the only table; NULL: ask read() */
	void *arg;
	int (*read)(void *arg, size_t *at, const struct obs_probe_span *only,
	    const struct obs_probes **piece, struct sim_err *e);
};

static inline int obs_probe_source_is_none(const struct obs_probe_source *s)
{
	return !s->whole && !s->read;
}

/* T alone, which is borrowed. */
static inline struct obs_probe_source obs_probes_whole(
    const struct obs_probes *t)
{
	return (struct obs_probe_source){.n = t->n,
	    .syn_wait_ns = t->syn_wait_ns,
	    .whole = t};
}

/* The table that begins with probe *AT, which is moved behind it and is 0 at first.
 * With ONLY, probes that did not connect in as long may be left out. Returns 0 and
 * no table behind the last probe, else 1. Errors those of the source. */
static inline int obs_probes_next(const struct obs_probe_source *s, size_t *at,
    const struct obs_probe_span *only, const struct obs_probes **piece,
    struct sim_err *e)
{
	if (*at >= s->n)
		return 0;
	if (s->whole) {
		*piece = s->whole;
		*at = s->n;
		return 1;
	}
	const int rc = s->read(s->arg, at, only, piece, e);
	return rc < 0 ? rc : 1;
}

/* Check a table of probes that came from outside, sent by the N_HOSTS hosts
 * from FIRST_HOST on. Senders are among these, and so are peers unless they are
 * in another data centre; no host probes itself, outcomes and levels are known,
 * payloads have at most OBS_MAX_PAYLOAD bytes, a probe that connected has a
 * time and one that timed out has none.
 * Errors SIM_EINVAL naming the probe and the value. Cost O(n). */
int obs_probes_check(const struct obs_probes *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e);

#endif
