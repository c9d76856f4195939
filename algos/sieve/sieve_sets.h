/* algos/sieve/sieve_sets.h -- links that flows of no known path may have crossed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. A flow between two switches took one of their equal paths
 * (models/obs_paths.h). A link on b of the w paths of a set has the share b / w
 * of it; a link on all of them was surely crossed. Links that have the same
 * shares of the same sets are a class: flows tell them apart by nothing.
 */
#ifndef ALGOS_SIEVE_SIEVE_SETS_H
#define ALGOS_SIEVE_SIEVE_SETS_H

#include "algos/rivals/ways.h"

#define SIEVE_NO_CLASS UINT32_MAX

/* How a link can be on a set's paths. */
struct sieve_kind {
	uint32_t n_on, n_paths;
	unsigned n_hops; /* links between the switches */
};

/* A set that may have led over a link. */
struct sieve_over {
	uint32_t set, kind;
};

/* What a class has of one kind. */
struct sieve_entry {
	uint32_t of_class, kind, next;
};

/* Zeroed is empty; kept from one window to the next. */
struct sieve_sets {
	struct algo_ways ways; /* links of sets, and on how many paths */
	uint32_t n_cleared;
	uint8_t *used, *had; /* [n_sets] by rows of no known path; before */
	size_t n_sets, n_had, cap_used, cap_had;

	size_t n_kinds, cap_kind;
	struct sieve_kind *kind;

	/* Of link l over[off[l]] and so on, of sets that are used. */
	uint32_t *off;
	struct sieve_over *over;
	uint64_t *on; /* likewise: bits of paths, if there are 64 at most */
	size_t cap_off, cap_over, cap_on;

	/* Of set s sure[sure_off[s]] and so on: links on all of its paths. */
	uint32_t *sure_off, *sure;
	size_t cap_sure_off, cap_sure;

	uint32_t n_classes;
	uint32_t *class_of; /* [links] or SIEVE_NO_CLASS */
	uint32_t *first_of; /* [n_classes] its least link */
	uint32_t *size;     /* [n_classes] how many links */
	double *share;      /* [n_classes] by sieve_sets_share() */
	uint32_t *slot;     /* scratch, where classes are found */
	size_t cap_class_of, cap_first_of, cap_size, cap_share, cap_slot;

	/* Of class c the entries from head[c] on, of set s
	 * set_entry[set_off[s]] and so on. */
	size_t n_entries, cap_entry;
	struct sieve_entry *entry;
	uint32_t *head;
	uint32_t *set_off, *set_entry;
	uint32_t *seen; /* scratch, by entry */
	size_t cap_head, cap_set_off, cap_set_entry, cap_seen;
};
void sieve_sets_free(struct sieve_sets *s);

/* Make room for the sets of P, of which none is used: who reads a window says
 * which are by s->used[]. Errors SIM_ENOMEM. Cost O(what P has more than
 * before). */
int sieve_sets_begin(struct sieve_sets *s, const struct topo *t,
    const struct obs_paths *p, struct sim_err *e);

/* Find links' sets and classes from those that are used. Errors SIM_ENOMEM. Cost
 * O(sets), or O(links of all sets used) if others are than the last time. */
int sieve_sets_update(struct sieve_sets *s, uint32_t n_links,
    struct sim_err *e);

/* What a link of each class has of what sets have, N[set], by shares. Cost O(sets
 * over links, one a class). */
void sieve_sets_share(struct sieve_sets *s, const double n[]);

#endif
