/* experiments/millisampler/public_none.c -- public.h of a program without jansson.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/public.h"

int xp_public_is_built_in(void)
{
	return 0;
}

int xp_public_read(struct xp_public *p, const char *path, uint64_t width_ns,
    uint64_t line_bps, enum xp_public_end *end, struct sim_err *e)
{
	(void)p;
	(void)width_ns;
	(void)line_bps;
	*end = XP_PUBLIC_NO_JSON;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "%s: this program was built without jansson, which published runs "
	    "take: install libjansson-dev and build again.",
	    path);
}

int xp_public_write(const char *path, const char *rack, const char *host,
    const struct obs_run *run, const struct obs_samples *t, size_t from,
    size_t to, const struct xp_public_bursts *b, struct sim_err *e)
{
	enum xp_public_end end;
	(void)rack;
	(void)host;
	(void)run;
	(void)t;
	(void)from;
	(void)to;
	(void)b;
	return xp_public_read(NULL, path, 0, 0, &end, e);
}
