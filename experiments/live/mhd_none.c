/* experiments/live/mhd_none.c -- mhd.h of a program without libmicrohttpd.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/mhd.h"

int xp_http_is_built_in(void)
{
	return 0;
}

int xp_http_bind(struct xp_http_server **s, const struct xp_http_params *p,
    struct sim_err *e)
{
	(void)p;
	*s = NULL;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without libmicrohttpd, which a server "
	    "takes: install libmicrohttpd-dev and build again.");
}

int xp_http_start(struct xp_http_server *s,
    const struct xp_http_service *service, struct sim_err *e)
{
	(void)s;
	(void)service;
	(void)e;
	return SIM_EUNSUPPORTED;
}

int xp_http_open(struct xp_http_server **s, const struct xp_http_params *p,
    const struct xp_http_service *service, struct sim_err *e)
{
	(void)service;
	return xp_http_bind(s, p, e);
}

const char *xp_http_url(const struct xp_http_server *s, char buf[80])
{
	(void)s;
	buf[0] = '\0';
	return buf;
}

void xp_http_change(struct xp_http_server *s, const struct xp_http_change *c)
{
	(void)s;
	(void)c;
}

void xp_http_run(struct xp_http_server *s)
{
	(void)s;
}

int xp_http_fd(const struct xp_http_server *s)
{
	(void)s;
	return -1;
}

int xp_http_wait_ms(struct xp_http_server *s, int most)
{
	(void)s;
	return most;
}

void xp_http_step(struct xp_http_server *s)
{
	(void)s;
}

void xp_http_end(struct xp_http_server *s)
{
	(void)s;
}

void xp_http_close(struct xp_http_server *s)
{
	(void)s;
}
