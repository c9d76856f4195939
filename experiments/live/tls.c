/* experiments/live/tls.c -- whom a server lets in: certificates of its clients.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that were replaced are freed when the last connection that began with
 * them is over.
 */
#include "experiments/live/tls.h"

#include <netinet/in.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_DEFINE
#include "experiments/live/gnutls.late.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum { LINES = 8 };

struct xp_tls_files {
	gnutls_certificate_credentials_t credentials;
	unsigned n_users; /* connections, and one for being the newest */
};

struct xp_tls {
	struct xp_identity identity;
	pthread_mutex_t lock; /* of all below */
	struct xp_tls_files *files;
	char line[LINES][XP_TLS_LINE]; /* to be told */
	unsigned n_lines;
	unsigned long long n_more; /* refused without a line */
};

/* --- files ---------------------------------------------------------------- */
static int tls_take(gnutls_certificate_credentials_t c,
    const struct xp_identity *x, struct sim_err *e)
{
	const struct xp_identity_params *p = &x->params;
	const gnutls_datum_t ca = {(void *)x->ca.bytes, (unsigned)x->ca.n},
			     cert = {(void *)x->cert.bytes,
				 (unsigned)x->cert.n},
			     key = {(void *)x->key.bytes, (unsigned)x->key.n};
	int rc =
	    gnutls_certificate_set_x509_trust_mem(c, &ca, GNUTLS_X509_FMT_PEM);
	if (rc <= 0)
		return sim_fail(e, SIM_EPARSE, "%s has no certificates: %s.",
		    p->ca, gnutls_strerror(rc));
	rc = gnutls_certificate_set_x509_key_mem2(c, &cert, &key,
	    GNUTLS_X509_FMT_PEM, NULL, 0);
	if (rc == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return sim_fail(e, SIM_EMISMATCH, "%s is not the key of %s.",
		    p->key, p->cert);
	if (rc < 0)
		return sim_fail(e, SIM_EPARSE, "%s or %s cannot be read: %s.",
		    p->cert, p->key, gnutls_strerror(rc));
	return 0;
}

int xp_tls_credentials(const struct xp_identity *x, void **out,
    struct sim_err *e)
{
	gnutls_certificate_credentials_t c = NULL;
	*out = NULL;
	int rc = sim_late_load(&late_gnutls_library, e);
	if (rc < 0)
		return rc;
	if (gnutls_certificate_allocate_credentials(&c) < 0)
		return sim_fail(e, SIM_ENOMEM,
		    "There is no memory for certificates.");
	if ((rc = tls_take(c, x, e)) < 0)
		gnutls_certificate_free_credentials(c);
	else
		*out = c;
	return rc;
}

void xp_tls_credentials_free(void *credentials)
{
	if (credentials)
		gnutls_certificate_free_credentials(credentials);
}

static struct xp_tls_files *tls_join(struct xp_tls *t)
{
	pthread_mutex_lock(&t->lock);
	struct xp_tls_files *f = t->files;
	f->n_users++;
	pthread_mutex_unlock(&t->lock);
	return f;
}

static void tls_leave(struct xp_tls *t, struct xp_tls_files *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&t->lock);
	const int is_last = --f->n_users == 0;
	pthread_mutex_unlock(&t->lock);
	if (!is_last)
		return;
	gnutls_certificate_free_credentials(f->credentials);
	free(f);
}

/* Connections that begin from now on have what the identity holds. */
static int tls_renew(struct xp_tls *t, struct sim_err *e)
{
	struct xp_tls_files *f = NULL, *old;
	void *credentials = NULL;
	int rc = SIM_ZALLOC(&f, 1, e);
	if (rc < 0 ||
	    (rc = xp_tls_credentials(&t->identity, &credentials, e)) < 0) {
		free(f);
		return rc;
	}
	f->credentials = credentials;
	f->n_users = 1;
	pthread_mutex_lock(&t->lock);
	old = t->files;
	t->files = f;
	pthread_mutex_unlock(&t->lock);
	tls_leave(t, old);
	return 0;
}

int xp_tls_look(struct xp_tls *t, struct sim_err *e)
{
	const int rc = xp_identity_look(&t->identity, e);
	if (rc <= 0)
		return rc;
	const int renewed = tls_renew(t, e);
	return renewed < 0 ? renewed : 1;
}

const struct xp_identity *xp_tls_identity(const struct xp_tls *t)
{
	return &t->identity;
}

/* --- who is refused ------------------------------------------------------- */
static void tls_refuse(struct xp_tls_peer *p, const char *why)
{
	struct xp_tls *t = p->tls;
	pthread_mutex_lock(&t->lock);
	if (t->n_lines < LINES)
		snprintf(t->line[t->n_lines++], XP_TLS_LINE, "%s: %s", p->from,
		    why);
	else
		t->n_more++;
	pthread_mutex_unlock(&t->lock);
}

int xp_tls_news(struct xp_tls *t, char line[XP_TLS_LINE])
{
	int is_news = 1;
	pthread_mutex_lock(&t->lock);
	if (t->n_lines > 0) {
		memcpy(line, t->line[0], XP_TLS_LINE);
		memmove(t->line[0], t->line[1],
		    sizeof(t->line[0]) * --t->n_lines);
	} else if ((is_news = t->n_more > 0)) {
		snprintf(line, XP_TLS_LINE, "%llu more were refused",
		    t->n_more);
		t->n_more = 0;
	}
	pthread_mutex_unlock(&t->lock);
	return is_news;
}

/* What is wrong with a certificate, by the flags of GnuTLS, and the alert that
 * says it to its owner (RFC 8446 6.2). */
static const char *tls_fault(unsigned status, gnutls_alert_description_t *alert)
{
	*alert = GNUTLS_A_BAD_CERTIFICATE;
	if (status & GNUTLS_CERT_SIGNER_NOT_FOUND) {
		*alert = GNUTLS_A_UNKNOWN_CA;
		return "its certificate is of an authority that is not ours";
	}
	if (status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED)) {
		*alert = GNUTLS_A_CERTIFICATE_EXPIRED;
		return status & GNUTLS_CERT_EXPIRED
		    ? "its certificate has expired"
		    : "its certificate is not good yet";
	}
	if (status & GNUTLS_CERT_PURPOSE_MISMATCH) {
		*alert = GNUTLS_A_UNSUPPORTED_CERTIFICATE;
		return "its certificate is not for a client";
	}
	return "its certificate does not hold";
}

/* GnuTLS calls this within the handshake. Nothing but 0 lets it go on; the alert
 * is sent here, as libmicrohttpd just closes. */
static int tls_judge(gnutls_session_t session)
{
	struct xp_tls_peer *p = gnutls_session_get_ptr(session);
	gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID,
	    (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0};
	gnutls_alert_description_t alert = GNUTLS_A_BAD_CERTIFICATE;
	unsigned status = 0;
	const char *why;
	const int rc =
	    gnutls_certificate_verify_peers(session, &purpose, 1, &status);
	if (rc == 0 && status == 0)
		return 0;
	if (rc == GNUTLS_E_NO_CERTIFICATE_FOUND) {
		alert = GNUTLS_A_CERTIFICATE_REQUIRED;
		why = "it shows no certificate";
	} else {
		why = rc < 0 ? "its certificate cannot be read"
			     : tls_fault(status, &alert);
	}
	p->is_refused = 1;
	tls_refuse(p, why);
	gnutls_alert_send(session, GNUTLS_AL_FATAL, alert);
	return GNUTLS_E_CERTIFICATE_ERROR;
}

/* --- connections ---------------------------------------------------------- */
void xp_tls_begin(struct xp_tls *t, struct xp_tls_peer *p, void *session,
    const struct sockaddr *from)
{
	*p = (struct xp_tls_peer){.tls = t, .session = session};
	if (getnameinfo(from,
		from->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					   : sizeof(struct sockaddr_in6),
		p->from, sizeof(p->from), NULL, 0, NI_NUMERICHOST) != 0)
		p->from[0] = '\0';
	p->files = tls_join(t);
	gnutls_session_set_ptr(session, p);
	gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE,
	    p->files->credentials);
	/* Asked for, and that there is one is for the judge to say: what GnuTLS
	 * refuses by itself nobody is told of. */
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
	gnutls_session_set_verify_function(session, tls_judge);
}

void xp_tls_end(struct xp_tls_peer *p)
{
	if (p->tls)
		tls_leave(p->tls, p->files);
	p->tls = NULL;
}

/* A certificate has 4 bytes of IPv4 and 16 of IPv6 (RFC 5280 4.2.1.6). */
static int tls_has(const gnutls_datum_t *der, const struct topo_ip *address)
{
	const unsigned from = topo_ip_is_4(address) ? 12 : 0;
	gnutls_x509_crt_t crt = NULL;
	int has = gnutls_x509_crt_init(&crt) == 0 &&
	    gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0 &&
	    gnutls_x509_crt_check_ip(crt, address->byte + from, 16 - from, 0) !=
		0;
	if (crt)
		gnutls_x509_crt_deinit(crt);
	return has;
}

int xp_tls_is_for(struct xp_tls_peer *p, struct topo_ip address)
{
	char who[TOPO_IP_TEXT], why[128];
	unsigned n = 0;
	const gnutls_datum_t *chain =
	    gnutls_certificate_get_peers(p->session, &n);
	if (chain && n > 0 && tls_has(&chain[0], &address))
		return 1;
	topo_ip_format(&address, who);
	snprintf(why, sizeof(why),
	    "it speaks for %s, which is not in its certificate", who);
	tls_refuse(p, why);
	return 0;
}

/* --- the object ----------------------------------------------------------- */
int xp_tls_open(struct xp_tls **out, const struct xp_identity_params *p,
    struct sim_err *e)
{
	struct xp_tls *t = NULL;
	*out = NULL;
	int rc = xp_identity_check(p, e);
	if (rc < 0 || !p->ca || (rc = SIM_ZALLOC(&t, 1, e)) < 0)
		return rc;
	pthread_mutex_init(&t->lock, NULL);
	if ((rc = xp_identity_open(&t->identity, p, e)) < 0 ||
	    (rc = tls_renew(t, e)) < 0)
		xp_tls_close(t);
	else
		*out = t;
	return rc;
}

void xp_tls_close(struct xp_tls *t)
{
	if (!t)
		return;
	tls_leave(t, t->files);
	xp_identity_close(&t->identity);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
