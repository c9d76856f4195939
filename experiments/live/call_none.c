/* experiments/live/call_none.c -- call.h of a program without libcurl.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <strings.h>

#include "experiments/live/call.h"

int xp_call_is_url(const char *text)
{
	return strncasecmp(text, "http://", 7) == 0 ||
	    strncasecmp(text, "https://", 8) == 0;
}

void xp_call_add(struct xp_call *c, const char *key, const char *value)
{
	(void)c, (void)key, (void)value;
}

int xp_call(const struct xp_call *c, FILE *out, struct xp_call_got *got,
    struct sim_err *e)
{
	(void)c, (void)out;
	*got = (struct xp_call_got){0};
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without libcurl, which asking a daemon "
	    "takes: install libcurl4-openssl-dev and build again.");
}
