/* results/until.c -- points that end when an interval is narrow enough.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/until.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"

/* A criterion as read: columns of rows. */
struct until {
	double half;
	const struct res_metric *ratio;
	int of_trial;
	size_t first_algo, n_algos; /* of the algorithms that count */
	struct sim_looks looks;
	double *num, *den; /* [n_runs], work */
};

int res_until_make(char **out, double half, const char *metric,
    const char *algo, struct sim_err *e)
{
	char digits[32];
	const size_t size =
	    sizeof(digits) + strlen(metric) + (algo ? strlen(algo) : 0) + 3;
	int rc = sim_zalloc(out, size, 1, e);
	if (rc == 0)
		snprintf(*out, size, "%s %s%s%s", sim_format_f64(digits, half),
		    metric, algo ? " " : "", algo ? algo : "");
	return rc;
}

/* --- reading --------------------------------------------------------------- */

static const struct res_metric *find_in(const struct res_metric list[],
    size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static int until_find_ratio(struct until *u, const char *name,
    struct sim_err *e)
{
	static const char *const known[] = {
#define X(name, num, den, doc) #name,
	    RES_RATIOS(X) RES_TRIAL_RATIOS(X)
#undef X
	};
	char quote[64];
	u->ratio = find_in(res_ratios, RES_N_RATIOS, name);
	u->of_trial = !u->ratio;
	if (!u->ratio)
		u->ratio = find_in(res_trial_ratios, RES_N_TRIAL_RATIOS, name);
	if (u->ratio)
		return 0;
	const char *near =
	    sim_did_you_mean(name, known, sizeof(known) / sizeof(known[0]));
	return sim_fail(e, SIM_EINVAL,
	    "%s is no ratio, whose interval could end a point; did you mean "
	    "\"%s\"?",
	    sim_quote(quote, name), near ? near : "accuracy_fault");
}

static int until_find_algo(struct until *u, const struct res_cube *c,
    const char *label, struct sim_err *e)
{
	char quote[64];
	u->n_algos = c->n_algos;
	if (u->of_trial)
		u->n_algos = 1;
	if (u->of_trial && label)
		return sim_fail(e, SIM_EINVAL,
		    "%s is of a trial, not of an algorithm as %s.",
		    u->ratio->name, sim_quote(quote, label));
	if (!u->of_trial && c->n_algos == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is of an algorithm, and the spec has none.",
		    u->ratio->name);
	if (!label)
		return 0;
	u->n_algos = 1;
	while (u->first_algo < c->n_algos &&
	    strcmp(c->algo[u->first_algo], label) != 0)
		u->first_algo++;
	if (u->first_algo < c->n_algos)
		return 0;
	const char *near =
	    sim_did_you_mean(label, (const char *const *)c->algo, c->n_algos);
	return sim_fail(e, SIM_EINVAL,
	    "no algorithm is labelled %s; %s \"%s\"%s", sim_quote(quote, label),
	    near ? "did you mean" : "one is", near ? near : c->algo[0],
	    near ? "?" : ".");
}

/* TEXT is a copy of c->until, which gets cut. */
static int until_read(struct until *u, const struct res_cube *c, char *text,
    struct sim_err *e)
{
	char quote[64];
	const char *half = strsep(&text, " "), *name = strsep(&text, " ");
	int rc;
	if (c->shard_n > 1)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "a point is ended by all of its runs, and a shard has a "
		    "part of them; cut the sweep by its axes instead.");
	if (!name || sim_parse_f64(half, &u->half, NULL) < 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is no criterion, as \"0.01 accuracy_fault\" is.",
		    sim_quote(quote, c->until));
	if ((rc = until_find_ratio(u, name, e)) < 0 ||
	    (rc = until_find_algo(u, c, text, e)) < 0)
		return rc;
	return sim_looks_init(&u->looks, u->half, RES_UNTIL_CONF,
	    (uint32_t)c->n_runs, e);
}

static int until_open(struct until *u, const struct res_cube *c,
    struct sim_err *e)
{
	char *text = NULL;
	int rc = sim_dup(&text, c->until, e);
	*u = (struct until){0};
	if (rc == 0 && (rc = until_read(u, c, text, e)) == 0 &&
	    (rc = SIM_ZALLOC(&u->num, c->n_runs, e)) == 0)
		rc = SIM_ZALLOC(&u->den, c->n_runs, e);
	free(text);
	return rc;
}

static void until_close(struct until *u)
{
	free(u->num);
	free(u->den);
}

int res_until_check(const struct res_cube *c, struct sim_looks *looks,
    struct sim_err *e)
{
	struct until u;
	if (!c->until)
		return 0;
	const int rc = until_open(&u, c, e);
	if (rc == 0 && looks)
		*looks = u.looks;
	until_close(&u);
	return rc;
}

/* --- deciding -------------------------------------------------------------- */

/* The interval of the first N runs, those of a point. */
static int until_interval(struct until *u, const struct res_cube *c,
    size_t point, size_t algo, size_t n, struct sim_ratio *out,
    struct sim_err *e)
{
	const size_t first = u->of_trial ? 0 : res_row_doubles(algo);
	for (size_t r = 0; r < n; r++) {
		double *num = &u->num[r], *den = &u->den[r];
		*num = res_cube_value(c, point, r, first + u->ratio->num);
		*den = res_cube_value(c, point, r, first + u->ratio->den);
		if (res_cube_run_status(c, point, r) != RES_DONE ||
		    isnan(*num) || !(*den > 0))
			*num = *den = 0;
	}
	return sim_looks_share(&u->looks,
	    &(struct sim_ratio_sample){u->num, u->den, n}, out, e);
}

/* Are all intervals of a place narrow at N runs? */
static int is_narrow(struct until *u, const struct res_cube *c, size_t place,
    size_t n, int *narrow, struct sim_err *e)
{
	int rc = 0;
	*narrow = 1;
	for (size_t k = 0; *narrow && k < c->n_along; k++)
		for (size_t a = 0; *narrow && a < u->n_algos; a++) {
			struct sim_ratio r;
			rc = until_interval(u, c, place * c->n_along + k,
			    u->first_algo + a, n, &r, e);
			if (rc < 0)
				return rc;
			*narrow = sim_looks_is_narrow(&u->looks, &r);
		}
	return 0;
}

/* How many of the first runs of a place are done, without a gap. */
static size_t n_prefix(const struct res_cube *c, size_t place)
{
	size_t n = 0;
	while (n < c->n_runs &&
	    res_cube_run_status(c, place * c->n_along, n) == RES_DONE)
		n++;
	return n;
}

/* Look until it is narrow, or runs are missing. *USED is 0 then. */
static int decide_place(struct until *u, const struct res_cube *c, size_t place,
    uint32_t *used, uint32_t *wanted, int *met, struct sim_err *e)
{
	const size_t n_done = n_prefix(c, place);
	int rc = 0;
	*used = *wanted = 0;
	*met = 0;
	for (uint32_t i = 0; rc == 0 && !*used && i < u->looks.n; i++) {
		*wanted = u->looks.at[i];
		if (*wanted > n_done)
			return 0;
		rc = is_narrow(u, c, place, *wanted, met, e);
		if (*met || i + 1 == u->looks.n)
			*used = *wanted;
	}
	return rc;
}

int res_until_decide(struct res_cube *c, uint32_t wanted[], struct sim_err *e)
{
	struct until u;
	uint32_t want;
	int met, rc;
	if (!c->until)
		return 0;
	const size_t n_places = c->n_points / c->n_along;
	if ((rc = until_open(&u, c, e)) == 0 && !c->n_used)
		rc = SIM_ZALLOC(&c->n_used, n_places, e);
	for (size_t p = 0; rc == 0 && p < n_places; p++) {
		rc = decide_place(&u, c, p, &c->n_used[p], &want, &met, e);
		if (wanted)
			wanted[p] = want;
	}
	until_close(&u);
	return rc;
}

int res_until_sum(const struct res_cube *c, struct res_until_sum *sum,
    struct sim_err *e)
{
	struct until u;
	*sum = (struct res_until_sum){0};
	int rc = until_open(&u, c, e);
	for (size_t p = 0; rc == 0 && p < c->n_points / c->n_along; p++) {
		uint32_t used, wanted;
		int met;
		rc = decide_place(&u, c, p, &used, &wanted, &met, e);
		sum->n_open += !used;
		sum->n_all += used && !met;
		sum->n_met += used && met;
		if (!used || !met)
			continue;
		if (sum->least == 0 || used < sum->least)
			sum->least = used;
		if (used > sum->most)
			sum->most = used;
	}
	until_close(&u);
	return rc;
}

int res_until_interval(const struct res_cube *c, size_t point,
    const char *ratio, const char *algo, struct sim_ratio *out,
    struct sim_err *e)
{
	struct until u;
	int rc, is_it = 0;
	if (!c->until)
		return 0;
	rc = until_open(&u, c, e);
	for (size_t i = 0; rc == 0 && !is_it && i < u.n_algos; i++) {
		const size_t a = u.first_algo + i;
		if (strcmp(u.ratio->name, ratio) != 0 || u.of_trial != !algo ||
		    (algo && strcmp(c->algo[a], algo) != 0))
			continue;
		is_it = 1;
		rc = until_interval(&u, c, point, a, c->n_runs, out, e);
	}
	until_close(&u);
	return rc < 0 ? rc : is_it;
}
