/* experiments/live/status.h -- what a status of HTTP means, in words.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Wherever a status is shown to people its words are beside it: who reads a log
 * at night is not to look numbers up.
 */
#ifndef EXPERIMENTS_LIVE_STATUS_H
#define EXPERIMENTS_LIVE_STATUS_H

/* For "it answers 404 (there is no such thing)". A status that none of ours has,
 * as of a proxy in between, has the words of its class. Never NULL. */
const char *xp_http_status_words(long status);

#endif
