/* experiments/plug/about.c -- what an algorithm from outside says of itself.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/about.h"

#include <stdlib.h>
#include <string.h>

#include "algos/plugin.h"
#include "experiments/plug/columns.h"
#include "models/obs.h"
#include "sim/text.h"
#include "sim/vec.h"

const struct plug_word plug_about_needs[] = {{"flows", OBS_FLOWS,
						 CULPRIT_NEEDS_FLOWS},
    {"hops", OBS_HOPS, CULPRIT_NEEDS_HOPS},
    {"all", OBS_ALL_FLOWS, CULPRIT_NEEDS_ALL},
    {"tallies", OBS_TALLIES, CULPRIT_NEEDS_TALLIES},
    {"rated", OBS_TALLIES_RATED, CULPRIT_NEEDS_RATED},
    {"traced", OBS_TALLIES_TRACED, CULPRIT_NEEDS_TRACED},
    {"whole", OBS_TALLIES_WHOLE, CULPRIT_NEEDS_WHOLE},
    {"probed", OBS_TALLIES_PROBED, CULPRIT_NEEDS_PROBED}, {0}};
const struct plug_word plug_about_says[] = {{"flags", PLUG_SAYS_FLAGS,
						CULPRIT_SAYS_FLAGS},
    {"blames", PLUG_SAYS_BLAMES, CULPRIT_SAYS_BLAMES},
    {"switches", PLUG_SAYS_SWITCHES, CULPRIT_SAYS_SWITCHES}, {0}};

static const struct sim_field about_own[PLUG_OWN_FIELDS] = {
    {"timeout", SIM_F_F64, offsetof(struct plug_params, timeout_s),
	.min = 0.001, .max = 3600, .unit = "s", .def = "10",
	.doc = "for one window; who takes longer is stopped"},
    {"audit", SIM_F_U32, offsetof(struct plug_params, audit), .max = 1e9,
	.unit = "windows", .def = "64",
	.doc = "ask twice about one window of so many, and fail if the answers "
	       "differ; 0: never"},
};

/* --- lines ---------------------------------------------------------------- */

static int about_set_bits(const struct plug_word *known, char *words,
    unsigned *bits, struct sim_err *e)
{
	for (char *word, *rest = words; (word = strtok_r(rest, " ", &rest));) {
		char quote[64];
		const struct plug_word *k = known;
		while (k->word && strcmp(k->word, word) != 0)
			k++;
		if (!k->word)
			return sim_fail(e, SIM_EINVAL,
			    "%s is nothing that this culprit has.",
			    sim_quote(quote, word));
		*bits |= k->bit;
	}
	return 0;
}

static int about_add_column(struct plug_about *a, const char *word,
    struct sim_err *e)
{
	const char *known[PLUG_MAX_COLUMNS];
	char quote[64];
	unsigned n = 0, i = 0;
	for (; n < PLUG_MAX_COLUMNS && plug_column(n).name; n++)
		known[n] = plug_column(n).name;
	while (i < n && strcmp(known[i], word) != 0)
		i++;
	const char *near = sim_did_you_mean(word, known, n);
	sim_quote(quote, word);
	if (i == n && near)
		return sim_fail(e, SIM_EINVAL,
		    "no column is called %s; did you mean \"%s\"?", quote,
		    near);
	if (i == n)
		return sim_fail(e, SIM_EINVAL, "no column is called %s.",
		    quote);
	if (memchr(a->column, (int)i, a->n_columns))
		return sim_fail(e, SIM_EINVAL, "column %s is named twice.",
		    quote);
	a->column[a->n_columns++] = (uint8_t)i;
	return 0;
}

static int about_is_taken(const struct plug_about *a, const char *name)
{
	static const char *const taken[] = {"name", "label", "exec", "plugin",
	    NULL};
	return sim_field_find(a->field, name) ||
	    taken[sim_word_find(taken, name)];
}

/* NAME TYPE MIN MAX DEFAULT UNIT DOC, of which a bool has no use for three. */
static int about_add_param(struct plug_about *a, char *line, struct sim_err *e)
{
	static const char *const types[] = {"u32", "f64", "bool", NULL};
	static const enum sim_field_type type[] = {SIM_F_U32, SIM_F_F64,
	    SIM_F_BOOL};
	struct sim_field *f = &a->field[PLUG_OWN_FIELDS + a->n_params];
	char *rest = line, *part[6], quote[64];
	union {
		double f64;
		uint32_t u32;
	} value;
	for (size_t i = 0; i < 6; i++)
		if (!(part[i] = strtok_r(rest, " ", &rest)))
			return sim_fail(e, SIM_EINVAL,
			    "a parameter is NAME TYPE MIN MAX DEFAULT UNIT "
			    "DOC.");
	const size_t k = sim_word_find(types, part[1]);
	if (!types[k])
		return sim_fail(e, SIM_EINVAL,
		    "a parameter is u32, f64 or bool, not %s.",
		    sim_quote(quote, part[1]));
	if (a->n_params == PLUG_MAX_PARAMS)
		return sim_fail(e, SIM_ELIMIT, "more than %d parameters.",
		    PLUG_MAX_PARAMS);
	if (part[0][strspn(part[0], "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
	    about_is_taken(a, part[0]))
		return sim_fail(e, SIM_EINVAL,
		    "no parameter may be called %s: it is taken, or not made "
		    "of a-z, 0-9 and _.",
		    sim_quote(quote, part[0]));
	struct sim_field it = {part[0], type[k], .unit = part[5],
	    .def = part[4], .doc = rest ? rest : ""};
	int rc = sim_parse_f64(part[2], &it.min, e);
	if (rc < 0 || (rc = sim_parse_f64(part[3], &it.max, e)) < 0)
		return rc;
	if (it.type == SIM_F_BOOL)
		it.min = it.max = 0;
	else if (!(it.min < it.max) ||
	    (it.type == SIM_F_U32 && (it.min < 0 || it.max > UINT32_MAX)))
		return sim_fail(e, SIM_EINVAL,
		    "from %s to %s is no range of a %s.", part[2], part[3],
		    part[1]);
	if ((rc = sim_field_set(&it, &value, it.def, e)) < 0)
		return sim_wrap(e, rc, "its default");
	it.offset = sizeof(struct plug_params) + 8 * a->n_params++;
	*f = it;
	return 0;
}

static int about_take_line(struct plug_about *a, const char *word, char *rest,
    struct sim_err *e)
{
	int rc = 0;
	if (strcmp(word, "name") == 0) {
		if (!*rest || strlen(rest) >= sizeof(a->name))
			return sim_fail(e, SIM_EINVAL,
			    "a name has 1 to %zu bytes.", sizeof(a->name) - 1);
		strcpy(a->name, rest);
	} else if (strcmp(word, "doc") == 0) {
		snprintf(a->doc, sizeof(a->doc), "%s", rest);
	} else if (strcmp(word, "paper") == 0) {
		snprintf(a->paper, sizeof(a->paper), "%s", rest);
	} else if (strcmp(word, "needs") == 0) {
		rc = about_set_bits(plug_about_needs, rest, &a->needs, e);
	} else if (strcmp(word, "says") == 0) {
		rc = about_set_bits(plug_about_says, rest, &a->says, e);
	} else if (strcmp(word, "columns") == 0) {
		for (char *one, *at = rest;
		     rc == 0 && (one = strtok_r(at, " ", &at));)
			rc = about_add_column(a, one, e);
	} else if (strcmp(word, "file") == 0) {
		if (a->n_files == PLUG_MAX_FILES)
			return sim_fail(e, SIM_ELIMIT, "more than %d files.",
			    PLUG_MAX_FILES);
		a->file[a->n_files++] = rest;
	} else if (strcmp(word, "warns") == 0) {
		a->warns = rest;
	} else if (strcmp(word, "failed") == 0) {
		rc = sim_fail(e, SIM_EDEP, "%.400s%s", rest,
		    *rest && rest[strlen(rest) - 1] == '.' ? "" : ".");
	} else if (strcmp(word, "param") == 0) {
		rc = about_add_param(a, rest, e);
	}
	return rc;
}

/* --- the whole ------------------------------------------------------------ */

static int about_check_first(const char *line, struct sim_err *e)
{
	char quote[64], first[32];
	snprintf(first, sizeof(first), "culprit %d", PLUG_VERSION);
	return line && strcmp(line, first) == 0
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "it begins with %s, not with \"%s\".",
		  sim_quote(quote, line ? line : ""), first);
}

/* What is printed and kept must not hold what a terminal acts on. */
static int about_check_bytes(const char *text, size_t n, struct sim_err *e)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\n')
			return sim_fail(e, SIM_EINVAL,
			    "byte %zu is %d, which no text has.", i,
			    (int)(unsigned char)text[i]);
	return 0;
}

static int about_lines(struct plug_about *a, struct sim_err *e)
{
	char *at = a->text;
	size_t number = 1;
	int rc = about_check_first(strsep(&at, "\n"), e);
	for (char *line; rc == 0 && (line = strsep(&at, "\n"));) {
		char *rest = line + strcspn(line, " ");
		number++;
		if (*rest)
			*rest++ = '\0';
		if (strcmp(line, "end") == 0)
			break;
		rc = about_take_line(a, line, rest, e);
	}
	/* What it says itself is no mistake in how it says it. */
	return rc < 0 && rc != SIM_EDEP
	    ? sim_wrap(e, rc, "line %zu of its description", number)
	    : rc;
}

int plug_about_read(struct plug_about *a, const char *bytes, size_t n,
    struct sim_err *e)
{
	*a = (struct plug_about){0};
	memcpy(a->field, about_own, sizeof(about_own));
	int rc = SIM_ZALLOC(&a->text, n + 1, e);
	if (rc < 0)
		return rc;
	memcpy(a->text, bytes, n);
	if ((rc = about_check_bytes(bytes, n, e)) < 0 ||
	    (rc = about_lines(a, e)) < 0)
		return rc;
	a->params_size = sizeof(struct plug_params) + 8 * a->n_params;
	if (!a->name[0])
		return sim_fail(e, SIM_EINVAL,
		    "its description has no line \"name\".");
	return 0;
}

void plug_about_free(struct plug_about *a)
{
	free(a->text);
	*a = (struct plug_about){0};
}
