/* experiments/telemetry/flock_text.c -- lines of words, and words as numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/flock_text.h"

#include <string.h>

#include "sim/text.h"

/* A line without its end; *ENDED = 0 behind the last. */
static int ftext_line_get(struct xp_flock_lines *l, int *ended,
    struct sim_err *e)
{
	size_t n = 0;
	l->number++;
	for (;;) {
		int rc;
		if (l->at == l->end) {
			l->at = 0;
			if ((rc = xp_flock_take(l->file, l->block,
				 sizeof(l->block), &l->end, e)) < 0)
				return rc;
		}
		if (l->end == 0)
			break;
		const char *from = l->block + l->at;
		const char *eol = memchr(from, '\n', l->end - l->at);
		const size_t k = eol ? (size_t)(eol - from) : l->end - l->at;
		if (n + k >= sizeof(l->line))
			return sim_fail(e, SIM_EPARSE,
			    "%s:%llu: a line has %d bytes at most.", l->path,
			    (unsigned long long)l->number, XP_FLOCK_LINE - 1);
		memcpy(l->line + n, from, k);
		n += k;
		l->at += k + (eol ? 1 : 0);
		if (eol) {
			l->line[n] = '\0';
			*ended = 0;
			return memchr(l->line, '\0', n)
			    ? sim_fail(e, SIM_EPARSE,
				  "%s:%llu: the line holds a byte 0, which is "
				  "no text.",
				  l->path, (unsigned long long)l->number)
			    : 0;
		}
	}
	*ended = 1;
	return n == 0 ? 0
		      : sim_fail(e, SIM_EPARSE,
			    "%s:%llu: the last line has no end: the file is "
			    "cut.",
			    l->path, (unsigned long long)l->number);
}

static int ftext_split(struct xp_flock_lines *l, struct sim_err *e)
{
	char *rest = l->line, *word;
	l->n = 0;
	while ((word = strsep(&rest, " \t\r"))) {
		if (!*word)
			continue;
		if (l->n == XP_FLOCK_WORDS)
			return sim_fail(e, SIM_EPARSE,
			    "%s:%llu: a line has %d words at most; paths have "
			    "%d links.",
			    l->path, (unsigned long long)l->number,
			    XP_FLOCK_WORDS, TOPO_MAX_HOPS);
		l->word[l->n++] = word;
	}
	return 0;
}

int xp_flock_next(struct xp_flock_lines *l, struct sim_err *e)
{
	int ended = 0, rc;
	do {
		l->n = 0;
		if ((rc = ftext_line_get(l, &ended, e)) == 0 && !ended)
			rc = ftext_split(l, e);
	} while (rc == 0 && !ended && l->n == 0);
	return rc;
}

int xp_flock_u32(const struct xp_flock_lines *l, unsigned i, const char *name,
    uint32_t least, uint32_t most, uint32_t *out, struct sim_err *e)
{
	const char *c = l->word[i];
	uint64_t v = 0;
	/* Sums of ten digits fit. */
	for (; *c >= '0' && *c <= '9' && c - l->word[i] < 10; c++)
		v = 10 * v + (uint64_t)(*c - '0');
	if (!*c && c > l->word[i] && v >= least && v <= most) {
		*out = (uint32_t)v;
		return 0;
	}
	char buf[64];
	return sim_fail(e, SIM_EPARSE,
	    "%s:%llu: %s is %s, which is no whole number from %u to %u.",
	    l->path, (unsigned long long)l->number, name,
	    sim_quote(buf, l->word[i]), least, most);
}

int xp_flock_f64(const struct xp_flock_lines *l, unsigned i, const char *name,
    double least, double most, double *out, struct sim_err *e)
{
	if (sim_parse_f64(l->word[i], out, NULL) == 0 && *out >= least &&
	    *out <= most)
		return 0;
	char buf[64];
	return sim_fail(e, SIM_EPARSE,
	    "%s:%llu: %s is %s, which is no number from %g to %g.", l->path,
	    (unsigned long long)l->number, name, sim_quote(buf, l->word[i]),
	    least, most);
}

int xp_flock_wants(const struct xp_flock_lines *l, unsigned n, const char *form,
    struct sim_err *e)
{
	return l->n == n
	    ? 0
	    : sim_fail(e, SIM_EPARSE,
		  "%s:%llu: the line has %u words; %s has %u.", l->path,
		  (unsigned long long)l->number, l->n, form, n);
}
