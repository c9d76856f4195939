/* experiments/live/fetch_none.c -- fetch.h of a program without libcurl.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/fetch.h"

int xp_fetch_is_built_in(void)
{
	return 0;
}

int xp_fetch_open(struct xp_fetch **out, const struct xp_fetch_params *p,
    struct sim_err *e)
{
	(void)p;
	*out = NULL;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without libcurl, which a live agent "
	    "takes: install libcurl4-openssl-dev and build again.");
}

int xp_fetch_serve(struct xp_fetch *f, struct fabric_real *fabric,
    struct sim_err *e)
{
	(void)f;
	(void)fabric;
	return sim_fail(e, SIM_EUNSUPPORTED, "There is no libcurl.");
}

int xp_fetch_change(struct xp_fetch *f, const char *controllers,
    const char *collector, struct sim_err *e)
{
	(void)f;
	(void)controllers;
	(void)collector;
	return sim_fail(e, SIM_EUNSUPPORTED, "There is no libcurl.");
}

const struct xp_fetch_counters *xp_fetch_count(const struct xp_fetch *f)
{
	static const struct xp_fetch_counters none;
	(void)f;
	return &none;
}

const char *xp_fetch_why(const struct xp_fetch *f)
{
	(void)f;
	return "";
}

void xp_fetch_close(struct xp_fetch *f)
{
	(void)f;
}
