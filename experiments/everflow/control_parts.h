/* experiments/everflow/control_parts.h -- what a controller's answers share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_CONTROL_PARTS_H
#define EXPERIMENTS_EVERFLOW_CONTROL_PARTS_H

#include "experiments/everflow/control.h"
#include "experiments/everflow/keep.h"
#include "experiments/everflow/query.h"

/* What is marked. */
struct xp_control_session {
	uint32_t id;
	unsigned sample_bits;
	sim_ns until; /* at most */
	char *filter;
	topo_host *server;
	size_t n_servers;
};

struct xp_control {
	struct xp_control_params p;
	struct algo_control *control;
	struct algo_control_out out;
	struct algo_custom_counters custom;
	struct xp_keep keep;
	struct res_counter_names names; /* all that there were */
	struct xp_control_session session[ALGO_CONTROL_SESSIONS];
	size_t n_sessions;
	uint64_t n_expired, n_excess;
	sim_ns now;
};

/* A request that is being answered. */
struct xp_control_call {
	struct xp_control *c;
	const struct xp_http_site *site;
	const struct xp_query *q;
	struct xp_http_answer *a;
};

/* Ask the controller, and do what it says but for LOOK_UP, MARK and REFUSED; *LAST
 * = what it says of R, or NULL. Errors those of algo_control_ask(). */
int xp_control_ask(struct xp_control *c, const struct algo_request *r,
    const struct algo_action **last, struct sim_err *e);

/* {"error": ...} with STATUS and what E tells. */
void xp_control_refuse(struct xp_http_answer *a, unsigned status,
    const struct sim_err *e);

/* Answer with what WRITE writes, which is kept until it is sent. */
void xp_control_say(struct xp_control_call *x, unsigned status,
    const char *type,
    int (*write)(struct xp_control_call *x, const void *arg, FILE *out,
	struct sim_err *e),
    const void *arg);

/* GET /traces. */
void xp_control_get(struct xp_control_call *x);

/* /sessions, by method. */
void xp_control_sessions_get(struct xp_control_call *x);
void xp_control_sessions_post(struct xp_control_call *x);
void xp_control_sessions_delete(struct xp_control_call *x);

/* A call went wrong: STATUS if it is a mistake of who asked. */
void xp_control_mistake(struct xp_control_call *x, int rc, unsigned status,
    const struct sim_err *e);

/* Answer with a few bytes of JSON, for which no memory is needed: what was done
 * cannot fail to be told. */
void xp_control_text(struct xp_http_answer *a, unsigned status, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* What tracing does not fit. */
void xp_control_unfit(struct xp_http_answer *a, const struct algo_refusal *why);

extern const char xp_control_json[], xp_control_plain[];

#endif
