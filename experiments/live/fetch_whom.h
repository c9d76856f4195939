/* experiments/live/fetch_whom.h -- whom an agent asks: controllers in turn, a collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_FETCH_WHOM_H
#define EXPERIMENTS_LIVE_FETCH_WHOM_H

#include "experiments/live/fetch.h"
#include "experiments/live/url.h"

struct xp_fetch_whom {
	char controller[XP_FETCH_MAX_CONTROLLERS][XP_URL_MAX];
	char collector[XP_URL_MAX]; /* "": none */
	unsigned n_controllers, first;
};

/* The URLs of P, with what is asked for there. Errors SIM_EINVAL (what is no URL,
 * too many, one that may not be spoken with in the clear), SIM_EUNSUPPORTED,
 * SIM_ENOMEM. */
int xp_fetch_whom_take(struct xp_fetch_whom *w, const struct xp_fetch_params *p,
    struct sim_err *e);

#endif
