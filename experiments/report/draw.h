/* experiments/report/draw.h -- a picture of a cell as SVG.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Marks are told apart by form as well as by colour: what is broken is dashed,
 * with a filled round badge; what is accused wrongly has a square white one;
 * failed flows are told by width, votes by darkness, accusations by a ring.
 * The same cell gives the same bytes.
 */
#ifndef EXPERIMENTS_REPORT_DRAW_H
#define EXPERIMENTS_REPORT_DRAW_H

#include <stdio.h>

#include "experiments/report/layout.h"
#include "experiments/report/picture.h"

enum { XP_MAX_COLUMNS = 4 }; /* algorithms in the table of a drawing */

struct xp_drawing {
	const char *where; /* what the point is, for people; or "" */

	/* For a page of HTML: without the table, colours left to the page, and
	 * the votes of each algorithm in a group of its own, of which all but
	 * the first are hidden (class c-says, attribute data-says). */
	int within;

	/* Of WITHIN: the id of what xp_draw_network() wrote, to be used; NULL:
	 * the network is drawn here. */
	const char *network;

	/* Else: the algorithms of the table, whose first one's votes are
	 * drawn. */
	size_t n_algos;
	size_t algo[XP_MAX_COLUMNS];
};

/* The whole of a network that is not about a cell, as <g id=ID>, to be used by
 * drawings of whole layouts. */
void xp_draw_network(FILE *out, const struct xp_layout *l, const char *id);

/* The SVG of a cell. Errors of the memory or file behind OUT are left to it. */
void xp_draw_cell(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct xp_drawing *d);

/* "A" for the first part; its badge in drawings and tables. */
static inline char xp_part_letter(size_t i)
{
	return (char)('A' + i);
}

/* What a drawing leaves out, as a sentence; "" if nothing. */
void xp_draw_left_out(const struct xp_picture *p, const struct xp_layout *l,
    char buf[], size_t size);

/* One line about the cell: hosts, flows, what failed. */
void xp_draw_summary(const struct xp_picture *p, char buf[], size_t size);

/* What xp_drawing.within leaves to the page, as the lines of a style sheet,
 * NULL-terminated. */
extern const char *const xp_draw_css[];

#endif
