/* experiments/arena/suite.c -- which faults, networks and telemetries there are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/suite.h"

#include <string.h>

#include "models/obs_tallies.h"
#include "sim/bytes.h"

const char *const xp_arena_families[] = {"single", "many", "soft", "device",
    "noise", "noisy_tier", "skew", "hot_tor", "bursts", "flapping",
    "black_hole_1", "black_hole_2", "lost_probes", "partial_traces",
    "unknown_paths", "latency", "wrong_topology", "none", NULL};

#define KINDS "telemetry.kinds="
const struct xp_arena_telemetry xp_arena_telemetries[] = {
    {"int", KINDS "[int]", OBS_TELE_INT},
    {"a1", KINDS "[a1]", OBS_TELE_A1},
    {"a2", KINDS "[a2]", OBS_TELE_A2},
    {"p", KINDS "[p]", OBS_TELE_P},
    {"a1_p", KINDS "[a1, p]", OBS_TELE_A1 | OBS_TELE_P},
    {"a2_p", KINDS "[a2, p]", OBS_TELE_A2 | OBS_TELE_P},
    {"a1_a2_p", KINDS "[a1, a2, p]", OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P},
    {0},
};
#undef KINDS

/* All networks of a size have as many racks, and nearly as many hosts. */
#define SET "sweep.zip.topology="
const struct xp_arena_size xp_arena_sizes[] = {
    {"s", 4,
	SET "[{kind: clos, n_pods: 2, n_tors: 4, n_t1: 2, n_t2: 4, "
	    "n_hosts: 4}, {kind: fat_tree, k: 4, oversub: 2}, "
	    "{kind: leaf_spine, n_leaves: 8, n_spines: 4, n_hosts: 4}]",
	"telemetry.busy=0.13"},
    {"m", 14,
	SET "[{kind: clos, n_pods: 2, n_tors: 9, n_t1: 4, n_t2: 8, "
	    "n_hosts: 6}, {kind: fat_tree, k: 6, oversub: 2}, "
	    "{kind: leaf_spine, n_leaves: 18, n_spines: 6, n_hosts: 6}]",
	"telemetry.busy=0.06"},
    {"l", 20,
	SET "[{kind: clos, n_pods: 5, n_tors: 10, n_t1: 5, n_t2: 25, "
	    "n_hosts: 15}, {kind: fat_tree, k: 10, oversub: 3}, "
	    "{kind: leaf_spine, n_leaves: 50, n_spines: 10, n_hosts: 15}]",
	"telemetry.busy=0.021"},
    {0},
};
#undef SET

const char *const xp_arena_algorithms[] = {"alg1", "vote_flock", "score",
    "score_passive", "netbouncer", "sherlock", "detector", "flock", "sieve",
    "alg1_tuned", "vote_flock_tuned", "score_tuned", "score_passive_tuned",
    "netbouncer_tuned", "sherlock_tuned", "detector_tuned", "flock_tuned",
    NULL};

uint64_t xp_arena_seed(const char *phrase)
{
	const uint64_t h = sim_fnv(SIM_FNV_START, phrase, strlen(phrase));
	return (h ^ h >> 48) & ((UINT64_C(1) << 48) - 1);
}
