/* experiments/live/page/body.c -- answers that are kept, and shared while sent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/body.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/live/page/page.h"
#include "sim/vec.h"

static void live_body_free(struct xp_live_body *x)
{
	x->of->n_bytes -= x->n;
	free(x->bytes);
	free(x);
}

/* It is no longer found; who fetches it goes on. */
static void live_body_drop(struct xp_live_bodies *b, size_t i)
{
	struct xp_live_body *x = b->kept[i];
	b->kept[i] = NULL;
	x->is_kept = 0;
	if (x->n_users == 0)
		live_body_free(x);
}

struct xp_live_body *xp_live_body_find(struct xp_live_bodies *b,
    const char *target, uint64_t version)
{
	struct xp_live_body *found = NULL;
	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < LIVE_BODIES; i++) {
		struct xp_live_body *x = b->kept[i];
		if (!x)
			continue;
		if (x->version != version) {
			live_body_drop(b, i);
		} else if (strcmp(x->target, target) == 0) {
			found = x;
			x->n_users++;
			x->age = ++b->age;
		}
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}

/* Where the next body goes: an empty place, or that of the oldest. One that is
 * being fetched gives up its place too, but not its bytes. */
static size_t live_body_place(const struct xp_live_bodies *b)
{
	size_t at = 0;
	for (size_t i = 0; i < LIVE_BODIES; i++) {
		if (!b->kept[i])
			return i;
		if (b->kept[i]->age < b->kept[at]->age)
			at = i;
	}
	return at;
}

static int live_body_make_room(struct xp_live_bodies *b, size_t n)
{
	while (b->n_bytes + n > LIVE_HELD_BYTES) {
		size_t oldest = LIVE_BODIES;
		for (size_t i = 0; i < LIVE_BODIES; i++)
			if (b->kept[i] && b->kept[i]->n_users == 0 &&
			    (oldest == LIVE_BODIES ||
				b->kept[i]->age < b->kept[oldest]->age))
				oldest = i;
		if (oldest == LIVE_BODIES)
			return 0;
		live_body_drop(b, oldest);
	}
	return 1;
}

int xp_live_body_add(struct xp_live_body **out, struct xp_live_bodies *b,
    const char *target, uint64_t version, char *bytes, size_t n,
    struct sim_err *e)
{
	struct xp_live_body *x;
	const int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	*x = (struct xp_live_body){.of = b,
	    .bytes = bytes,
	    .n = n,
	    .version = version,
	    .n_users = 1,
	    .is_kept = 1};
	strncpy(x->target, target, sizeof(x->target) - 1);
	pthread_mutex_lock(&b->lock);
	const int has_room = live_body_make_room(b, n);
	if (has_room) {
		const size_t at = live_body_place(b);
		if (b->kept[at])
			live_body_drop(b, at);
		x->age = ++b->age;
		b->kept[at] = x;
		b->n_bytes += n;
	}
	pthread_mutex_unlock(&b->lock);
	*out = x;
	if (has_room)
		return 0;
	free(bytes);
	free(x);
	return sim_fail(e, SIM_ELIMIT,
	    "too many answers are being fetched at a time.");
}

void xp_live_body_rest(void *body)
{
	struct xp_live_body *x = body;
	struct xp_live_bodies *b = x->of;
	pthread_mutex_lock(&b->lock);
	if (--x->n_users == 0 && !x->is_kept)
		live_body_free(x);
	pthread_mutex_unlock(&b->lock);
}

void xp_live_bodies_free(struct xp_live_bodies *b)
{
	for (size_t i = 0; i < LIVE_BODIES; i++)
		if (b->kept[i])
			live_body_drop(b, i);
}
