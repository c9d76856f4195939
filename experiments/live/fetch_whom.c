/* experiments/live/fetch_whom.c -- whom an agent asks: controllers in turn, a collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/fetch_whom.h"

#include <string.h>

/* Asked when all are read, so that what is no URL is named first. */
static int whom_check_plain(const struct xp_fetch_whom *w,
    const struct xp_identity_params *p, struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = 0; i < w->n_controllers && rc == 0; i++)
		rc = xp_url_check_plain(w->controller[i], p, e);
	if (rc == 0 && w->collector[0] != '\0')
		rc = xp_url_check_plain(w->collector, p, e);
	return rc;
}

int xp_fetch_whom_take(struct xp_fetch_whom *w, const struct xp_fetch_params *p,
    struct sim_err *e)
{
	const char *text = p->controllers;
	char tail[16 + TOPO_IP_TEXT] = "/pinglist/";
	int rc = 0;
	topo_ip_format(&p->address, tail + strlen(tail));
	for (;; text++) {
		const size_t n = strcspn(text, ",");
		if (w->n_controllers == XP_FETCH_MAX_CONTROLLERS)
			return sim_fail(e, SIM_EINVAL,
			    "More than %d controllers.",
			    XP_FETCH_MAX_CONTROLLERS);
		rc = xp_url_take(w->controller[w->n_controllers++], text, n,
		    tail, e);
		text += n;
		if (rc < 0 || *text == '\0')
			break;
	}
	/* Agents begin with different controllers, by their address, and so
	 * share the load among them. */
	w->first = (unsigned)(topo_ip_hash(&p->address) % w->n_controllers);
	if (rc == 0 && p->collector)
		rc = xp_url_take(w->collector, p->collector,
		    strlen(p->collector), "/results", e);
	return rc < 0 ? rc : whom_check_plain(w, &p->identity, e);
}
