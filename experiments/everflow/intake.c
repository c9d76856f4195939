/* experiments/everflow/intake.c -- copies that switches of the kernel make.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/intake.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "experiments/everflow/copies.h"
#include "experiments/everflow/ether.h"
#include "models/clock.h"
#include "models/real/namespace.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* A group of sockets is of one namespace, which nobody else has. */
enum { INTAKE_AT_ONCE = 65536, INTAKE_GROUP = 1 };

struct xp_intake {
	const struct topo *topo;
	struct xp_intake_params p;
	struct netns_mirror *mirror;

	/* Over the network. */
	struct xp_ether **ether; /* [n] */
	uint32_t n;
	struct xp_copies copies;
	uint8_t *who;
	size_t n_who, cap_who;
};

/* --- opening -------------------------------------------------------------- */

/* Frames have the wall's time, and copies are to have that since 0. */
static uint64_t intake_wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * SIM_SEC + (uint64_t)t.tv_nsec;
}

static int intake_open_sockets(struct xp_intake *x, uint32_t address,
    struct sim_err *e)
{
	const struct xp_ether_params p = {.ifindex = netns_ifindex(
					      topo_link_of(x->p.at, TOPO_DOWN)),
	    .address = address,
	    .group = x->p.n > 1 ? INTAKE_GROUP : 0};
	int rc = SIM_ZALLOC(&x->ether, x->p.n, e);
	while (rc == 0 && x->n < x->p.n)
		if ((rc = xp_ether_open(&x->ether[x->n], &p, e)) == 0)
			x->n++;
	return rc;
}

/* Sockets are of the namespace where they are opened. */
static int intake_listen(struct xp_intake *x, const struct xp_wire *wire,
    struct sim_err *e)
{
	const struct fabric_real_host *host = &wire->host[x->p.at];
	int home;
	int rc = real_ns_here(&home, e);
	if (rc < 0)
		return rc;
	if ((rc = real_ns_enter(host->ns, e)) == 0)
		rc = intake_open_sockets(x, host->address, e);
	const int back = real_ns_enter(home, rc < 0 ? NULL : e);
	close(home);
	return rc < 0 ? rc : back;
}

static int intake_collect(struct xp_intake *x, const struct xp_wire *wire,
    struct sim_err *e)
{
	int rc = xp_copies_open(&x->copies, x->topo, 0, e);
	if (rc < 0)
		return rc;
	x->copies.index_is_link = 1;
	x->copies.kinds = *x->p.table;
	x->copies.start_ns = intake_wall();
	return intake_listen(x, wire, e);
}

int xp_intake_open(struct xp_intake **out, struct xp_wire *wire,
    const struct xp_intake_params *p, struct sim_err *e)
{
	const int by_ring = p->at == TOPO_NONE;
	struct xp_intake *x;
	*out = NULL;
	if (!by_ring && p->at >= wire->topo->n_hosts)
		return sim_fail(e, SIM_ERANGE,
		    "Analyzers are to be at host %u, but the network has hosts "
		    "0 to %u.",
		    p->at, wire->topo->n_hosts - 1);
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->topo = wire->topo;
	x->p = *p;
	const struct netns_mirror_params mirror = {.row = p->table->row,
	    .n_rows = p->table->n,
	    .collector = by_ring ? 0 : wire->host[p->at].address,
	    .zero_ns = clock_now()};
	/* Who listens does so before anything is sent. */
	if ((by_ring || (rc = intake_collect(x, wire, e)) == 0) &&
	    (rc = wire->ops->mirror(wire, &mirror, &x->mirror, e)) == 0)
		*out = x;
	else
		xp_intake_close(x);
	return rc;
}

void xp_intake_close(struct xp_intake *x)
{
	if (!x)
		return;
	netns_mirror_close(x->mirror);
	for (uint32_t i = 0; i < x->n; i++)
		xp_ether_close(x->ether[i]);
	free(x->ether);
	xp_copies_free(&x->copies);
	free(x->who);
	free(x);
}

/* --- reading -------------------------------------------------------------- */

int xp_intake_fd(const struct xp_intake *x, uint32_t i)
{
	if (x->p.at == TOPO_NONE)
		return i == 0 ? netns_mirror_fd(x->mirror) : -1;
	return i < x->n ? xp_ether_fd(x->ether[i]) : -1;
}

/* Where a frame is put. */
struct intake_taken {
	struct xp_intake *x;
	struct obs_mirror *copies;
	uint32_t who;
};

static int intake_take(void *arg, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct sim_err *e)
{
	const struct intake_taken *to = arg;
	struct xp_intake *x = to->x;
	const size_t had = to->copies->n;
	int rc = SIM_RESERVE(&x->who, &x->cap_who, x->n_who + 1, e);
	if (rc == 0)
		rc = xp_copies_take(&x->copies, unix_ns, ethertype, bytes, n,
		    to->copies, e);
	if (rc == 0 && to->copies->n > had)
		x->who[x->n_who++] = (uint8_t)to->who;
	return rc;
}

/* Sockets are read in turn as their frames came, since times that go back would
 * be taken for others. */
static int intake_read_sockets(struct xp_intake *x, struct obs_mirror *copies,
    struct sim_err *e)
{
	struct intake_taken to = {x, copies, 0};
	size_t n_read = 0, n;
	int rc = 0;
	while (rc == 0 && n_read < INTAKE_AT_ONCE) {
		uint64_t first = UINT64_MAX, t;
		for (uint32_t i = 0; i < x->n; i++)
			if (xp_ether_next(x->ether[i], &t) && t < first) {
				first = t;
				to.who = i;
			}
		if (first == UINT64_MAX)
			break;
		rc =
		    xp_ether_read(x->ether[to.who], 1, intake_take, &to, &n, e);
		n_read += n;
	}
	return rc;
}

int xp_intake_read(struct xp_intake *x, struct obs_mirror *copies,
    struct sim_err *e)
{
	size_t n;
	return x->p.at == TOPO_NONE
	    ? netns_mirror_read(x->mirror, copies, INTAKE_AT_ONCE, &n, e)
	    : intake_read_sockets(x, copies, e);
}

const uint8_t *xp_intake_who(const struct xp_intake *x)
{
	return x->p.at == TOPO_NONE ? NULL : x->who;
}

void xp_intake_count(const struct xp_intake *x,
    struct netns_mirror_count count[])
{
	netns_mirror_count(x->mirror, count);
}

uint64_t xp_intake_lost(struct xp_intake *x)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < x->n; i++)
		n += xp_ether_lost(x->ether[i]);
	return n;
}
