/* experiments/live/list_sign.h -- lists signed by a controller, checked by an agent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * TLS says who an agent speaks with; a signature says who made the list, wherever
 * it was kept since. The form is of list_mark.h. Without GnuTLS list_sign_none.c
 * stands in its place.
 */
#ifndef EXPERIMENTS_LIVE_LIST_SIGN_H
#define EXPERIMENTS_LIVE_LIST_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/live/list_mark.h"
#include "sim/err.h"

enum { XP_LIST_KEYS = 8 };

/* --- a controller's ------------------------------------------------------- */
struct xp_list_signer;

/* Sign by the private Ed25519 key of the file PATH, PEM, for a plan that is issued
 * at ISSUED_S. Errors SIM_EIO, SIM_EPARSE, SIM_EINVAL (another kind of key, or one
 * that everybody may read), SIM_EDEP, SIM_ENOMEM, SIM_EUNSUPPORTED. */
int xp_list_signer_open(struct xp_list_signer **out, const char *path,
    uint64_t issued_s, struct sim_err *e);

/* The mark of a list whose bytes come in pieces: begin, add each, end, which also
 * frees what begin made. Any thread may, each with a sum of its own. Errors
 * SIM_ENOMEM, SIM_EDEP. */
int xp_list_sum_begin(void **sum, struct sim_err *e);
void xp_list_sum_add(void *sum, const void *bytes, size_t n);
int xp_list_sum_end(void *sum, const struct xp_list_signer *s,
    char mark[XP_LIST_MARK], struct sim_err *e);

/* The mark of "there is no list" for the server at ADDRESS. Errors SIM_EDEP. */
int xp_list_sign_none(const struct xp_list_signer *s, struct topo_ip address,
    uint64_t now_s, char mark[XP_LIST_MARK], struct sim_err *e);

void xp_list_signer_close(struct xp_list_signer *s); /* NULL is fine */

/* --- an agent's ----------------------------------------------------------- */
struct xp_list_checker;

/* Believe the public Ed25519 keys of the file PATH, PEM, up to XP_LIST_KEYS of
 * them: the next key is told before it is used. Errors as above. */
int xp_list_checker_open(struct xp_list_checker **out, const char *path,
    struct sim_err *e);

/* Whether the N bytes of a list with the mark MARK ("": none) are signed by one of
 * the keys, and no older than what was taken before; then it is the newest. The
 * message has neither beginning nor full stop: "it is not signed".
 * Errors SIM_EMISMATCH, SIM_EPARSE, SIM_EDEP. */
int xp_list_check(struct xp_list_checker *c, const char *mark,
    const void *bytes, size_t n, uint64_t now_s, struct sim_err *e);

/* The same of "there is no list" for ADDRESS. */
int xp_list_check_none(struct xp_list_checker *c, const char *mark,
    struct topo_ip address, uint64_t now_s, struct sim_err *e);

/* Remember the newest list in the file PATH (borrowed) from now on, and what it
 * tells of the time before: else whoever has kept an older list could bring it to an
 * agent that was just started. It is written at once, too, so that it shows whether
 * it can be. Errors SIM_EIO, SIM_EPARSE (what it tells makes no sense). */
int xp_list_checker_remember(struct xp_list_checker *c, const char *path,
    struct sim_err *e);

/* Write it if there is a newer list since. Errors SIM_EIO: it is tried again. */
int xp_list_checker_keep(struct xp_list_checker *c, struct sim_err *e);

/* When the newest list was issued; 0: none was taken. */
uint64_t xp_list_checker_issued_s(const struct xp_list_checker *c);

void xp_list_checker_close(struct xp_list_checker *c); /* NULL is fine */

#endif
