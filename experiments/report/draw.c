/* experiments/report/draw.c -- a picture of a cell as SVG.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/draw_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/report/markup.h"
#include "sim/text.h"

const char *const xp_draw_css[] = {
#include "experiments/report/cell.css.h"
};

/* --- classes -------------------------------------------------------------- */

/* Widths are of counts, not of shares, so that drawings can be compared. */
unsigned draw_width_class(uint64_t n_flows)
{
	static const uint64_t from[] = {2, 5, 15, 50};
	unsigned c = 1;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		c += n_flows >= from[i];
	return c;
}

/* Votes mean something beside the greatest one alone. */
static unsigned vote_class(double share)
{
	return 1u + (share >= 0.1) + (share >= 0.25) + (share >= 0.5);
}

static void put_line(FILE *out, struct xp_line l)
{
	fprintf(out, "M%.1f %.1fL%.1f %.1f", l.x1, l.y1, l.x2, l.y2);
}

/* To the pixel, for lines of which a page has thousands. */
static void put_coarse(FILE *out, struct xp_line l)
{
	fprintf(out, "M%.0f %.0fL%.0f %.0f", l.x1, l.y1, l.x2, l.y2);
}

/* --- words ---------------------------------------------------------------- */

/* ", vote: rank 1, score 0.67, hit" */
static void put_sayings(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, struct xp_part part)
{
	for (size_t i = 0; i < d->n_algos; i++) {
		const struct xp_saying s = xp_picture_said(p, d->algo[i], part);
		if (s.rank == 0 && s.word == XP_WORD_NONE)
			continue;
		mark_format(out,
		    "; %s:", p->cell.config->algo[d->algo[i]].label);
		if (s.rank > 0)
			fprintf(out, " rank %zu, score %.4g", s.rank, s.score);
		if (s.word != XP_WORD_NONE)
			fprintf(out, "%s %s", s.rank > 0 ? "," : "",
			    xp_word_names[s.word]);
	}
}

static void put_title(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, struct xp_part part)
{
	char name[64], fault[256];
	xp_part_name(p, part, name);
	xp_part_fault(p, part, fault, sizeof(fault));
	fputs("<title>", out);
	mark_text(out, name);
	if (*fault)
		mark_format(out, ": %s", fault);
	if (!part.is_switch)
		fprintf(out, "; %u failed flow%s, %u packet%s lost",
		    p->flows[part.id], p->flows[part.id] == 1 ? "" : "s",
		    p->drops[part.id], p->drops[part.id] == 1 ? "" : "s");
	put_sayings(out, p, d, part);
	fputs("</title>", out);
}

/* --- the network ---------------------------------------------------------- */

static void put_pods(FILE *out, const struct xp_layout *l)
{
	const double top = l->n_rows > 1 ? l->row[1].y - 24 : l->row[0].y - 24;
	if (l->n_pods < 2)
		return;
	for (size_t i = 0; i < l->n_pods; i++) {
		fprintf(out,
		    "<rect class=\"c-pod\" x=\"%.1f\" y=\"%.1f\" "
		    "width=\"%.1f\" height=\"%.1f\" rx=\"6\"/>\n",
		    l->pod[i].x, top, l->pod[i].width, l->hosts_y + 28 - top);
		if (l->pod[i].width >= 44)
			fprintf(out,
			    "<text class=\"c-no\" x=\"%.1f\" y=\"%.1f\">pod "
			    "%u</text>\n",
			    l->pod[i].x + l->pod[i].width / 2, l->hosts_y + 23,
			    l->pod[i].number);
	}
}

static void put_row_names(FILE *out, const struct xp_layout *l)
{
	if (l->is_ring)
		return;
	for (size_t i = 0; i < l->n_rows; i++) {
		const struct xp_row *r = &l->row[i];
		fprintf(out,
		    "<text class=\"c-bold\" x=\"12\" y=\"%.1f\">%s"
		    "</text>\n",
		    r->y - 1, r->name);
		fputs("<text class=\"c-soft\" x=\"12\" ", out);
		fprintf(out, "y=\"%.1f\">", r->y + 13);
		if (r->n_shown < r->n)
			fprintf(out, "%zu of %zu", r->n_shown, r->n);
		else
			fprintf(out, "%zu", r->n);
		fputs("</text>\n", out);
	}
	fprintf(out,
	    "<text class=\"c-bold\" x=\"12\" y=\"%.1f\">hosts</text>\n",
	    l->hosts_y + 4);
}

/* Cables of which nothing is told are one path, or one each with its name. */
static void put_quiet(FILE *out, const struct xp_layout *l, int titles)
{
	const struct topo *t = l->topo;
	if (!l->has_quiet)
		return;
	if (!titles)
		fputs("<path class=\"c-quiet\" d=\"", out);
	for (topo_link k = 2 * t->n_hosts; k < t->n_links; k += 2) {
		struct xp_line a, b;
		char name[64];
		if (!xp_layout_link(l, k, &a) || !xp_layout_link(l, k ^ 1, &b))
			continue;
		/* Between its two lanes. */
		a = (struct xp_line){(a.x1 + b.x2) / 2, (a.y1 + b.y2) / 2,
		    (a.x2 + b.x1) / 2, (a.y2 + b.y1) / 2};
		if (titles)
			fputs("<path class=\"c-quiet\" d=\"", out);
		put_line(out, a);
		if (!titles)
			continue;
		topo_link_name(t, k, name);
		fputs("\"><title>", out);
		mark_text(out, name);
		fputs("</title></path>\n", out);
	}
	if (!titles)
		fputs("\"/>\n", out);
}

static void put_box(FILE *out, const struct xp_layout *l,
    const struct xp_spot *s, const char *tor)
{
	const double wide = l->row[0].step >= 22 ? 9 : l->row[0].step * 0.36;
	const double half = wide < 2 ? 2 : wide;
	fprintf(out,
	    "<g><title>%u host%s of %s</title><rect class=\"c-box\" "
	    "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" rx=\"2\"/>",
	    s->n_hosts, s->n_hosts == 1 ? "" : "s", tor, s->hosts_x - half,
	    s->hosts_y - 6, 2 * half);
	if (l->row[0].step >= 20 && s->n_hosts < 1000)
		fprintf(out,
		    "<text class=\"c-no\" x=\"%.1f\" y=\"%.1f\">%u</text>",
		    s->hosts_x, s->hosts_y + 3.5, s->n_hosts);
	fputs("</g>\n", out);
}

/* The number in a switch's name, if that ends in one: 5 of t1.5, 3 of tor3. */
static const char *number_of(const char *name)
{
	const char *at = name + strlen(name);
	while (at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at;
}

enum { NUMBER_STEP = 20 }; /* px from one to the next, so that numbers fit */

static void put_square(FILE *out, const struct xp_layout *l, uint32_t s,
    const char *raw, const char *name)
{
	const struct xp_spot *at = &l->spot[s];
	const uint32_t tier = l->is_ring ? 0 : topo_tier_of(l->topo, s);
	const double step = l->row[tier].step;
	const int has_number = step >= NUMBER_STEP && !l->is_ring;
	const double x = has_number ? 9.5 : fmax(2, fmin(6, step / 3));
	const double y = has_number ? 7 : x;
	fprintf(out,
	    "<g><title>%s</title><rect class=\"c-node\" x=\"%.1f\" "
	    "y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>",
	    name, at->x - x, at->y - y, 2 * x, 2 * y);
	if (has_number && strlen(number_of(raw)) < 4)
		fprintf(out,
		    "<text class=\"c-no\" x=\"%.1f\" y=\"%.1f\">%s</text>",
		    at->x, at->y + 3.6, number_of(raw));
	fputs("</g>\n", out);
}

/* On a ring there is room for names, on the side that has no hosts. */
static void put_ring_name(FILE *out, const struct xp_layout *l, uint32_t s,
    const char *name)
{
	const struct xp_spot *at = &l->spot[s];
	const double dx = at->hosts_x - at->x, dy = at->hosts_y - at->y;
	if (l->row[0].step >= 50 && strlen(name) < 40)
		fprintf(out,
		    "<text class=\"c-no\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		    at->x - 0.9 * dx, at->y - 0.5 * dy + 4, name);
}

static void put_switch(FILE *out, const struct xp_layout *l, uint32_t s)
{
	struct mark_buffer name;
	char raw[64];
	topo_node_name(l->topo, l->topo->n_hosts + s, raw);
	/* Names of a mesh are anybody's. */
	if (mark_open(&name, NULL) < 0)
		return;
	mark_text(name.out, raw);
	if (mark_close(&name, 0, NULL) == 0) {
		put_square(out, l, s, raw, name.text);
		if (l->is_ring)
			put_ring_name(out, l, s, name.text);
		if (l->spot[s].n_hosts > 0)
			put_box(out, l, &l->spot[s], name.text);
	}
	free(name.text);
}

static void draw_put_switches(FILE *out, const struct xp_layout *l)
{
	for (uint32_t s = 0; s < l->topo->n_switches; s++)
		if (l->spot[s].shown)
			put_switch(out, l, s);
}

void xp_draw_network(FILE *out, const struct xp_layout *l, const char *id)
{
	/* What is used elsewhere is there without what is around it here, so it
	 * has the class that its style goes by. */
	fprintf(out, "<g class=\"c-svg\" id=\"%s\">\n", id);
	put_pods(out, l);
	put_row_names(out, l);
	put_quiet(out, l, 0);
	fputs("</g>\n", out);
	fprintf(out, "<g class=\"c-svg\" id=\"%s-s\">\n", id);
	draw_put_switches(out, l);
	fputs("</g>\n", out);
}

/* --- flows ---------------------------------------------------------------- */

/* What the hosts of a ToR sent or got, but for lone ones. */
static uint64_t flows_of_hosts(const struct xp_picture *p,
    const struct xp_layout *l, topo_switch tor, enum topo_dir dir)
{
	const struct topo *t = l->topo;
	uint64_t n = 0;
	struct xp_line line;
	for (topo_host h = 0; h < t->n_hosts; h++) {
		const topo_link k = topo_link_of(h, dir);
		if (p->flows[k] > 0 && topo_tor_of(t, h) == tor &&
		    !xp_layout_link(l, k, &line))
			n += p->flows[k];
	}
	return n;
}

static void put_host_flows(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l)
{
	for (uint32_t s = 0; s < l->topo->n_switches; s++) {
		if (!l->spot[s].shown || l->spot[s].n_hosts == 0)
			continue;
		for (enum topo_dir dir = TOPO_UP; dir <= TOPO_DOWN; dir++) {
			const uint64_t n = flows_of_hosts(p, l, s, dir);
			if (n == 0)
				continue;
			fprintf(out, "<path class=\"c-flow c-w%u\" d=\"",
			    draw_width_class(n));
			put_line(out, xp_layout_hosts(l, s, dir));
			fputs("\"/>\n", out);
		}
	}
}

/* All lines of one width as one path. */
static void put_flows_of_width(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, unsigned width)
{
	int any = 0;
	for (topo_link k = 0; k < l->topo->n_links; k++) {
		struct xp_line line;
		if (p->flows[k] == 0 ||
		    draw_width_class(p->flows[k]) != width ||
		    !xp_layout_link(l, k, &line))
			continue;
		if (!any)
			fprintf(out, "<path class=\"c-flow c-w%u\" d=\"",
			    width);
		any = 1;
		put_coarse(out, line);
	}
	if (any)
		fputs("\"/>\n", out);
}

static void put_flows_each(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct xp_drawing *d)
{
	for (topo_link k = 0; k < l->topo->n_links; k++) {
		struct xp_line line;
		if (p->flows[k] == 0 || !xp_layout_link(l, k, &line))
			continue;
		fprintf(out, "<path class=\"c-flow c-w%u\" d=\"",
		    draw_width_class(p->flows[k]));
		put_line(out, line);
		fputs("\">", out);
		put_title(out, p, d, (struct xp_part){0, k});
		fputs("</path>\n", out);
	}
}

/* --- what is broken, and what was said ------------------------------------ */

static void put_broken(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct xp_drawing *d)
{
	const struct truth *t = &p->cell.scene->truth;
	for (size_t i = 0; i < t->n_faults; i++) {
		const topo_link k = t->fault[i].link;
		struct xp_line line;
		if ((i > 0 && t->fault[i - 1].link == k) ||
		    !truth_is_faulty(t, k) || !xp_layout_link(l, k, &line))
			continue;
		if (p->flows[k] < 15) {
			fputs("<path class=\"c-under\" d=\"", out);
			put_line(out, line);
			fputs("\"/>", out);
		}
		fputs("<path class=\"c-broken\" d=\"", out);
		put_line(out, line);
		fputs("\">", out);
		put_title(out, p, d, (struct xp_part){0, k});
		fputs("</path>\n", out);
	}
}

/* The most that a drawing shows of one algorithm's votes: lists have thousands
 * whose score is next to nothing. */
enum { MAX_VOTES = 50 };

/* Lines of one tint and width are one path. */
static void put_votes_of(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct algo_verdicts *v, double most,
    unsigned class, unsigned width)
{
	int any = 0;
	for (size_t i = 0; i < v->n && i < MAX_VOTES; i++) {
		struct xp_line line;
		if (!(v->score[i] > 0) || v->link[i] >= p->n_links ||
		    vote_class(v->score[i] / most) != class ||
		    draw_width_class(p->flows[v->link[i]]) != width ||
		    !xp_layout_link(l, v->link[i], &line))
			continue;
		if (!any)
			fprintf(out, "<path class=\"c-vote c-v%u c-w%u\" d=\"",
			    class, width);
		any = 1;
		put_coarse(out, line);
	}
	if (any)
		fputs("\"/>\n", out);
}

static void put_votes(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, size_t algo)
{
	const struct algo_verdicts *v = &p->cell.verdicts[algo];
	double most = 0;
	if (v->kind == ALGO_KIND_SWITCH)
		return;
	for (size_t i = 0; i < v->n; i++)
		if (!algo_verdicts_part(v, v->link[i]).is_switch)
			most = fmax(most, v->score[i]);
	for (unsigned class = 1; most > 0 && class <= 4; class ++)
		for (unsigned width = 1; width <= 5; width++)
			put_votes_of(out, p, l, v, most, class, width);
}

/* --- badges --------------------------------------------------------------- */

struct badge {
	double x, y;
	int shown;
};

static int is_free(const struct badge b[], size_t n, double x, double y)
{
	for (size_t i = 0; i < n; i++)
		if (b[i].shown && hypot(b[i].x - x, b[i].y - y) < 17)
			return 0;
	return 1;
}

/* On its line where no other badge is, from the middle outwards. */
static struct badge badge_on_line(const struct badge b[], size_t n,
    struct xp_line line)
{
	static const double at[] = {0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.45,
	    0.55, 0.35, 0.65};
	struct badge best = {0};
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const double x = line.x1 + at[i] * (line.x2 - line.x1);
		const double y = line.y1 + at[i] * (line.y2 - line.y1);
		if (is_free(b, n, x, y))
			return (struct badge){x, y, 1};
		if (i == 0)
			best = (struct badge){x, y, 1};
	}
	return best;
}

/* That of a host's cable stands below the host, if that place is free. */
static struct badge badge_of_link(const struct badge b[], size_t n,
    const struct xp_layout *l, topo_link link, struct xp_line line)
{
	const int up = link % 2 == TOPO_UP;
	const double x = up ? line.x1 : line.x2,
		     y = (up ? line.y1 : line.y2) + 15;
	return link / 2 < l->topo->n_hosts && is_free(b, n, x, y)
	    ? (struct badge){x, y, 1}
	    : badge_on_line(b, n, line);
}

static void place_badges(const struct xp_picture *p, const struct xp_layout *l,
    struct badge b[])
{
	for (size_t i = 0; i < p->n_parts; i++) {
		const struct xp_part part = p->part[i];
		struct xp_line line;
		b[i] = (struct badge){0};
		if (part.is_switch && l->spot[part.id].shown)
			b[i] = (struct badge){l->spot[part.id].x,
			    l->spot[part.id].y, 1};
		else if (!part.is_switch && xp_layout_link(l, part.id, &line))
			b[i] = badge_of_link(b, i, l, part.id, line);
	}
}

void draw_badge(FILE *out, const struct xp_picture *p, size_t i, double x,
    double y)
{
	if (xp_part_is_broken(p, p->part[i]))
		fprintf(out,
		    "<circle class=\"c-bad\" cx=\"%.1f\" cy=\"%.1f\" "
		    "r=\"8.5\"/>",
		    x, y);
	else
		fprintf(out,
		    "<rect class=\"c-good\" x=\"%.1f\" y=\"%.1f\" "
		    "width=\"15\" height=\"15\" rx=\"1.5\"/>",
		    x - 7.5, y - 7.5);
	fprintf(out, "<text class=\"c-key\" x=\"%.1f\" y=\"%.1f\">%c</text>", x,
	    y + 4, xp_part_letter(i));
}

static void put_badges(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, const struct badge b[])
{
	for (size_t i = 0; i < p->n_parts; i++) {
		if (!b[i].shown)
			continue;
		fputs("<g>", out);
		put_title(out, p, d, p->part[i]);
		draw_badge(out, p, i, b[i].x, b[i].y);
		fputs("</g>\n", out);
	}
}

/* A ring around the badge of what the algorithm accuses. */
static void put_rings(FILE *out, const struct xp_picture *p,
    const struct badge b[], size_t algo)
{
	for (size_t i = 0; i < p->n_parts; i++) {
		const enum xp_word w =
		    xp_picture_said(p, algo, p->part[i]).word;
		if (b[i].shown && (w == XP_WORD_HIT || w == XP_WORD_FALSE))
			fprintf(out,
			    "<circle class=\"c-ring\" cx=\"%.1f\" "
			    "cy=\"%.1f\" r=\"13\"/>\n",
			    b[i].x, b[i].y);
	}
}

static void put_said(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct xp_drawing *d,
    const struct badge b[])
{
	if (!d->within) {
		if (d->n_algos > 0)
			put_votes(out, p, l, d->algo[0]);
		if (d->n_algos > 0)
			put_rings(out, p, b, d->algo[0]);
		return;
	}
	for (size_t i = 0; i < d->n_algos; i++) {
		fprintf(out, "<g class=\"c-says\" data-says=\"%zu\"%s>\n", i,
		    i > 0 ? " visibility=\"hidden\"" : "");
		put_votes(out, p, l, d->algo[i]);
		put_rings(out, p, b, d->algo[i]);
		fputs("</g>\n", out);
	}
}

/* --- all ------------------------------------------------------------------ */

static void put_lone(FILE *out, const struct xp_layout *l)
{
	for (size_t i = 0; i < l->n_lone; i++)
		fprintf(out,
		    "<circle class=\"c-node\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">"
		    "<title>host%u</title></circle>\n",
		    l->lone[i].x, l->lone[i].y, l->lone[i].id);
}

void draw_map(FILE *out, const struct xp_picture *p, const struct xp_layout *l,
    const struct xp_drawing *d)
{
	struct badge b[XP_MAX_PARTS];
	place_badges(p, l, b);
	if (d->network) {
		fprintf(out, "<use href=\"#%s\"/>\n", d->network);
	} else {
		put_pods(out, l);
		put_row_names(out, l);
		put_quiet(out, l, !d->within);
	}
	put_host_flows(out, p, l);
	for (unsigned w = 1; d->within && w <= 5; w++)
		put_flows_of_width(out, p, l, w);
	if (!d->within)
		put_flows_each(out, p, l, d);
	put_said(out, p, l, d, b);
	put_broken(out, p, l, d);
	if (d->network)
		fprintf(out, "<use href=\"#%s-s\"/>\n", d->network);
	else
		draw_put_switches(out, l);
	put_lone(out, l);
	put_badges(out, p, d, b);
}
