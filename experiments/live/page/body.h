/* experiments/live/page/body.h -- answers that are kept, and shared while sent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A body is found by its target as long as the database is of the same version.
 * Bodies that nobody fetches give way to new ones, the oldest first; while those
 * that somebody fetches fill LIVE_HELD_BYTES, there is no new one.
 */
#ifndef EXPERIMENTS_LIVE_PAGE_BODY_H
#define EXPERIMENTS_LIVE_PAGE_BODY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/live/serve.h"

enum { LIVE_BODIES = 64 };

struct xp_live_bodies;
struct xp_live_body {
	struct xp_live_bodies *of;
	char target[XP_HTTP_TARGET];
	char *bytes;
	size_t n;
	uint64_t version, age; /* of the database; of its last use */
	unsigned n_users;
	int is_kept; /* in `kept`; else gone with its last user */
};

/* Zeroed but for the lock is empty. */
struct xp_live_bodies {
	pthread_mutex_t lock;
	struct xp_live_body *kept[LIVE_BODIES];
	size_t n_bytes; /* of all that there are */
	uint64_t age;
};

/* The body of TARGET, with one user more, or NULL. */
struct xp_live_body *xp_live_body_find(struct xp_live_bodies *b,
    const char *target, uint64_t version);

/* Take BYTES, of malloc(), with one user. Errors SIM_ENOMEM, SIM_ELIMIT: they are
 * freed then. */
int xp_live_body_add(struct xp_live_body **out, struct xp_live_bodies *b,
    const char *target, uint64_t version, char *bytes, size_t n,
    struct sim_err *e);

/* One user less, by void *: as of struct xp_http_answer. */
void xp_live_body_rest(void *body);

/* All that nobody uses. */
void xp_live_bodies_free(struct xp_live_bodies *b);

#endif
