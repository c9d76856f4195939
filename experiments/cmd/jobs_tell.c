/* experiments/cmd/jobs_tell.c -- what `culprit jobs` says of its windows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/jobs_tell.h"

#include <math.h>
#include <stdio.h>

#include "results/json.h"

/* Who reads the tables by themselves may take a window in which half of the
 * servers were silent for a quiet one. */
static void warn_of_parts(const struct xp_dsa_digest *d)
{
	const struct xp_dsa_summary_row *least = &d->least;
	if (d->n_partial > 0)
		fprintf(stderr,
		    "culprit: %llu of %llu windows were seen in part; the "
		    "least is %g to %g s, data centre %u: %.3g %% seen.\n",
		    (unsigned long long)d->n_partial,
		    (unsigned long long)d->n_rows, least->from_s, least->to_s,
		    least->data_centre, 100 * least->seen_share);
}

static void print_words(const char *what, const uint64_t n[],
    const char *const words[], uint64_t n_windows)
{
	/* Word 0 is "not run", which is no news if it is all there is. */
	if (n[0] == n_windows) /* not run */
		return;
	printf("  %s:", what);
	for (size_t i = 1, k = 0; words[i]; i++)
		if (n[i] > 0)
			printf("%s %s (%llu)", k++ ? "," : "", words[i],
			    (unsigned long long)n[i]);
	printf("\n");
}

static void print_highest(uint32_t jobs, const struct xp_dsa_digest_dc *d)
{
	static const char *const units[] = {"us", "ms", "s"};
	double x = d->p99_us.value;
	size_t i = 0;
	if (d->drop_rate.value > 0)
		printf("  highest drop rate: %.3g, from %g s on\n",
		    d->drop_rate.value, d->drop_rate.from_s);
	else if (d->drop_rate.value == 0)
		printf("  no drops\n");
	if (isnan(x))
		return;
	/* In the unit that needs the fewest digits. */
	for (; i < 2 && x >= 1000; i++)
		x /= 1000;
	printf("  highest P99: %.4g %s, from %g s on%s\n", x, units[i],
	    d->p99_us.from_s,
	    jobs == XP_DSA_COUNTERS ? " (mean of the servers')" : "");
}

/* Alerts come of two jobs: `sla` for scopes of the network, and
 * `counters` for servers. */
static void print_alerts(const struct cmd_jobs_told *t,
    const struct xp_dsa_digest_dc *d)
{
	if (!(t->jobs & (XP_DSA_SLA | XP_DSA_COUNTERS)))
		return;
	printf("  alerts:");
	for (int kind = 0, k = 0; kind < ALGO_SLA_N_KINDS; kind++)
		if (d->n_alerts[kind] > 0)
			printf("%s %s (%llu)", k++ ? "," : "",
			    xp_dsa_kinds[kind],
			    (unsigned long long)d->n_alerts[kind]);
	if (d->n_alerting > 0)
		printf(", in %llu window%s\n",
		    (unsigned long long)d->n_alerting,
		    d->n_alerting > 1 ? "s" : "");
	else
		printf(" none, of scopes with %u probes or more\n",
		    /* Small scopes are not judged, which
		     * "none" alone would hide. */
		    t->min_probes);
}

/* Say which ToRs are to be reloaded to repair black holes, and since when. */
static void print_reloads(const struct cmd_jobs_told *t, uint32_t dc)
{
	const struct xp_dsa_digest *d = t->digest;
	if (!(t->jobs & XP_DSA_BLACKHOLE))
		return;
	size_t n = 0;
	printf("  ToRs to reload:");
	for (size_t i = 0; i < d->reloads.n; i++) {
		const struct xp_dsa_reload *a = &d->reloads.row[i];
		if (a->data_centre == dc)
			printf("%s %u (%g s)", n++ ? "," : "", a->tor,
			    a->from_s);
	}
	printf("%s\n", n ? "" : " none");
}

static void jobs_print_summary(const struct cmd_jobs_told *t)
{
	const struct xp_dsa_digest *d = t->digest;
	printf("%s: %llu x %g s -> %s\n", t->what,
	    (unsigned long long)(d->n_dcs ? d->n_rows / d->n_dcs : 0),
	    t->window_s, t->output);
	for (uint32_t i = 0; i < d->n_dcs; i++) {
		const struct xp_dsa_digest_dc *dc = &d->dc[i];
		printf("data centre %u: %llu probes, %.4g %% seen\n", i,
		    (unsigned long long)dc->n_probes,
		    100 * dc->seen / (double)dc->n_windows);
		print_highest(t->jobs, dc);
		print_alerts(t, dc);
		print_words("patterns", dc->n_patterns, xp_dsa_patterns,
		    dc->n_windows);
		print_words("random drops", dc->n_tiers, xp_dsa_tiers,
		    dc->n_windows);
		print_reloads(t, i);
	}
}

/* Codes are written as their words, so that nobody needs the table of codes. */
static void jobs_put_number(const char *name, double x,
    const char *const words[])
{
	printf("\"%s\": ", name);
	if (words)
		res_json_text(stdout, words[(size_t)x]);
	else
		res_json_number(stdout, x);
}

static void jobs_print_row(const struct xp_dsa_summary_row *s)
{
	const char *mark = "{";
#define X(type, name, units, doc, words)                                       \
	printf("%s", mark);                                                    \
	jobs_put_number(#name, (double)s->name, words);                        \
	mark = ", ";
	XP_DSA_SUMMARY_COLUMNS(X)
#undef X
	printf("}");
}

static void jobs_print_json(const struct cmd_jobs_told *t)
{
	const struct xp_dsa_digest *d = t->digest;
	printf("{\"recording\": ");
	res_json_text(stdout, t->what);
	res_json_text_of(stdout, "output", t->output);
	res_json_number_of(stdout, "window_s", t->window_s);
	printf(",\n \"windows\": [");
	for (size_t i = 0; i < d->summary.n; i++) {
		printf("%s", i ? ",\n  " : "\n  ");
		jobs_print_row(&d->summary.row[i]);
	}
	printf("],\n \"reload\": [");
	for (size_t i = 0; i < d->reloads.n; i++) {
		const struct xp_dsa_reload *a = &d->reloads.row[i];
		printf("%s{\"data_centre\": %u, \"tor\": %u, \"from_s\": ",
		    i ? ", " : "", a->data_centre, a->tor);
		res_json_number(stdout, a->from_s);
		printf("}");
	}
	printf("]}\n");
}

void cmd_jobs_tell(const struct cmd_jobs_told *t)
{
	warn_of_parts(t->digest);
	if (t->json)
		jobs_print_json(t);
	else
		jobs_print_summary(t);
}
