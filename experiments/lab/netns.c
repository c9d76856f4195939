/* experiments/lab/netns.c -- hosts and switches that are namespaces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/lab/wire.h"
#include "models/netns/caps.h"
#include "models/netns/net.h"
#include "sim/vec.h"
#include "topo/addr.h"

struct wire {
	struct xp_wire base;
	enum netns_faults_by by;
	struct netns_net *net;

	/* Of this epoch. */
	struct netns_faults *faults;
	const struct scene_loss *loss;
	struct netns_icmp before;
	struct netns_link_count *count; /* [n_links] */
	struct netns_drop *drop;
	size_t cap_drops;
};

/* --- an epoch ------------------------------------------------------------- */

static void netns_end(struct xp_wire *base)
{
	struct wire *w = (struct wire *)base;
	netns_faults_close(w->faults);
	w->faults = NULL;
}

static int netns_begin(struct xp_wire *base, const struct scene *scene,
    const struct xp_wire_epoch *x, struct sim_err *e)
{
	struct wire *w = (struct wire *)base;
	struct netns_faults_params p = {.by = w->by,
	    .max_drops = x->max_drops,
	    .syn_timeout_s = x->syn_timeout_s};
	struct sim_rng r;
	/* The kernel counts ICMP since the network was built; an epoch is a
	 * difference. */
	int rc = netns_icmp_count(w->net, base->topo, &w->before, e);
	if (rc < 0)
		return rc;
	/* Losses of the kernel have a seed that derives from the scene's, so
	 * the n-th packet of a link is lost in each run alike; which packet is
	 * the n-th is up to TCP and the clock. */
	sim_rng_init(&r, &scene->where, SIM_STREAM_LOSS, 0);
	const uint64_t high = sim_rng_u32(&r);
	p.seed = high << 32 | sim_rng_u32(&r);
	w->loss = &scene->loss;
	return netns_faults_open(&w->faults, w->net, base->topo, &p, e);
}

static int netns_apply(struct xp_wire *base, sim_ns now, struct sim_err *e)
{
	struct wire *w = (struct wire *)base;
	return netns_faults_apply(w->faults, w->loss, now, e);
}

static int netns_fd_of(const struct xp_wire *base)
{
	return netns_faults_delay_fd(((const struct wire *)base)->faults);
}

static int netns_step(struct xp_wire *base, struct sim_err *e)
{
	return netns_faults_delay_step(((struct wire *)base)->faults, e);
}

static struct fabric_real_retx_source netns_retx_of(struct xp_wire *base)
{
	return netns_faults_retx_source(((struct wire *)base)->faults);
}

static int netns_mirror(struct xp_wire *base,
    const struct netns_mirror_params *p, struct netns_mirror **m,
    struct sim_err *e)
{
	const struct wire *w = (struct wire *)base;
	return netns_mirror_open(m, w->net, base->topo, p, e);
}

static int netns_ask_next(struct xp_wire *base, topo_switch at, topo_link in,
    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e)
{
	return netns_next(((struct wire *)base)->net, at, in, tuple, link, e);
}

static int netns_balance(struct xp_wire *base, const struct packet_mux *law,
    struct netns_mux **m, struct sim_err *e)
{
	const struct wire *w = (struct wire *)base;
	return netns_mux_open(m, w->net, base->topo, law, e);
}

/* --- what came of it ------------------------------------------------------ */

/* The truth must be whole: an epoch of which drops or retransmissions found no
 * room is an error, and no result with less truth in it. */
static int netns_check_whole(struct wire *n, struct sim_err *e)
{
	uint64_t n_lost, n_untold = 0;
	int rc = netns_faults_retx_lost(n->faults, &n_lost, e);
	if (rc < 0)
		return rc;
	for (topo_link i = 0; i < n->base.topo->n_links; i++)
		n_untold += n->count[i].n_untold;
	if (n_lost + n_untold > 0)
		return sim_fail(e, SIM_EIO,
		    "%llu retransmissions and %llu drops were not recorded: "
		    "more than there is room for.",
		    (unsigned long long)n_lost, (unsigned long long)n_untold);
	return 0;
}

/* A socket that is reset throws away what waits in it out of order, and the
 * kernel gives no reason for it. So where flows were given up, drops without a
 * reason are put down to them. */
static int is_of_failure(const struct netns_audit *a, unsigned n_failed)
{
	return n_failed > 0 && strcmp(a->reason, "NOT_SPECIFIED") == 0;
}

/* Count the drops for which nothing in the scene is to blame, and keep the
 * reason of the most of them for the message. */
static int netns_audit_others(struct wire *w, unsigned n_failed,
    struct xp_lab_seen *s, struct sim_err *e)
{
	/* Reasons of drops, from the opening of the faults on, that is, of this
	 * epoch. */
	struct netns_audit all[NETNS_AUDIT_MAX];
	uint64_t most = 0;
	size_t n;
	int rc = netns_faults_audit(w->faults, all, &n, e);
	s->n_other = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (all[i].expected || is_of_failure(&all[i], n_failed))
			continue;
		s->n_other += all[i].n;
		if (all[i].n > most) {
			most = all[i].n;
			snprintf(s->other, sizeof(s->other), "%s",
			    all[i].reason);
		}
	}
	return rc;
}

static int netns_look(struct xp_wire *base, unsigned n_failed,
    struct xp_lab_seen *s, struct sim_err *e)
{
	struct wire *w = (struct wire *)base;
	int rc;
	if ((rc = netns_faults_count(w->faults, w->count, e)) < 0 ||
	    (rc = netns_faults_drops(w->faults, &w->drop, &w->cap_drops,
		 &s->n_drops, e)) < 0 ||
	    (rc = netns_audit_others(w, n_failed, s, e)) < 0 ||
	    (rc = netns_check_whole(w, e)) < 0 ||
	    (rc = netns_icmp_count(w->net, base->topo, &s->icmp, e)) < 0)
		return rc;
	s->icmp.n_sent -= w->before.n_sent;
	s->icmp.n_suppressed -= w->before.n_suppressed;
	s->count = w->count;
	s->drop = w->drop;
	return 0;
}

/* --- life ----------------------------------------------------------------- */

static void netns_close_wire(struct xp_wire *base)
{
	struct wire *w = (struct wire *)base;
	netns_end(base);
	netns_close(w->net);
	free(w->count);
	free(w->drop);
}

static const struct xp_wire_ops netns_ops = {
    .name = "netns",
    /* The kernel's ECMP is not topo_path(): paths are only known by tracing. */
    .own_paths = 1,
    .begin = netns_begin,
    .apply = netns_apply,
    .fd = netns_fd_of,
    .step = netns_step,
    .retx = netns_retx_of,
    .mirror = netns_mirror,
    .next = netns_ask_next,
    .balance = netns_balance,
    .look = netns_look,
    .end = netns_end,
    .close = netns_close_wire,
};

int xp_wire_open_netns(struct xp_wire **out, const struct topo *t,
    const struct netns_params *p, enum netns_faults_by by, struct sim_err *e)
{
	struct wire *w;
	int as_user;
	*out = NULL;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->by = by;
	if ((rc = xp_wire_init(&w->base, &netns_ops, t, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->count, t->n_links, e)) < 0 ||
	    (rc = netns_permit(&as_user, e)) < 0 ||
	    (rc = netns_open(&w->net, t, p, e)) < 0) {
		xp_wire_close(&w->base);
		return rc;
	}
	/* Sockets are opened by entering the host's namespace, for which this
	 * descriptor is borrowed. */
	for (topo_host h = 0; h < t->n_hosts; h++)
		w->base.host[h] =
		    (struct fabric_real_host){topo_addr_of_host(h),
			netns_fd(w->net, h)};
	*out = &w->base;
	return 0;
}
