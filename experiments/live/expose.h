/* experiments/live/expose.h -- metrics in Prometheus' text format, out and in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	# HELP culprit_http_late_total Connections closed at a deadline.
 *	# TYPE culprit_http_late_total counter
 *	culprit_http_late_total 3
 *
 * Version 0.0.4 of the format, of which counters and gauges are used, with one
 * label at most. What is read is what is written here, and no more: a line that
 * Prometheus would take and that is none of ours is refused, so the reader is a
 * check of the writer.
 */
#ifndef EXPERIMENTS_LIVE_EXPOSE_H
#define EXPERIMENTS_LIVE_EXPOSE_H

#include "sim/err.h"
#include "sim/text.h"

/* The media type of such a text. */
#define XP_EXPOSE_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum xp_expose_kind { XP_EXPOSE_COUNTER, XP_EXPOSE_GAUGE };

/* Begin a family: its two lines of comment. HELP is a clause in small letters,
 * of which a sentence is made.
 * Domain NAME is of [a-z0-9_] and ends in _total if it is a counter's. */
void xp_expose_family(struct sim_text *t, enum xp_expose_kind kind,
    const char *name, const char *help);

/* A sample of it, with LABEL="VALUE" or, if LABEL is NULL, without. */
void xp_expose_count(struct sim_text *t, const char *name, const char *label,
    const char *value, uint64_t x);

/* A family of one sample. X may be NaN: not known. */
void xp_expose_total(struct sim_text *t, const char *name, const char *help,
    uint64_t x);
void xp_expose_gauge(struct sim_text *t, const char *name, const char *help,
    double x);

/* What this process takes. With OF "process" by the names that all of Prometheus'
 * clients have; another where its own process_ are beside, as in files that a node
 * exporter joins to what it says of itself. START_S is since 1970. */
struct xp_daemon_cost;
void xp_expose_process(struct sim_text *t, const char *of,
    const struct xp_daemon_cost *c, double start_s);

enum { XP_EXPOSE_NAME = 96, XP_EXPOSE_MOST = 256 };

/* What was read. NAME is as it was written, with the label. */
struct xp_exposed {
	size_t n;
	struct xp_exposed_sample {
		char name[XP_EXPOSE_NAME];
		double value;
	} sample[XP_EXPOSE_MOST];
};

/* Read TEXT, which ends with a 0. Errors SIM_EPARSE (with the line: a form that is
 * not ours, a sample without HELP and TYPE, one that is there twice, a counter that is
 * negative or no number), SIM_ELIMIT (more samples).
 * Cost O(n^2) of samples. */
int xp_exposed_read(struct xp_exposed *x, const char *text, struct sim_err *e);

/* The value of a sample, or NaN if there is none. */
double xp_exposed_get(const struct xp_exposed *x, const char *name);

#endif
