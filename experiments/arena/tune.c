/* experiments/arena/tune.c -- parameters of an algorithm that do best.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/bytes.h"
#include "sim/vec.h"

enum { TUNE_ROUNDS = 3, TUNE_BATCH = 16 };

/* Wide around what papers have, which are for losses of about 1e-3 to 1e-2 above
 * 1e-4. */
static const struct {
	const char *algo, *key;
	double from, to;
} tune_usual[] = {
    {"flock", "p_bad", 5e-4, 2e-2},
    {"flock", "p_good", 5e-5, 1e-3},
    {"flock", "prior", -60, -2},
    {"sherlock", "p_bad", 5e-4, 2e-2},
    {"sherlock", "p_good", 5e-5, 1e-3},
    {"sherlock", "prior", -60, -2},
    {"netbouncer", "lambda", 1e-4, 0.1},
    {"netbouncer", "theta", 1e-4, 2e-2},
    {"netbouncer", "theta_switch", 1e-2, 1},
    {"vote_flock", "theta", 3e-4, 0.1},
    {"score", "theta", 3e-4, 0.1},
    {"score_passive", "theta", 1e-4, 2e-2},
    {"detector", "noise", 1e-4, 0.1},
    {"detector", "hit", 0.05, 1},
    {"alg1", "threshold", 1e-3, 0.1},
};

void xp_tune_free(struct xp_tune *t)
{
	free(t->tried);
	*t = (struct xp_tune){0};
}

/* --- what to vary --------------------------------------------------------- */

static int tune_take(struct xp_tune *t, const char *name, double from,
    double to, struct sim_err *e)
{
	const char *algo = t->algo->ops->name;
	const struct sim_field *f = sim_field_find(t->algo->ops->params, name);
	double least, most;
	if (!f)
		return sim_fail(e, SIM_EINVAL,
		    "%s has no parameter \"%s\"; see `culprit algos %s`.", algo,
		    name, algo);
	if (f->type != SIM_F_F64)
		return sim_fail(e, SIM_EINVAL,
		    "%s of %s is %s; only numbers can be tuned.", name, algo,
		    sim_field_type_name(f));
	sim_field_range(f, &least, &most);
	if (!(from < to) || from < least || to > most)
		return sim_fail(e, SIM_ERANGE,
		    "%s of %s from %g to %g: must ascend within [%g, %g].",
		    name, algo, from, to, least, most);
	if (t->n_keys == XP_TUNE_MAX_KEYS)
		return sim_fail(e, SIM_EINVAL,
		    "more than %d parameters to tune.", XP_TUNE_MAX_KEYS);
	for (size_t i = 0; i < t->n_keys; i++)
		if (t->key[i].field == f)
			return sim_fail(e, SIM_EINVAL, "%s is given twice.",
			    name);
	t->key[t->n_keys++] = (struct xp_tune_key){f, from, to};
	return 0;
}

int xp_tune_usual(struct xp_tune *t, struct sim_err *e)
{
	const char *algo = t->algo->ops->name;
	int rc = 0;
	for (size_t i = 0;
	     rc == 0 && i < sizeof(tune_usual) / sizeof(tune_usual[0]); i++)
		if (strcmp(tune_usual[i].algo, algo) == 0)
			rc = tune_take(t, tune_usual[i].key, tune_usual[i].from,
			    tune_usual[i].to, e);
	if (rc == 0 && t->n_keys == 0)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "%s has no parameters that are usually tuned; name some, "
		    "as NAME=FROM..TO.",
		    algo);
	return rc;
}

int xp_tune_add(struct xp_tune *t, const char *text, struct sim_err *e)
{
	char copy[256], *is, *dots;
	double from, to;
	if (strlen(text) >= sizeof(copy))
		return sim_fail(e, SIM_EINVAL, "\"%.40s...\" is too long.",
		    text);
	strcpy(copy, text);
	is = strchr(copy, '=');
	dots = is ? strstr(is, "..") : NULL;
	if (dots) {
		*is = *dots = '\0';
		if (sim_parse_f64(is + 1, &from, NULL) == 0 &&
		    sim_parse_f64(dots + 2, &to, NULL) == 0)
			return tune_take(t, copy, from, to, e);
	}
	return sim_fail(e, SIM_EINVAL,
	    "\"%s\" is not NAME=FROM..TO, such as p_bad=1e-3..1e-2.", text);
}

uint64_t xp_tune_seed(uint64_t seed)
{
	char text[64];
	snprintf(text, sizeof(text), "to tune on, not %llu",
	    (unsigned long long)seed);
	const uint64_t h = sim_fnv(SIM_FNV_START, text, strlen(text));
	/* As xp_arena_seed() has it. */
	return (h ^ h >> 48) & ((UINT64_C(1) << 48) - 1);
}

/* --- where to look -------------------------------------------------------- */

static int tune_is_log(const struct xp_tune_key *k)
{
	return k->from > 0 || k->to < 0;
}

/* Places of a range are from 0 to 1. */
static double tune_value(const struct xp_tune_key *k, double at)
{
	char text[32];
	const double x = tune_is_log(k) ? k->from * pow(k->to / k->from, at)
					: k->from + at * (k->to - k->from);
	snprintf(text, sizeof(text), "%.3g", x);
	return fmin(fmax(strtod(text, NULL), k->from), k->to);
}

static double tune_place(const struct xp_tune_key *k, double x)
{
	return tune_is_log(k) ? log(x / k->from) / log(k->to / k->from)
			      : (x - k->from) / (k->to - k->from);
}

/* Number I, from 1 on, of van der Corput's sequence of that base. */
static double tune_corput(size_t i, unsigned base)
{
	double x = 0, digit = 1;
	for (; i > 0; i /= base) {
		digit /= base;
		x += digit * (double)(i % base);
	}
	return x;
}

/* A box of that WIDTH around the best one; it stays within the whole. */
static void tune_point(const struct xp_tune *t, size_t i, double width,
    struct xp_tune_try *out)
{
	static const unsigned base[XP_TUNE_MAX_KEYS] = {2, 3, 5, 7};
	for (size_t k = 0; k < t->n_keys; k++) {
		const struct xp_tune_key *key = &t->key[k];
		double from = 0;
		if (width < 1 && t->best > 0) {
			from = tune_place(key, t->tried[t->best].value[k]) -
			    width / 2;
			from = fmin(fmax(from, 0), 1 - width);
		} else {
			width = 1;
		}
		out->value[k] =
		    tune_value(key, from + width * tune_corput(i, base[k]));
	}
}

static int tune_round(struct xp_tune *t, size_t n, double width,
    xp_tune_scorer *score, void *arg, struct sim_err *e)
{
	const size_t first = t->n, end = first + n;
	int rc = SIM_RESERVE(&t->tried, &t->cap, end, e);
	if (rc < 0)
		return rc;
	/* The sequence goes on, so that no round repeats another's places. */
	for (; t->n < end; t->n++) {
		struct xp_tune_try x = {.f = NAN};
		tune_point(t, t->n, width, &x);
		t->tried[t->n] = x;
	}
	for (size_t i = first; rc == 0 && i < end; i += TUNE_BATCH)
		rc = score(arg, t, i,
		    end - i < TUNE_BATCH ? end - i : TUNE_BATCH, e);
	for (size_t i = first; i < end; i++)
		if (isnan(t->tried[t->best].f) ||
		    t->tried[i].f > t->tried[t->best].f)
			t->best = i;
	return rc;
}

int xp_tune_search(struct xp_tune *t, size_t n_tries, xp_tune_scorer *score,
    void *arg, struct sim_err *e)
{
	double width = 1;
	size_t left = n_tries;
	int rc = SIM_RESERVE(&t->tried, &t->cap, 1, e);
	if (rc < 0)
		return rc;
	t->tried[0] = (struct xp_tune_try){.f = NAN};
	for (size_t k = 0; k < t->n_keys; k++)
		memcpy(&t->tried[0].value[k],
		    (const char *)t->algo->params + t->key[k].field->offset,
		    sizeof(double));
	t->n = 1;
	t->best = 0;
	rc = score(arg, t, 0, 1, e);
	for (unsigned r = 0; rc == 0 && r < TUNE_ROUNDS; r++, width /= 3) {
		const size_t n = left / (TUNE_ROUNDS - r);
		left -= n;
		rc = tune_round(t, n, width, score, arg, e);
	}
	if (rc == 0 && isnan(t->tried[t->best].f))
		rc = sim_fail(e, SIM_EINVAL,
		    "%s refuses all values that were tried.",
		    t->algo->ops->name);
	return rc;
}

/* --- what to paste -------------------------------------------------------- */

void xp_tune_put(const struct xp_tune *t, const struct xp_tune_try *x,
    const char *text, const char *ending, struct sim_text *out)
{
	const char *end = strrchr(text, '}');
	if (*text == '{' && end) {
		while (end > text + 1 && (end[-1] == ' ' || end[-1] == ','))
			end--;
		sim_put(out, "%.*s", (int)(end - text), text);
	} else {
		sim_put(out, "{name: %s", text);
	}
	for (size_t k = 0; k < t->n_keys; k++)
		sim_put(out, ", %s: %.9g", t->key[k].field->name, x->value[k]);
	sim_put(out, ", label: \"%s%s\"}", t->algo->label, ending);
}
