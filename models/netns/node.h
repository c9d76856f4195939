/* models/netns/node.h -- one network namespace: made, set up, entered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A namespace here has no name: it lives as long as a descriptor, a socket or a
 * thread holds it, so nothing is left of it when its process dies, however that
 * dies. Only the calling thread moves between namespaces.
 */
#ifndef MODELS_NETNS_NODE_H
#define MODELS_NETNS_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/field.h"

/* As in a spec. */
struct netns_params {
	uint32_t ecmp_seed;  /* what the switches' hash seeds derive from */
	uint32_t mtu;        /* of all cables, bytes */
	uint32_t icmp_per_s; /* answers a switch gives; 0: as many as asked */
	uint32_t icmp_burst; /* beyond which icmp_per_s holds */
};
extern const struct sim_field netns_fields[];

enum netns_kind { NETNS_HOST, NETNS_SWITCH };

/* Move the calling thread into a new namespace that has lo alone, down.
 * Errors SIM_EUNSUPPORTED (not allowed, or a limit of the machine). */
int netns_node_make(struct sim_err *e);

/* Set the kernel's knobs in the calling thread's namespace, which must have no
 * interface yet but lo; HASH_SEED is of a switch. Errors SIM_EIO. */
int netns_node_set_up(enum netns_kind kind, const struct netns_params *p,
    uint32_t hash_seed, struct sim_err *e);

/* What netns_node_set_up() sets whatever its parameters are, "ipv4/ip_forward=1
 * ..."; cut short at SIZE. */
void netns_node_knobs(enum netns_kind kind, char text[], size_t size);

/* Set one knob, "ipv4/ip_forward", in the calling thread's namespace. Errors
 * SIM_EIO. */
int netns_node_write(const char *knob, uint32_t value, struct sim_err *e);

/* What a switch, in whose namespace the calling thread is, hashes with; 0 is 1.
 * Errors SIM_EIO. */
int netns_node_seed(uint32_t seed, struct sim_err *e);

/* Can this thread make namespaces, with all knobs? Makes one, and returns to
 * where it was. Errors SIM_EUNSUPPORTED, SIM_EIO. */
int netns_node_try(struct sim_err *e);

/* Whether a new namespace here has the knob, "ipv4/ip_forward". To be called in
 * a namespace of one's own. */
int netns_node_has(const char *knob);

#endif
