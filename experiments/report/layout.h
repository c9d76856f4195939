/* experiments/report/layout.h -- where the parts of a network stand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network of tiers has a row for each, T2 on top, with the T1s and ToRs of
 * one pod together; pods are the parts into which it falls without its T2s. One
 * without tiers stands on a ring, in the order of ids: there, places mean
 * nothing. Hosts stand as one box a ToR, but for those with a part of their own.
 *
 * Where a row has more than XP_MAX_ROW switches, those are shown that a part
 * that matters belongs to, and then those of most failed flows; and no cable
 * without any.
 */
#ifndef EXPERIMENTS_REPORT_LAYOUT_H
#define EXPERIMENTS_REPORT_LAYOUT_H

#include "experiments/report/picture.h"

enum {
	XP_MAX_ROW = 96,     /* switches in a row, or on the ring */
	XP_MAX_CABLES = 1500 /* drawn where nothing happened on them */
};

struct xp_spot {
	double x, y;
	double hosts_x, hosts_y; /* of a ToR's box of hosts */
	uint32_t n_hosts;
	uint8_t shown;
};

struct xp_row {
	char name[16];
	double y, step; /* px from one switch to the next, at least */
	size_t n, n_shown;
};

struct xp_pod {
	double x, width;
	uint32_t number; /* among all pods, from left to right */
};

/* A host whose cable is a part. */
struct xp_lone_host {
	topo_host id;
	double x, y;
};

/* Zeroed is empty. */
struct xp_layout {
	const struct topo *topo;
	double width, height; /* px */
	int is_ring;
	int has_quiet;        /* cables without failed flows are drawn */
	struct xp_spot *spot; /* [switches] */
	size_t n_rows, n_pods;
	struct xp_row row[4]; /* by tier */
	struct xp_pod *pod;
	double hosts_y; /* of the row of hosts; 0: there is none */
	size_t n_lone;
	struct xp_lone_host lone[XP_MAX_PARTS];

	/* What was left out: switches; links between switches on which no flow
	 * failed; and links on which some did, with an end that is not shown. */
	size_t left_switches, left_quiet, left_flows;
};

/* Width px. Cost O(links), and O(switches log switches) where some are left
 * out. Errors SIM_ENOMEM. */
int xp_layout_make(struct xp_layout *l, const struct xp_picture *p,
    double width, struct sim_err *e);
void xp_layout_free(struct xp_layout *l);

/* Whether every switch and cable is shown: then the layout is that of the
 * network, but for lone hosts, whatever happened in it. */
static inline int xp_layout_is_whole(const struct xp_layout *l)
{
	return l->left_switches == 0 && l->has_quiet;
}

/* From where to where a directed link runs, on the right-hand lane of its
 * cable; 0 if an end is not shown, or a host of no place of its own. */
struct xp_line {
	double x1, y1, x2, y2;
};
int xp_layout_link(const struct xp_layout *l, topo_link link,
    struct xp_line *out);

/* The same of all cables of a ToR's hosts as one. */
struct xp_line xp_layout_hosts(const struct xp_layout *l, topo_switch tor,
    enum topo_dir dir);

#endif
