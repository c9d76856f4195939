/* models/netns/mirror_ring.h -- copies that the kernel has written, read in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each processor writes a ring of its own in memory that both sides have, so
 * that neither locks nor calls a function for a copy. Only when the reader
 * sleeps is there a bell to be rung, which is a ring of the kernel.
 */
#ifndef MODELS_NETNS_MIRROR_RING_H
#define MODELS_NETNS_MIRROR_RING_H

#include "models/bpf/mirror.h"
#include "models/netns/program.h"

/* Zeroed is a valid closed one. */
struct netns_mirror_ring {
	struct netns_program_shared rings, copies;
	struct ring_buffer *bell;
	int more;              /* an eventfd: some were left. -1 or 0: none */
	uint32_t n, n_records; /* rings, and room in each */
	uint64_t *head;        /* [n]: of those that are being read */
};

/* While the object O is set up: *N_RECORDS for each processor, a power of 2, in
 * BYTES for all. Errors SIM_EIO, SIM_EDEP. */
int netns_mirror_ring_size(struct bpf_object *o, uint32_t bytes,
    uint32_t *n_records, struct sim_err *e);

/* Errors SIM_EIO, SIM_ENOMEM. */
int netns_mirror_ring_open(struct netns_mirror_ring *r,
    const struct bpf_object *o, uint32_t n_records, struct sim_err *e);
void netns_mirror_ring_close(struct netns_mirror_ring *r);

/* A descriptor that is readable while copies wait. */
int netns_mirror_ring_fd(const struct netns_mirror_ring *r);

/* To read: begin; copies one by one, each of which stays until it is dropped;
 * end, where ALL says that there were no more. Errors SIM_EIO. */
void netns_mirror_ring_begin(struct netns_mirror_ring *r);
const struct mirror_record *
netns_mirror_ring_next(const struct netns_mirror_ring *r, uint32_t *cpu);
void netns_mirror_ring_drop(struct netns_mirror_ring *r, uint32_t cpu);
int netns_mirror_ring_end(struct netns_mirror_ring *r, int all,
    struct sim_err *e);

#endif
