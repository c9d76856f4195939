/* sim/field.c -- descriptor tables: one list gives parsing, ranges and help.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/field.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- one field ---------------------------------------------------------- */
/* 2^64 stands for "up to UINT64_MAX", which no double is: the next lower one is
 * 2^64 - 2048. */
void sim_field_range(const struct sim_field *f, double *lo, double *hi)
{
	int none = f->min == 0 && f->max == 0;
	int is_unsigned = f->type == SIM_F_U32 || f->type == SIM_F_U64;
	double most = f->type == SIM_F_U32 ? UINT32_MAX
	    : f->type == SIM_F_U64         ? 0x1p64
					   : INFINITY;
	*lo = none ? (is_unsigned ? 0 : -INFINITY) : f->min;
	*hi = none ? most : fmin(f->max, most);
}

static const char *bound_text(char buf[32], double x)
{
	if (x == 0x1p64)
		snprintf(buf, 32, "%" PRIu64, UINT64_MAX);
	else
		sim_format_f64(buf, x);
	return buf;
}

/* "1" marks a number without a unit, which messages leave out. */
static const char *unit_of(const struct sim_field *f)
{
	return f->unit && strcmp(f->unit, "1") != 0 ? f->unit : "";
}

/* "drop_rate 1.5 is not in [0, 1].", with the unit where there is one. A value
 * is quoted up to 40 bytes, so that the range is never cut off. */
static int out_of_range(const struct sim_field *f, const char *text,
    struct sim_err *e)
{
	char lo_text[32], hi_text[32];
	double lo, hi;
	sim_field_range(f, &lo, &hi);
	bound_text(lo_text, lo);
	bound_text(hi_text, hi);
	const char *unit = unit_of(f), *gap = *unit ? " " : "";
	/* Where there is no bound on one side, only the other one is told. */
	if (hi == INFINITY)
		return sim_fail(e, SIM_ERANGE, "%s %.40s is below %s%s%s.",
		    f->name, text, lo_text, gap, unit);
	if (lo == -INFINITY)
		return sim_fail(e, SIM_ERANGE, "%s %.40s is above %s%s%s.",
		    f->name, text, hi_text, gap, unit);
	return sim_fail(e, SIM_ERANGE, "%s %.40s is not in [%s, %s]%s%s.",
	    f->name, text, lo_text, hi_text, gap, unit);
}

static int parse_uint(const struct sim_field *f, const char *text,
    uint64_t *out, struct sim_err *e)
{
	double lo, hi;
	uint64_t x;
	sim_field_range(f, &lo, &hi);
	int rc = sim_parse_u64(text, &x, e);
	if (rc == SIM_EINVAL)
		return sim_wrap(e, rc, "%s", f->name);
	/* Compared as integers, with the bounds rounded inwards: as a double, X
	 * would lose its last digits from 2^53 on. */
	if (rc == SIM_ERANGE || (lo > 0 && x < (uint64_t)ceil(lo)) ||
	    (hi < 0x1p64 && x > (uint64_t)hi))
		return out_of_range(f, text, e);
	*out = x;
	return 0;
}

static int parse_real(const struct sim_field *f, const char *text, double *out,
    struct sim_err *e)
{
	double lo, hi, x;
	sim_field_range(f, &lo, &hi);
	int rc = sim_parse_f64(text, &x, e);
	if (rc < 0)
		return sim_wrap(e, rc, "%s", f->name);
	if (x < lo || x > hi)
		return out_of_range(f, text, e);
	if (f->whole && x != floor(x))
		return sim_fail(e, SIM_EINVAL,
		    "%s %.40s is not a whole number.", f->name, text);
	*out = x;
	return 0;
}

/* Only true and false are taken. The other spellings of YAML 1.1, such as `no`
 * and `off`, are what surprises people most in it, so they are refused with the
 * word to write instead: those at even places mean false, at odd ones true. */
static int parse_bool(const struct sim_field *f, const char *text,
    uint32_t *out, struct sim_err *e)
{
	static const char *const words[] = {"no", "yes", "off", "on", "0", "1",
	    "n", "y", "f", "t", "false", "true"};
	char quote[64];
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		*out = text[0] == 't';
		return 0;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0)
			return sim_fail(e, SIM_EINVAL,
			    "%s: %s is not true or false; write %s.", f->name,
			    sim_quote(quote, text), i % 2 ? "true" : "false");
	return sim_fail(e, SIM_EINVAL, "%s: %s is not true or false.", f->name,
	    sim_quote(quote, text));
}

static int parse_name(const struct sim_field *f, const char *text,
    uint32_t *out, struct sim_err *e)
{
	const size_t n = sim_word_find(f->names, text); /* no name: all */
	if (f->names[n]) {
		*out = (uint32_t)n;
		return 0;
	}
	char list[600] = "", quote[64];
	struct sim_text t = {list, sizeof(list), 0};
	for (size_t i = 0; i < n; i++)
		sim_put(&t, "%s%s", i ? ", " : "", f->names[i]);
	const char *near = sim_did_you_mean(text, f->names, n);
	sim_quote(quote, text);
	if (near)
		return sim_fail(e, SIM_EINVAL,
		    "%s: %s is not one of %s; did you mean \"%s\"?", f->name,
		    quote, list, near);
	return sim_fail(e, SIM_EINVAL, "%s: %s is not one of %s.", f->name,
	    quote, list);
}

/* A list as a default is written, "[a, b]". The items of a list in a file are
 * nodes with places of their own: sim/yaml_read.c reads them one by one. */
static int parse_set(const struct sim_field *f, const char *text, uint32_t *out,
    struct sim_err *e)
{
	static const char blank[] = " \t\n";
	char quote[64], word[128];
	uint32_t mask = 0, bit;
	const char *p = text + strspn(text, blank);
	if (*p++ != '[')
		goto bad;
	p += strspn(p, blank);
	while (*p != ']') {
		size_t n = strcspn(p, "[],{} \t\n");
		if (n == 0 || n >= sizeof(word))
			goto bad;
		memcpy(word, p, n);
		word[n] = '\0';
		int rc = parse_name(f, word, &bit, e);
		if (rc < 0)
			return rc;
		assert(bit < 32);
		if (mask & 1u << bit)
			return sim_fail(e, SIM_EINVAL,
			    "%s: \"%s\" is given twice.", f->name, word);
		mask |= 1u << bit;
		p += n;
		p += strspn(p, blank);
		if (*p == ',')
			p += 1 + strspn(p + 1, blank);
		else if (*p != ']')
			goto bad;
	}
	p++;
	if (p[strspn(p, blank)])
		goto bad;
	*out = mask;
	return 0;
bad:
	return sim_fail(e, SIM_EINVAL, "%s: %s is not a list; write [%s].",
	    f->name, sim_quote(quote, text), f->names[0]);
}

static const char *const dist_names[] = {"uniform", "log_uniform", NULL};

static int parse_dist(const struct sim_field *f, const char *text,
    struct sim_dist *out, struct sim_err *e)
{
	char kind[24], a[48], b[48], quote[64];
	struct sim_dist d = {0};
	uint32_t which;
	int end = -1, rc;
	if (text[0] != '{') {
		if ((rc = parse_real(f, text, &d.a, e)) < 0)
			return rc;
		*out = (struct sim_dist){SIM_FIXED, d.a, d.a};
		return 0;
	}
	/* %n is stored only if everything before it has matched, so END stays
	 * -1 for any other text. The widths leave a byte for the terminator. */
	sscanf(text, "{ %23[^]:, \t] : [ %47[^]:, \t] , %47[^]:, \t] ] }%n",
	    kind, a, b, &end);
	if (end < 0 || text[end])
		return sim_fail(e, SIM_EINVAL,
		    "%s: %s is not a number, {uniform: [a, b]} or "
		    "{log_uniform: [a, b]}.",
		    f->name, sim_quote(quote, text));
	/* The kind is one of a list of names, so the reader of enumerations
	 * takes it and writes the message. */
	struct sim_field kinds = *f;
	kinds.names = dist_names;
	if ((rc = parse_name(&kinds, kind, &which, e)) < 0 ||
	    (rc = parse_real(f, a, &d.a, e)) < 0 ||
	    (rc = parse_real(f, b, &d.b, e)) < 0)
		return rc;
	d.kind = which == 0 ? SIM_UNIFORM : SIM_LOG_UNIFORM;
	if (d.a > d.b)
		return sim_fail(e, SIM_ERANGE,
		    "%s: %s is above %s in [%s, %s].", f->name, a, b, a, b);
	/* The logarithms of both ends are what is drawn between. */
	if (d.kind == SIM_LOG_UNIFORM && d.a <= 0)
		return sim_fail(e, SIM_ERANGE,
		    "%s: log_uniform must start above 0, not at %s.", f->name,
		    a);
	*out = d;
	return 0;
}

static int parse_str(const struct sim_field *f, char *out, const char *text,
    struct sim_err *e)
{
	char quote[64];
	size_t n = strlen(text);
	if (n >= f->size)
		return sim_fail(e, SIM_ERANGE,
		    "%s: %s has %zu bytes, not at most %zu.", f->name,
		    sim_quote(quote, text), n, f->size - 1);
	memcpy(out, text, n + 1);
	return 0;
}

/* Each reader above writes its value last, so OBJ keeps the old one when the
 * text is refused. */
int sim_field_set(const struct sim_field *f, void *obj, const char *text,
    struct sim_err *e)
{
	void *at = (char *)obj + f->offset;
	uint64_t x = 0;
	int rc;
	switch (f->type) {
	/* bounds() has kept the value below 2^32. */
	case SIM_F_U32:
		if ((rc = parse_uint(f, text, &x, e)) == 0)
			*(uint32_t *)at = (uint32_t)x;
		return rc;
	case SIM_F_U64:
		return parse_uint(f, text, at, e);
	case SIM_F_F64:
		return parse_real(f, text, at, e);
	case SIM_F_BOOL:
		return parse_bool(f, text, at, e);
	case SIM_F_ENUM:
		return parse_name(f, text, at, e);
	case SIM_F_SET:
		return parse_set(f, text, at, e);
	case SIM_F_STR:
		return parse_str(f, at, text, e);
	case SIM_F_DIST:
		return parse_dist(f, text, at, e);
	}
	assert(!"a field of unknown type");
	return SIM_EINVAL;
}

/* --- tables ------------------------------------------------------------- */
int sim_field_defaults(const struct sim_field *fields, void *obj,
    struct sim_err *e)
{
	for (const struct sim_field *f = fields; f->name; f++) {
		/* A default is read like any text of a spec, so it cannot have
		 * a value that a spec could not have. */
		int rc = f->def ? sim_field_set(f, obj, f->def, e) : 0;
		if (rc < 0)
			return sim_wrap(e, rc, "default");
	}
	return 0;
}

const struct sim_field *sim_field_find(const struct sim_field *fields,
    const char *name)
{
	for (const struct sim_field *f = fields; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

int sim_field_take(const struct sim_field *fields, const void *params,
    size_t size, void *obj, struct sim_err *e)
{
	if (!params)
		return sim_field_defaults(fields, obj, e);
	memcpy(obj, params, size);
	return 0;
}

/* Whether field F of OBJ has the value that the N bytes of TEXT would give it.
 * They are read like any value of a spec, into an object of that field alone. */
static int field_is(const struct sim_field *f, const void *obj,
    const char *text, size_t n)
{
	static const size_t size[] = {[SIM_F_U32] = sizeof(uint32_t),
	    [SIM_F_U64] = sizeof(uint64_t),
	    [SIM_F_F64] = sizeof(double),
	    [SIM_F_BOOL] = sizeof(uint32_t),
	    [SIM_F_ENUM] = sizeof(uint32_t),
	    [SIM_F_SET] = sizeof(uint32_t)};
	const char *at = (const char *)obj + f->offset;
	union {
		uint32_t u32;
		uint64_t u64;
		double f64;
		struct sim_dist dist;
	} value;
	struct sim_field one = *f;
	char word[64];
	if (f->type == SIM_F_STR)
		return strlen(at) == n && memcmp(at, text, n) == 0;
	one.offset = 0;
	snprintf(word, sizeof(word), "%.*s", (int)n, text);
	const int rc = sim_field_set(&one, &value, word, NULL);
	assert(rc == 0 && "a condition must name a value of its key");
	(void)rc;
	if (f->type != SIM_F_DIST)
		return memcmp(at, &value, size[f->type]) == 0;
	const struct sim_dist *d = (const struct sim_dist *)at;
	return d->a == value.dist.a && d->b == value.dist.b;
}

void sim_field_put_when(const struct sim_field *f, struct sim_text *t)
{
	const size_t n = strcspn(f->when, "!=");
	const int other = f->when[n] == '!';
	const char *values = f->when + n + 1 + other;
	sim_put(t, "%.*s", (int)n, f->when);
	if (other && *values)
		sim_put(t, " other than %s", values);
	for (const char *v = values; !other && *v; v += *v == '|') {
		const int len = (int)strcspn(v, "|");
		sim_put(t, "%s%.*s", v == values ? ": " : " or ", len, v);
		v += len;
	}
}

int sim_field_counts(const struct sim_field *fields, const struct sim_field *f,
    const void *obj, char why[160])
{
	char key[64];
	if (!f->when)
		return 1;
	const size_t n = strcspn(f->when, "!=");
	const int other = f->when[n] == '!';
	const char *values = f->when + n + 1 + other;
	snprintf(key, sizeof(key), "%.*s", (int)n, f->when);
	const struct sim_field *by = sim_field_find(fields, key);
	assert(by && "a condition must name a key of its table");
	int is = 0;
	for (const char *v = values;; v++) {
		const size_t len = strcspn(v, "|");
		is |= field_is(by, obj, v, len);
		v += len;
		if (!*v)
			break;
	}
	if (is == other) {
		struct sim_text t = {why, 160, 0};
		sim_put(&t, "it counts only with ");
		sim_field_put_when(f, &t);
	}
	return is != other;
}

size_t sim_field_join(struct sim_field all[], size_t n, size_t cap,
    const struct sim_field *f, size_t offset, const char *const only[])
{
	for (; f->name; f++) {
		if (only && !only[sim_word_find(only, f->name)])
			continue;
		/* One entry more must fit: the nameless one that ends the
		 * table. */
		assert(n + 1 < cap);
		all[n] = *f;
		all[n++].offset += offset;
	}
	all[n] = (struct sim_field){0};
	return n;
}

/* --- help --------------------------------------------------------------- */
enum { N_COLUMNS = 4, COLUMN_SIZE = 160, WIDEST = 36 };

static const char *const type_names[] = {
    [SIM_F_U32] = "whole number",
    [SIM_F_U64] = "whole number",
    [SIM_F_F64] = "number",
    [SIM_F_BOOL] = "true or false",
    [SIM_F_ENUM] = "one of",
    [SIM_F_SET] = "list of",
    [SIM_F_STR] = "text",
    [SIM_F_DIST] = "number or draw",
};

const char *sim_field_type_name(const struct sim_field *f)
{
	return type_names[f->type];
}

/* Words for what has names, otherwise the range as far as one was stated, and
 * the unit. */
void sim_field_put_values(const struct sim_field *f, struct sim_text *t)
{
	char a[32], b[32];
	double lo, hi;
	sim_field_range(f, &lo, &hi);
	switch (f->type) {
	case SIM_F_ENUM:
	case SIM_F_SET:
		for (size_t i = 0; f->names[i]; i++)
			sim_put(t, "%s%s", i ? ", " : "", f->names[i]);
		return;
	case SIM_F_STR:
		sim_put(t, "at most %zu bytes", f->size - 1);
		return;
	case SIM_F_BOOL:
		return;
	default:
		break;
	}
	if (f->min != 0 || f->max != 0)
		sim_put(t, "[%s, %s]", bound_text(a, lo), bound_text(b, hi));
	if (*unit_of(f))
		sim_put(t, "%s%s", t->n ? " " : "", unit_of(f));
}

static void sim_field_describe(const struct sim_field *f,
    char column[N_COLUMNS][COLUMN_SIZE])
{
	struct sim_text values = {column[2], COLUMN_SIZE, 0};
	snprintf(column[0], COLUMN_SIZE, "%s", f->name);
	snprintf(column[1], COLUMN_SIZE, "%s", type_names[f->type]);
	column[2][0] = '\0';
	sim_field_put_values(f, &values);
	snprintf(column[3], COLUMN_SIZE, "%s", f->def ? f->def : "(required)");
}

void sim_field_help(const struct sim_field *fields, FILE *out)
{
	/* Two passes: the width of a column is known only after all fields. */
	char column[N_COLUMNS][COLUMN_SIZE];
	size_t width[N_COLUMNS] = {0};
	for (const struct sim_field *f = fields; f->name; f++) {
		sim_field_describe(f, column);
		for (size_t i = 0; i < N_COLUMNS; i++) {
			size_t n = strlen(column[i]);
			/* One long list of names must not push all the other
			 * columns off the screen: it sticks out of its own
			 * column instead. */
			if (n > width[i] && n <= WIDEST)
				width[i] = n;
		}
	}
	for (const struct sim_field *f = fields; f->name; f++) {
		sim_field_describe(f, column);
		fputs("  ", out);
		for (size_t i = 0; i < N_COLUMNS; i++)
			fprintf(out, "%-*s  ", (int)width[i], column[i]);
		fprintf(out, "%s\n", f->doc ? f->doc : "");
	}
}
