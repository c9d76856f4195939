/* experiments/everflow/capture_none.c -- capture.h of a program without libpcap.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/capture.h"

int xp_capture_is_built_in(void)
{
	return 0;
}

int xp_capture_open(struct xp_capture **c, const char *path, struct sim_err *e)
{
	*c = NULL;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "%s: this program was built without libpcap, which captures take: "
	    "install libpcap-dev and build again.",
	    path);
}

int xp_capture_next(struct xp_capture *c, struct xp_captured *p,
    struct sim_err *e)
{
	(void)c;
	(void)p;
	return sim_fail(e, SIM_EUNSUPPORTED, "There is no libpcap.");
}

void xp_capture_close(struct xp_capture *c)
{
	(void)c;
}
