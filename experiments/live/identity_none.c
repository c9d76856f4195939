/* experiments/live/identity_none.c -- identity.h and tls.h of a program without GnuTLS.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/identity.h"
#include "experiments/live/tls.h"

int xp_identity_check(const struct xp_identity_params *p, struct sim_err *e)
{
	if (!p->ca && !p->cert && !p->key)
		return 0;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without GnuTLS, which certificates take: "
	    "install libgnutls28-dev and build again.");
}

int xp_identity_open(struct xp_identity *x, const struct xp_identity_params *p,
    struct sim_err *e)
{
	*x = (struct xp_identity){.params = *p};
	return xp_identity_check(p, e);
}

int xp_identity_look(struct xp_identity *x, struct sim_err *e)
{
	(void)x;
	(void)e;
	return 0;
}

void xp_identity_close(struct xp_identity *x)
{
	(void)x;
}

/* --- of servers, which then have none ------------------------------------- */
int xp_tls_open(struct xp_tls **out, const struct xp_identity_params *p,
    struct sim_err *e)
{
	*out = NULL;
	return xp_identity_check(p, e);
}

const struct xp_identity *xp_tls_identity(const struct xp_tls *t)
{
	(void)t;
	return NULL;
}

int xp_tls_look(struct xp_tls *t, struct sim_err *e)
{
	(void)t;
	(void)e;
	return 0;
}

void xp_tls_begin(struct xp_tls *t, struct xp_tls_peer *p, void *session,
    const struct sockaddr *from)
{
	(void)t;
	(void)p;
	(void)session;
	(void)from;
}

void xp_tls_end(struct xp_tls_peer *p)
{
	(void)p;
}

int xp_tls_is_for(struct xp_tls_peer *p, struct topo_ip address)
{
	(void)p;
	(void)address;
	return 0;
}

int xp_tls_news(struct xp_tls *t, char line[XP_TLS_LINE])
{
	(void)t;
	line[0] = '\0';
	return 0;
}

void xp_tls_close(struct xp_tls *t)
{
	(void)t;
}
