/* algos/everflow/control.h -- the controller: requests in, actions out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	GetTrace(Filter, Condition, Start, End)  -> LOOK_UP, in the store
 *	GetCounter(Name, Start, End)             -> SUM_UP, in the store
 *	AddCounter(Name, Filter), RemoveCounter  -> COUNT, UNCOUNT, at analyzers
 *	Probe(Format, Interval, Count)           -> SEND, at a prober
 *	EnableDbg(Servers, Filter), DisableDbg   -> MARK, UNMARK, at servers
 *
 * It has no socket, store or clock: whoever runs it carries actions out and says
 * what time it is. EnableDbg is admitted if what it adds fits (admission.h); it
 * is at most what the servers send, by the counters of the last span: those of
 * the links from hosts, times what sampling leaves out, with the upper end of a
 * 95 % interval. What is reserved is given back by DisableDbg, when its time is
 * over, or when more is marked than all have reserved: then it is taken from who
 * is furthest above his own.
 *
 * Paper  Everflow (SIGCOMM'15). How a rate is known, expiry and
 *        measured excess are ours.
 */
#ifndef ALGOS_EVERFLOW_CONTROL_H
#define ALGOS_EVERFLOW_CONTROL_H

#include "algos/everflow/admission.h"
#include "algos/everflow/custom.h"
#include "algos/everflow/debug.h"

enum {
	ALGO_CONTROL_SESSIONS = 64, /* EnableDbg at once */
	ALGO_CONTROL_NAME = 64,
};

/* As in a spec. */
struct algo_control_params {
	uint32_t sample_n; /* counters are of 1 packet in so many */
	double life_s;     /* of a session that names none; at most */
	double excess;     /* marked / reserved that is too much */
};
extern const struct sim_field algo_control_fields[];

enum algo_request_kind {
	ALGO_GET_TRACE,
	ALGO_GET_COUNTER,
	ALGO_ADD_COUNTER,
	ALGO_REMOVE_COUNTER,
	ALGO_PROBE,
	ALGO_ENABLE_DEBUG,
	ALGO_DISABLE_DEBUG
};

/* All is borrowed for the call. */
struct algo_request {
	enum algo_request_kind kind;
	const char *name;               /* of a counter */
	const char *filter, *condition; /* NULL: none */
	sim_ns start_ns, end_ns;        /* of GetTrace and GetCounter */
	struct algo_probe_order probe;  /* its id is given by the controller */
	const topo_host *server;        /* EnableDbg */
	size_t n_servers;
	unsigned sample_bits; /* EnableDbg: mark 1 packet in 2^so many */
	sim_ns life_ns;       /* EnableDbg; 0: as of the parameters */
	uint32_t session;     /* DisableDbg */
};

enum algo_action_kind {
	ALGO_LOOK_UP,
	ALGO_SUM_UP, /* counters of kind CUSTOM and this id */
	ALGO_COUNT,  /* FILTER, as counter ID */
	ALGO_UNCOUNT,
	ALGO_SEND,
	ALGO_MARK, /* what SERVERs send and FILTER fits, for session ID;
			an analyzer is asked to count it, too */
	ALGO_UNMARK,
	ALGO_REFUSED
};

/* Why a session ended. */
enum algo_end { ALGO_END_DISABLED, ALGO_END_EXPIRED, ALGO_END_EXCESS };

/* FILTER, CONDITION and SERVER are lent until the controller is called again. */
struct algo_action {
	enum algo_action_kind kind;
	uint32_t id; /* counter, order or session */
	const struct algo_filter *filter, *condition;
	sim_ns start_ns, end_ns;
	struct algo_probe_order probe;
	const topo_host *server;
	size_t n_servers;
	unsigned sample_bits;
	enum algo_end why;                 /* UNMARK */
	double measured_pps, reserved_pps; /* UNMARK for excess */
	struct algo_refusal refusal;       /* REFUSED */
};

/* Zeroed is empty. */
struct algo_control_out {
	struct algo_action *action;
	size_t n, cap;
};
void algo_control_out_free(struct algo_control_out *o);

struct algo_control;

/* T is kept. Errors SIM_EINVAL, SIM_ENOMEM. */
int algo_control_open(struct algo_control **c, const struct topo *t,
    const struct algo_control_params *p,
    const struct algo_admission_params *capacity, struct sim_err *e);
void algo_control_close(struct algo_control *c); /* NULL is fine */

/* Append what is to be done for R at NOW, which never goes back. Errors
 * SIM_EINVAL (a filter that does not compile, a counter or session that is not
 * there, a server that is none), SIM_ERANGE, SIM_ELIMIT (too many counters or
 * sessions, two counters of a name), SIM_ENOMEM; nothing is changed then, but that
 * what is over has ended. That a session does not fit is no error, but an action.
 * Cost O(sessions + servers). */
int algo_control_ask(struct algo_control *c, sim_ns now,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e);

/* It is NOW: end sessions whose time is over. Errors SIM_ENOMEM. */
int algo_control_tick(struct algo_control *c, sim_ns now,
    struct algo_control_out *out, struct sim_err *e);

/* Hear all rows, of all analyzers, about one span that ended at NOW: how much
 * each server sends, and how much is marked. Analyzers are asked to count
 * sessions as ALGO_SESSION_COUNTER + their id, from 1 on, and all together as
 * ALGO_SESSION_COUNTER; counters that are asked for by name have ids from 0.
 * Errors SIM_ERANGE (an empty span), SIM_ENOMEM. Cost O(hosts + rows * sessions).
 */
#define ALGO_SESSION_COUNTER UINT32_C(0x80000000)
int algo_control_counters(struct algo_control *c, sim_ns now, sim_ns span,
    const struct algo_counters *rows, struct algo_control_out *out,
    struct sim_err *e);

/* What sessions have reserved, and what there is. */
struct algo_load algo_control_used(const struct algo_control *c);
uint32_t algo_control_n_sessions(const struct algo_control *c);

/* What the servers send at most, by the last counters: packets/s and bytes/s. */
void algo_control_rate(const struct algo_control *c, const topo_host server[],
    size_t n, double *packets_s, double *bytes_s);

#endif
