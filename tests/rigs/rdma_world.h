/* tests/rigs/rdma_world.h -- queue pairs, pauses and BGP, from packets to findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	rdma_open(&w, run);           a small Clos, noise, nothing broken
 *	... w.rdma.recovery = ...;    what the run is to be like
 *	rdma_live(&w);                packets walk, copies reach an analyzer
 *	rdma_debug(&w);               w.out has the findings
 *	rdma_close(&w);
 */
#ifndef TESTS_RDMA_WORLD_H
#define TESTS_RDMA_WORLD_H

#include "algos/everflow/analyzer.h"
#include "algos/everflow/debug_rdma.h"
#include "models/packet/bgp.h"
#include "models/packet/pause.h"
#include "models/packet/rdma.h"
#include "tests/rigs/scenes.h"

enum { RDMA_PAIRS = 6 };

struct rdma_copies {
	size_t n, cap;
	struct obs_copy *copy;
};

struct rdma_world {
	/* To be changed before rdma_live(). */
	struct packet_rdma_params rdma;
	struct packet_pause_params pause;
	struct packet_bgp_params bgp;
	struct packet_rdma_pair pair[RDMA_PAIRS];
	topo_link lossy; /* or TOPO_NONE */
	double loss;     /* of that */
	topo_host storm; /* or TOPO_NONE */
	sim_ns storm_from, storm_to;
	topo_link flapping; /* or TOPO_NONE */
	sim_ns pause_until, bgp_until;
	double mirror_loss;
	sim_ns jitter_ns; /* of a copy's way to the analyzer, uniform */
	struct algo_debug_rdma_params params;

	/* What came of it. */
	uint8_t crosses[RDMA_PAIRS]; /* the lossy link, by its data */
	struct packet_rdma_end end[RDMA_PAIRS];
	struct packet_bgp_end flaps;
	struct algo_trace_store traces;
	struct algo_debug_out out;

	struct scenes scenes;
	struct packet_net net;
	struct sim_rng r;
	struct rdma_copies copies;
};

void rdma_open(struct rdma_world *w, unsigned run);
void rdma_close(struct rdma_world *w);

/* Queue pairs, pauses on every link into a switch, and BGP on every cable of
 * switches; then what an analyzer makes of the copies. */
void rdma_live(struct rdma_world *w);
void rdma_debug(struct rdma_world *w);

/* How many findings have that cause. */
unsigned rdma_count(const struct rdma_world *w, enum algo_cause cause);

#endif
