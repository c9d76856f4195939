/* experiments/arena/standing.c -- what the arena came to, as a table to be kept.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/standing.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/check/expected_table.h"
#include "results/provenance.h"
#include "sim/bytes.h"
#include "sim/text.h"

uint64_t xp_arena_made_of(uint64_t h, const struct res_cube *c)
{
	const uint64_t m = xp_expected_made_of(c);
	return sim_fnv(h ? h : SIM_FNV_START, &m, sizeof(m));
}

static void answer_put(struct sim_text *t, const struct xp_arena_entry *x)
{
	const struct sim_ratio f = xp_arena_score(x, XP_ARENA_f);
	const double bytes = xp_arena_score(x, XP_ARENA_host_bytes_s).value;
	sim_put(t, "%s on %s: F %.3f (%.3f-%.3f), %.*f bytes/s of a host",
	    x->algorithm, xp_arena_telemetries[x->telemetry].name, f.value,
	    f.lo, f.hi, bytes < 10, bytes);
}

void xp_arena_answer(const struct xp_arena_standing *s,
    char text[XP_ARENA_ANSWER])
{
	const struct xp_arena_entry *best = xp_arena_best(s),
				    *least = xp_arena_thriftiest(s);
	struct sim_text t = {text, XP_ARENA_ANSWER, 0};
	*text = '\0';
	if (!best)
		return;
	sim_put(&t, "Best is ");
	answer_put(&t, best);
	if (least == best) {
		sim_put(&t,
		    ". Nothing that sends less is shown to be at most %g "
		    "worse.",
		    XP_ARENA_MARGIN);
		return;
	}
	sim_put(&t,
	    ". At most %g worse, as is shown, and with least telemetry is ",
	    XP_ARENA_MARGIN);
	answer_put(&t, least);
	sim_put(&t, ".");
}

static void standing_row(const struct xp_arena_entry *x, unsigned score,
    FILE *out)
{
	const double *num = x->num + score * x->n_runs,
		     *den = x->den + score * x->n_runs;
	const struct sim_ratio_sample s = {num, den, x->n_runs};
	double trials = 0;
	size_t n = 0;
	for (size_t r = 0; r < x->n_runs; r++) {
		n += den[r] > 0;
		trials += den[r];
	}
	if (n == 0)
		return;
	fprintf(out, "%s\t%s\t%s:%s\t%zu\t%zu\t%.10g\t%.10g",
	    xp_arena_family_name(x->family),
	    xp_arena_telemetries[x->telemetry].name, x->algorithm,
	    xp_arena_scores[score], x->n_runs, n, trials, sim_ratio_value(&s));
	if (n > 1)
		fprintf(out, "\t%.4g\n", sim_ratio_se(&s));
	else
		fputs("\tNaN\n", out);
}

/* Costs are those of the telemetry, and hardly of the family; and that a family was
 * answered need not be told. */
static int standing_has(const struct xp_arena_entry *x, unsigned score)
{
	return score < XP_ARENA_answered ||
	    (score == XP_ARENA_answered && xp_arena_score(x, score).value < 1);
}

/* Half of the interval is what Student's law makes of the standard error. Runs
 * that stated no chance measured nothing; of few chances as many runs at most
 * did. */
static int standing_chances(const struct xp_arena_entry *x, FILE *out,
    struct sim_err *e)
{
	struct res_calibration c;
	const int rc = xp_arena_calibration(x, &c, e);
	if (rc < 0 || !(c.n > 0))
		return rc;
	const size_t n = (size_t)fmin(c.n, (double)x->n_runs);
	fprintf(out, "%s\t%s\t%s:ece\t%zu\t%zu\t%.10g\t%.10g",
	    xp_arena_family_name(x->family),
	    xp_arena_telemetries[x->telemetry].name, x->algorithm, x->n_runs, n,
	    c.n, c.ece.value);
	if (n > 1)
		fprintf(out, "\t%.4g\n",
		    (c.ece.hi - c.ece.value) /
			gsl_cdf_tdist_Qinv(0.025, (double)(x->n_runs - 1)));
	else
		fputs("\tNaN\n", out);
	return 0;
}

int xp_arena_print_standing(const struct xp_arena_standing *s,
    const struct xp_arena_head *h, FILE *out, struct sim_err *e)
{
	const char *version = res_version();
	char answer[XP_ARENA_ANSWER];
	xp_arena_answer(s, answer);
	fprintf(out,
	    "# arena %d, size %s, seed %" PRIu64
	    ", version %.*s, build %s; answer: %s; made of %016" PRIx64
	    "\nfamily\ttelemetry\t%s\n",
	    XP_ARENA_VERSION, h->size, h->seed, (int)strcspn(version, " "),
	    version, res_build(), answer, h->made_of, xp_expected_columns);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		for (unsigned m = 0; m < XP_ARENA_N_SCORES; m++)
			if (i < s->n_of_all || standing_has(x, m))
				standing_row(x, m, out);
		rc = standing_chances(x, out, e);
	}
	return rc;
}
