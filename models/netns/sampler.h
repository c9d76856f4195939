/* models/netns/sampler.h -- a host's traffic in short buckets, by eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts at both sides of an interface, in up to three widths at once:
 *
 *	arm -> the first packet starts the clock -> the first one behind the
 *	last bucket ends the run -> take -> arm ...
 *
 * of which models/bpf/sampler.bpf.c does the middle without anybody's help. What
 * is counted is models/obs_buckets.h; rows of it makes
 * algos/millisampler/buckets.h. An interface that is not armed costs its packets
 * a load and a branch.
 *
 * DEPARTS: retransmissions are told by the sender's socket, at its egress, so
 * all of them are; of SYN-ACKs, which have none yet, none is.
 * Paper  Millisampler (IMC'22).
 */
#ifndef MODELS_NETNS_SAMPLER_H
#define MODELS_NETNS_SAMPLER_H

#include "models/netns/cost.h"
#include "models/obs_buckets.h"
#include "sim/err.h"

enum { NETNS_SAMPLER_WIDTHS = 3 };

/* Of what TCP sends again: the highest bit of the TTL, which its other packets must
 * begin below (net.ipv4.ip_default_ttl, net.ipv6.conf.*.hop_limit of all hosts,
 * 64 as Linux has it: of a sender that begins at 128 or above, as Windows does, all
 * counts as sent again where it comes in at 128 or above); a bit of the DSCP, where
 * hosts are not so or a network minds the TTL; or nothing, and then the receiver
 * counts none. */
enum netns_sampler_mark {
	NETNS_SAMPLER_MARK_TTL,
	NETNS_SAMPLER_MARK_DSCP,
	NETNS_SAMPLER_MARK_NONE,
};

/* Where runs begin: at their first packet, or at the multiple of their width of
 * CLOCK_TAI before it. Times are of CLOCK_TAI either way, as it was when the run
 * was armed: a clock that is set meanwhile moves no bucket. Or netns_sampler_now()
 * tells the time, of tests. */
enum netns_sampler_clock {
	NETNS_SAMPLER_FIRST_PACKET,
	NETNS_SAMPLER_ALIGNED,
	NETNS_SAMPLER_GIVEN,
	NETNS_SAMPLER_GIVEN_ALIGNED,
};

/* Zeroed is usual. */
struct netns_sampler_params {
	uint64_t width_ns[NETNS_SAMPLER_WIDTHS]; /* 0: 10 ms, 1 ms, 100 us */
	enum netns_sampler_clock clock;
	enum netns_sampler_mark mark;
	uint8_t mark_tos;    /* bit of MARK_DSCP; 0: 0x80 */
	uint8_t mark_always; /* also while no run is under way */
	uint8_t no_link;     /* frames begin with their IP header */
	/* Of a packet of several segments each has headers on the wire; the
	 * host's stack sees them once, and so does the paper. */
	uint8_t wire_bytes;
	/* Addresses of one's own region; masks of 0: all are. IPv6 in two
	 * halves, the upper one first. */
	uint32_t net4, mask4;
	uint64_t net6[2], mask6[2];
	uint32_t n_echoes; /* of tests: a power of 2 */
};

/* A run, its bucket[OBS_BUCKETS] apart. */
struct netns_sampler_run {
	uint64_t start_ns; /* of CLOCK_TAI; 0: no packet came */
	uint64_t width_ns;
	uint64_t n_missed; /* packets before the first bucket */
};

struct netns_sampler;

/* Errors SIM_EUNSUPPORTED (not allowed; built without libbpf), SIM_ERANGE (a
 * width), SIM_EDEP (a kernel before Linux 6.2), SIM_EIO, SIM_ENOMEM.
 * Cost 384 KB a processor. */
int netns_sampler_open(struct netns_sampler **s,
    const struct netns_sampler_params *p, struct sim_err *e);
void netns_sampler_close(struct netns_sampler *s); /* NULL is fine */

/* To an interface of the namespace where the thread is; detach before closing.
 * Errors SIM_EIO. */
int netns_sampler_attach(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e);
void netns_sampler_detach(uint32_t ifindex);

/* The same for as long as S is open: what remains of it when this process ends,
 * however it does, is nothing. Once per S. Errors SIM_EUNSUPPORTED (before Linux
 * 6.6), SIM_EIO. */
int netns_sampler_hold(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e);

/* Whether it is still there. An interface may go, and then all is silent. No
 * right is needed for this, nor for runs. */
int netns_sampler_holds(const struct netns_sampler *s);

/* Processors that can count. */
uint32_t netns_sampler_n_cpus(const struct netns_sampler *s);

/* Begin runs of some WIDTHS, bits 1 << index; those under way are untouched.
 * They must have been taken, or never armed. */
void netns_sampler_arm(struct netns_sampler *s, uint32_t widths);

/* Bits of the widths whose runs are under way: armed, and not ended. */
uint32_t netns_sampler_armed(const struct netns_sampler *s);

/* When a run began by its first packet, of CLOCK_MONOTONIC; 0: none came. */
uint64_t netns_sampler_started(const struct netns_sampler *s, uint32_t width);

/* End a run, if it has not ended, and read and zero it: sums over processors, OR
 * of sketches. Shape bucket[OBS_BUCKETS], overwritten. Errors SIM_EIO.
 * Cost 2,000 cache lines a processor, and where it waits for packets that are
 * being counted some 10 ms. */
int netns_sampler_take(struct netns_sampler *s, uint32_t width,
    struct obs_bucket bucket[], struct netns_sampler_run *run,
    struct sim_err *e);

/* Segments that sockets here sent again while anything was armed; packets of
 * those that could not be marked; packets that count as a connection of their
 * addresses alone, and never as sent again from here, as what they carry is behind
 * more extension headers of IPv6 than are followed (models/obs_buckets.h); packets
 * of TCP that left with the mark though no socket here sent them again: by another
 * host's mark if they are passed on, or because a TTL begins at 128 or above here,
 * and then receivers count too much. */
struct netns_sampler_count {
	uint64_t n_retx, n_unmarked, n_deep, n_false;
};
struct netns_sampler_count netns_sampler_count(const struct netns_sampler *s);

/* --- of tests ------------------------------------------------------------- */

/* The time of CLOCK_GIVEN. */
void netns_sampler_now(struct netns_sampler *s, uint64_t now_ns);

/* What it would do with a frame; AFTER, unless NULL, is the frame as it left,
 * of as many bytes. GSO_SEGS as of the frame's packet. OUT: at egress.
 * Errors SIM_EIO. */
int netns_sampler_try(struct netns_sampler *s, int out,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    struct netns_cost *cost, struct sim_err *e);

/* What was counted, in the order of counting; I below n_echoes. Times are as of
 * the runs that were armed last. */
struct netns_sampler_echo {
	uint64_t t;
	struct obs_seen seen;
};
uint32_t netns_sampler_n_echoed(const struct netns_sampler *s);
struct netns_sampler_echo netns_sampler_echo(const struct netns_sampler *s,
    uint32_t i);

#endif
