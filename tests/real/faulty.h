/* tests/real/faulty.h -- a small Clos of namespaces with faults and flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_REAL_FAULTY_H
#define TESTS_REAL_FAULTY_H

#include "models/netns/faults.h"
#include "models/netns/traffic.h"
#include "tests/real/lab.h"

enum { FAULTY_MAX_LINKS = 64, FAULTY_MAX_RETX = 65536 };

/* 12 hosts below 6 ToRs in 2 pods, 4 T1s, 2 T2s: 64 directed links. */
extern const struct topo_clos faulty_shape;

struct faulty {
	struct lab lab;
	struct netns_faults *f;
	struct truth truth;
	struct scene_loss loss; /* of truth, without noise */
	struct netns_retx retx[FAULTY_MAX_RETX];
	size_t n_retx;
	struct netns_link_count count[FAULTY_MAX_LINKS];
};

/* Skips the test if there can be no such faults here. RIG is static or on the
 * heap: it is large. */
void faulty_open(struct faulty *rig, const struct netns_faults_params *p);
void faulty_close(struct faulty *rig);

/* Let what the truth says hold at NOW. */
void faulty_apply(struct faulty *rig, sim_ns now);
void faulty_add_loss(struct faulty *rig, topo_link l, double rate);

/* N flows of n_pkts between hosts drawn at random, spread over spread_ms. */
void faulty_draw(const struct faulty *rig, struct obs_flow flow[], size_t n,
    uint32_t n_pkts, unsigned spread_ms, uint32_t run);

/* Run flows to their end, or until they fail after TIMEOUT_S, faults with them,
 * and read retransmissions (where there are any) and counters. */
void faulty_run(struct faulty *rig, struct obs_flow flow[], size_t n,
    double timeout_s, struct netns_flow_end end[]);

/* The link with this name, "tor3->t1.5". */
topo_link faulty_link(const struct faulty *rig, const char *name);

/* Do what is due, waiting for up to MS; what faulty_run() does again and again. TR
 * may be NULL. */
void faulty_step(struct faulty *rig, struct netns_traffic *tr, int ms);

/* Fails unless K of N is within an exact interval around RATE that is left in
 * one of 10^9 tests. */
void faulty_check_rate(uint64_t k, uint64_t n, double rate);

struct topo_tuple faulty_tuple(const struct obs_flow *f);

#endif
