/* experiments/everflow/pcap.h -- a capture of copies, as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_PCAP_H
#define EXPERIMENTS_EVERFLOW_PCAP_H

#include "algos/everflow/analyzer.h"
#include "experiments/everflow/capture.h"
#include "experiments/everflow/copies.h"
#include "results/traces.h"

/* All is borrowed. */
struct xp_pcap {
	struct xp_capture *capture;
	struct xp_copies *copies;
	const struct algo_routing *routing;
	const struct algo_analyzer_params *analyzer;
	const struct res_traces_info *info;
	const char *output;
	int may_be_cut; /* a capture that ends within a packet is one up to
			   there */
	/* What was done. */
	struct algo_analyzer_counts count;
	int was_cut;
	struct sim_err cut; /* how */
};

/* Read the capture to its end, give all copies to one analyzer, and write what
 * it stores and counts to a file. Without a copy there is no file.
 * Errors SIM_EPARSE (cut or damaged), SIM_EINVAL (no copy in it), those of
 * results/traces.h. */
int xp_pcap_store(struct xp_pcap *p, struct sim_err *e);

#endif
