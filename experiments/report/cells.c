/* experiments/report/cells.c -- some cells of a figure, run again for a page.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/report/draw.h"
#include "experiments/report/markup.h"
#include "experiments/report/pick.h"
#include "experiments/spec/fabric.h"
#include "sim/text.h"
#include "sim/vec.h"

/* A figure's cells while they are written. */
struct writing {
	FILE *out;
	const struct res_cube *c;
	struct xp_cells *x;
	struct xp_spec spec;
	struct xp_trial *trial;
	double *row;
	struct xp_picture p;
	size_t n_bytes;

	/* The network that was written last: cells of one point share it. */
	char *network;
	unsigned n_networks;
	char network_id[128];
};

/* --- words ---------------------------------------------------------------- */

static void why_picked(const struct res_cube *c, const struct xp_picked *k,
    char buf[], size_t size)
{
	if (isnan(k->value))
		snprintf(buf, size, "the first run");
	else
		snprintf(buf, size, "%s %s of %.48s is %.3g (%g of %g)",
		    k->is_first ? "the first run; its least ratio,"
				: "among the worst:",
		    k->ratio, c->algo[k->algo], k->value, k->num, k->den);
}

/* In quotes for a shell, where it needs them. */
static void put_word(FILE *out, const char *word)
{
	if (*word &&
	    !word[strspn(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
		"UVWXYZ0123456789_-./=:,")]) {
		mark_text(out, word);
		return;
	}
	fputs("&#39;", out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("&#39;\\&#39;&#39;", out);
		else
			mark_text(out, (const char[]){*word, '\0'});
	fputs("&#39;", out);
}

/* The command that shows the same cell. */
static int put_command(FILE *out, const struct res_cube *c, const char *spec,
    size_t place, const char *run, struct sim_err *e)
{
	char *lines;
	int rc = sim_dup(&lines, c->overrides, e);
	if (rc < 0)
		return rc;
	fputs("<code class=\"run\">culprit explain ", out);
	put_word(out, spec);
	for (char *rest = lines, *line; (line = strsep(&rest, "\n"));) {
		if (!*line || strncmp(line, "topology.file ", 14) == 0)
			continue;
		fputs(strcmp(line, "--smoke") == 0 ? " " : " --set ", out);
		put_word(out, line);
	}
	fprintf(out, " --point %zu --run %s -o cell.svg</code>\n", place, run);
	free(lines);
	return 0;
}

/* --- tables of one cell --------------------------------------------------- */

static void put_saying(FILE *out, const struct xp_saying *s)
{
	fputs("<td>", out);
	if (s->word != XP_WORD_NONE)
		fprintf(out, "<span class=\"word %s\">%s</span> ",
		    xp_word_names[s->word], xp_word_names[s->word]);
	if (s->rank > 0)
		fprintf(out, "<small>%zu, %.4g</small>", s->rank, s->score);
	fputs("</td>", out);
}

static void put_part(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, size_t i)
{
	const struct xp_part part = p->part[i];
	char name[64], fault[256];
	xp_part_name(p, part, name);
	xp_part_fault(p, part, fault, sizeof(fault));
	fprintf(out, "<tr><td><span class=\"badge%s\">%c</span></td>",
	    xp_part_is_broken(p, part) ? " bad" : "", xp_part_letter(i));
	fputs("<th scope=\"row\">", out);
	mark_text(out, name);
	fputs("</th><td>", out);
	mark_text(out, *fault ? fault : "nothing");
	if (part.is_switch)
		fputs("</td><td></td><td></td>", out);
	else
		fprintf(out,
		    "</td><td class=\"num\">%u</td>"
		    "<td class=\"num\">%u</td>",
		    p->flows[part.id], p->drops[part.id]);
	for (size_t k = 0; k < d->n_algos; k++) {
		const struct xp_saying s = xp_picture_said(p, d->algo[k], part);
		put_saying(out, &s);
	}
	fputs("</tr>\n", out);
}

static void cells_put_parts(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><td>"
	      "</td><th scope=\"col\">part</th>"
	      "<th scope=\"col\">what is wrong with it</th>"
	      "<th scope=\"col\" class=\"num\">failed flows</th>"
	      "<th scope=\"col\" class=\"num\">packets lost</th>",
	    out);
	for (size_t k = 0; k < d->n_algos; k++) {
		fputs("<th scope=\"col\">", out);
		mark_text(out, p->cell.config->algo[d->algo[k]].label);
		fputs("<br><small>rank, score</small></th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < p->n_parts; i++)
		put_part(out, p, d, i);
	fputs("</tbody></table></div>\n", out);
}

/* --- one cell ------------------------------------------------------------- */

/* Cells of one network use one drawing of it. Returns its id, or NULL where a
 * cell has a layout of its own. */
static const char *share_network(struct writing *w, FILE *out,
    const struct xp_layout *l)
{
	struct mark_buffer b;
	char id[sizeof(w->network_id)];
	if (!xp_layout_is_whole(l) || mark_open(&b, NULL) < 0)
		return NULL;
	/* The id is left open, so that equal networks are the same text. */
	xp_draw_network(b.out, l, "@");
	if (mark_close(&b, 0, NULL) < 0) {
		free(b.text);
		return NULL;
	}
	if (w->network && strcmp(w->network, b.text) == 0) {
		free(b.text);
		return w->network_id;
	}
	free(w->network);
	w->network = b.text;
	snprintf(id, sizeof(id), "%.100s-net%u", w->x->id, w->n_networks++);
	memcpy(w->network_id, id, sizeof(id));
	fputs("<svg class=\"c-svg c-defs\" aria-hidden=\"true\" "
	      "focusable=\"false\"><defs>\n",
	    out);
	xp_draw_network(out, l, id);
	fputs("</defs></svg>\n", out);
	return w->network_id;
}

/* The first algorithms, and the one for which the cell was picked. */
static void choose_algos(struct xp_drawing *d, const struct res_cube *c,
    const struct xp_picked *k)
{
	for (size_t i = 0; i < c->n_algos && i < XP_MAX_COLUMNS; i++)
		d->algo[d->n_algos++] = i;
	if (k->algo >= XP_MAX_COLUMNS)
		d->algo[XP_MAX_COLUMNS - 1] = k->algo;
}

static void put_choice(FILE *out, const struct writing *w,
    const struct xp_drawing *d, const struct xp_picked *k)
{
	if (d->n_algos < 2)
		return;
	fputs("<fieldset class=\"says\" hidden><legend>Scores and accusations "
	      "of</legend>\n",
	    out);
	for (size_t i = 0; i < d->n_algos; i++) {
		fprintf(out,
		    "<label><input type=\"radio\" name=\"%s-p%zu-r%u-says\" "
		    "value=\"%zu\"%s> ",
		    w->x->id, k->place, k->run, i, i ? "" : " checked");
		mark_text(out, w->c->algo[d->algo[i]]);
		fputs("</label>\n", out);
	}
	fputs("</fieldset>\n", out);
}

static int put_drawing(struct writing *w, FILE *out, const struct xp_picked *k,
    struct sim_err *e)
{
	struct xp_drawing d = {.where = "", .within = 1};
	struct xp_layout l = {0};
	int rc = xp_layout_make(&l, &w->p, 1000, e);
	if (rc < 0)
		return rc;
	choose_algos(&d, w->c, k);
	d.network = share_network(w, out, &l);
	put_choice(out, w, &d, k);
	fputs("<div class=\"c-box-out\">\n", out);
	xp_draw_cell(out, &w->p, &l, &d);
	fputs("</div>\n", out);
	if (w->p.n_parts > 0)
		cells_put_parts(out, &w->p, &d);
	if (w->c->n_algos > d.n_algos)
		fprintf(out,
		    "<p class=\"note\">%zu of %zu algorithms are told.</p>\n",
		    d.n_algos, w->c->n_algos);
	xp_layout_free(&l);
	return 0;
}

/* Whether the cell has the numbers of the file, to the last bit. */
static int is_alike(const struct writing *w, const struct xp_picked *k)
{
	const struct res_cube *c = w->c;
	for (size_t i = 0; i < c->n_along; i++)
		for (size_t n = 0; n < c->row_doubles; n++) {
			const double was = res_cube_value(c,
			    k->place * c->n_along + i, k->run, n);
			const double is = w->row[i * c->row_doubles + n];
			if (was != is && !(isnan(was) && isnan(is)))
				return 0;
		}
	return 1;
}

static void cells_put_head(FILE *out, const struct writing *w,
    const struct xp_picked *k, size_t place, const char *why)
{
	char where[256];
	xp_point_text(w->c, k->place * w->c->n_along, where, sizeof(where));
	fprintf(out,
	    "<details class=\"cell\" id=\"%s-p%zu-r%u\" data-point=\"%zu\" "
	    "data-run=\"%u\" data-place=\"%zu\" data-point-text=\"",
	    w->x->id, k->place, k->run, k->place, k->run, place);
	mark_format(out, "%zu%s%s", k->place, *where ? ": " : "", where);
	fputs("\" data-run-text=\"", out);
	mark_format(out, "%u: %s", k->run, why);
	fprintf(out, "\">\n<summary>point %zu, run %u <span>", k->place,
	    k->run);
	mark_format(out, "%s%s%s", where, *where ? "; " : "", why);
	fputs("</span></summary>\n", out);
}

/* A text of many algorithms is left to the command. */
enum { MAX_TEXT = 5000 };

static int cells_put_cell(struct writing *w, FILE *out,
    const struct xp_picked *k, size_t place, struct sim_err *e)
{
	char summary[256], why[256], run[16];
	const int alike = is_alike(w, k);
	why_picked(w->c, k, why, sizeof(why));
	xp_draw_summary(&w->p, summary, sizeof(summary));
	cells_put_head(out, w, k, place, why);
	fputs("<p class=\"note\">", out);
	mark_text(out, summary);
	fprintf(out, ". <span class=\"%s\">%s</span></p>\n",
	    alike ? "alike" : "unlike",
	    alike ? "Run again for this page, it has the numbers of the "
		    "results file to the last bit."
		  : "Run again by this build it has OTHER numbers than the "
		    "results file, so it is not the cell that the figure has.");
	w->x->n_unlike += !alike;
	int rc = put_drawing(w, out, k, e);
	snprintf(run, sizeof(run), "%u", k->run);
	if (rc == 0)
		rc = put_command(out, w->c, w->x->explain, k->place, run, e);
	if (rc == 0 && strlen(w->p.text) < MAX_TEXT) {
		fputs("<details><summary>The same in words</summary>\n<pre>",
		    out);
		mark_text(out, w->p.text);
		fputs("</pre></details>\n", out);
	}
	fputs("</details>\n", out);
	return rc;
}

/* --- all of a figure ------------------------------------------------------ */

/* Whether cells of a point have flows that are simulated. */
static int is_quick(struct writing *w, size_t place, int *yes,
    struct sim_err *e)
{
	struct xp_config config = {0};
	const int rc = xp_spec_point(&w->spec, place, &config, e);
	*yes = rc == 0 && xp_plane_of(&config)->flows &&
	    !xp_fabric_of(&config)->open;
	xp_config_free(&config);
	return rc;
}

static void put_failure(FILE *out, const struct xp_picked *k,
    const struct sim_err *why)
{
	fprintf(out,
	    "<p class=\"note\">Point %zu, run %u can't be shown: ", k->place,
	    k->run);
	mark_text(out, why->msg);
	fputs("</p>\n", out);
}

/* Into memory first, as what has no room is not written. Returns 1 then. */
static int cells_add_cell(struct writing *w, const struct xp_picked *k,
    size_t place, struct sim_err *e)
{
	struct mark_buffer b;
	struct sim_err why;
	int rc =
	    xp_picture_take(&w->p, w->trial, k->place, k->run, w->row, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	if (rc < 0) {
		put_failure(w->out, k, &why);
		return 0;
	}
	if ((rc = mark_open(&b, e)) < 0)
		return rc;
	rc = mark_close(&b, cells_put_cell(w, b.out, k, place, e), e);
	const int fits = rc == 0 && w->n_bytes + b.n <= w->x->max_bytes;
	if (fits) {
		fwrite(b.text, 1, b.n, w->out);
		w->n_bytes += b.n;
		w->x->n_shown++;
	}
	free(b.text);
	return rc < 0 ? rc : !fits;
}

static void put_controls(FILE *out, const struct writing *w)
{
	fprintf(out,
	    "<div class=\"bar\" hidden><label>Point <select class=\"point\" "
	    "aria-label=\"point of %s\"></select></label>\n"
	    "<label>Run <select class=\"run\" aria-label=\"run of %s\">"
	    "</select></label>\n<button type=\"button\" class=\"open\">Next"
	    "</button></div>\n",
	    w->x->id, w->x->id);
}

static int add_cells(struct writing *w, const struct xp_picks *picks,
    struct sim_err *e)
{
	size_t n_slow = 0, place = 0;
	int rc = 0, full = 0;
	put_controls(w->out, w);
	for (size_t i = 0; rc >= 0 && i < picks->n; i++) {
		int quick;
		if ((rc = is_quick(w, picks->one[i].place, &quick, e)) < 0)
			break;
		n_slow += !quick;
		if (quick && !full)
			full = rc =
			    cells_add_cell(w, &picks->one[i], place++, e);
		/* One after it might use the network of one that had no
		 * room. */
		w->x->n_left += (size_t)(quick && full);
		rc = rc > 0 ? 0 : rc;
	}
	if (rc == 0 && n_slow > 0) {
		fputs("<p class=\"note\">Cells of probes and of real networks "
		      "are not run for a page. This shows one:</p>\n",
		    w->out);
		rc = put_command(w->out, w->c, w->x->explain,
		    picks->one[0].place, "0", e);
	}
	return rc;
}

static void put_told(FILE *out, const struct res_cube *c,
    const struct xp_picks *picks, const struct xp_cells *x)
{
	fprintf(out,
	    "<p class=\"note\">%zu of %zu cells are in this page: of "
	    "%zu of %zu points the first run, and the worst ones by "
	    "the least ratio of any algorithm",
	    x->n_shown, res_cube_cells(c), picks->n_places,
	    c->n_points / c->n_along);
	if (x->n_left > 0)
		fprintf(out, "; %zu more of these had no room", x->n_left);
	fputs(". Any other is shown by <code>culprit explain</code>.</p>\n",
	    out);
}

/* How many bytes the cell that W has a picture of takes. */
static int measure(struct writing *w, const struct xp_picked *k, size_t *n,
    struct sim_err *e)
{
	struct mark_buffer b;
	int rc = mark_open(&b, e);
	if (rc < 0)
		return rc;
	rc = mark_close(&b, cells_put_cell(w, b.out, k, 0, e), e);
	*n = b.n;
	free(b.text);
	return rc;
}

static void forget_network(struct writing *w)
{
	free(w->network);
	w->network = NULL;
	w->n_networks = 0;
}

/* Where there is no room for all that are asked for, of fewer points: cells of
 * a figure are about as large as its first, less the network that they share.
 * That is written only to be measured. */
static int pick_what_fits(struct writing *w, struct xp_picks *picks,
    struct sim_err *e)
{
	const struct xp_picked k = picks->one[0];
	const size_t n = picks->n;
	size_t first, other;
	struct sim_err why;
	int quick, rc = is_quick(w, k.place, &quick, e);
	if (rc < 0 || !quick)
		return rc;
	rc = xp_picture_take(&w->p, w->trial, k.place, k.run, w->row, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	/* One that fails will be told when it is its turn. */
	if (rc < 0)
		return 0;
	if ((rc = measure(w, &k, &first, e)) == 0)
		rc = measure(w, &k, &other, e);
	forget_network(w);
	w->x->n_unlike = 0;
	if (rc < 0)
		return rc;
	const size_t fit =
	    first > w->x->max_bytes ? 0 : 1 + (w->x->max_bytes - first) / other;
	if (fit >= n)
		return 0;
	xp_picks_free(picks);
	rc = xp_pick_cells(picks, w->c, fit, e);
	w->x->n_left = rc == 0 ? n - picks->n : 0;
	return rc;
}

static int run_cells(struct writing *w, struct sim_err *e)
{
	struct xp_picks picks = {0};
	int rc = xp_pick_cells(&picks, w->c, w->x->most, e);
	if (rc == 0 && picks.n > 0 &&
	    (rc = SIM_ZALLOC(&w->row, w->c->cell_doubles, e)) == 0 &&
	    (rc = xp_trial_open(&w->trial, &w->spec, e)) == 0 &&
	    (rc = pick_what_fits(w, &picks, e)) == 0)
		rc = add_cells(w, &picks, e);
	if (rc == 0 && w->x->n_shown + w->x->n_left > 0)
		put_told(w->out, w->c, &picks, w->x);
	xp_picks_free(&picks);
	return rc;
}

int xp_cells_put(FILE *out, const struct res_cube *c, struct xp_cells *x,
    struct sim_err *e)
{
	struct writing w = {.out = out, .c = c, .x = x};
	struct sim_err why;
	fprintf(out,
	    "<div class=\"cells\" data-figure=\"%s\"><h3>One cell"
	    "</h3>\n",
	    x->id);
	int rc = xp_spec_load_again(&w.spec, c, x->folder, &why);
	if (rc == SIM_ENOMEM) {
		rc = sim_fail(e, rc, "%s", why.msg);
	} else if (rc < 0) {
		fputs("<p class=\"note\">The spec of these results can't be "
		      "run by this build: ",
		    out);
		mark_text(out, why.msg);
		fputs("</p>\n", out);
		rc = 0;
	} else if (w.spec.n_points * w.spec.n_along != c->n_points) {
		fputs("<p class=\"note\">The spec of these results has another "
		      "number of points for this build.</p>\n",
		    out);
	} else {
		rc = run_cells(&w, e);
	}
	fputs("</div>\n", out);
	xp_picture_free(&w.p);
	xp_trial_close(w.trial);
	xp_spec_free(&w.spec);
	free(w.row);
	forget_network(&w);
	return rc;
}
