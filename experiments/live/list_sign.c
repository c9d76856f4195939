/* experiments/live/list_sign.c -- lists signed by a controller, checked by an agent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/list_sign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/live/gnutls.late.h"
#include "experiments/live/identity.h"
#include "results/file.h"
#include "sim/vec.h"

struct xp_list_signer {
	gnutls_privkey_t key;
	uint64_t issued_s;
};

struct xp_list_checker {
	gnutls_pubkey_t key[XP_LIST_KEYS];
	unsigned n_keys;
	struct xp_list_newest newest, kept;
	const char *path; /* where that is kept; NULL: nowhere */
};

static int sign_read(const char *path, char **text, size_t *n,
    struct sim_err *e)
{
	void *bytes = NULL;
	int rc = sim_late_load(&late_gnutls_library, e);
	if (rc == 0)
		rc = res_file_read(path, &bytes, n, e);
	if (rc == 0 && *n > XP_IDENTITY_BYTES) {
		free(bytes);
		return sim_fail(e, SIM_EPARSE, "%s is too large for keys.",
		    path);
	}
	*text = bytes;
	return rc;
}

/* --- a controller's ------------------------------------------------------- */
static int sign_take_key(struct xp_list_signer *s, const char *path,
    const gnutls_datum_t *pem, struct sim_err *e)
{
	int rc = gnutls_privkey_init(&s->key);
	if (rc == 0)
		rc = gnutls_privkey_import_x509_raw(s->key, pem,
		    GNUTLS_X509_FMT_PEM, NULL, 0);
	if (rc < 0)
		return sim_fail(e, SIM_EPARSE, "%s has no private key: %s.",
		    path, gnutls_strerror(rc));
	if (gnutls_privkey_get_pk_algorithm(s->key, NULL) !=
	    GNUTLS_PK_EDDSA_ED25519)
		return sim_fail(e, SIM_EINVAL,
		    "%s has another kind of key than Ed25519.", path);
	return 0;
}

int xp_list_signer_open(struct xp_list_signer **out, const char *path,
    uint64_t issued_s, struct sim_err *e)
{
	struct xp_list_signer *s = NULL;
	char *text = NULL;
	size_t n = 0;
	*out = NULL;
	int rc = xp_identity_is_secret(path, e);
	if (rc == 0)
		rc = sign_read(path, &text, &n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&s, 1, e);
	if (rc == 0) {
		const gnutls_datum_t pem = {(unsigned char *)text, (unsigned)n};
		s->issued_s = issued_s;
		rc = sign_take_key(s, path, &pem, e);
	}
	if (text)
		explicit_bzero(text, n);
	free(text);
	if (rc < 0)
		xp_list_signer_close(s);
	else
		*out = s;
	return rc;
}

int xp_list_sum_begin(void **sum, struct sim_err *e)
{
	gnutls_hash_hd_t h;
	if (gnutls_hash_init(&h, GNUTLS_DIG_SHA256) < 0)
		return sim_fail(e, SIM_ENOMEM, "There is no memory to sign.");
	*sum = h;
	return 0;
}

void xp_list_sum_add(void *sum, const void *bytes, size_t n)
{
	gnutls_hash(sum, bytes, n);
}

/* The mark of what TEXT of N bytes says. */
static int sign_text(const struct xp_list_signer *s, char *text, unsigned n,
    uint64_t issued_s, char mark[XP_LIST_MARK], struct sim_err *e)
{
	struct xp_list_mark m = {.issued_s = issued_s};
	gnutls_datum_t signature = {NULL, 0};
	const gnutls_datum_t said = {(unsigned char *)text, n};
	int rc = gnutls_privkey_sign_data2(s->key, GNUTLS_SIGN_EDDSA_ED25519, 0,
	    &said, &signature);
	if (rc < 0 || signature.size != XP_LIST_SIGNATURE)
		rc = sim_fail(e, SIM_EDEP, "A list cannot be signed: %s.",
		    gnutls_strerror(rc));
	else
		memcpy(m.signature, signature.data, XP_LIST_SIGNATURE);
	gnutls_free(signature.data);
	if (rc == 0)
		xp_list_mark_put(mark, &m);
	return rc;
}

int xp_list_sum_end(void *sum, const struct xp_list_signer *s,
    char mark[XP_LIST_MARK], struct sim_err *e)
{
	unsigned char digest[XP_LIST_DIGEST];
	char text[XP_LIST_STATEMENT];
	gnutls_hash_deinit(sum, digest);
	const unsigned n = xp_list_mark_statement(text, s->issued_s, digest);
	return sign_text(s, text, n, s->issued_s, mark, e);
}

int xp_list_sign_none(const struct xp_list_signer *s, struct topo_ip address,
    uint64_t now_s, char mark[XP_LIST_MARK], struct sim_err *e)
{
	char text[XP_LIST_STATEMENT];
	const unsigned n = xp_list_none_statement(text, now_s, address);
	return sign_text(s, text, n, now_s, mark, e);
}

void xp_list_signer_close(struct xp_list_signer *s)
{
	if (!s)
		return;
	if (s->key)
		gnutls_privkey_deinit(s->key);
	free(s);
}

/* --- an agent's ----------------------------------------------------------- */
static const char sign_public[] = "-----BEGIN PUBLIC KEY-----";

/* GnuTLS reads the first key of a text, so it is given one after the other. */
static int sign_take_public(struct xp_list_checker *c, const char *path,
    const char *text, struct sim_err *e)
{
	while ((text = strstr(text, sign_public))) {
		const gnutls_datum_t pem = {(unsigned char *)(uintptr_t)text,
		    (unsigned)strlen(text)};
		if (c->n_keys == XP_LIST_KEYS)
			return sim_fail(e, SIM_EINVAL,
			    "%s has more than %d keys.", path, XP_LIST_KEYS);
		gnutls_pubkey_t *key = &c->key[c->n_keys];
		int rc = gnutls_pubkey_init(key);
		if (rc < 0)
			return sim_fail(e, SIM_ENOMEM,
			    "There is no memory for keys.");
		c->n_keys++;
		rc = gnutls_pubkey_import(*key, &pem, GNUTLS_X509_FMT_PEM);
		if (rc < 0)
			return sim_fail(e, SIM_EPARSE,
			    "%s: key %u cannot be read: %s.", path, c->n_keys,
			    gnutls_strerror(rc));
		if (gnutls_pubkey_get_pk_algorithm(*key, NULL) !=
		    GNUTLS_PK_EDDSA_ED25519)
			return sim_fail(e, SIM_EINVAL,
			    "%s: key %u is of another kind than Ed25519.", path,
			    c->n_keys);
		text += sizeof(sign_public) - 1;
	}
	return c->n_keys > 0
	    ? 0
	    : sim_fail(e, SIM_EPARSE, "%s has no public key, of PEM.", path);
}

int xp_list_checker_open(struct xp_list_checker **out, const char *path,
    struct sim_err *e)
{
	struct xp_list_checker *c = NULL;
	char *text = NULL;
	size_t n = 0;
	*out = NULL;
	int rc = sign_read(path, &text, &n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&c, 1, e);
	if (rc == 0)
		rc = sign_take_public(c, path, text, e);
	free(text);
	if (rc < 0)
		xp_list_checker_close(c);
	else
		*out = c;
	return rc;
}

static int sign_is_good(const struct xp_list_checker *c,
    const struct xp_list_mark *m, char *text, unsigned n)
{
	const gnutls_datum_t said = {(unsigned char *)text, n};
	const gnutls_datum_t signature =
	    {(unsigned char *)(uintptr_t)m->signature, XP_LIST_SIGNATURE};
	for (unsigned i = 0; i < c->n_keys; i++)
		if (gnutls_pubkey_verify_data2(c->key[i],
			GNUTLS_SIGN_EDDSA_ED25519, 0, &said, &signature) >= 0)
			return 1;
	return 0;
}

static int sign_take_mark(struct xp_list_mark *m, const char *mark,
    struct sim_err *e)
{
	return mark[0] == '\0' ? sim_fail(e, SIM_EMISMATCH, "it is not signed")
			       : xp_list_mark_take(m, mark, e);
}

int xp_list_check(struct xp_list_checker *c, const char *mark,
    const void *bytes, size_t n, uint64_t now_s, struct sim_err *e)
{
	unsigned char digest[XP_LIST_DIGEST];
	char text[XP_LIST_STATEMENT];
	struct xp_list_mark m;
	const int rc = sign_take_mark(&m, mark, e);
	if (rc < 0)
		return rc;
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, n > 0 ? bytes : "", n, digest) <
	    0)
		return sim_fail(e, SIM_EDEP, "it cannot be summed up");
	if (!sign_is_good(c, &m, text,
		xp_list_mark_statement(text, m.issued_s, digest)))
		return sim_fail(e, SIM_EMISMATCH,
		    "its signature is by none of our keys, or of another "
		    "list");
	return xp_list_mark_judge(&c->newest, m.issued_s, digest, now_s, e);
}

int xp_list_check_none(struct xp_list_checker *c, const char *mark,
    struct topo_ip address, uint64_t now_s, struct sim_err *e)
{
	char text[XP_LIST_STATEMENT];
	struct xp_list_mark m;
	const int rc = sign_take_mark(&m, mark, e);
	if (rc < 0)
		return rc;
	if (!sign_is_good(c, &m, text,
		xp_list_none_statement(text, m.issued_s, address)))
		return sim_fail(e, SIM_EMISMATCH,
		    "its signature is by none of our keys, or of another "
		    "server");
	return xp_list_none_judge(m.issued_s, now_s, e);
}

/* --- what an agent remembers ---------------------------------------------- */
static int sign_write_newest(struct xp_list_checker *c, struct sim_err *e)
{
	char text[XP_LIST_NEWEST];
	const unsigned n = xp_list_newest_put(text, &c->newest);
	const int rc = res_file_write(c->path, text, n, e);
	if (rc == 0)
		c->kept = c->newest;
	return rc;
}

int xp_list_checker_remember(struct xp_list_checker *c, const char *path,
    struct sim_err *e)
{
	struct sim_err why;
	void *text = NULL;
	size_t n = 0;
	int rc = 0;
	c->path = path;
	if (access(path, F_OK) == 0 || errno != ENOENT)
		rc = res_file_read(path, &text, &n, e);
	/* A file that was damaged is no reason to believe anybody: its owner
	 * is asked. */
	if (rc == 0 && text && xp_list_newest_take(&c->newest, text, &why) < 0)
		rc = sim_fail(e, SIM_EPARSE,
		    "%s: %s; without it, each signed list is new again.", path,
		    why.msg);
	free(text);
	return rc < 0 ? rc : sign_write_newest(c, e);
}

int xp_list_checker_keep(struct xp_list_checker *c, struct sim_err *e)
{
	return c->path && memcmp(&c->newest, &c->kept, sizeof(c->kept)) != 0
	    ? sign_write_newest(c, e)
	    : 0;
}

uint64_t xp_list_checker_issued_s(const struct xp_list_checker *c)
{
	return c->newest.issued_s;
}

void xp_list_checker_close(struct xp_list_checker *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n_keys; i++)
		gnutls_pubkey_deinit(c->key[i]);
	free(c);
}
