/* models/netns/phantom.c -- phantom queues at a switch's ports, by eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/phantom.h"

#include <linux/pkt_cls.h>
#include <stdlib.h>

#include "models/bpf/phantom.h"
#include "models/netns/program.h"
#include "sim/embed.h"
#include "sim/vec.h"

enum { PHANTOM_ETHERNET = 14 };

SIM_EMBED(netns_phantom, NETNS_PHANTOM_OBJECT);

struct netns_phantom {
	struct phantom_config config;
	struct bpf_object *object;
	struct netns_program_shared state;
};

static const struct phantom_count *
phantom_count_of(const struct netns_phantom *ph, uint32_t port)
{
	return &((const struct phantom_state *)ph->state.at)->count[port];
}

static uint32_t phantom_ifindex(const struct netns_phantom *ph, uint32_t port)
{
	return ph->config.base + port * ph->config.step;
}

static int phantom_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	const struct netns_phantom *ph = arg;
	return netns_program_constants(o, &ph->config, sizeof(ph->config), e);
}

int netns_phantom_open(struct netns_phantom **out,
    const struct netns_phantom_params *p,
    const struct netns_phantom_ports *ports, struct sim_err *e)
{
	struct netns_phantom *ph = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&ph, 1, e);
	if (rc < 0)
		return rc;
	libbpf_print_fn_t before = netns_program_quiet();
	ph->config = (struct phantom_config){.base = ports->first,
	    .step = ports->step,
	    .given = ports->given != 0,
	    .mac_bytes = PHANTOM_ETHERNET};
	if ((rc = netns_phantom_law(&ph->config.law, p, ports->n_ports, e)) ==
		0 &&
	    (rc = netns_program_permit(e)) == 0 &&
	    (rc = netns_program_load(&ph->object, "phantom",
		 netns_phantom_begin, netns_phantom_size, phantom_set_up, ph,
		 e)) == 0)
		rc = netns_program_share(ph->object, ".data.state",
		    sizeof(struct phantom_state), 1, &ph->state, e);
	if (rc < 0)
		netns_phantom_close(ph);
	else
		*out = ph;
	libbpf_set_print(before);
	return rc;
}

void netns_phantom_close(struct netns_phantom *ph)
{
	if (!ph)
		return;
	netns_program_unshare(&ph->state);
	bpf_object__close(ph->object);
	free(ph);
}

int netns_phantom_attach(struct netns_phantom *ph, uint32_t port,
    struct sim_err *e)
{
	return netns_program_attach(ph->object, "phantom_egress",
	    phantom_ifindex(ph, port), BPF_TC_EGRESS, NETNS_PROGRAM_PHANTOM, e);
}

void netns_phantom_detach(const struct netns_phantom *ph, uint32_t port)
{
	netns_program_detach(phantom_ifindex(ph, port), BPF_TC_EGRESS,
	    NETNS_PROGRAM_PHANTOM);
}

struct netns_phantom_count netns_phantom_count(const struct netns_phantom *ph,
    uint32_t port)
{
	const volatile struct phantom_count *c = phantom_count_of(ph, port);
	return (struct netns_phantom_count){.packets = c->packets,
	    .bytes = c->bytes,
	    .n_dropped = c->n_dropped,
	    .dropped_bytes = c->dropped_bytes,
	    .n_marked = c->n_marked,
	    .n_deaf = c->n_deaf,
	    .longest = c->longest / PHANTOM_UNITS};
}

uint64_t netns_phantom_raced(const struct netns_phantom *ph)
{
	const struct phantom_state *state = ph->state.at;
	return __atomic_load_n(&state->n_raced, __ATOMIC_RELAXED);
}

/* --- of tests ------------------------------------------------------------- */

void netns_phantom_now(struct netns_phantom *ph, uint64_t now_ns)
{
	struct phantom_state *state = ph->state.at;
	__atomic_store_n(&state->given_ns, now_ns, __ATOMIC_SEQ_CST);
}

void netns_phantom_hold(struct netns_phantom *ph, int held)
{
	struct phantom_state *state = ph->state.at;
	__atomic_store_n(&state->lock, (uint64_t)(held != 0), __ATOMIC_SEQ_CST);
}

int netns_phantom_try(struct netns_phantom *ph, uint32_t port,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    int *dropped, uint64_t *units, struct netns_cost *cost, struct sim_err *e)
{
	const struct __sk_buff skb = {.gso_segs = gso_segs,
	    .ifindex = phantom_ifindex(ph, port)};
	struct netns_program_result got = {.after = after};
	int rc =
	    netns_program_try(netns_program_fd(ph->object, "phantom_egress"),
		&skb, frame, &got, e);
	if (rc < 0)
		return rc;
	*dropped = got.verdict == TC_ACT_SHOT;
	*units = phantom_count_of(ph, port)->length;
	cost->ns = got.ns;
	return netns_program_try_empty(frame, &cost->empty_ns, e);
}
