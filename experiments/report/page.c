/* experiments/report/page.c -- results as one page of HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/report/cells.h"
#include "experiments/report/draw.h"
#include "experiments/report/numbers.h"
#include "experiments/report/reasons.h"
#include "results/provenance.h"
#include "sim/bytes.h"
#include "sim/vec.h"

static const char *const page_css[] = {
#include "experiments/report/report.css.h"
};
static const char *const page_js[] = {
#include "experiments/report/report.js.h"
};

int xp_page_open(struct xp_report_page *p, const struct xp_page_asks *asks,
    struct sim_err *e)
{
	int rc;
	*p = (struct xp_report_page){.asks = *asks};
	if ((rc = mark_open(&p->nav, e)) == 0 &&
	    (rc = mark_open(&p->claims, e)) == 0 &&
	    (rc = SIM_ZALLOC(&p->article, asks->n_files, e)) == 0 &&
	    (rc = SIM_ZALLOC(&p->cells, asks->n_files, e)) == 0 &&
	    (rc = SIM_ZALLOC(&p->told, asks->claims ? asks->claims->n : 0,
		 e)) == 0)
		rc = SIM_ZALLOC(&p->id, asks->n_files, e);
	return rc;
}

static void buffer_free(struct mark_buffer *b)
{
	if (b->out)
		fclose(b->out);
	free(b->text);
}

void xp_page_close(struct xp_report_page *p)
{
	buffer_free(&p->nav);
	buffer_free(&p->claims);
	for (size_t i = 0; i < p->asks.n_files; i++) {
		if (p->article)
			buffer_free(&p->article[i]);
		if (p->cells)
			buffer_free(&p->cells[i]);
	}
	free(p->article);
	free(p->cells);
	free(p->told);
	free(p->id);
	*p = (struct xp_report_page){0};
}

/* --- one figure ----------------------------------------------------------- */

/* An id of letters, digits and _; of a second file of one figure with a
 * number. */
static const char *new_id(struct xp_report_page *p, const char *figure)
{
	char *id = p->id[p->n_added];
	size_t n = 0;
	for (size_t i = 0; i < 63 && figure[i]; i++) {
		const char c = figure[i];
		id[i] =
		    (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
		id[i + 1] = '\0';
	}
	if (!*id)
		snprintf(id, 64, "figure");
	for (size_t i = 0; i < p->n_added; i++)
		n += strncmp(p->id[i], id, strlen(id)) == 0 &&
		    (p->id[i][strlen(id)] == '\0' ||
			p->id[i][strlen(id)] == '-');
	if (n > 0)
		snprintf(id + strlen(id), 12, "-%zu", n + 1);
	p->n_added++;
	return id;
}

static int page_is_partial(const struct res_cube *c)
{
	const struct res_progress p = res_cube_progress(c);
	return p.n_done < p.n_cells || c->shard_n > 1;
}

static void put_item(FILE *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	fprintf(out, "<dt>%s</dt><dd>", name);
	mark_text(out, text);
	fputs("</dd>\n", out);
}

static void put_provenance(FILE *out, const struct xp_page_file *f)
{
	const struct res_cube *c = f->cube;
	const struct res_progress p = res_cube_progress(c);
	char line[256];
	fputs("<details><summary>Where it comes from</summary>\n<dl>\n", out);
	put_item(out, "file", f->path);
	put_item(out, "made", f->date);
	put_item(out, "by culprit", c->version);
	put_item(out, "build", c->build);
	put_item(out, "libraries", c->libraries);
	snprintf(line, sizeof(line), "%016" PRIx64,
	    sim_fnv(SIM_FNV_START, c->spec, c->spec_bytes));
	put_item(out, "spec (FNV-1a)", line);
	put_item(out, "overrides", c->overrides);
	snprintf(line, sizeof(line), "%" PRIu64, c->seed);
	put_item(out, "seed", line);
	snprintf(line, sizeof(line), "%zu points of %zu runs", c->n_points,
	    c->n_runs);
	put_item(out, "size", line);
	snprintf(line, sizeof(line),
	    "%" PRIu64 " of %" PRIu64 " cells done, %" PRIu64
	    " failed, %" PRIu64 " crashed",
	    p.n_done, p.n_cells, p.n_failed, p.n_crashed);
	put_item(out, "status", line);
	if (c->shard_n > 1) {
		snprintf(line, sizeof(line), "%u of %u", c->shard_i + 1,
		    c->shard_n);
		put_item(out, "shard", line);
	}
	fputs("</dl></details>\n", out);
}

/* "# experiments/x.yaml -- what it is." is how our specs begin. */
static void put_caption(FILE *out, const char *spec)
{
	const size_t n = strcspn(spec, "\n");
	char line[256];
	snprintf(line, sizeof(line), "%.*s", n < 255 ? (int)n : 255, spec);
	const char *caption = strstr(line, " -- ");
	if (*line != '#' || !caption)
		return;
	fputs("<p>", out);
	mark_text(out, caption + 4);
	fputs("</p>\n", out);
}

static void put_header(FILE *out, const struct res_cube *c, const char *id)
{
	const struct res_progress p = res_cube_progress(c);
	fprintf(out, "<header><h2 id=\"%s-title\">", id);
	mark_text(out, *c->title ? c->title : c->figure);
	fputs("</h2>\n<p><code>", out);
	mark_text(out, c->figure);
	fputs("</code>", out);
	if (*c->paper) {
		fputs(" &middot; ", out);
		mark_text(out, c->paper);
	}
	fputs("</p>\n", out);
	put_caption(out, c->spec);
	if (page_is_partial(c))
		fprintf(out,
		    "<p class=\"partial\">Partial: %" PRIu64 " of %" PRIu64
		    " runs%s.</p>\n",
		    p.n_done, p.n_cells,
		    c->shard_n > 1 ? ", and a shard alone" : "");
	if (*c->overrides) {
		fputs("<p class=\"partial\">Not as the spec has it: ", out);
		mark_text(out, c->overrides);
		fputs("</p>\n", out);
	}
	fputs("</header>\n", out);
}

void xp_page_svg(FILE *out, const char *svg, const char *no_svg,
    const char *prefix, const char *title_id)
{
	struct mark_buffer b;
	struct sim_err why;
	const char *no = no_svg;
	if (svg && mark_open(&b, NULL) == 0) {
		int rc = mark_inline_svg(b.out, svg, prefix, &why);
		rc = mark_close(&b, rc, &why);
		no = rc < 0 ? why.msg : NULL;
		if (rc == 0) {
			fprintf(out,
			    "<div class=\"figure\" role=\"img\" "
			    "aria-labelledby=\"%s\">",
			    title_id);
			fputs(b.text, out);
			fputs("</div>\n", out);
		}
		free(b.text);
	}
	if (no) {
		fputs("<p class=\"note\">There is no drawing: ", out);
		mark_text(out, no);
		fputs("</p>\n", out);
	}
}

static void put_svg(FILE *out, const struct xp_page_file *f, const char *id)
{
	char prefix[96], title[96];
	snprintf(prefix, sizeof(prefix), "%s-f-", id);
	snprintf(title, sizeof(title), "%s-title", id);
	xp_page_svg(out, f->svg, f->no_svg, prefix, title);
}

static int put_article(FILE *out, const struct xp_page_file *f, const char *id,
    struct sim_err *e)
{
	const struct res_cube *c = f->cube;
	fprintf(out, "<article id=\"%s\" aria-labelledby=\"%s-title\">\n", id,
	    id);
	put_header(out, c, id);
	put_svg(out, f, id);
	for (size_t i = 0; i < c->n_claims; i++) {
		fputs("<p class=\"note\">", out);
		mark_format(out, "Claim: %s (%s%s)", c->claim[i].text,
		    c->claim[i].metric,
		    c->claim[i].confirmed ? "" : ", unconfirmed");
		fputs("</p>\n", out);
	}
	fputs("<details><summary>Its numbers</summary>\n", out);
	const int rc = xp_numbers_put(out, c, f->path, e);
	fputs("</details>\n<details><summary>Its spec</summary>\n<pre>", out);
	mark_text(out, c->spec);
	fputs("</pre></details>\n", out);
	put_provenance(out, f);
	return rc;
}

/* What is left of the page is shared alike by the files that are to come. */
static size_t room_for_cells(const struct xp_report_page *p)
{
	/* The head, the scripts and the claims. */
	enum { REST = 200000 };
	const size_t left = p->asks.n_files - p->n_celled;
	const size_t used = p->n_bytes + REST;
	return used < p->asks.max_bytes ? (p->asks.max_bytes - used) / left : 0;
}

/* Those of this figure that no file before has told. */
static int add_claims(struct xp_report_page *p, const struct res_cube *c,
    const char *id, struct sim_err *e)
{
	const struct xp_claims *all = p->asks.claims;
	int rc = 0;
	for (size_t i = 0; rc == 0 && all && i < all->n; i++) {
		const struct xp_claim *claim = &all->claim[i];
		struct xp_finding f = {0};
		if (p->told[i] || (c && strcmp(claim->figure, c->figure) != 0))
			continue;
		if ((rc = xp_claim_check(claim, c, &f, e)) == 0) {
			xp_page_claim(p->claims.out, claim, &f, id,
			    p->asks.reasons
				? xp_reasons_find(p->asks.reasons, claim->id)
				: 0);
			p->n_verdicts[f.verdict[XP_OWN]]++;
			p->told[i] = 1;
		}
		xp_finding_free(&f);
	}
	return rc;
}

static void put_link(FILE *out, const char *figure, const char *title,
    int is_partial, const char *id)
{
	fprintf(out, "<li><a href=\"#%s\" title=\"", id);
	mark_text(out, title);
	fputs("\">", out);
	mark_text(out, figure);
	fputs(is_partial ? " <span class=\"partial\">partial</span>" : "", out);
	fputs("</a></li>\n", out);
}

int xp_page_add(struct xp_report_page *p, const struct xp_page_file *f,
    struct sim_err *e)
{
	struct mark_buffer *b = &p->article[p->n_added];
	const char *id = new_id(p, f->cube->figure);
	put_link(p->nav.out, f->cube->figure, f->cube->title,
	    page_is_partial(f->cube), id);
	int rc = add_claims(p, f->cube, id, e);
	if (rc < 0 || (rc = mark_open(b, e)) < 0)
		return rc;
	rc = mark_close(b, put_article(b->out, f, id, e), e);
	p->n_bytes += b->n;
	p->n_partial += page_is_partial(f->cube);
	return rc;
}

int xp_page_add_drawn(struct xp_report_page *p, const struct xp_page_drawn *d,
    struct sim_err *e)
{
	struct mark_buffer *b = &p->article[p->n_added];
	const char *id = new_id(p, d->figure);
	put_link(p->nav.out, d->figure, d->title, 0, id);
	int rc = mark_open(b, e);
	if (rc < 0)
		return rc;
	xp_drawn_put(b->out, d, id);
	rc = mark_close(b, 0, e);
	p->n_bytes += b->n;
	return rc;
}

void xp_page_skip_cells(struct xp_report_page *p)
{
	p->n_celled++;
}

int xp_page_add_cells(struct xp_report_page *p, const struct xp_page_file *f,
    struct sim_err *e)
{
	struct mark_buffer *b = &p->cells[p->n_celled];
	struct xp_cells x = {
	    .id = p->id[p->n_celled],
	    .explain = f->explain,
	    .folder = f->folder,
	    .most = p->asks.n_cells,
	    .max_bytes = room_for_cells(p),
	};
	int rc = mark_open(b, e);
	if (rc < 0)
		return rc;
	if (p->asks.n_cells > 0)
		rc = xp_cells_put(b->out, f->cube, &x, e);
	rc = mark_close(b, rc, e);
	p->n_celled++;
	p->n_bytes += b->n;
	p->n_cells += x.n_shown;
	p->n_unlike += x.n_unlike;
	p->n_left += x.n_left;
	return rc;
}

/* --- the document --------------------------------------------------------- */

/* Ours, and not to be escaped; but no file of ours may end its element. */
static void put_lines(FILE *out, const char *const lines[])
{
	for (size_t i = 0; lines[i]; i++)
		fputs(lines[i], out);
}

static void put_top(FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src 'unsafe-inline'; img-src data:\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n"
	      "<title>culprit report</title>\n<style>\n",
	    out);
	put_lines(out, xp_draw_css);
	put_lines(out, page_css);
	fputs("</style>\n</head>\n<body>\n"
	      "<a class=\"skip\" href=\"#main\">To the figures</a>\n"
	      "<div class=\"page\">\n",
	    out);
}

static void put_side(FILE *out, const struct xp_report_page *p)
{
	fprintf(out,
	    "<nav class=\"side\" aria-label=\"Figures\">\n<h1>culprit "
	    "report</h1>\n<p>%zu figure%s, %zu cells shown",
	    p->n_added, p->n_added == 1 ? "" : "s", p->n_cells);
	if (p->n_partial > 0)
		fprintf(out, "; %zu partial", p->n_partial);
	fputs(".<br>Written by culprit ", out);
	mark_text(out, res_version());
	fputs("</p>\n<button type=\"button\" id=\"theme\" hidden></button>\n"
	      "<p></p>\n<input id=\"find\" type=\"search\" "
	      "placeholder=\"Find a figure\" aria-label=\"Find a figure\" "
	      "hidden>\n<ol>\n",
	    out);
	if (p->claims.n > 0)
		fputs("<li><a href=\"#claims\">Claims of the paper</a></li>\n",
		    out);
	fputs(p->nav.text, out);
	fputs("</ol>\n</nav>\n", out);
}

/* Buffers have their text once they are closed. */
static int close_parts(struct xp_report_page *p, struct sim_err *e)
{
	int rc = 0;
	if (p->asks.all_claims)
		rc = add_claims(p, NULL, NULL, e);
	rc = mark_close(&p->claims, rc, e);
	return mark_close(&p->nav, rc, e);
}

int xp_page_write(struct xp_report_page *p, char **text, size_t *n,
    struct sim_err *e)
{
	struct mark_buffer b;
	int rc = close_parts(p, e);
	if (rc < 0 || (rc = mark_open(&b, e)) < 0)
		return rc;
	put_top(b.out);
	put_side(b.out, p);
	fputs("<main id=\"main\">\n", b.out);
	if (p->claims.n > 0)
		xp_page_claims(b.out, p->claims.text, p->n_verdicts,
		    p->asks.reasons);
	for (size_t i = 0; i < p->n_added; i++) {
		fputs(p->article[i].text, b.out);
		if (i < p->n_celled && p->cells[i].text)
			fputs(p->cells[i].text, b.out);
		fputs("</article>\n", b.out);
	}
	fputs("</main>\n</div>\n<script>\n", b.out);
	put_lines(b.out, page_js);
	fputs("</script>\n</body>\n</html>\n", b.out);
	if ((rc = mark_close(&b, 0, e)) < 0) {
		free(b.text);
		return rc;
	}
	*text = b.text;
	*n = b.n;
	return 0;
}
