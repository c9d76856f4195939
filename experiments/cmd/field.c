/* experiments/cmd/field.c -- fields as options: KEY=VALUE, and their help.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/field.h"

#include <string.h>

#include "sim/text.h"

void cmd_field_set(const struct sim_field *fields, void *obj,
    const char *option, const char *arg, struct argp_state *state)
{
	enum { MAX_FIELDS = 64 };
	const char *names[MAX_FIELDS], *value = strchr(arg, '=');
	char key[64] = "", quote[64];
	struct sim_err e;
	size_t n = 0;
	if (!value) {
		argp_error(state, "%s %s is not KEY=VALUE", option,
		    sim_quote(quote, arg));
		return;
	}
	/* Only as much of the key as any name has is kept;
	 * longer ones match none. */
	snprintf(key, sizeof(key), "%.*s", (int)(value - arg), arg);
	const struct sim_field *f = sim_field_find(fields, key);
	if (!f) {
		for (; n < MAX_FIELDS && fields[n].name; n++)
			names[n] = fields[n].name;
		const char *near = sim_did_you_mean(key, names, n);
		argp_error(state, "%s: there is no key %s%s%s%s", option,
		    sim_quote(quote, key), near ? "; did you mean \"" : "",
		    near ? near : "", near ? "\"?" : "");
	}
	if (sim_field_set(f, obj, value + 1, &e) < 0)
		argp_error(state, "%s %s", option, e.msg);
}

void cmd_field_help(FILE *out, const struct sim_field *f)
{
	for (; f->name; f++) {
		char range[64] = "", lo[32], hi[32];
		/* Texts and flags have no range. */
		if (f->max > 0)
			snprintf(range, sizeof(range), " [%s, %s]",
			    sim_format_f64(lo, f->min),
			    sim_format_f64(hi, f->max));
		fprintf(out, "  %s=%s%s\n      %s\n", f->name, f->def, range,
		    f->doc);
	}
}
