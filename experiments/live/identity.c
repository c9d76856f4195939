/* experiments/live/identity.c -- who a daemon is, and whom it believes: three files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/identity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/live/tls.h"
#include "results/file.h"
#include "sim/bytes.h"

int xp_identity_check(const struct xp_identity_params *p, struct sim_err *e)
{
	const int n = (p->ca != NULL) + (p->cert != NULL) + (p->key != NULL);
	if (n == 0 || n == XP_IDENTITY_FILES)
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    "--ca, --cert and --key belong together: %s is missing.",
	    !p->ca         ? "--ca"
		: !p->cert ? "--cert"
			   : "--key");
}

static void identity_free(struct xp_pem *p)
{
	/* A key is not left behind in memory that is used for something else. */
	if (p->bytes)
		explicit_bzero(p->bytes, p->n);
	free(p->bytes);
	*p = (struct xp_pem){NULL, 0};
}

static int identity_read(struct xp_pem *p, const char *path, struct sim_err *e)
{
	void *bytes = NULL;
	struct stat st;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > XP_IDENTITY_BYTES)
		return sim_fail(e, SIM_EPARSE,
		    "%s has %lld bytes, more than certificates take.", path,
		    (long long)st.st_size);
	const int rc = res_file_read(path, &bytes, &p->n, e);
	p->bytes = bytes;
	return rc;
}

/* A key that everybody on the host may read is everybody's. */
int xp_identity_is_secret(const char *path, struct sim_err *e)
{
	struct stat st;
	if (stat(path, &st) == 0 && (st.st_mode & S_IRWXO))
		return sim_fail(e, SIM_EINVAL,
		    "%s may be read by everybody: its mode is %03o, not 600 "
		    "or 640.",
		    path, (unsigned)st.st_mode & 0777);
	return 0;
}

/* What the files are by their inodes, without reading them. A file that is not
 * there is a state, too. */
static uint64_t identity_state(const struct xp_identity_params *p)
{
	const char *const path[XP_IDENTITY_FILES] = {p->ca, p->cert, p->key};
	uint64_t hash = SIM_FNV_START;
	for (int i = 0; i < XP_IDENTITY_FILES; i++) {
		struct stat st;
		uint64_t x[6] = {0};
		if (stat(path[i], &st) == 0) {
			x[0] = st.st_ino;
			x[1] = (uint64_t)st.st_size;
			x[2] = (uint64_t)st.st_mtim.tv_sec;
			x[3] = (uint64_t)st.st_mtim.tv_nsec;
			x[4] = (uint64_t)st.st_ctim.tv_sec;
			x[5] = (uint64_t)st.st_ctim.tv_nsec;
		}
		hash = sim_fnv(hash, x, sizeof(x));
	}
	return hash;
}

/* All three are read and fit together, or X stays as it is. */
static int identity_take(struct xp_identity *x, struct sim_err *e)
{
	struct xp_identity new = {.params = x->params};
	void *credentials = NULL;
	int rc = xp_identity_is_secret(x->params.key, e);
	if (rc == 0)
		rc = identity_read(&new.ca, x->params.ca, e);
	if (rc == 0)
		rc = identity_read(&new.cert, x->params.cert, e);
	if (rc == 0)
		rc = identity_read(&new.key, x->params.key, e);
	if (rc == 0)
		rc = xp_tls_credentials(&new, &credentials, e);
	xp_tls_credentials_free(credentials);
	if (rc == 0) {
		const struct xp_identity old = *x;
		new.seen = x->seen;
		*x = new;
		new = old;
	}
	identity_free(&new.ca);
	identity_free(&new.cert);
	identity_free(&new.key);
	return rc;
}

int xp_identity_open(struct xp_identity *x, const struct xp_identity_params *p,
    struct sim_err *e)
{
	const int rc = xp_identity_check(p, e);
	*x = (struct xp_identity){.params = *p};
	if (rc < 0 || !p->ca)
		return rc;
	x->seen = identity_state(p);
	return identity_take(x, e);
}

int xp_identity_look(struct xp_identity *x, struct sim_err *e)
{
	if (!x->params.ca)
		return 0;
	/* Asked before they are read: what changes meanwhile is seen next
	 * time. */
	const uint64_t now = identity_state(&x->params);
	if (now == x->seen)
		return 0;
	x->seen = now;
	const int rc = identity_take(x, e);
	return rc < 0 ? rc : 1;
}

void xp_identity_close(struct xp_identity *x)
{
	identity_free(&x->ca);
	identity_free(&x->cert);
	identity_free(&x->key);
}
