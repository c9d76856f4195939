/* experiments/live/ca_none.c -- ca.h of a program without GnuTLS.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/ca.h"

#include <stddef.h>

int xp_ca_open(struct xp_ca **out, const char *dir, int *is_new,
    struct sim_err *e)
{
	(void)dir;
	*out = NULL;
	*is_new = 0;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without GnuTLS, which certificates take: "
	    "install libgnutls28-dev and build again.");
}

int xp_ca_issue(struct xp_ca *ca, enum xp_ca_kind kind, const char *names,
    uint64_t from_s, uint32_t days, struct sim_err *e)
{
	(void)ca;
	(void)kind;
	(void)names;
	(void)from_s;
	(void)days;
	return sim_fail(e, SIM_EUNSUPPORTED, "There is no GnuTLS.");
}

void xp_ca_close(struct xp_ca *ca)
{
	(void)ca;
}
