/* algos/millisampler/loss_filter.h -- flows whose losses full buffers explain.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For who looks for bad links by flows that failed: those that a full buffer
 * made fail tell nothing of links. Two ways to know them:
 *
 *	by flow   A sender notes when it sends again (obs.retx_ns), and buckets
 *	          of the receiver tell whether just then, just before, or an RTO
 *	          before, a burst with marks came in: the bucket is hot, as in
 *	          loss_cause.h. What a link lost meets one by chance,
 *	            b = s + (1 - s) d,
 *	          s of all bytes being in hot buckets, as packets are lost where
 *	          they are, and d of its host's time. s is the median rack's:
 *	          bytes that fill buffers in a hot rack are not those of flows
 *	          that failed elsewhere. Of the flows that are sampled a share
 *	          z is hot; then buffers lost for
 *	            q = (z - b) / (1 - b)
 *	          of them, and a hot flow is more likely one of these than not
 *	          if q > (1 - q) b: it is set aside. z is that of other flows
 *	          to its rack, and of two more that are like the whole network's,
 *	          as few may be sampled. A flow that is not sampled is set aside
 *	          by its host, or if q is above a half where z is that of its
 *	          host's flows and of one more, which is like the rack's and two
 *	          that are cold.
 *	          Edges of a burst lie in buckets that need not be half full, so
 *	          buckets beside hot ones are hot here, too.
 *	by host   All flows to hosts for whose counters a full buffer is
 *	          the likelier cause (loss_cause.h). It asks for no times.
 *
 * By flow is by host where times are not known. A full port anywhere but at the
 * receiver is not seen by either.
 *
 * Cost   O(flows + buckets of all runs). Memory O(flows + hosts + switches).
 * Paper  None: ours. That agents of 007 learn at once when a flow sends again is
 *        taken for granted here; what the paper says of it is unconfirmed.
 */
#ifndef ALGOS_MILLISAMPLER_LOSS_FILTER_H
#define ALGOS_MILLISAMPLER_LOSS_FILTER_H

#include "algos/millisampler/loss_cause.h"
#include "algos/millisampler/samples_algo.h"
#include "models/obs.h"

enum algo_loss_by { ALGO_LOSS_BY_FLOW, ALGO_LOSS_BY_HOST };
extern const char *const algo_loss_bys[];

struct algo_loss_filter_params {
	uint32_t by;           /* enum algo_loss_by */
	double rto_ms, margin; /* of loss_cause, whose others are defaults */
};

/* The entries for a member M of type struct algo_loss_filter_params in a struct
 * type S. */
#define ALGO_LOSS_FILTER_FIELDS(s, m)                                          \
	{.name = "by",                                                         \
	    .type = SIM_F_ENUM,                                                \
	    .offset = offsetof(s, m.by),                                       \
	    .names = algo_loss_bys,                                            \
	    .unit = "1",                                                       \
	    .def = "flow",                                                     \
	    .doc =                                                             \
		"what is set aside: flows, by when they sent again, or all "   \
		"those to a host"},                                            \
	    {.name = "rto",                                                    \
		.type = SIM_F_F64,                                             \
		.offset = offsetof(s, m.rto_ms),                               \
		.min = 0,                                                      \
		.max = 10000,                                                  \
		.unit = "ms",                                                  \
		.def = "5",                                                    \
		.doc = "as of loss_cause"},                                    \
	{                                                                      \
		.name = "margin", .type = SIM_F_F64,                           \
		.offset = offsetof(s, m.margin), .min = 0, .max = 1e6,         \
		.unit = "1", .def = "2", .doc = "as of loss_cause",            \
		.when = "by=host"                                              \
	}

/* What is known of a flow that sent again. */
enum algo_loss_seen { ALGO_LOSS_UNSEEN, ALGO_LOSS_COLD, ALGO_LOSS_HOT };

/* Of one window. Zeroed is empty; memory is used again. */
struct algo_loss_filter {
	struct algo_loss_cause_params cause;
	struct algo_loss_causes causes;
	const struct topo *topo;
	uint8_t *aside; /* [flows] 1: a buffer's */
	uint8_t *seen;  /* [flows] enum algo_loss_seen, by flow */
	uint32_t *next; /* [flows] the next flow to that host, + 1 */
	size_t cap_aside, cap_seen, cap_next;
	uint32_t *first;               /* [hosts] likewise the first */
	struct algo_loss_counts *host; /* [hosts] */
	struct algo_loss_counts *rack; /* [switches] */
	double *of_rack;               /* [switches] scratch */
	double busy;                   /* s, by flow */
};

/* Of a host, a rack or the network; not all is counted of each. */
struct algo_loss_counts {
	double n_hot, n_seen, chance; /* flows; sum of their b */
	double bytes, hot_bytes, buckets, hot_buckets;
};

int algo_loss_filter_open(struct algo_loss_filter *f, const struct topo *t,
    const struct algo_loss_filter_params *p, struct sim_err *e);
void algo_loss_filter_free(struct algo_loss_filter *f);

/* Fill f->aside for W, whose samples IN are. Errors those of
 * algo_loss_causes_find(). */
int algo_loss_filter_find(struct algo_loss_filter *f,
    const struct algo_loss_filter_params *p, const struct obs *w,
    const struct algo_samples_in *in, struct sim_err *e);

#endif
