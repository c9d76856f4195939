/* experiments/plug/hear.c -- a description, from the process that gives it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/hear.h"

#include <string.h>

/* An interpreter and its modules may come from a cold disk. */
#define HEAR_S 30.0

static int hear_size(void *arg, const unsigned char *b, size_t n, size_t *size,
    struct sim_err *e)
{
	static const char end[] = "\nend\n";
	(void)arg;
	/* There are no bytes at all before the first come. */
	const unsigned char *at = n > 0 ? memmem(b, n, end, strlen(end)) : NULL;
	if (at)
		*size = (size_t)(at - b) + strlen(end);
	else if (n > PLUG_ABOUT_BYTES)
		return sim_fail(e, SIM_EDEP,
		    "its description has no end within %d bytes.",
		    PLUG_ABOUT_BYTES);
	return 0;
}

int plug_about_hear(struct plug_child *c, struct plug_about *a,
    struct sim_err *e)
{
	size_t size;
	int rc = plug_child_ask(c, NULL, 0, HEAR_S, hear_size, NULL, &size, e);
	if (rc < 0)
		return rc;
	rc = plug_about_read(a, (const char *)c->got, size, e);
	return rc < 0 && rc != SIM_ENOMEM && rc != SIM_EDEP
	    ? sim_wrap(e, SIM_EDEP, "it describes itself wrongly")
	    : rc;
}
