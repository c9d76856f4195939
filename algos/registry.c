/* algos/registry.c -- all diagnosers, and one by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "algos/algo.h"
#include "algos/everflow/everflow_algo.h"
#include "algos/millisampler/loss_cause.h"
#include "algos/millisampler/nic_stall.h"
#include "algos/millisampler/sync_burst.h"
#include "algos/millisampler/vote_filtered.h"
#include "algos/pingmesh/blackhole_algo.h"
#include "algos/pingmesh/hop_trace_algo.h"
#include "algos/rivals/detector.h"
#include "algos/rivals/flock.h"
#include "algos/rivals/netbouncer.h"
#include "algos/rivals/score_passive.h"
#include "algos/rivals/sherlock.h"
#include "algos/rivals/vote_flock.h"
#include "algos/sieve/sieve.h"
#include "algos/vigil/alg1.h"
#include "algos/vigil/cover.h"
#include "algos/vigil/program.h"
#include "algos/vigil/vote.h"
#include "algos/vigil/vote_ecmp.h"

/* In the order in which they are listed for users. */
const struct algo_ops *const algo_registry[] = {
    &algo_vote,
    &algo_vote_ecmp,
    &algo_alg1,
    &algo_cover,
    &algo_binary,
    &algo_integer,
    &algo_blackhole_ops,
    &algo_hop_trace_ops,
    &algo_everflow_latency_ops,
    &algo_everflow_drop_ops,
    &algo_everflow_loop_ops,
    &algo_loss_cause_ops,
    &algo_nic_stall_ops,
    &algo_sync_burst_ops,
    &algo_vote_filtered,
    &algo_flock,
    &algo_netbouncer,
    &algo_score_passive,
    &algo_score,
    &algo_sherlock,
    &algo_detector,
    &algo_vote_flock,
    &algo_sieve,
    NULL,
};

const struct algo_ops *algo_find(const char *name)
{
	for (const struct algo_ops *const *a = algo_registry; *a; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}
