/* experiments/report/page.h -- results as one page of HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page needs nothing beside itself, neither a network nor scripts: these
 * only sort, choose and colour what there is to be read anyway. The same
 * results give the same bytes.
 *
 *	xp_page_open(), xp_page_add() for each file, xp_page_add_cells() for
 *	each again, xp_page_write(), xp_page_close()
 *
 * Cells come after all else, as they get the room that it leaves.
 */
#ifndef EXPERIMENTS_REPORT_PAGE_H
#define EXPERIMENTS_REPORT_PAGE_H

#include <stdio.h>

#include "experiments/check/claim.h"
#include "experiments/check/verify.h"
#include "experiments/report/markup.h"
#include "results/cube.h"

struct xp_page_asks {
	size_t n_files;   /* how many will be added */
	size_t max_bytes; /* no more cells once the page is as large */
	size_t n_cells;   /* of each file, at most; 0: none */

	/* What papers claim, and why results differ from it; NULL: neither is
	 * told. With all_claims also those of no file that was added. */
	const struct xp_claims *claims;
	const char *reasons;
	int all_claims;
};

/* One results file. */
struct xp_page_file {
	const char *path;
	const struct res_cube *cube;
	const char *svg;     /* its figure; or NULL, and then: */
	const char *no_svg;  /* why there is none */
	const char *explain; /* how `culprit explain` is told its spec */
	const char *folder;  /* of GraphML files; with its slash or "" */
	const char *date;    /* when it was made; or "" */
};

/* Figures that were drawn already, and a table: what came of many files. */
enum { XP_PAGE_DRAWN = 8 };
struct xp_page_drawn {
	const char *path, *figure, *title;
	const char *about; /* a line beneath the title, and a paragraph */
	const char *says;
	size_t n;
	struct {
		const char *caption;
		const char *svg;    /* or NULL, and then: */
		const char *no_svg; /* why there is none */
	} drawing[XP_PAGE_DRAWN];
	const char *table; /* columns with tabs between, names first */
	const char *table_note;
};

struct xp_report_page {
	struct xp_page_asks asks;
	struct mark_buffer nav, claims;
	struct mark_buffer *article, *cells; /* [n_files] */
	uint8_t *told;                       /* [claims] */
	size_t n_verdicts[XP_N_CLAIM_VERDICTS];
	size_t n_added, n_bytes; /* n_bytes: of articles and cells */
	size_t n_celled, n_cells, n_unlike, n_left, n_partial;
	char (*id)[80]; /* [n_files], of those added */
};

/* Errors SIM_ENOMEM; P is to be closed in any case. */
int xp_page_open(struct xp_report_page *p, const struct xp_page_asks *asks,
    struct sim_err *e);
void xp_page_close(struct xp_report_page *p);

/* Errors SIM_ENOMEM, and those of tables and claims. */
int xp_page_add(struct xp_report_page *p, const struct xp_page_file *f,
    struct sim_err *e);

/* One that counts as a file; the second is in place of its cells. Errors
 * SIM_ENOMEM. */
int xp_page_add_drawn(struct xp_report_page *p, const struct xp_page_drawn *d,
    struct sim_err *e);
void xp_page_skip_cells(struct xp_report_page *p);

/* The cells of the next file, which are the same files in the same order.
 * Errors as of xp_cells_put(). */
int xp_page_add_cells(struct xp_report_page *p, const struct xp_page_file *f,
    struct sim_err *e);

/* The whole document, *TEXT to be freed. Errors SIM_ENOMEM, and those of
 * claims. P can't be added to any more. */
int xp_page_write(struct xp_report_page *p, char **text, size_t *n,
    struct sim_err *e);

/* --- in drawn.c ----------------------------------------------------------- */

/* The inside of its article. ID begins ids. */
void xp_drawn_put(FILE *out, const struct xp_page_drawn *d, const char *id);

/* --- in page.c ------------------------------------------------------------ */

/* SVG as a figure whose ids begin with PREFIX and whose name is that of the element
 * TITLE_ID; or why there is none, NO_SVG, where it is NULL or refused. */
void xp_page_svg(FILE *out, const char *svg, const char *no_svg,
    const char *prefix, const char *title_id);

/* --- in claims_table.c ---------------------------------------------------- */

/* A row of the table: what is claimed, and what came of it. FIGURE_ID is where
 * its figure is in the page; NULL: it is not there. */
void xp_page_claim(FILE *out, const struct xp_claim *c,
    const struct xp_finding *f, const char *figure_id, unsigned reason);

/* The whole section. ROWS are those above. */
void xp_page_claims(FILE *out, const char *rows, const size_t n_verdicts[],
    const char *reasons);

#endif
