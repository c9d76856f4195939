/* experiments/lab/tun.c -- hosts that are namespaces, in a simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/lab/wire.h"
#include "models/bpf/lab.h"
#include "models/netns/caps.h"
#include "sim/vec.h"
#include "topo/addr.h"

struct wire {
	struct xp_wire base;
	struct tun_net *net;
	uint64_t n_other; /* before this epoch */
	struct netns_drop *drop;
	size_t cap_drops;
};

/* How many packets were lost without any fault of the scene: refused as no
 * packets of ours, or dropped for want of room here or in a host's device. *WHY
 * is the reason of the most of them. Counters go up from the opening on. */
static int tun_others(const struct wire *w, uint64_t *n, const char **why,
    struct sim_err *e)
{
	const struct tun_net_counters *c = tun_net_count(w->net);
	uint64_t overruns, most = 0;
	int rc = tun_net_overruns(w->net, &overruns, e);
	*n = c->crowded + c->unwritten + overruns;
	*why = "no room for packets";
	for (int i = 0; i < TUN_N_REFUSALS; i++) {
		*n += c->refused[i];
		if (c->refused[i] > most) {
			most = c->refused[i];
			*why = tun_refusal_texts[i];
		}
	}
	return rc;
}

static int tun_begin(struct xp_wire *base, const struct scene *scene,
    const struct xp_wire_epoch *x, struct sim_err *e)
{
	struct wire *w = (struct wire *)base;
	const char *why;
	int rc;
	/* That timer is set by eBPF, which fabric netns has and this one does
	 * not. */
	if (x->syn_timeout_s > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "fabric tun: hosts wait for SYN-ACKs as their kernel "
		    "does.");
	if ((rc = tun_others(w, &w->n_other, &why, e)) < 0)
		return rc;
	return tun_net_begin(w->net, scene, x->lasts_ns, e);
}

static int tun_fd(const struct xp_wire *base)
{
	return tun_net_fd(((const struct wire *)base)->net);
}

static int tun_step(struct xp_wire *base, struct sim_err *e)
{
	return tun_net_serve(((struct wire *)base)->net, e);
}

/* Drops are listed by five-tuple and link as eBPF would list them, one packet
 * an entry. */
static int tun_look(struct xp_wire *base, unsigned n_failed,
    struct xp_lab_seen *s, struct sim_err *e)
{
	struct wire *w = (struct wire *)base;
	const struct tun_switch *from = tun_net_switch(w->net);
	const struct fabric_sim_icmp_load load =
	    fabric_sim_icmp_load(&from->icmp);
	const char *why;
	int rc = SIM_RESERVE(&w->drop, &w->cap_drops, from->n_drops, e);
	(void)n_failed;
	if (rc < 0 || (rc = tun_others(w, &s->n_other, &why, e)) < 0)
		return rc;
	if (from->n_unlisted > 0)
		return sim_fail(e, SIM_EIO,
		    "%llu drops were not recorded: more than there is room "
		    "for.",
		    (unsigned long long)from->n_unlisted);
	for (size_t i = 0; i < from->n_drops; i++)
		w->drop[i] = (struct netns_drop){.tuple = from->drop[i].tuple,
		    .link = from->drop[i].link,
		    .n_random = !from->drop[i].in_hole,
		    .n_hole = from->drop[i].in_hole};
	s->drop = w->drop;
	s->n_drops = from->n_drops;
	/* Links are not counted here: a simulated network has no counter that
	 * might say anything else than the list of drops. */
	s->count = NULL;
	s->icmp = (struct netns_icmp){load.n_sent, load.n_suppressed};
	/* The reason may be of an earlier epoch; the number is of this one. */
	s->n_other -= w->n_other;
	snprintf(s->other, sizeof(s->other), "%s", why);
	return 0;
}

/* Nothing is to be done: packets still on their way belong to flows that have
 * ended, and are delivered, or not, in the next epoch. */
static void tun_end(struct xp_wire *base)
{
	(void)base;
}

static void tun_close(struct xp_wire *base)
{
	struct wire *w = (struct wire *)base;
	tun_net_close(w->net);
	free(w->drop);
}

static const struct xp_wire_ops tun_ops = {
    .name = "tun",
    .begin = tun_begin,
    .fd = tun_fd,
    .step = tun_step,
    .look = tun_look,
    .end = tun_end,
    .close = tun_close,
};

int xp_wire_open_tun(struct xp_wire **out, const struct topo *t,
    const struct tun_net_params *p, struct sim_err *e)
{
	struct wire *w;
	int as_user;
	*out = NULL;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_wire_init(&w->base, &tun_ops, t, e)) < 0 ||
	    (rc = netns_permit(&as_user, e)) < 0 ||
	    (rc = tun_net_open(&w->net, t, p, e)) < 0) {
		xp_wire_close(&w->base);
		return rc;
	}
	for (topo_host h = 0; h < t->n_hosts; h++)
		w->base.host[h] =
		    (struct fabric_real_host){topo_addr_of_host(h),
			tun_net_ns(w->net, h)};
	*out = &w->base;
	return 0;
}
