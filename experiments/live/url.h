/* experiments/live/url.h -- whom a live agent may be told to ask.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_URL_H
#define EXPERIMENTS_LIVE_URL_H

#include <stddef.h>

#include "experiments/live/identity.h"
#include "sim/err.h"

enum { XP_URL_MAX = 1024 };

/* OUT = the URL of N bytes at TEXT, without slashes at its end, followed by
 * TAIL. Errors SIM_EINVAL (no URL of http or https; a query, fragment, user or
 * password in it; too long), SIM_EUNSUPPORTED (https, and libcurl has none),
 * SIM_ENOMEM. */
int xp_url_take(char out[XP_URL_MAX], const char *text, size_t n,
    const char *tail, struct sim_err *e);

/* A CURL to make requests with, or NULL: no proxy, user, cookie, redirect or
 * environment variable has a say, and no connection is kept. To be cleaned up. */
void *xp_url_easy(void);

/* Refuse URL if all on the way could read and forge what is said: http:// to
 * another host, unless P says that this may be. Errors SIM_EINVAL, SIM_ENOMEM.
 * Domain xp_url_take() took it. */
int xp_url_check_plain(const char *url, const struct xp_identity_params *p,
    struct sim_err *e);

/* Have EASY show X's certificate and believe X's authorities alone at its next
 * request; without files nothing changes. Returns 0 if libcurl does not. */
int xp_url_identify(void *easy, const struct xp_identity *x);

#endif
