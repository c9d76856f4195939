/* experiments/live/listen.h -- a socket that listens, from a text.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_LISTEN_H
#define EXPERIMENTS_LIVE_LISTEN_H

#include <stdint.h>
#include <sys/socket.h>

#include "sim/err.h"

/* Listen at AT, "127.0.0.1:8080" or "[::1]:0": numbers alone, so that nobody is
 * asked for a name; port 0 is a free one. *WHERE = the address with its port.
 * *FD is to be closed.
 * Errors SIM_EINVAL (AT), SIM_EIO. */
int xp_http_listen(int *fd, struct sockaddr_storage *where, const char *at,
    struct sim_err *e);

/* "http://127.0.0.1:8080/" or "https://[::1]:8080/", by SCHEME. Returns BUF. */
const char *xp_http_listen_url(const struct sockaddr_storage *where,
    const char *scheme, char buf[80]);

/* Can it be reached from this host alone? */
int xp_http_listen_is_local(const struct sockaddr_storage *where);

/* See to it that this process may have N open files. Errors SIM_EIO. */
int xp_http_listen_files(uint32_t n, struct sim_err *e);

#endif
