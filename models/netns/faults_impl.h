/* models/netns/faults_impl.h -- what the parts of real faults share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	netns/faults.c     from a truth to what each link does now
 *	netns/routing.c    switches that choose next hops badly
 *	netns/ebpf.c       by eBPF: loading, attaching, changing
 *	netns/ebpf_read.c  by eBPF: counters, drops, audit, retransmissions
 *	netns/nft.c        by nft rules
 *	netns/delay.c      packets that wait in this process
 */
#ifndef MODELS_NETNS_FAULTS_IMPL_H
#define MODELS_NETNS_FAULTS_IMPL_H

#include "models/netns/faults.h"

/* What a link does from now on; its holes are those of the plan. */
struct netns_faults_link {
	double rate;
	uint32_t first_hole, n_holes;
	uint8_t slow;
};

struct netns_faults_plan {
	struct netns_faults_link *link; /* [n_links] */
	size_t n_holes, cap_holes;
	struct blackhole_rule *hole; /* active ones, by switch */
};

/* A switch that spreads what is for a host otherwise than by its table, or
 * hashes by another seed, as routes of the truth say. */
struct netns_faults_steer {
	topo_switch at;
	topo_host host; /* TOPO_NONE: its seed */
};

struct netns_faults_ops {
	int (*apply)(struct netns_faults *f, struct sim_err *e);
	int (*count)(struct netns_faults *f, struct netns_link_count count[],
	    struct sim_err *e);
	void (*close)(struct netns_faults *f); /* all but what is below */
	/* NULL: there is no such thing. */
	int (*drops)(struct netns_faults *f, struct netns_drop **list,
	    size_t *cap, size_t *n, struct sim_err *e);
	int (*drop_of)(struct netns_faults *f, struct netns_drop *d,
	    struct sim_err *e);
	int (*audit)(struct netns_faults *f, struct netns_audit out[],
	    size_t *n, struct sim_err *e);
	int (*retx_fd)(const struct netns_faults *f);
	int (*retx_read)(struct netns_faults *f, struct netns_retx out[],
	    size_t cap, size_t *n, struct sim_err *e);
	int (
	    *retx_lost)(struct netns_faults *f, uint64_t *n, struct sim_err *e);
	/* Attach to a tap, in the namespace of which the thread is. */
	int (*attach_tap)(struct netns_faults *f, uint32_t ifindex,
	    struct sim_err *e);
	/* A link is not slow any more. */
	void (*pass)(struct netns_faults *f, topo_link l);
};

/* Each way of doing it has a struct that begins with this. */
struct netns_faults {
	const struct netns_faults_ops *ops;
	const struct netns_net *net;
	const struct topo *t;
	struct netns_faults_params p;
	struct netns_faults_caps caps;
	struct netns_faults_plan plan;
	struct netns_delay *delay;        /* NULL: none can be had */
	struct netns_faults_steer *steer; /* that hold now */
	size_t n_steers, cap_steers;
};

/* The node that receives what link L carries. */
static inline topo_node netns_faults_end(const struct netns_faults *f,
    topo_link l)
{
	topo_node from, to;
	topo_link_ends(f->t, l, &from, &to);
	return to;
}

/* Make *F of one kind, all members but base zeroed. SIM_EUNSUPPORTED is no
 * mistake but a kind that this kernel, user or build does not have. */
int netns_faults_ebpf_open(struct netns_faults **f, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e);
int netns_faults_nft_open(struct netns_faults **f, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e);

/* --- netns/routing.c ------------------------------------------------------ */

/* Whether the kernel can have all routes of TRUTH, at whatever time. */
int netns_routing_check(const struct netns_faults *f, const struct truth *truth,
    struct sim_err *e);

/* What held is undone, and what holds at NOW done. */
int netns_routing_undo(struct netns_faults *f, struct sim_err *e);
int netns_routing_apply(struct netns_faults *f, const struct truth *truth,
    sim_ns now, struct sim_err *e);

/* --- netns/delay.c -------------------------------------------------------- */
int netns_delay_open(struct netns_delay **d, struct netns_faults *f,
    struct sim_err *e);
void netns_delay_close(struct netns_delay *d);

/* A tap for each slow link of the plan that has none. */
int netns_delay_taps(struct netns_delay *d, struct sim_err *e);

/* Delays are drawn of TRUTH from now on, which is NOW. Links of the plan that
 * are not slow any more stay so until what waits has gone. */
int netns_delay_apply(struct netns_delay *d, const struct truth *truth,
    sim_ns now, struct sim_err *e);
int netns_delay_fd(const struct netns_delay *d);
int netns_delay_step(struct netns_delay *d, struct sim_err *e);
void netns_delay_count(const struct netns_delay *d,
    struct netns_delay_count *c);

#endif
