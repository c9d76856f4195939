/* experiments/sweep/progress.c -- how far a sweep is: one line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS (200 * SIM_MS)
#define LOG_NS    (60 * SIM_SEC)
#define SAMPLE_NS (1 * SIM_SEC)
#define WINDOW_NS (10 * SIM_SEC)

enum {
	BAR = 10,
	FEW = 10, /* cells: too few for a rate */
	LINE_BYTES = 512,
};

static uint64_t n_finished(const struct res_progress *c)
{
	return c->n_done + c->n_failed + c->n_crashed;
}

/* Append to the string in BUF; what does not fit is cut off. */
static void progress_add(char *buf, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void progress_add(char *buf, size_t cap, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf + n, cap - n, fmt, ap);
	va_end(ap);
}

/* A bar that is full while cells are left would be a lie,
 * so it is rounded down. */
static void add_bar(char *buf, size_t cap, const struct res_progress *c)
{
	uint64_t n = n_finished(c);
	int full = BAR; /* never full before the end */
	if (n < c->n_cells)
		full = (int)((double)n / (double)c->n_cells * BAR);
	progress_add(buf, cap, "  [%.*s%.*s]", full, "##########", BAR - full,
	    "----------");
}

void xp_progress_add_time(char *buf, size_t cap, double seconds)
{
	/* Asked this way NaN, for which any comparison fails, is `long` too. */
	if (!(seconds < 1e4 * 86400)) {
		progress_add(buf, cap, "long");
		return;
	}
	unsigned long s = (unsigned long)(seconds + 0.5);
	if (s < 3600)
		progress_add(buf, cap, "%lu:%02lu", s / 60, s % 60);
	else if (s < 86400)
		progress_add(buf, cap, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60,
		    s % 60);
	else
		progress_add(buf, cap, "%lud %02luh", s / 86400, s / 3600 % 24);
}

/* The unit in which there is something to read: real networks
 * take minutes for a cell. */
static void add_rate(char *buf, size_t cap, double per_s)
{
	if (per_s >= 10)
		progress_add(buf, cap, "  %.0f/s", per_s);
	else if (per_s >= 0.5)
		progress_add(buf, cap, "  %.1f/s", per_s);
	else if (per_s * 60 >= 0.5)
		progress_add(buf, cap, "  %.1f/min", per_s * 60);
	else
		progress_add(buf, cap, "  %.1f/h", per_s * 3600);
}

static void compose(char *buf, size_t cap, const struct xp_progress_line *l,
    int with_bar)
{
	const struct res_progress *c = &l->cells;
	const uint64_t n = n_finished(c);
	buf[0] = '\0';
	progress_add(buf, cap, "%s", l->name);
	if (with_bar)
		add_bar(buf, cap, c);
	progress_add(buf, cap, "  %" PRIu64 "/%" PRIu64 " %s", n, c->n_cells,
	    l->unit ? l->unit : "cells");
	if (c->n_failed > 0)
		progress_add(buf, cap, "  %" PRIu64 " failed", c->n_failed);
	if (c->n_crashed > 0)
		progress_add(buf, cap, "  %" PRIu64 " crashed", c->n_crashed);
	if (l->per_s > 0)
		add_rate(buf, cap, l->per_s);
	/* What is left has no ETA once it is over, and none while
	 * the rate is not known. */
	if (l->ended) {
		progress_add(buf, cap, "  in ");
		xp_progress_add_time(buf, cap,
		    (double)l->elapsed_ns / (double)SIM_SEC);
	} else if (l->per_s > 0 && n < c->n_cells) {
		progress_add(buf, cap, "  ETA ");
		xp_progress_add_time(buf, cap,
		    (double)(c->n_cells - n) / l->per_s);
	}
}

void xp_progress_format(char *buf, size_t cap, const struct xp_progress_line *l)
{
	if (cap == 0)
		return;
	compose(buf, cap, l, 1);
	/* On a narrow terminal numbers are worth more than the bar. */
	if (l->width > 0 && strlen(buf) > l->width)
		compose(buf, cap, l, 0);
	if (l->width > 0 && strlen(buf) > l->width)
		buf[l->width] = '\0';
}

double xp_progress_rate(const struct xp_progress *p, uint64_t n_cells,
    sim_ns now_ns)
{
	/* The oldest sample in the window, if enough happened since it. */
	struct xp_progress_sample from = {p->start_ns, p->n_before};
	const size_t n_kept = p->n_samples < XP_PROGRESS_SAMPLES
	    ? p->n_samples
	    : XP_PROGRESS_SAMPLES;
	for (size_t i = p->n_samples - n_kept; i < p->n_samples; i++) {
		const struct xp_progress_sample *s =
		    &p->sample[i % XP_PROGRESS_SAMPLES];
		if (now_ns - s->at_ns > WINDOW_NS)
			continue;
		/* Too few cells in the window would make the rate jump, so then
		 * it is taken since the start. */
		if (n_cells - s->n_cells >= FEW)
			from = *s;
		break;
	}
	if (n_cells <= from.n_cells || now_ns <= from.at_ns)
		return NAN;
	return (double)(n_cells - from.n_cells) * (double)SIM_SEC /
	    (double)(now_ns - from.at_ns);
}

/* Samples are a second apart or more, so the ring reaches back beyond the
 * window over which rates are taken. */
static void take_sample(struct xp_progress *p, uint64_t n_cells, sim_ns now_ns)
{
	if (p->n_samples > 0) {
		size_t last = (p->n_samples - 1) % XP_PROGRESS_SAMPLES;
		if (now_ns - p->sample[last].at_ns < SAMPLE_NS)
			return;
	}
	p->sample[p->n_samples++ % XP_PROGRESS_SAMPLES] =
	    (struct xp_progress_sample){now_ns, n_cells};
}

/* One column is left free: some terminals wrap when it is written. */
static size_t columns(FILE *out)
{
	struct winsize w;
	if (ioctl(fileno(out), TIOCGWINSZ, &w) == 0 && w.ws_col > 1)
		return w.ws_col - 1u;
	return 79;
}

static void progress_draw(struct xp_progress *p,
    const struct res_progress *cells, sim_ns now_ns, int ended)
{
	char text[LINE_BYTES];
	struct xp_progress_line l = {
	    .name = p->name,
	    .unit = p->unit,
	    .cells = *cells,
	    .elapsed_ns = now_ns - p->start_ns,
	    .ended = ended,
	    .width = p->is_tty ? columns(p->out) : 0,
	};
	const uint64_t n = n_finished(cells);
	l.per_s = xp_progress_rate(p, n, now_ns);
	/* In the end what counts is the whole. */
	if (ended && l.elapsed_ns > 0)
		l.per_s = (double)(n - p->n_before) * (double)SIM_SEC /
		    (double)l.elapsed_ns;
	xp_progress_format(text, sizeof(text), &l);
	if (p->is_tty) {
		/* Blanks wipe what a longer line left; that needs no terminal
		 * codes. */
		size_t len = strlen(text);
		int blanks = p->n_drawn > len ? (int)(p->n_drawn - len) : 0;
		fprintf(p->out, "\r%s%*s%s", text, blanks, "",
		    ended ? "\n" : "");
		p->n_drawn = len;
	} else {
		fprintf(p->out, "%s\n", text);
	}
	fflush(p->out);
	p->drawn_ns = now_ns;
}

void xp_progress_start(struct xp_progress *p, FILE *out, const char *name,
    const char *unit, const struct res_progress *cells, sim_ns now_ns)
{
	*p = (struct xp_progress){
	    .out = out,
	    .is_tty = out && isatty(fileno(out)),
	    .name = name,
	    .unit = unit,
	    .start_ns = now_ns,
	    .drawn_ns = now_ns,
	    .n_before = n_finished(cells),
	};
	take_sample(p, p->n_before, now_ns);
	if (p->is_tty)
		progress_draw(p, cells, now_ns, 0);
}

void xp_progress_update(struct xp_progress *p, const struct res_progress *cells,
    sim_ns now_ns)
{
	if (!p->out)
		return;
	take_sample(p, n_finished(cells), now_ns);
	if (now_ns - p->drawn_ns >= (p->is_tty ? REDRAW_NS : LOG_NS))
		progress_draw(p, cells, now_ns, 0);
}

void xp_progress_wipe(struct xp_progress *p)
{
	if (!p->out || !p->is_tty || p->n_drawn == 0)
		return;
	fprintf(p->out, "\r%*s\r", (int)p->n_drawn, "");
	fflush(p->out);
	p->n_drawn = 0;
}

void xp_progress_end(struct xp_progress *p, const struct res_progress *cells,
    sim_ns now_ns)
{
	if (p->out)
		progress_draw(p, cells, now_ns, 1);
}
