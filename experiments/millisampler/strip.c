/* experiments/millisampler/strip.c -- one run of one host, as strips of six series.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/strip.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/report/markup.h"
#include "sim/vec.h"

static const char *const strip_texts[] = {
#define X(name, column, unit, text) text,
    XP_STRIPS(X)
#undef X
};

/* What a bucket of the line carries. */
static double strip_line(const struct obs_run *run)
{
	return (double)run->line_bps / 8e9 * (double)run->width_ns;
}

static void strip_put(struct xp_strip *s, unsigned of, size_t column,
    double value)
{
	double *at = &s->value[of * s->n_columns + column];
	s->sum[of] += value;
	if (value > *at)
		*at = value;
	if (value > s->max[of])
		s->max[of] = value;
}

int xp_strip_make(struct xp_strip *s, const struct obs_run *run,
    const struct obs_samples *t, size_t most, struct sim_err *e)
{
	const size_t per = (run->n_buckets + most - 1) / most;
	*s = (struct xp_strip){.title = "",
	    .run = *run,
	    .n_columns = (run->n_buckets + per - 1) / per};
	const int rc = SIM_ZALLOC(&s->value, XP_N_STRIPS * s->n_columns, e);
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const size_t column = t->bucket[i] / per;
#define X(name, of, unit, text)                                                \
	strip_put(s, XP_STRIP_##name, column, (double)t->of[i]);
		XP_STRIPS(X)
#undef X
	}
	return rc;
}

void xp_strip_free(struct xp_strip *s)
{
	free(s->value);
	*s = (struct xp_strip){0};
}

/* Bytes by the line; what is sent again, far less, by its own maximum. */
static double strip_scale(const struct xp_strip *s, unsigned of)
{
	const double line = strip_line(&s->run);
	if (of == XP_STRIP_IN || of == XP_STRIP_OUT || of == XP_STRIP_CE)
		return s->max[of] > line ? s->max[of] : line;
	return s->max[of] > 0 ? s->max[of] : 1;
}

/* "0.93 of the line at most, 12.3 MB in all". */
static void strip_says(const struct xp_strip *s, unsigned of, char buf[96])
{
	if (of == XP_STRIP_CONNS)
		snprintf(buf, 96, "%.0f at most", s->max[of]);
	else
		snprintf(buf, 96, "%.3g of the line at most, %.4g MB in all",
		    s->max[of] / strip_line(&s->run), s->sum[of] / 1e6);
}

static double strip_span_ms(const struct xp_strip *s)
{
	return (double)s->run.n_buckets * (double)s->run.width_ns / 1e6;
}

/* --- a terminal --------------------------------------------------------------*/

void xp_strip_print(const struct xp_strip *s, FILE *out)
{
	static const char *const level[] = {" ", "\xe2\x96\x81", "\xe2\x96\x82",
	    "\xe2\x96\x83", "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
	    "\xe2\x96\x87", "\xe2\x96\x88"};
	char says[96];
	fprintf(out, "%s: %g ms in %u buckets of %g ms\n", s->title,
	    strip_span_ms(s), s->run.n_buckets, (double)s->run.width_ns / 1e6);
	for (unsigned of = 0; of < XP_N_STRIPS; of++) {
		const double scale = strip_scale(s, of);
		strip_says(s, of, says);
		fprintf(out, "%-17s %s\n  |", strip_texts[of], says);
		for (size_t i = 0; i < s->n_columns; i++)
			/* Whatever is above 0 is seen. */
			fputs(level[(int)ceil(
				  8 * s->value[of * s->n_columns + i] / scale)],
			    out);
		fputs("|\n", out);
	}
}

/* --- a drawing ---------------------------------------------------------------*/

/* px */
enum { WIDTH = 1000, LEFT = 16, HEAD = 40, PANEL = 70, GAP = 34, FOOT = 30 };

static void strip_panel(const struct xp_strip *s, unsigned of, double top,
    FILE *out)
{
	const double scale = strip_scale(s, of), line = strip_line(&s->run);
	const double step = (double)WIDTH / (double)s->n_columns;
	char says[96];
	strip_says(s, of, says);
	fprintf(out, "<text x=\"%d\" y=\"%.1f\">", LEFT, top - 6);
	mark_format(out, "%s: %s", strip_texts[of], says);
	fputs("</text>\n<path class=\"area\" d=\"", out);
	fprintf(out, "M%d %.1f", LEFT, top + PANEL);
	for (size_t i = 0; i < s->n_columns; i++)
		fprintf(out, "V%.1fH%.1f",
		    top + PANEL -
			PANEL * s->value[of * s->n_columns + i] / scale,
		    LEFT + step * (double)(i + 1));
	fprintf(out, "V%.1fZ\"/>\n<path class=\"axis\" d=\"M%d %.1fH%d\"/>\n",
	    top + PANEL, LEFT, top + PANEL, LEFT + WIDTH);
	if (of == XP_STRIP_IN)
		fprintf(out,
		    "<path class=\"half\" d=\"M%d %.1fH%d\"><title>half of the "
		    "line: more is a burst</title></path>\n",
		    LEFT, top + PANEL - PANEL * line / 2 / scale, LEFT + WIDTH);
}

void xp_strip_draw(const struct xp_strip *s, FILE *out)
{
	const int height = HEAD + XP_N_STRIPS * (PANEL + GAP) + FOOT;
	fprintf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
	    "width=\"%d\" height=\"%d\" role=\"img\">\n<style>text{font:13px "
	    "sans-serif;fill:#333}.head{font-size:16px}.area{fill:#4477aa}"
	    ".axis{stroke:#999;fill:none}.half{stroke:#cc3311;fill:none;"
	    "stroke-dasharray:5 4}</style>\n<rect width=\"100%%\" "
	    "height=\"100%%\" fill=\"#fff\"/>\n<text class=\"head\" x=\"%d\" "
	    "y=\"22\">",
	    WIDTH + 2 * LEFT, height, WIDTH + 2 * LEFT, height, LEFT);
	mark_format(out, "%s: %g ms in %u buckets of %g ms", s->title,
	    strip_span_ms(s), s->run.n_buckets, (double)s->run.width_ns / 1e6);
	fputs("</text>\n", out);
	for (unsigned of = 0; of < XP_N_STRIPS; of++)
		strip_panel(s, of, HEAD + GAP / 2.0 + of * (PANEL + GAP), out);
	for (int k = 0; k <= 4; k++)
		fprintf(out,
		    "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%g ms</text>\n",
		    LEFT + k * WIDTH / 4, height - 8,
		    k == 0       ? "start"
			: k == 4 ? "end"
				 : "middle",
		    strip_span_ms(s) * k / 4);
	fputs("</svg>\n", out);
}
