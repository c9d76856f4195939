/* models/sim/sim.h -- a fabric in simulated time, under a scene's faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which flows lost how much is settled before: it comes as a window of a bulk
 * data plane. The fabric turns it into what hosts and agents live through.
 *
 *	AGENT_RETX  a flow lives `flow_s` seconds from start_ns. Its n_retx
 *	            segments are lost at uniform times of that life, and sent
 *	            again `rto` later. A flow all of whose packets were lost
 *	            never got through its handshake: established = 0. Where TCP
 *	            is modelled, as it is told by fabric_sim_early(). What full
 *	            ports dropped of it was lost when it began: see
 *	            fabric_sim_at_once().
 *	PROBE       takes the path of its five-tuple at the time it leaves (see
 *	            fault/flap.h). Each link loses it with the drop rate it has
 *	            then; the switch where its TTL ends answers if its bucket
 *	            allows (see icmp.h); the answer goes back over the reverse
 *	            of the links and may be lost there. A link takes hop and
 *	            queue, and what it adds to connects, faults and distance. A
 *	            probe that reaches the host it is addressed to is swallowed
 *	            there: its checksum is bad.
 *	SLB_QUERY   see slb.h. A tuple that is no VIP flow of the window gets
 *	            ok = 0 at once.
 *	CONNECT     a SYN, and another each time the client's timer runs out
 *	            (see tcp_connect.h); each attempt takes the path of its
 *	            five-tuple and its SYN-ACK that of the reverse, and meets
 *	            the faults that there are when the SYN leaves. What gets
 *	            through first settles the connect. From SYN to SYN-ACK it
 *	            takes a round trip of rtt_profile.h over as many links, and
 *	            what the links of both ways add: faults of kind latency,
 *	            drawn for each packet by their law, and distance
 *	            (topo_link_delay()). Answered by the kernel: the agent
 *	            there hears of payloads alone.
 *	            VIP number v is served by the hosts of ToR v mod ToRs, each
 *	            five-tuple by one of them. A host that is off does not
 *	            answer, nor does an address that is none; port 0 refuses.
 *	payload     of CONNECT, once connected: its segments of 1460 bytes may
 *	            be lost, then it is sent again after 0.3, 0.9 and 2.1 s and
 *	            no more. Where it arrives the agent gets AGENT_PING_REQUEST;
 *	            ANSWER sends as many bytes back, which may be lost alike.
 *	            CONNECT_DONE comes with the echo, or without (echo_ns = 0)
 *	            5 s after the connect.
 *	FETCH,      to the services of fabric_sim_serve(), which answer after
 *	UPLOAD      half of service_ms and an exponential of that mean. One that
 *	            is down never answers: agents have time-outs. How it behaves
 *	            (see truth.h) is settled when it is asked. Uploads arrive at
 *	            once, only the answer takes time. Links have no part in it.
 *	COUNTERS    there at once as well, unless the collector is down.
 *
 * Where there is congestion (scene/congestion.h), probes, their answers, SYNs,
 * SYN-ACKs and payloads meet each port of their way as it is when they leave, and
 * what is sent again as it is then: a burst is mostly over by that time.
 *
 * A hole (see truth.h) swallows SYNs, SYN-ACKs, payloads and probes by the
 * five-tuple of their own direction, and no ICMP messages.
 *
 * A host that is off gets no events, and what was under way for it is lost.
 * When it is on again it gets AGENT_START, at which its agent is made anew.
 * When hosts go off and on is read at fabric_sim_begin().
 *
 * A stall of rtt_profile.h is one of the host, and holds up a repeated SYN as
 * well. So a connect that is not lost takes just its round trip, even if that
 * is longer than the first timer, and is a timeout if it is longer than all of
 * them.
 *
 * Flows cross no cable that is down, but their losses are those of the window,
 * drawn on the paths that they have while all cables are up. So a flow that
 * starts while its cable is down is traced on another path than the one it lost
 * on, as is one that loses, moves, and is traced then. (With ideal ECMP, in a
 * window of bulk/skip.h, the path of a flow is the one in the window, and that
 * of any other tuple is by the hash.)
 *
 * Every draw belongs to a stream of a sender or of a tuple: what one host does
 * changes no other's draws. All delays are whole ns. */
#ifndef MODELS_SIM_SIM_H
#define MODELS_SIM_SIM_H

#include "models/fabric.h"
#include "models/fault/flap.h"
#include "models/fault/service.h"
#include "models/obs.h"
#include "models/scene/scene.h"
#include "models/sim/icmp.h"
#include "models/sim/slb.h"

enum fabric_sim_timers {
	FABRIC_SIM_WINDOWS,
	FABRIC_SIM_LINUX,
	FABRIC_SIM_LINUX_LINEAR
};

/* How hosts connect. Zeroed: by Windows' timers, over empty links. */
struct fabric_sim_connect_params {
	uint32_t profile;      /* index into fabric_sim_rtt_profiles */
	uint32_t timers;       /* enum fabric_sim_timers, of clients */
	uint32_t retries;      /* SYNs after the first; 0: as many as usual */
	uint32_t synack_timer; /* servers repeat SYN-ACKs by themselves */
	double load;           /* of links; < 0: the profile's */
	double class_load;     /* what each class beyond the first adds */
	double service_ms;     /* mean answer of controller and collector */
};
extern const struct sim_field fabric_sim_connect_fields[];

struct fabric_sim_params {
	double flow_s, rto_s;
	double hop_us, queue_us; /* a link: constant, and mean of an exponential
				  */
	uint32_t lossless_probes; /* links lose no AGENT_PROBE and no answer */
	struct fabric_sim_icmp_params icmp;
	struct fabric_sim_slb_params slb;
	struct fault_flap_params flap;
	struct fabric_sim_connect_params connect;
};

/* flow_s, rto and lossless_probes; hop and queue. The others have their own. */
extern const struct sim_field fabric_sim_fields[], fabric_sim_latency_fields[];

struct fabric_sim;

/* F keeps T and P. Errors SIM_ELIMIT when there are more links than addresses
 * for them (source: ingress), SIM_ERANGE for more retries than the timers have,
 * SIM_ENOMEM. Cost O(hosts + switches). */
int fabric_sim_open(struct fabric_sim **f, const struct topo *t,
    const struct fabric_sim_params *p, struct sim_err *e);
void fabric_sim_close(struct fabric_sim *f);

/* Begin an epoch at time 0, forgetting the one before. F keeps SCENE, whose
 * truth may be changed between polls (a switch that is repaired) as long as it
 * is sorted, and the window LOSSY (NULL: no flows), whose rows with n_retx > 0
 * are the flows that lost; all paths in it are known. Errors SIM_ENOMEM.
 * Cost O(switches + flows + outages) and a byte a host; the first connect of an
 * epoch, O(links). */
int fabric_sim_begin(struct fabric_sim *f, const struct scene *scene,
    const struct obs *lossy, struct sim_err *e);

/* EARLY[row] of the flow's retransmissions, its first ones, came before its
 * connection was established. For this epoch; EARLY is kept. */
void fabric_sim_early(struct fabric_sim *f, const uint32_t early[]);

/* N[row] of the flow's losses were at start_ns, since its packets met a full port
 * then: they are noticed `rto` later. From the next fabric_sim_begin() on, which
 * keeps N; NULL: of no flow. */
void fabric_sim_at_once(struct fabric_sim *f, const uint32_t n[]);

/* With congestion: packets of connects that full ports dropped (of a payload one
 * each time it is sent), the connects that these were of, and those that lost
 * packets to nothing but noise. Of this epoch, up to now. */
struct fabric_sim_losses {
	uint64_t n_buffer_drops, n_buffer_flows, n_noise_flows;
};
struct fabric_sim_losses fabric_sim_losses(const struct fabric_sim *f);

/* Who answers FETCH and UPLOAD from now on; without, both fail. S is copied. */
void fabric_sim_serve(struct fabric_sim *f, const struct fault_services *s);

/* What fabric_run() takes. Closing it is fabric_sim_close(). */
struct fabric *fabric_sim_fabric(struct fabric_sim *f);

/* The row of the window whose flow has this tuple, with the DIP and not the
 * VIP, or SIZE_MAX. */
size_t fabric_sim_row(const struct fabric_sim *f,
    const struct topo_tuple *tuple);

/* The flaps of this epoch, which tests may add to, and what switches sent. */
struct fault_flaps *fabric_sim_flaps(struct fabric_sim *f);
struct fabric_sim_icmp_load fabric_sim_load(const struct fabric_sim *f);

#endif
