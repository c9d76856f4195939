/* experiments/live/identity.h -- who a daemon is, and whom it believes: three files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	--ca    certificates of the authorities that vouch for the others, PEM
 *	--cert  this one's own, with those between it and the authority, if any
 *	--key   its key, which is not for everybody to read
 *
 * They may be replaced while the daemon runs: it looks at them again and again,
 * and takes what is new as soon as the three fit together. Until then, as when
 * only one of two has been replaced, it goes on with what it has. `culprit ca`
 * makes such files (ca.h).
 *
 * Without GnuTLS identity_none.c stands in its place.
 */
#ifndef EXPERIMENTS_LIVE_IDENTITY_H
#define EXPERIMENTS_LIVE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct xp_identity_params {
	const char *ca, *cert, *key; /* all of them, or NULL */
	int insecure; /* speak without them, too, beyond this host */
};

/* PEM, of N bytes, with a 0 behind it. */
struct xp_pem {
	char *bytes;
	size_t n;
};

enum { XP_IDENTITY_FILES = 3, XP_IDENTITY_BYTES = 1 << 20 };

struct xp_identity {
	struct xp_identity_params params;
	struct xp_pem ca, cert, key;
	uint64_t seen; /* the files as they were last looked at */
};

/* Are there no files, or all three? Errors SIM_EINVAL: what is missing. */
int xp_identity_check(const struct xp_identity_params *p, struct sim_err *e);

/* Read them; without files X is empty. P's texts are borrowed until close.
 * Errors SIM_EIO, SIM_EINVAL (a key that everybody may read), SIM_EPARSE,
 * SIM_EMISMATCH (the key is not the certificate's), SIM_EDEP, SIM_ENOMEM,
 * SIM_EUNSUPPORTED (built without GnuTLS). */
int xp_identity_open(struct xp_identity *x, const struct xp_identity_params *p,
    struct sim_err *e);

/* Whether X has new files: 1 if it took them, 0 if they are as they were. Errors
 * as of open, once for each state of the files; X then stays as it is. */
int xp_identity_look(struct xp_identity *x, struct sim_err *e);

/* Refuse a key that everybody may read. Errors SIM_EINVAL. */
int xp_identity_is_secret(const char *path, struct sim_err *e);

void xp_identity_close(struct xp_identity *x);

#endif
