/* algos/everflow/filter_path.h -- ways of packets as patterns: bit-set automata.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	"tor3 . t2 * host17"
 *
 * Each atom of a pattern is a state (Glushkov's construction), and a set of
 * states one word of 64 bits, so a hop costs as many steps as states are live.
 * All patterns of a filter share 64 states, of which each takes one to begin in.
 */
#ifndef ALGOS_EVERFLOW_FILTER_PATH_H
#define ALGOS_EVERFLOW_FILTER_PATH_H

#include <stdint.h>

#include "sim/err.h"
#include "topo/topo.h"

enum { ALGO_PATH_STATES = 64, ALGO_PATH_DEPTH = 16 };

enum algo_path_atom {
	ALGO_PATH_START,
	ALGO_PATH_HOST,
	ALGO_PATH_SWITCH,
	ALGO_PATH_TIER,
	ALGO_PATH_HOP /* any switch */
};

/* Zeroed has no pattern. */
struct algo_paths {
	uint8_t n; /* states */
	uint8_t atom[ALGO_PATH_STATES];
	uint32_t id[ALGO_PATH_STATES];     /* host, switch or tier */
	uint64_t follow[ALGO_PATH_STATES]; /* states behind each */
};

/* Add the pattern of N bytes at TEXT; *START is the state to begin in and
 * *ACCEPT are those to end in. T may be NULL, and is then missed by names. Errors
 * SIM_EINVAL, SIM_ELIMIT; *AT is then the byte where. */
int algo_path_compile(struct algo_paths *p, const char *text, size_t n,
    const struct topo *t, uint8_t *start, uint64_t *accept, size_t *at,
    struct sim_err *e);

/* The states behind STATES when the way goes on to a host or a switch. */
uint64_t algo_path_to_host(const struct algo_paths *p, uint64_t states,
    topo_host h);
uint64_t algo_path_to_switch(const struct algo_paths *p, const struct topo *t,
    uint64_t states, topo_switch s);

/* The tier that WORD names: "tor", "t1", "t2", "border". Errors SIM_EINVAL: none,
 * or T has no tiers. */
int algo_path_tier(const struct topo *t, const char *word, uint32_t *tier,
    struct sim_err *e);

/* Fail: WORD is no node of T, nor a tier; with one that is near. T may be
 * NULL. */
int algo_path_unknown(const struct topo *t, const char *word,
    struct sim_err *e);

#endif
