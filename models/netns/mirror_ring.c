/* models/netns/mirror_ring.c -- copies that the kernel has written, read in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/vec.h"

enum { LEAST_RECORDS = 16 };

/* --- opening -------------------------------------------------------------- */

int netns_mirror_ring_size(struct bpf_object *o, uint32_t bytes,
    uint32_t *n_records, struct sim_err *e)
{
	uint32_t n_cpus = 1;
	int rc = netns_program_cpus(&n_cpus, e);
	if (rc < 0)
		return rc;
	const size_t each = bytes / sizeof(struct mirror_record) / n_cpus;
	for (*n_records = LEAST_RECORDS; *n_records * 2 <= each;)
		*n_records *= 2;
	if ((rc = netns_program_size(o, "rings", n_cpus, e)) < 0)
		return rc;
	return netns_program_size(o, "copies", (size_t)n_cpus * *n_records, e);
}

/* A record of the bell says no more than that there was one. */
static int mirror_ring_heard(void *arg, void *data, size_t size)
{
	(void)arg, (void)data, (void)size;
	return 0;
}

static int mirror_ring_bell(struct netns_mirror_ring *r,
    const struct bpf_object *o, struct sim_err *e)
{
	struct epoll_event in = {.events = EPOLLIN};
	r->bell = ring_buffer__new(netns_program_map(o, "bell"),
	    mirror_ring_heard, NULL, NULL);
	r->more = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->bell && r->more >= 0 &&
		epoll_ctl(ring_buffer__epoll_fd(r->bell), EPOLL_CTL_ADD,
		    r->more, &in) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "The ring of copies cannot be opened: %s.",
		  strerror(errno));
}

int netns_mirror_ring_open(struct netns_mirror_ring *r,
    const struct bpf_object *o, uint32_t n_records, struct sim_err *e)
{
	int rc;
	*r = (struct netns_mirror_ring){.n_records = n_records};
	if ((rc = netns_program_cpus(&r->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->head, r->n, e)) < 0 ||
	    (rc = netns_program_share(o, "rings", sizeof(struct mirror_ring),
		 r->n, &r->rings, e)) < 0 ||
	    (rc = netns_program_share(o, "copies", sizeof(struct mirror_record),
		 (size_t)r->n * n_records, &r->copies, e)) < 0 ||
	    (rc = mirror_ring_bell(r, o, e)) < 0)
		return rc;
	return netns_mirror_ring_end(r, 1, e);
}

void netns_mirror_ring_close(struct netns_mirror_ring *r)
{
	ring_buffer__free(r->bell);
	if (r->more > 0)
		close(r->more);
	netns_program_unshare(&r->rings);
	netns_program_unshare(&r->copies);
	free(r->head);
	*r = (struct netns_mirror_ring){0};
}

int netns_mirror_ring_fd(const struct netns_mirror_ring *r)
{
	return ring_buffer__epoll_fd(r->bell);
}

/* --- reading -------------------------------------------------------------- */

/* All heads are read before any copy, so that of copies that were there at the
 * beginning none is taken for later than it is. */
void netns_mirror_ring_begin(struct netns_mirror_ring *r)
{
	const struct mirror_ring *ring = r->rings.at;
	for (uint32_t i = 0; i < r->n; i++)
		r->head[i] = __atomic_load_n(&ring[i].head, __ATOMIC_ACQUIRE);
}

static const struct mirror_record *
mirror_ring_at(const struct netns_mirror_ring *r, uint32_t cpu, uint64_t i)
{
	const struct mirror_record *copy = r->copies.at;
	return &copy[(size_t)cpu * r->n_records + (i & (r->n_records - 1))];
}

const struct mirror_record *
netns_mirror_ring_next(const struct netns_mirror_ring *r, uint32_t *cpu)
{
	const struct mirror_ring *ring = r->rings.at;
	const struct mirror_record *first = NULL;
	for (uint32_t i = 0; i < r->n; i++) {
		if (ring[i].tail == r->head[i])
			continue;
		const struct mirror_record *at =
		    mirror_ring_at(r, i, ring[i].tail);
		if (!first || at->t_ns < first->t_ns) {
			first = at;
			*cpu = i;
		}
	}
	return first;
}

void netns_mirror_ring_drop(struct netns_mirror_ring *r, uint32_t cpu)
{
	struct mirror_ring *ring = r->rings.at;
	__atomic_store_n(&ring[cpu].tail, ring[cpu].tail + 1, __ATOMIC_RELEASE);
}

/* Nobody has looked at what came since the beginning: whether there is any is
 * asked after it was said that bells are to be rung again. */
static int mirror_ring_empty(struct netns_mirror_ring *r)
{
	struct mirror_ring *ring = r->rings.at;
	int empty = 1;
	for (uint32_t i = 0; i < r->n; i++)
		__atomic_store_n(&ring[i].waiting, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < r->n; i++)
		empty &= __atomic_load_n(&ring[i].head, __ATOMIC_SEQ_CST) ==
		    ring[i].tail;
	return empty;
}

int netns_mirror_ring_end(struct netns_mirror_ring *r, int all,
    struct sim_err *e)
{
	uint64_t one = 1;
	const int rc = ring_buffer__consume(r->bell);
	if (rc < 0)
		return sim_fail(e, SIM_EIO,
		    "The ring of copies cannot be read: %s.", strerror(-rc));
	/* What cannot be read was 0, and what cannot be added is not 0. */
	if (all && mirror_ring_empty(r))
		(void)!read(r->more, &one, sizeof(one));
	else
		(void)!write(r->more, &one, sizeof(one));
	return 0;
}
