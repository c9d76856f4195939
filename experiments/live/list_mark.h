/* experiments/live/list_mark.h -- what comes with a signed list, and whether it is fresh.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list's bytes are what they are without a signature; beside them, in a header of
 * the answer, comes
 *
 *	Culprit-Signature: 1 1763894400 4f0c...
 *
 * the form, when its plan was issued, in seconds since 1970, and an Ed25519
 * signature (RFC 8032), 64 bytes in hexadecimal, of the text
 *
 *	culprit pinglist 1\n
 *	issued 1763894400\n
 *	sha256 9f86...\n
 *
 * with the checksum of the list's bytes, which name the server that it is for. That
 * there is no list is said (404) with the same header, of the text
 *
 *	culprit no pinglist 1\n
 *	issued 1763894400\n
 *	address 10.0.0.17\n
 *
 * and the time of now. The first line keeps a signature from meaning anything
 * elsewhere.
 *
 * Nothing is read, computed or signed here (list_sign.h does that).
 */
#ifndef EXPERIMENTS_LIVE_LIST_MARK_H
#define EXPERIMENTS_LIVE_LIST_MARK_H

#include <stdint.h>

#include "sim/err.h"
#include "topo/ip.h"

#define XP_LIST_HEADER "Culprit-Signature"

enum {
	XP_LIST_SIGNATURE = 64,
	XP_LIST_DIGEST = 32,
	XP_LIST_MARK = 160,      /* of the text of a mark, with its 0 */
	XP_LIST_STATEMENT = 128, /* of what is signed, likewise */
	XP_LIST_AHEAD_S = 3600,  /* that a controller's clock may be */
	XP_LIST_NONE_S = 3600,   /* that "there is no list" is believed */
	XP_LIST_NEWEST = 160,    /* of the text of the newest, with its 0 */
};

struct xp_list_mark {
	uint64_t issued_s;
	unsigned char signature[XP_LIST_SIGNATURE];
};

void xp_list_mark_put(char out[XP_LIST_MARK], const struct xp_list_mark *m);

/* The same read. There is one form of each mark. Errors SIM_EPARSE. */
int xp_list_mark_take(struct xp_list_mark *m, const char *text,
    struct sim_err *e);

/* What is signed. Returns its bytes. */
unsigned xp_list_mark_statement(char out[XP_LIST_STATEMENT], uint64_t issued_s,
    const unsigned char digest[XP_LIST_DIGEST]);

/* The same of "there is no list" for the server at ADDRESS. */
unsigned xp_list_none_statement(char out[XP_LIST_STATEMENT], uint64_t issued_s,
    struct topo_ip address);

/* Whether that is of now: said once, it is not to be said for ever by somebody who
 * kept it. Errors SIM_EMISMATCH. */
int xp_list_none_judge(uint64_t issued_s, uint64_t now_s, struct sim_err *e);

/* The newest list that was taken; zeroed, none was. */
struct xp_list_newest {
	uint64_t issued_s;
	unsigned char digest[XP_LIST_DIGEST];
};

/* Take a list with a good signature as the newest, unless it is an older one that
 * somebody brings back: issued before the newest, and another. The same bytes are
 * welcome from each of several controllers, whenever they were started. One of the
 * future would bar all that follow; and a newest one that is of the future was taken
 * while a time server told all hosts the wrong year, and bars nobody. So who is to
 * take an older one has his clock set back to between the two: with a clock that
 * begins in 1970 all lists are of the future.
 * Errors SIM_EMISMATCH: why not; N is then as it was. */
int xp_list_mark_judge(struct xp_list_newest *n, uint64_t issued_s,
    const unsigned char digest[XP_LIST_DIGEST], uint64_t now_s,
    struct sim_err *e);

/* As a text to keep: "newest pinglist 1\n", issued and sha256 as above. Returns its
 * bytes. */
unsigned xp_list_newest_put(char out[XP_LIST_NEWEST],
    const struct xp_list_newest *n);

/* The same read. There is one form of each. Errors SIM_EPARSE. */
int xp_list_newest_take(struct xp_list_newest *n, const char *text,
    struct sim_err *e);

#endif
