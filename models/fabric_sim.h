/* models/fabric_sim.h -- a fabric in simulated time, under a scene's faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which flows lost how much is settled before: it comes as a window of a bulk
 * data plane. The fabric turns it into what hosts and agents live through.
 *
 *	AGENT_RETX  a flow lives `flow_s` seconds from start_ns. Its n_retx
 *	            segments are lost at uniform times of that life, and sent
 *	            again `rto` later. A flow all of whose packets were lost
 *	            never got through its handshake: established = 0.
 *	PROBE       takes the path of its five-tuple at the time it leaves (see
 *	            flap.h). Each link loses it with the drop rate it has then;
 *	            the switch where its TTL ends answers if its bucket allows
 *	            (see icmp.h); the answer goes back over the reverse of the
 *	            links and may be lost there. A probe that reaches the host
 *	            it is addressed to is swallowed there: its checksum is bad.
 *	SLB_QUERY   see slb.h. A tuple that is no VIP flow of the window gets
 *	            ok = 0 at once.
 *
 * Flows cross no cable that is down, but their losses are those of the window:
 * of the paths that they have when all is up. So a flow that starts while its
 * cable is down is traced on another path than the one it lost on, as is one
 * that loses, moves, and is traced. (With ideal ECMP, in a window of skip.h,
 * the path of a flow is the one in the window, and that of any other tuple is
 * by the hash.)
 *
 * Every draw belongs to a stream of a sender or of a tuple: what one host does
 * changes no other's draws. All delays are whole ns.
 */
#ifndef MODELS_FABRIC_SIM_H
#define MODELS_FABRIC_SIM_H

#include "models/fabric.h"
#include "models/flap.h"
#include "models/icmp.h"
#include "models/obs.h"
#include "models/scene.h"
#include "models/slb.h"

struct fabric_sim_params {
	double flow_s, rto_s;
	double hop_us, queue_us; /* a link: constant, and mean of an exponential
				  */
	uint32_t lossless_probes; /* neither probes nor answers are lost */
	struct model_icmp_params icmp;
	struct model_slb_params slb;
	struct model_flap_params flap;
};

/* flow_s, rto and lossless_probes; hop and queue. The others have their own. */
extern const struct sim_field fabric_sim_fields[], fabric_sim_latency_fields[];

struct fabric_sim;

/* F keeps T and P. Errors SIM_ELIMIT when there are more links than addresses
 * for them (source: ingress), SIM_ENOMEM. */
int fabric_sim_open(struct fabric_sim **f, const struct topo *t,
    const struct fabric_sim_params *p, struct sim_err *e);
void fabric_sim_close(struct fabric_sim *f);

/* Begin an epoch at time 0, forgetting the one before. F keeps SCENE and the
 * window LOSSY, whose rows with n_retx > 0 are the flows that lost; all paths
 * in it are known. Errors SIM_ENOMEM. Cost O(switches + flows). */
int fabric_sim_begin(struct fabric_sim *f, const struct model_scene *scene,
    const struct obs *lossy, struct sim_err *e);

/* What fabric_run() takes. Closing it is fabric_sim_close(). */
struct fabric *fabric_sim_fabric(struct fabric_sim *f);

/* The row of the window of a flow with this tuple, which has the DIP, or
 * SIZE_MAX. */
size_t fabric_sim_row(const struct fabric_sim *f,
    const struct topo_tuple *tuple);

/* The flaps of this epoch, which tests may add to, and what switches sent. */
struct model_flaps *fabric_sim_flaps(struct fabric_sim *f);
struct model_icmp_load fabric_sim_load(const struct fabric_sim *f);

#endif
