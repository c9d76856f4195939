/* experiments/live/expose.c -- metrics in Prometheus' text format, out and in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/expose.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/daemon.h"

static const char *const expose_kinds[] = {"counter", "gauge", NULL};

/* --- out ------------------------------------------------------------------ */
void xp_expose_family(struct sim_text *t, enum xp_expose_kind kind,
    const char *name, const char *help)
{
	sim_put(t, "# HELP %s %c%s.\n# TYPE %s %s\n", name,
	    toupper((unsigned char)help[0]), help + 1, name,
	    expose_kinds[kind]);
}

void xp_expose_count(struct sim_text *t, const char *name, const char *label,
    const char *value, uint64_t x)
{
	sim_put(t, "%s", name);
	if (label)
		sim_put(t, "{%s=\"%s\"}", label, value);
	sim_put(t, " %" PRIu64 "\n", x);
}

void xp_expose_total(struct sim_text *t, const char *name, const char *help,
    uint64_t x)
{
	xp_expose_family(t, XP_EXPOSE_COUNTER, name, help);
	xp_expose_count(t, name, NULL, NULL, x);
}

void xp_expose_gauge(struct sim_text *t, const char *name, const char *help,
    double x)
{
	char number[32];
	xp_expose_family(t, XP_EXPOSE_GAUGE, name, help);
	sim_put(t, "%s %s\n", name,
	    isnan(x) ? "NaN" : sim_format_f64(number, x));
}

void xp_expose_process(struct sim_text *t, const char *of,
    const struct xp_daemon_cost *c, double start_s)
{
	char name[XP_EXPOSE_NAME], number[32];
	/* A counter of seconds, and so the only one with a fraction. */
	snprintf(name, sizeof(name), "%s_cpu_seconds_total", of);
	xp_expose_family(t, XP_EXPOSE_COUNTER, name,
	    "seconds of a processor that were used");
	sim_put(t, "%s %s\n", name, sim_format_f64(number, c->cpu_s));
	snprintf(name, sizeof(name), "%s_resident_memory_bytes", of);
	xp_expose_gauge(t, name, "bytes of memory that are resident",
	    (double)c->rss_bytes);
	snprintf(name, sizeof(name), "%s_refused_calls_total", of);
	xp_expose_total(t, name, "system calls that its filter refused",
	    c->n_refused_calls);
	snprintf(name, sizeof(name), "%s_start_time_seconds", of);
	xp_expose_gauge(t, name, "when it began, seconds since 1970", start_s);
}

/* --- in ------------------------------------------------------------------- */
/* A place in the text, and the family that its comments began. */
struct expose_reader {
	const char *at;
	unsigned line;
	char help[XP_EXPOSE_NAME], family[XP_EXPOSE_NAME];
	enum xp_expose_kind kind;
};

static int expose_bad(const struct expose_reader *r, const char *what,
    struct sim_err *e)
{
	char quoted[64];
	return sim_fail(e, SIM_EPARSE, "metrics, line %u: %s: %s", r->line,
	    what, sim_quote(quoted, r->at));
}

static size_t expose_name(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

/* Take the name that comes, and the blank behind it. */
static int expose_take_name(struct expose_reader *r, char out[XP_EXPOSE_NAME])
{
	const size_t n = expose_name(r->at);
	if (n == 0 || n >= XP_EXPOSE_NAME || r->at[n] != ' ' ||
	    isdigit((unsigned char)r->at[0]))
		return 0;
	memcpy(out, r->at, n);
	out[n] = '\0';
	r->at += n + 1;
	return 1;
}

static int expose_ends_in_total(const char *name)
{
	const size_t n = strlen(name);
	return n > 6 && strcmp(name + n - 6, "_total") == 0;
}

static int expose_read_type(struct expose_reader *r, struct sim_err *e)
{
	char name[XP_EXPOSE_NAME], kind[16];
	size_t n;
	if (!expose_take_name(r, name) || strcmp(name, r->help) != 0)
		return expose_bad(r, "TYPE is not of the HELP before it", e);
	n = strcspn(r->at, "\n");
	snprintf(kind, sizeof(kind), "%.*s", (int)(n < 15 ? n : 15), r->at);
	r->kind = (enum xp_expose_kind)sim_word_find(expose_kinds, kind);
	if (!expose_kinds[r->kind])
		return expose_bad(r, "neither a counter nor a gauge", e);
	if (expose_ends_in_total(name) != (r->kind == XP_EXPOSE_COUNTER))
		return expose_bad(r, "counters, and they alone, end in _total",
		    e);
	strcpy(r->family, name);
	return 0;
}

static int expose_read_help(struct expose_reader *r, struct sim_err *e)
{
	if (!expose_take_name(r, r->help) || *r->at == '\n')
		return expose_bad(r, "no name with a help", e);
	r->family[0] = '\0';
	return 0;
}

/* The bytes of NAME or NAME{label="value"}, or 0. */
static size_t expose_sample_name(const char *text)
{
	size_t n = expose_name(text), more;
	if (text[n] != '{')
		return n;
	n++;
	if ((more = expose_name(text + n)) == 0)
		return 0;
	n += more;
	if (strncmp(text + n, "=\"", 2) != 0)
		return 0;
	n += 2;
	n += expose_name(text + n);
	return strncmp(text + n, "\"}", 2) == 0 ? n + 2 : 0;
}

static int expose_read_number(const struct expose_reader *r, const char *text,
    double *value, struct sim_err *e)
{
	char number[32];
	const size_t n = strcspn(text, "\n");
	snprintf(number, sizeof(number), "%.*s", (int)(n < 31 ? n : 31), text);
	*value = NAN;
	if (n > 31 ||
	    (sim_parse_f64(number, value, NULL) < 0 &&
		strcmp(number, "NaN") != 0))
		return expose_bad(r, "no number", e);
	if (r->kind == XP_EXPOSE_COUNTER && !(*value >= 0))
		return expose_bad(r, "a counter that is not counted", e);
	return 0;
}

static int expose_read_sample(struct expose_reader *r, struct xp_exposed *x,
    struct sim_err *e)
{
	struct xp_exposed_sample *s = &x->sample[x->n];
	const size_t n = expose_sample_name(r->at), base = expose_name(r->at);
	if (n == 0 || n >= XP_EXPOSE_NAME || r->at[n] != ' ')
		return expose_bad(r, "no sample", e);
	if (strlen(r->family) != base || strncmp(r->at, r->family, base) != 0)
		return expose_bad(r, "a sample without HELP and TYPE", e);
	if (x->n == XP_EXPOSE_MOST)
		return sim_fail(e, SIM_ELIMIT,
		    "metrics, line %u: more than %d samples.", r->line,
		    XP_EXPOSE_MOST);
	memcpy(s->name, r->at, n);
	s->name[n] = '\0';
	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->sample[i].name, s->name) == 0)
			return expose_bad(r, "a sample that was there", e);
	const int rc = expose_read_number(r, r->at + n + 1, &s->value, e);
	x->n += rc == 0;
	return rc;
}

int xp_exposed_read(struct xp_exposed *x, const char *text, struct sim_err *e)
{
	struct expose_reader r = {.at = text};
	int rc = 0;
	x->n = 0;
	while (*r.at != '\0' && rc == 0) {
		const char *end = strchr(r.at, '\n');
		r.line++;
		if (!end)
			return expose_bad(&r, "a line that does not end", e);
		if (strncmp(r.at, "# HELP ", 7) == 0) {
			r.at += 7;
			rc = expose_read_help(&r, e);
		} else if (strncmp(r.at, "# TYPE ", 7) == 0) {
			r.at += 7;
			rc = expose_read_type(&r, e);
		} else {
			rc = expose_read_sample(&r, x, e);
		}
		r.at = end + 1;
	}
	return rc;
}

double xp_exposed_get(const struct xp_exposed *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->sample[i].name, name) == 0)
			return x->sample[i].value;
	return NAN;
}
