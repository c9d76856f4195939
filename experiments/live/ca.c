/* experiments/live/ca.c -- a certificate authority in a folder, for tests and small fleets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/ca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "experiments/live/gnutls.late.h"
#include "results/file.h"
#include "sim/text.h"
#include "topo/ip.h"
#include "sim/vec.h"

enum {
	DAY_S = 86400,
	CA_PATH = 4096,
	CA_NAME = 253, /* bytes of a host's name */
	CA_SERIAL = 16,
	CA_KEY_ID = 20,
};

/* A key and the certificate that is made of it. */
struct pair {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
};

struct xp_ca {
	char dir[CA_PATH];
	struct pair own;
};

static int ca_failed(int code, const char *what, struct sim_err *e)
{
	return sim_fail(e,
	    code == GNUTLS_E_MEMORY_ERROR ? SIM_ENOMEM : SIM_EDEP,
	    "%s cannot be made: %s.", what, gnutls_strerror(code));
}

static void ca_pair_free(struct pair *p)
{
	if (p->crt)
		gnutls_x509_crt_deinit(p->crt);
	if (p->key)
		gnutls_x509_privkey_deinit(p->key);
	*p = (struct pair){NULL, NULL};
}

/* --- names ---------------------------------------------------------------- */
struct name {
	char text[CA_NAME + 1];
	unsigned char ip[16];
	unsigned n_ip; /* 0: a host's name */
};

/* What is no address is a name as DNS has it. Nothing else is let through, as the
 * first name becomes that of a file. */
static int ca_is_host_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-.";
	const size_t n = strlen(text);
	return n > 0 && strspn(text, letters) == n && text[0] != '.' &&
	    text[0] != '-' && text[n - 1] != '.' && !strstr(text, "..");
}

static int ca_take_name(struct name *x, const char *text, size_t n,
    struct sim_err *e)
{
	char quote[64];
	struct topo_ip ip;
	snprintf(x->text, sizeof(x->text), "%.*s", (int)n, text);
	if (topo_ip_parse(x->text, &ip, e) == 0) {
		x->n_ip = topo_ip_is_4(&ip) ? 4 : 16;
		memcpy(x->ip, ip.byte + 16 - x->n_ip, x->n_ip);
		topo_ip_format(&ip, x->text);
		return 0;
	}
	if (strchr(x->text, ':'))
		return SIM_EINVAL;
	/* A name of numbers alone is an address or a range that was mistyped. */
	if (n > CA_NAME || !ca_is_host_name(x->text) ||
	    strspn(x->text, "0123456789.-") == n)
		return sim_fail(e, SIM_EINVAL,
		    "%s is neither an address nor the name of a host.",
		    sim_quote(quote, x->text));
	return 0;
}

/* Those that the folder's own files have. */
static int ca_is_own(const char *name)
{
	return strcmp(name, "ca") == 0 || strcmp(name, "list") == 0;
}

static int ca_take_names(struct name x[XP_CA_NAMES], unsigned *count,
    const char *text, struct sim_err *e)
{
	char quote[64];
	unsigned k = 0;
	for (;; text++) {
		const size_t n = strcspn(text, ",");
		if (k == XP_CA_NAMES)
			return sim_fail(e, SIM_EINVAL,
			    "a certificate has at most %d names.", XP_CA_NAMES);
		x[k] = (struct name){.n_ip = 0};
		const int rc = ca_take_name(&x[k++], text, n, e);
		if (rc < 0)
			return rc;
		text += n;
		if (*text == '\0')
			break;
	}
	*count = k;
	if (ca_is_own(x[0].text))
		return sim_fail(e, SIM_EINVAL,
		    "%s.key is a file of the authority itself: give it "
		    "another first name.",
		    sim_quote(quote, x[0].text));
	return 0;
}

/* --- files ---------------------------------------------------------------- */
static int ca_path(char out[CA_PATH], const struct xp_ca *ca, const char *name,
    const char *suffix, struct sim_err *e)
{
	const int n = snprintf(out, CA_PATH, "%s/%s%s", ca->dir, name, suffix);
	if (n >= CA_PATH)
		return sim_fail(e, SIM_EINVAL,
		    "the name of a file is too long.");
	/* scp, curl and others would take what stands before a colon for a
	 * host, or what is behind it for a password. */
	for (char *p = out + strlen(ca->dir); *p; p++)
		if (*p == ':')
			*p = '-';
	return 0;
}

/* The key first: a daemon that finds the new certificate finds its key too, and
 * one that finds the new key alone keeps what it has (identity.h). */
static int ca_write(const struct xp_ca *ca, const struct pair *p,
    const char *name, struct sim_err *e)
{
	gnutls_datum_t crt = {0}, key = {0};
	char path[CA_PATH];
	int rc = gnutls_x509_crt_export2(p->crt, GNUTLS_X509_FMT_PEM, &crt);
	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(p->key,
		    GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &key);
	if (rc < 0)
		rc = ca_failed(rc, "a certificate", e);
	if (rc == 0 && (rc = ca_path(path, ca, name, ".key", e)) == 0)
		rc = res_file_write_private(path, key.data, key.size, e);
	if (rc == 0 && (rc = ca_path(path, ca, name, ".pem", e)) == 0)
		rc = res_file_write(path, crt.data, crt.size, e);
	if (key.data)
		explicit_bzero(key.data, key.size);
	gnutls_free(key.data);
	gnutls_free(crt.data);
	return rc;
}

static int ca_read(const struct xp_ca *ca, const char *suffix,
    gnutls_datum_t *out, struct sim_err *e)
{
	char path[CA_PATH];
	void *bytes = NULL;
	size_t n = 0;
	int rc = ca_path(path, ca, "ca", suffix, e);
	if (rc == 0)
		rc = res_file_read(path, &bytes, &n, e);
	if (rc == 0 && n > 1 << 20)
		rc = sim_fail(e, SIM_EPARSE, "%s is too large.", path);
	*out = (gnutls_datum_t){bytes, (unsigned)n};
	return rc;
}

/* --- certificates --------------------------------------------------------- */
static int ca_new_key(struct pair *p)
{
	int rc = gnutls_x509_privkey_init(&p->key);
	if (rc == 0)
		rc = gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA,
		    GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	return rc;
}

/* What each certificate has. A serial is random and positive (RFC 5280
 * 4.1.2.2), so that two of one name are told apart. */
static int ca_begin(struct pair *p, const char *name, uint64_t from_s,
    uint32_t days)
{
	unsigned char serial[CA_SERIAL], id[CA_KEY_ID];
	size_t n_id = sizeof(id);
	int rc = ca_new_key(p);
	if (rc < 0 || (rc = gnutls_x509_crt_init(&p->crt)) < 0 ||
	    (rc = gnutls_rnd(GNUTLS_RND_RANDOM, serial, sizeof(serial))) < 0)
		return rc;
	serial[0] = (unsigned char)((serial[0] & 0x3f) | 0x40);
	if ((rc = gnutls_x509_crt_set_version(p->crt, 3)) < 0 ||
	    (rc = gnutls_x509_crt_set_serial(p->crt, serial, sizeof(serial))) <
		0 ||
	    (rc = gnutls_x509_crt_set_dn_by_oid(p->crt,
		 GNUTLS_OID_X520_COMMON_NAME, 0, name,
		 (unsigned)strlen(name))) < 0 ||
	    (rc = gnutls_x509_crt_set_activation_time(p->crt, (time_t)from_s)) <
		0 ||
	    (rc = gnutls_x509_crt_set_expiration_time(p->crt,
		 (time_t)(from_s + (uint64_t)days * DAY_S))) < 0 ||
	    (rc = gnutls_x509_crt_set_key(p->crt, p->key)) < 0 ||
	    (rc = gnutls_x509_crt_get_key_id(p->crt, 0, id, &n_id)) < 0)
		return rc;
	return gnutls_x509_crt_set_subject_key_id(p->crt, id, n_id);
}

static int ca_sign(const struct pair *p, const struct pair *by)
{
	unsigned char id[CA_KEY_ID];
	size_t n = sizeof(id);
	int rc = gnutls_x509_crt_get_subject_key_id(by->crt, id, &n, NULL);
	if (rc == 0)
		rc = gnutls_x509_crt_set_authority_key_id(p->crt, id, n);
	return rc < 0 ? rc
		      : gnutls_x509_crt_sign2(p->crt, by->crt, by->key,
			    GNUTLS_DIG_SHA256, 0);
}

/* It vouches for those who serve and ask, and for no further authority. */
static int ca_make_own(struct xp_ca *ca, struct sim_err *e)
{
	const uint64_t now = (uint64_t)time(NULL);
	char name[64];
	snprintf(name, sizeof(name), "culprit fleet %llu",
	    (unsigned long long)now);
	/* A day earlier: clocks of a fleet differ. */
	int rc = ca_begin(&ca->own, name, now - DAY_S, XP_CA_MAX_DAYS + 3);
	if (rc < 0 ||
	    (rc = gnutls_x509_crt_set_basic_constraints(ca->own.crt, 1, 0)) <
		0 ||
	    (rc = gnutls_x509_crt_set_key_usage(ca->own.crt,
		 GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN)) < 0 ||
	    (rc = ca_sign(&ca->own, &ca->own)) < 0)
		return ca_failed(rc, "an authority", e);
	return ca_write(ca, &ca->own, "ca", e);
}

/* The pair that lists are signed by: its public half, from the private one. */
static int ca_public(gnutls_x509_privkey_t key, gnutls_datum_t *out)
{
	gnutls_privkey_t own = NULL;
	gnutls_pubkey_t public = NULL;
	int rc = gnutls_privkey_init(&own);
	if (rc == 0)
		rc = gnutls_privkey_import_x509(own, key, 0);
	if (rc == 0)
		rc = gnutls_pubkey_init(&public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(public, own, 0, 0);
	if (rc == 0)
		rc = gnutls_pubkey_export2(public, GNUTLS_X509_FMT_PEM, out);
	if (public)
		gnutls_pubkey_deinit(public);
	if (own)
		gnutls_privkey_deinit(own);
	return rc;
}

static int ca_make_list_key(const struct xp_ca *ca, struct sim_err *e)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_datum_t secret = {0}, public = {0};
	char path[CA_PATH];
	int rc = gnutls_x509_privkey_init(&key);
	if (rc == 0)
		rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519,
		    0, 0);
	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM,
		    NULL, GNUTLS_PKCS_PLAIN, &secret);
	if (rc == 0)
		rc = ca_public(key, &public);
	if (rc < 0)
		rc = ca_failed(rc, "a key for lists", e);
	if (rc == 0 && (rc = ca_path(path, ca, "list", ".key", e)) == 0)
		rc = res_file_write_private(path, secret.data, secret.size, e);
	if (rc == 0 && (rc = ca_path(path, ca, "list", ".pub", e)) == 0)
		rc = res_file_write(path, public.data, public.size, e);
	if (secret.data)
		explicit_bzero(secret.data, secret.size);
	gnutls_free(secret.data);
	gnutls_free(public.data);
	if (key)
		gnutls_x509_privkey_deinit(key);
	return rc;
}

static int ca_import(struct xp_ca *ca, const gnutls_datum_t *crt,
    const gnutls_datum_t *key)
{
	int rc = gnutls_x509_crt_init(&ca->own.crt);
	if (rc == 0)
		rc = gnutls_x509_privkey_init(&ca->own.key);
	if (rc == 0)
		rc = gnutls_x509_crt_import(ca->own.crt, crt,
		    GNUTLS_X509_FMT_PEM);
	if (rc == 0)
		rc = gnutls_x509_privkey_import(ca->own.key, key,
		    GNUTLS_X509_FMT_PEM);
	return rc;
}

static int ca_is_pair(const struct pair *p)
{
	unsigned char a[CA_KEY_ID], b[CA_KEY_ID];
	size_t n_a = sizeof(a), n_b = sizeof(b);
	return gnutls_x509_crt_get_key_id(p->crt, 0, a, &n_a) == 0 &&
	    gnutls_x509_privkey_get_key_id(p->key, 0, b, &n_b) == 0 &&
	    n_a == n_b && memcmp(a, b, n_a) == 0;
}

static int ca_load_own(struct xp_ca *ca, struct sim_err *e)
{
	gnutls_datum_t crt = {0}, key = {0};
	int rc = ca_read(ca, ".pem", &crt, e);
	if (rc == 0)
		rc = ca_read(ca, ".key", &key, e);
	if (rc == 0) {
		const int code = ca_import(ca, &crt, &key);
		if (code < 0)
			rc = sim_fail(e, SIM_EPARSE,
			    "%s: ca.pem or ca.key cannot be read: %s.", ca->dir,
			    gnutls_strerror(code));
		else if (!ca_is_pair(&ca->own))
			rc = sim_fail(e, SIM_EMISMATCH,
			    "%s: ca.key is not the key of ca.pem.", ca->dir);
	}
	if (key.data)
		explicit_bzero(key.data, key.size);
	free(key.data);
	free(crt.data);
	return rc;
}

/* One without the other is no authority, and is not written over: it may be all
 * that is left of one. */
static int ca_look(const struct xp_ca *ca, int *there, struct sim_err *e)
{
	char path[CA_PATH];
	int has_crt = 0, has_key = 0;
	int rc = ca_path(path, ca, "ca", ".pem", e);
	if (rc == 0)
		rc = res_file_look(path, &has_crt, e);
	if (rc == 0 && (rc = ca_path(path, ca, "ca", ".key", e)) == 0)
		rc = res_file_look(path, &has_key, e);
	if (rc == 0 && has_crt != has_key)
		rc = sim_fail(e, SIM_EIO,
		    "%s has ca.%s without ca.%s: neither used nor replaced.",
		    ca->dir, has_crt ? "pem" : "key", has_crt ? "key" : "pem");
	*there = has_crt && has_key;
	if (rc < 0 || *there)
		return rc;
	if ((rc = ca_path(path, ca, "list", ".key", e)) == 0)
		rc = res_file_look(path, &has_key, e);
	if (rc == 0 && has_key)
		rc = sim_fail(e, SIM_EIO,
		    "%s has list.key without an authority: neither used nor "
		    "replaced.",
		    ca->dir);
	return rc;
}

/* --- the object ----------------------------------------------------------- */
int xp_ca_open(struct xp_ca **out, const char *dir, int *is_new,
    struct sim_err *e)
{
	struct xp_ca *ca = NULL;
	int there = 0;
	*out = NULL;
	int rc = sim_late_load(&late_gnutls_library, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&ca, 1, e)) < 0)
		return rc;
	if (snprintf(ca->dir, sizeof(ca->dir), "%s", dir) >= CA_PATH - 300)
		rc = sim_fail(e, SIM_EINVAL,
		    "the name of a folder is too long.");
	/* Nobody else has any business in a folder of keys. */
	else if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		rc = res_file_failed("make", dir, e);
	else
		rc = ca_look(ca, &there, e);
	/* The authority last, by which the folder is known to be whole. */
	if (rc == 0 && !there)
		rc = ca_make_list_key(ca, e);
	if (rc == 0)
		rc = there ? ca_load_own(ca, e) : ca_make_own(ca, e);
	*is_new = !there;
	if (rc < 0)
		xp_ca_close(ca);
	else
		*out = ca;
	return rc;
}

static int ca_add_names(struct pair *p, const struct name *x, unsigned n)
{
	int rc = 0;
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = gnutls_x509_crt_set_subject_alt_name(p->crt,
		    x[i].n_ip ? GNUTLS_SAN_IPADDRESS : GNUTLS_SAN_DNSNAME,
		    x[i].n_ip ? (const void *)x[i].ip : x[i].text,
		    x[i].n_ip ? x[i].n_ip : (unsigned)strlen(x[i].text),
		    GNUTLS_FSAN_APPEND);
	return rc;
}

int xp_ca_issue(struct xp_ca *ca, enum xp_ca_kind kind, const char *names,
    uint64_t from_s, uint32_t days, struct sim_err *e)
{
	struct name *x = NULL;
	struct pair p = {NULL, NULL};
	unsigned n = 0;
	int rc = SIM_ZALLOC(&x, XP_CA_NAMES, e), code;
	if (rc == 0)
		rc = ca_take_names(x, &n, names, e);
	if (rc == 0 &&
	    ((code = ca_begin(&p, x[0].text, from_s, days)) < 0 ||
		(code = ca_add_names(&p, x, n)) < 0 ||
		(code = gnutls_x509_crt_set_basic_constraints(p.crt, 0, -1)) <
		    0 ||
		(code = gnutls_x509_crt_set_key_usage(p.crt,
		     GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
		(code = gnutls_x509_crt_set_key_purpose_oid(p.crt,
		     kind == XP_CA_SERVER ? GNUTLS_KP_TLS_WWW_SERVER
					  : GNUTLS_KP_TLS_WWW_CLIENT,
		     0)) < 0 ||
		(code = ca_sign(&p, &ca->own)) < 0))
		rc = ca_failed(code, "a certificate", e);
	if (rc == 0)
		rc = ca_write(ca, &p, x[0].text, e);
	ca_pair_free(&p);
	free(x);
	return rc;
}

void xp_ca_close(struct xp_ca *ca)
{
	if (!ca)
		return;
	ca_pair_free(&ca->own);
	free(ca);
}
