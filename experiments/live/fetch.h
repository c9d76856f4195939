/* experiments/live/fetch.h -- a live agent's contacts: lists come, batches go.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the real fabric does for AGENT_FETCH, AGENT_UPLOAD and AGENT_COUNTERS,
 * by libcurl and without waiting:
 *
 *	GET  CONTROLLER/pinglist/ADDRESS      the list, or what is wrong
 *	POST COLLECTOR/results                one batch, or the counters of a
 *	                                      window, as algos/pingmesh/wire.h
 *
 * An answer is what comes with 200 (a list), 304 (the list that was had) or 404
 * (there is none, which stops the agent). Anything else is none: another
 * status, a redirect, which is not followed, a body that is cut off, or whose
 * length is said in two ways, or that is packed (fetch_head.h), silence until the
 * deadline. Then the next controller is asked, if there are several;
 * the one that answered last is asked first. All together have nine tenths of
 * the agent's own deadline, each an equal share of what is left. So one
 * controller that is lost does not stop an agent, and one whose stop file is
 * set does.
 *
 * With keys to check lists by, one without a good signature is none either, nor is
 * one that is older than what was had (list_mark.h), and "there is none" counts as
 * little without one: to stop a fleet is the operator's to say, and whoever else can
 * answer is to get no further than silence would.
 *
 * A list is read by the agent alone (algos/pingmesh/pinglist_xml.h). Here it is
 * bytes, of which at most one more is kept than the agent would take.
 *
 * A batch is taken if the answer is 200. The times that it carries are of the
 * agent's clock, which begins at 0. In what is posted they are of the wall
 * clock, nanoseconds since 1970: that of the first try, so that a batch that is
 * tried again is the same bytes. The agent's start is of the wall clock when
 * that was, whatever is corrected later, for it names the batches. Counters are
 * posted once, beside a batch that may be under way.
 *
 * No proxy, user, cookie or environment variable has a say. https:// is taken
 * if libcurl has it. With files of an identity the agent shows its certificate, and
 * takes a server whose authority is among ours and whose certificate has the
 * address or name in the URL; the files are looked at before each contact. Without
 * them the system says whom to believe. http:// goes to this host alone, unless it
 * is said to be fine.
 */
#ifndef EXPERIMENTS_LIVE_FETCH_H
#define EXPERIMENTS_LIVE_FETCH_H

#include "experiments/live/identity.h"
#include "models/real/real.h"
#include "topo/ip_book.h"

enum { XP_FETCH_MAX_CONTROLLERS = 16 };

struct xp_fetch_params {
	const char *controllers; /* "http://10.0.0.9:8080,http://..." */
	const char *collector;   /* NULL: none, and uploads fail */
	struct topo_ip address;  /* the agent's */
	/* Of the addresses that its batches name by numbers; NULL: none. */
	const struct topo_ip_book *book;
	double fetch_s, upload_s; /* the agent's deadlines */
	size_t max_bytes;         /* of a list */
	struct xp_identity_params identity;
	const char *signed_by; /* take only lists signed by its keys; or NULL */
	const char *newest;    /* remember the newest here; or NULL. Borrowed */
};

#define XP_FETCH_COUNTERS(X)                                                   \
	X(n_lists, "lists that came")                                          \
	X(n_same, "times that the list was the one before")                    \
	X(n_none, "times that there was no list")                              \
	X(n_unanswered, "controllers that gave no answer")                     \
	X(n_refused, "lists refused for what their signature is")              \
	X(n_unkept, "times that the newest list was not written down")         \
	X(n_taken, "batches that the collector took")                          \
	X(n_untaken, "batches that it did not take, each try")                 \
	X(n_windows, "windows of counters that it took")                       \
	X(n_windows_lost, "windows of counters that it did not take")          \
	X(n_renewed, "times that new certificates were taken")                 \
	X(n_unfit, "times that they were of no use")

struct xp_fetch_counters {
#define X(name, doc) uint64_t name;
	XP_FETCH_COUNTERS(X)
#undef X
};

struct xp_fetch;

int xp_fetch_is_built_in(void);

/* Errors SIM_EINVAL (what is no URL, or too many), SIM_EUNSUPPORTED (built
 * without libcurl; https:// and libcurl has none), SIM_EIO, SIM_EDEP,
 * SIM_ENOMEM. P's texts are copied, but for the
 * names of its identity's files, which are borrowed until close. */
int xp_fetch_open(struct xp_fetch **out, const struct xp_fetch_params *p,
    struct sim_err *e);

/* Ask these from now on; what is under way ends with those of before. Errors of
 * xp_fetch_open()'s URLs, with nothing changed. */
int xp_fetch_change(struct xp_fetch *f, const char *controllers,
    const char *collector, struct sim_err *e);

/* Be the services of FABRIC, whose only host is the agent's, until that is
 * closed; once. The files of its identity are read here, by whoever this process
 * is by now. Errors SIM_EIO, those of xp_identity_open(). */
int xp_fetch_serve(struct xp_fetch *f, struct fabric_real *fabric,
    struct sim_err *e);

const struct xp_fetch_counters *xp_fetch_count(const struct xp_fetch *f);

/* What was wrong last, one line that names who was asked; "" if nothing was. */
const char *xp_fetch_why(const struct xp_fetch *f);

/* After the fabric; NULL is fine. */
void xp_fetch_close(struct xp_fetch *f);

#endif
