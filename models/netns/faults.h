/* models/netns/faults.h -- a scene's faults on a real network, and their truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a truth says of directed link l is done where l is received, before
 * routing sees the packet, so the link the other way is not touched:
 *
 *	count -> random loss -> black holes of the switch -> delay -> the kernel
 *
 *	loss   hits every packet of the link: data, answers of ICMP, probes. The
 *	       rate is that of scene_loss_hazard(): of all active faults
 *	       together, or of the noise where there is none.
 *	holes  take TCP and UDP by the five-tuple of their own direction, as
 *	       blackhole_rule_drops() says bit for bit, on all links into their
 *	       switch; and no ICMP messages, as in the simulator. A packet that
 *	       both loss and a hole take is counted as lost.
 *	delay  is scene_latency_draw() of each packet. Packets keep their order:
 *	       one that draws less than those before it waits for them, so times
 *	       follow the law exactly only where packets are further apart than
 *	       that. Holding a packet takes 30 to 60 us by itself. When the
 *	       delay ends, what still waits goes first, and the link is as
 *	       others are once none does; what waits when faults are closed
 *	       is lost.
 *
 *	routes by which switches choose next hops badly (models/route_rule.h)
 *	       are put into the kernel's tables, as a route to each host that
 *	       they are about: over one link, fewer links, or links with
 *	       weights. SEED is the seed that the kernel hashes with. DEPARTS:
 *	       the kernel looks at the whole five-tuple. BITS gives each next
 *	       hop the share that hashes of so few bits would come to, but no
 *	       two flows go the same way because of it. What is for switches
 *	       themselves goes by their usual tables.
 *
 * A host that is off has faults on both links of its cable, which are done here
 * like any others; that its agent does not run is no matter of links, nor are
 * services.
 *
 * Done by eBPF (see caps) where the kernel allows it, which is to root alone.
 * Else by nft rules, which differ: loss draws from the kernel's own numbers and
 * is not repeatable; rates and shares are to the nearest 2^-31; a hole's keys
 * are those of jhash with half the salt, so how many it takes is right but not
 * which; there are no delays, no drops by flow, no retransmissions, no audit.
 *
 * Nothing is pinned: all goes with netns_faults_close(), or with the process.
 */
#ifndef MODELS_NETNS_FAULTS_H
#define MODELS_NETNS_FAULTS_H

#include "models/netns/net.h"
#include "models/real/real.h"
#include "models/scene/loss.h"
#include "models/truth.h"
#include "topo/topo.h"

enum netns_faults_by {
	NETNS_FAULTS_ANY, /* eBPF where it is allowed, else nft */
	NETNS_FAULTS_EBPF,
	NETNS_FAULTS_NFT
};

/* Zeroed is usual. */
struct netns_faults_params {
	enum netns_faults_by by;
	uint64_t seed;        /* of losses and delays */
	uint32_t max_drops;   /* (flow, link) of which drops are known; 0:
	                         65536, which take 6 MiB */
	double syn_timeout_s; /* hosts' first wait for a SYN-ACK, doubled by
	                         each more; 0: as the kernel does. The process
	                         is in a cgroup of its own until close, whose
	                         sockets opened meanwhile wait so. */
};

/* What is known beyond counters. */
struct netns_faults_caps {
	enum netns_faults_by by;
	/* holes: which keys they take; losses: which packets, counted by link,
	 * are repeatable; the rest: see below. */
	unsigned exact_holes : 1, repeatable_loss : 1, delay : 1, drops : 1,
	    retx : 1, audit : 1;
	char why[256]; /* why not eBPF, or empty */
};

/* Of one link, since the opening. `bytes` are with the Ethernet header by eBPF,
 * and without by nft. */
struct netns_link_count {
	uint64_t packets,
	    bytes; /* that came to its end, also those lost then */
	uint64_t n_random, n_hole;
	uint64_t n_probes; /* of these, probes of paths: in no flow's drops */
	uint64_t n_untold; /* of these, not in the drops of flows: no room */
};

/* What a flow lost on a link, probes of its path apart, which are known by their
 * TTL. Ports are 0 where the protocol has none. */
struct netns_drop {
	struct topo_tuple tuple;
	topo_link link;
	uint64_t n_random, n_hole;
};

/* A segment that a host's TCP sent again; in rare cases two, which TCP_INFO
 * counts as such. */
struct netns_retx {
	topo_host host;
	struct topo_tuple tuple;
	uint8_t established; /* 0: a SYN */
	uint64_t at_ns;      /* CLOCK_MONOTONIC */
};

/* Packets that the kernel dropped for one reason in the network's namespaces.
 * EXPECTED tells what it belongs to, such as our own losses; NULL: it should
 * not be, for then links lose what no truth tells of. */
struct netns_audit {
	const char *reason;
	const char *expected;
	uint64_t n;
	uint64_t at; /* the last of them: an address in /proc/kallsyms */
};

/* Of packets delayed. */
struct netns_delay_count {
	uint64_t n_held;  /* came */
	uint64_t n_lost;  /* found too many waiting: a loss no truth tells of */
	uint64_t late_ns; /* the longest that one went later than due */
};

struct netns_faults;

/* Attach to every link of NET, which T is the topology of; both are borrowed.
 * Everything passes until apply(). The calling thread moves through the nodes
 * and ends where it was when the network was opened.
 * Errors, with nothing left attached: SIM_EUNSUPPORTED (not allowed; built
 * without libbpf; no BTF; too old a kernel; no nft), SIM_EDEP (refused by the
 * verifier: the end of its log), SIM_EIO, SIM_ENOMEM.
 * Cost about 0.1 ms a link. */
int netns_faults_open(struct netns_faults **f, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e);
void netns_faults_close(struct netns_faults *f); /* NULL is fine */

const struct netns_faults_caps *netns_faults_caps(const struct netns_faults *f);

/* From now on, what holds at NOW of LOSS holds; to be called again at each
 * netns_faults_next(). LOSS->truth is sorted and, if it has delays, borrowed
 * until the next call or close; NOW must go on as CLOCK_MONOTONIC does.
 * Links change one after the other: what is on its way may meet either state.
 * Errors, with nothing changed: SIM_ERANGE (a link or switch that is not in the
 * topology), SIM_EUNSUPPORTED (delays without eBPF or /dev/net/tun; routes for a
 * share of flows or for a switch's own hosts, a seed for some destinations,
 * weights beyond 1/256 to 256, more than 8 bits), SIM_ELIMIT (more than 64 holes
 * at a switch). And SIM_EIO.
 * Cost 0.1 us a link and fault, by eBPF; a process a node, by nft. */
int netns_faults_apply(struct netns_faults *f, const struct scene_loss *loss,
    sim_ns now, struct sim_err *e);

/* When the next fault or hole begins or ends after NOW, or SIM_NEVER. */
sim_ns netns_faults_next(const struct truth *truth, sim_ns now);

/* Shape count[n_links]. Errors SIM_EIO, SIM_ENOMEM. */
int netns_faults_count(struct netns_faults *f, struct netns_link_count count[],
    struct sim_err *e);

/* --- by eBPF alone: else SIM_EUNSUPPORTED -------------------------------- */

/* All drops, ascending by tuple and link. LIST grows as needed and is freed by
 * the caller. */
int netns_faults_drops(struct netns_faults *f, struct netns_drop **list,
    size_t *cap, size_t *n, struct sim_err *e);

/* Those of one tuple on one link: D's counters, 0 if there are none. */
int netns_faults_drop_of(struct netns_faults *f, struct netns_drop *d,
    struct sim_err *e);

/* All reasons seen so far. The kernel tells of no drop while it is telling of
 * another on that processor: how often it was so stands as reason MISSED, which
 * may be any of the others. Shape out[NETNS_AUDIT_MAX]; names live as long as
 * F. */
enum { NETNS_AUDIT_MAX = 257 };
int netns_faults_audit(struct netns_faults *f, struct netns_audit out[],
    size_t *n, struct sim_err *e);

/* Retransmissions: a descriptor that can be read when there are some (-1:
 * none can be had), and up to CAP > 0 of them, in the order of time. *N < CAP:
 * there were no more. */
int netns_faults_retx_fd(const struct netns_faults *f);
int netns_faults_retx_read(struct netns_faults *f, struct netns_retx out[],
    size_t cap, size_t *n, struct sim_err *e);

/* The same for the agents of a fabric of real sockets (fabric_real_retx()). */
struct fabric_real_retx_source netns_faults_retx_source(struct netns_faults *f);

/* Retransmissions lost because nobody read 1 MiB of them. */
int netns_faults_retx_lost(struct netns_faults *f, uint64_t *n,
    struct sim_err *e);

/* Delays: a descriptor (-1: none can be had) and what is to be called whenever
 * it can be read, for packets that came or are due. */
int netns_faults_delay_fd(const struct netns_faults *f);
int netns_faults_delay_step(struct netns_faults *f, struct sim_err *e);
void netns_faults_delay_count(const struct netns_faults *f,
    struct netns_delay_count *c);

#endif
