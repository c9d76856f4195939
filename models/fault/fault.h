/* models/fault/fault.h -- what fails, how badly, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_FAULT_FAULT_H
#define MODELS_FAULT_FAULT_H

#include "models/truth.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

/* How random places are drawn: a class of `classes` first and then one of its
 * links; one of all links alike; or as 007's released simulator does, see
 * fault_draw(). */
enum fault_pick { FAULT_PICK_CLASS, FAULT_PICK_LINK, FAULT_PICK_MATLAB };

enum fault_kind {
	FAULT_DROP,         /* links, or switches with links of theirs */
	FAULT_LATENCY,      /* the same */
	FAULT_BLACK_HOLE_1, /* switches; see blackhole_rule.h */
	FAULT_BLACK_HOLE_2,
	FAULT_HOST_OFF,
	FAULT_POD_OFF,
	FAULT_CONTROLLER, /* Pingmesh's services */
	FAULT_COLLECTOR,
	FAULT_REROUTE, /* switches; see route_rule.h */
	FAULT_NARROW,
	FAULT_WEIGHTS,
	FAULT_HASH,
	FAULT_ECN,      /* as DROP; see burst.h */
	FAULT_MUX_LOOP, /* hosts; see packet/mux.h */
	FAULT_STORM,    /* hosts; see packet/pause.h */
	FAULT_BGP_FLAP, /* cables between switches; see packet/bgp.h */
	FAULT_N_KINDS
};
extern const char *const fault_kind_names[];

/* Kinds that few data planes have, as bits: those of Pingmesh's services, and
 * those that show in packets alone. All others all have, but for what they
 * refuse themselves. */
#define FAULT_BIT(kind) (1u << FAULT_##kind)
enum {
	FAULT_SERVICE_KINDS = FAULT_BIT(CONTROLLER) | FAULT_BIT(COLLECTOR),
	FAULT_ROUTE_KINDS = FAULT_BIT(REROUTE) | FAULT_BIT(NARROW) |
	    FAULT_BIT(WEIGHTS) | FAULT_BIT(HASH),
	FAULT_PACKET_KINDS = FAULT_ROUTE_KINDS | FAULT_BIT(ECN) |
	    FAULT_BIT(MUX_LOOP) | FAULT_BIT(STORM) | FAULT_BIT(BGP_FLAP),
	FAULT_SOME_PLANES = FAULT_SERVICE_KINDS | FAULT_PACKET_KINDS,
};

/* What wrong routes come to: two switches that send to each other, or a way
 * round. */
enum fault_turn { FAULT_TURN_LOOP, FAULT_TURN_DETOUR };
enum fault_hash { FAULT_HASH_SEED, FAULT_HASH_BITS };

/* Tiers as in a spec: bits of fault_params.tiers. */
enum fault_tier {
	FAULT_TIER_TOR,
	FAULT_TIER_T1,
	FAULT_TIER_T2,
	FAULT_TIER_BORDER /* of a region, between its data centres */
};
extern const char *const fault_tier_names[];

/* One group of faults, as in a spec. */
struct fault_params {
	uint32_t kind;        /* enum fault_kind */
	uint32_t count;       /* random places; ignored when any are named */
	uint32_t classes;     /* bit mask over enum topo_link_class */
	uint32_t pick;        /* enum fault_pick */
	double same_switch;   /* see fault_draw() */
	uint32_t switches;    /* random switches that fail, in place of links;
				 ignored when any are named */
	uint32_t tiers;       /* bit mask over enum fault_tier */
	double share;         /* chance that a link of a failed switch fails */
	struct sim_dist rate; /* per packet, drawn per link */
	struct sim_dist entries; /* corrupt ones, drawn per switch */
	struct sim_dist delay; /* us, drawn per link; see `law` in the fields */
	uint32_t law;          /* enum truth_law */
	double sigma, load;    /* of laws LOGNORMAL and LOAD */
	uint32_t mode;         /* enum truth_outage_mode */
	double from_s, to_s;   /* when; to_s = 0: to the end */
	/* Of routes. */
	char prefix[20]; /* "10.0.4.0/24"; "": see fault_draw() */
	double flows;    /* share of five-tuples */
	uint32_t turn;   /* enum fault_turn */
	uint32_t left;   /* next hops */
	double weight;
	uint32_t hash, bits; /* enum fault_hash */
	/* Of queues that come and go. */
	double duty, episode_s, mark_us;
	struct sim_dist depth; /* us, drawn for each episode */
	double spread_s;       /* each place begins later, by up to this */
	double lasts_s;        /* and ends this long after; 0: at to_s */
	uint32_t again;        /* times that it comes back */
	double every_s;        /* after the time before began */
	/* Named places, owned by the spec. */
	size_t n_links;
	topo_link *links;
	size_t n_at;
	uint32_t *at; /* nodes: switches, or hosts to be off; or pods */
};
extern const struct sim_field fault_fields[];

/* 1 if groups of KIND have a use for KEY, which is one of the fields or of
 * "links", "at" and "pods", that name places. */
int fault_uses(uint32_t kind, const char *key);

/* All classes between switches of a Clos, as bits. */
#define FAULT_ALL_TIERS                                                        \
	(UINT32_C(1) << TOPO_TOR_T1 | UINT32_C(1) << TOPO_T1_T2 |              \
	    UINT32_C(1) << TOPO_T2_T1 | UINT32_C(1) << TOPO_T1_TOR)

/* How many links of a class there are to fail. In a mesh that is no region all
 * links between switches are of class FABRIC, beside that of their tiers if it
 * knows any. Cost O(links) in a mesh. */
uint32_t fault_class_size(const struct topo *t, enum topo_link_class class);

/* 1 for kinds that are of switches alone, of which a spec that does not say has
 * one. */
int fault_is_of_switches(uint32_t kind);

/* 1 for kinds whose places are hosts. */
int fault_is_of_hosts(uint32_t kind);

/* Draw the places, rates and times of N groups into TRUTH (sorted).
 *
 * Links. A random place is a link that no earlier place took, of any group.
 * Named links are distinct within their group; one named in two groups has two
 * faults, and loses to both while both are active. With probability
 * `same_switch` a random place is another link out of the switch of the place
 * before it, of any of `classes`, if one is left there (DEPARTS: the paper says
 * no rule; for that of its released code see pick MATLAB).
 *
 * With pick MATLAB, of a Clos only, places are drawn as in 007's released code
 * (MultiFailureDriver.m and its four addPacketDropRates*.m):
 *
 *	shares   each of the `count` places goes to one of `classes`, all alike:
 *	         a multinomial, drawn before any link
 *	turns    of a class, until its share is placed: a switch (or host) that
 *	         has had no turn in this class, all alike, and one of its n links
 *	         of the class, all alike
 *	further  while the share is not placed: a coin of chance `same_switch`;
 *	         if it comes up, any of the n links, and the coin again, for it
 *	         and for the next; a link that fails already is passed over, but
 *	         for the coin. So with k links failed the next comes with chance
 *	         p (n - k) / (n - p k), p being `same_switch`: near p, and the
 *	         number of further links is near a geometric one, cut where the
 *	         share ends
 *	rate     of a t1-tor link from a range that begins at a tenth of `rate`'s
 *
 * Further links count: exactly `count` links fail, as a driver of the release
 * asserts. DEPARTS: where the release would not end, since all switches had
 * their turn or a class is full, any free link of the class will do, and other
 * classes get the rest; and links that earlier groups took are not free, while
 * the release has one group.
 *
 * In a mesh that is no region all four classes between the switches of a Clos
 * together, the default, stand for fabric: all links between switches. Fewer of
 * them are what they say; only a mesh with tiers, as a fat-tree, has such.
 *
 * Switches. With `switches` above 0 no links are picked but that many switches
 * of `tiers`, or those of `at`, and every link out of one and into it fails
 * with probability `share`, those of its hosts too; a link between two of them
 * is drawn once, with the first of them and at its time. A switch without a
 * failed link did not fail.
 *
 * Black holes are at such switches; each has a rule of its own salt, over a
 * share `entries` of all keys. A switch whose share is 0 is none. The truth of
 * links is that all those into the switch are faulty, at the rate `entries`:
 * that is where packets are lost, though the switch does it. Switches of two
 * groups are drawn without regard to each other.
 *
 * Wrong routes (reroute) are at such switches, or are the links that are named:
 * each switch sends what it should not by the one that begins there. They are
 * about destinations in `prefix` or, without one, under a ToR drawn for each
 * switch (for all links that are named). With turn `loop`, a switch and a
 * neighbour, which if there is one should not be its next hop, send to each
 * other; with `detour`, the switch sends to a wrong neighbour and that to
 * another one, from which no healthy way leads by either of the two again. No
 * ToR of a Clos can have a detour. With a prefix, ways are judged by its first
 * host. Faulty are the wrong links, and their switches fail.
 *
 * Switches with fewer next hops (narrow), weights or bad hashes are such
 * switches; for hash all of `tiers` unless a spec says how many. Those of a group
 * with hash `seed` have one seed. Faulty are the links that each chooses among,
 * for `prefix` if there is one, and it fails with them; a switch that never has
 * a choice does not fail.
 *
 * A link with a queue that comes and goes (ecn) is one as above. A host that
 * loops has an outage, and the link out of it is faulty. A host whose NIC storms
 * (storm) has an outage, and so has a cable between switches, named by either of
 * its links, whose BGP session flaps (bgp_flap): neither loses anything, so no
 * link is faulty.
 *
 * A host that is off has an outage, and both links of its cable drop all. A pod
 * that is off has one, its hosts have theirs, and each link with an end in the
 * pod (hosts, ToRs, and the switches next to these) drops all; its switches are
 * failed ones. Services have outages alone. Again groups do not look at each
 * other.
 *
 * Each place begins at from_s or a uniform time below spread_s after, and ends
 * lasts_s later or, if that is 0, at to_s; links fail with their switch or pod. A
 * link that drops or is slow comes back `again` times, every_s after it began the
 * time before, with the same rate or delay: it flaps.
 *
 * Errors SIM_ELIMIT when more places are asked for than the classes have links,
 * the tiers switches, or the network hosts, pods or cables; SIM_EINVAL for a
 * place that is not in the topology, not of the kind's sort or named twice in a
 * group, for a BGP session of a host's cable, a mode that the collector does not
 * have, a prefix that is none or has no host, to_s before from_s + spread_s, or a
 * fault that comes back without lasts_s or before it ended;
 * SIM_EUNSUPPORTED for pick MATLAB in a mesh, for pods where there are none, and
 * for a switch that can have no such turn.
 * Cost O(faults^2), times the logarithm when nearly all links fail; O(links)
 * for each failed switch, and for all black holes of a group together.
 * Paper 007 (NSDI'18) §6; same-switch rule from its released code. */
int fault_draw(const struct topo *t, const struct fault_params *group, size_t n,
    const struct sim_seed *where, struct truth *truth, struct sim_err *e);

#endif
