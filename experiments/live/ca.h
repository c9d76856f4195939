/* experiments/live/ca.h -- a certificate authority in a folder, for tests and small fleets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	DIR/ca.pem  DIR/ca.key              the authority, of ten years
 *	DIR/list.pub  DIR/list.key          what lists are signed by (list_sign.h)
 *	DIR/NAME.pem  DIR/NAME.key          whom it vouches for
 *
 * Keys are of mode 0600 and in plain text: whoever reads ca.key can be anybody
 * of the fleet, and nothing is ever revoked but by its date. A file is replaced
 * as a whole, so a daemon that reads anew finds the old one or the new one. Keys of
 * certificates are of ECDSA on P-256, which each TLS library takes; that of lists,
 * Ed25519.
 *
 * A certificate is of one purpose: that of an agent cannot serve, so an agent's
 * key that was stolen makes nobody its controller.
 *
 * Without GnuTLS ca_none.c stands in its place.
 */
#ifndef EXPERIMENTS_LIVE_CA_H
#define EXPERIMENTS_LIVE_CA_H

#include <stdint.h>

#include "sim/err.h"

enum { XP_CA_NAMES = 32, XP_CA_MAX_DAYS = 3650 };

enum xp_ca_kind { XP_CA_SERVER, XP_CA_AGENT };

struct xp_ca;

/* The authority in DIR; the folder and it are made if there is none, *IS_NEW is
 * then 1. Errors SIM_EIO, SIM_EPARSE (its files), SIM_EMISMATCH (of different
 * authorities), SIM_EDEP, SIM_ENOMEM, SIM_EUNSUPPORTED (built without
 * GnuTLS). */
int xp_ca_open(struct xp_ca **out, const char *dir, int *is_new,
    struct sim_err *e);

/* Vouch for NAMES, "10.0.0.250,controller.example": addresses of IPv4 and IPv6
 * and names of hosts, the first of which names its files, with - for each colon; from FROM_S, seconds
 * since 1970, for DAYS days. What was there is replaced.
 * Errors SIM_EINVAL (names), SIM_EIO, SIM_EDEP, SIM_ENOMEM. */
int xp_ca_issue(struct xp_ca *ca, enum xp_ca_kind kind, const char *names,
    uint64_t from_s, uint32_t days, struct sim_err *e);

/* NULL is fine. */
void xp_ca_close(struct xp_ca *ca);

#endif
