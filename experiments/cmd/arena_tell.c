/* experiments/cmd/arena_tell.c -- what the arena came to: printed, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"

enum { ARENA_CPU_S = 1, ARENA_BYTES = 2 };

/* The mean of what cpu.csv has of these, in that column behind the algorithm. */
static double arena_cpu_of(const struct cmd_arena_told *x,
    const struct xp_arena_entry *one, int column)
{
	char want[128];
	double sum = 0;
	int n = 0;
	snprintf(want, sizeof(want), ",%s,%s,",
	    xp_arena_telemetries[one->telemetry].name, one->algorithm);
	for (const char *at = x->cpu; (at = strstr(at, want)); n++) {
		at += strlen(want);
		for (int i = 0; i < column; i++)
			at = strchr(at, ',') + 1;
		sum += strtod(at, NULL);
	}
	return n > 0 ? sum / n : NAN;
}

/* Digits behind the point, or with LESS significant ones. */
static void arena_print_cell(double v, int digits, int less)
{
	if (isnan(v))
		printf(" %8s", "-");
	else if (less)
		printf(" %8.*g", digits, v);
	else
		printf(" %8.*f", digits, v);
}

/* An interval, or that there is none. */
static void arena_print_span(const struct sim_ratio *r, int digits)
{
	char text[32] = "-";
	if (!isnan(r->value))
		snprintf(text, sizeof(text), "%.*f-%.*f", digits, r->lo, digits,
		    r->hi);
	printf(" %11s", text);
}

static int arena_print_row(const struct cmd_arena_told *x,
    const struct xp_arena_entry *one, struct sim_err *e)
{
	static const unsigned shares[] = {XP_ARENA_precision, XP_ARENA_recall,
	    XP_ARENA_exact, XP_ARENA_blame};
	const struct sim_ratio f = xp_arena_score(one, XP_ARENA_f);
	const double right_s = xp_arena_score(one, XP_ARENA_right_s).value;
	struct sim_ratio alarms;
	struct res_calibration c;
	int rc = xp_arena_alarms_a_day(&x->standing, one, &alarms, e);
	if (rc == 0)
		rc = xp_arena_calibration(one, &c, e);
	if (rc < 0)
		return rc;
	printf("%-8s %-20s", xp_arena_telemetries[one->telemetry].name,
	    one->algorithm);
	arena_print_cell(f.value, 3, 0);
	arena_print_span(&f, 3);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		arena_print_cell(xp_arena_score(one, shares[i]).value, 3, 0);
	arena_print_cell(right_s, 1, 0);
	arena_print_cell(c.ece.value, 3, 0);
	arena_print_span(&alarms, 0);
	arena_print_cell(xp_arena_score(one, XP_ARENA_host_bytes_s).value, 4,
	    1);
	arena_print_cell(xp_arena_score(one, XP_ARENA_switch_bytes_s).value, 4,
	    1);
	arena_print_cell(1e3 * arena_cpu_of(x, one, ARENA_CPU_S), 3, 1);
	arena_print_cell(1e-3 * arena_cpu_of(x, one, ARENA_BYTES), 3, 1);
	printf("%s\n", xp_arena_in_front(&x->standing, one) ? " *" : "");
	return 0;
}

int cmd_arena_print(const struct cmd_arena_told *x, struct sim_err *e)
{
	const struct xp_arena_standing *s = &x->standing;
	char answer[XP_ARENA_ANSWER];
	int rc = 0;
	printf("arena %d, size %s, phrase \"%s\", seed %" PRIu64 "\n\n",
	    XP_ARENA_VERSION, x->size, x->phrase, xp_arena_seed(x->phrase));
	printf("%-8s %-20s %8s %11s %8s %8s %8s %8s %8s %8s %11s %8s %8s %8s "
	       "%8s\n",
	    "has", "algorithm", "F", "95 %", "precis.", "recall", "exact",
	    "blame", "right s", "ECE", "alarms/day", "host B/s", "sw. B/s",
	    "CPU ms", "kB");
	for (size_t i = 0; rc == 0 && i < s->n_of_all; i++)
		rc = arena_print_row(x, &s->entry[i], e);
	printf("\n");
	xp_arena_print_gaps(s, stdout);
	if (x->tuned->n > 0)
		printf("Those labelled NAME_tuned, such as flock_tuned, have "
		       "the "
		       "values that did best on\n%u runs of seed %" PRIu64
		       " at size %s.\n",
		    x->tuned->runs, x->tuned->seed, x->tuned->size);
	printf("* nothing with fewer bytes of a host has a greater F.\n");
	xp_arena_answer(s, answer);
	if (*answer)
		printf("%s\n", answer);
	return rc;
}

typedef int arena_printer(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e);

/* What PRINT prints, as a file of that name. */
static int arena_write(const struct cmd_arena_told *x, const char *name,
    arena_printer *print, struct sim_err *e)
{
	char path[4096], *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for %s.", name);
	int rc = print(x, out, e);
	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	if (fclose(out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for %s.", name);
	if (rc == 0)
		rc = cmd_write_file(path, text, n, e);
	free(text);
	return rc;
}

#define PRINTER(name)                                                          \
	static int arena_put_##name(const struct cmd_arena_told *x, FILE *out, \
	    struct sim_err *e)                                                 \
	{                                                                      \
		(void)e;                                                       \
		xp_arena_print_##name(&x->standing, out);                      \
		return 0;                                                      \
	}
PRINTER(pairs)
PRINTER(front)
PRINTER(map)
#undef PRINTER

static int arena_put_scores(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	return xp_arena_print_scores(&x->standing, out, e);
}

static int arena_put_ranks(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	return xp_arena_ranks_print(&x->ranks, out, e);
}

/* What is printed, with all its digits, for programs. */
static int arena_put_table(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	int rc = 0;
	fputs("telemetry\talgorithm\tf\tf_lo\tf_hi\talarms_a_day\talarms_lo\t"
	      "alarms_hi",
	    out);
	for (unsigned m = XP_ARENA_f + 1; m < XP_ARENA_N_SCORES; m++)
		fprintf(out, "\t%s", xp_arena_scores[m]);
	fputs("\tece\tece_lo\tece_hi\tece_if_right\tcpu_s\tmemory_bytes\t"
	      "in_front\n",
	    out);
	for (size_t i = 0; rc == 0 && i < x->standing.n_of_all; i++) {
		const struct xp_arena_entry *one = &x->standing.entry[i];
		const struct sim_ratio f = xp_arena_score(one, XP_ARENA_f);
		struct sim_ratio a;
		struct res_calibration c;
		if ((rc = xp_arena_alarms_a_day(&x->standing, one, &a, e)) <
			0 ||
		    (rc = xp_arena_calibration(one, &c, e)) < 0)
			break;
		fprintf(out, "%s\t%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g",
		    xp_arena_telemetries[one->telemetry].name, one->algorithm,
		    f.value, f.lo, f.hi, a.value, a.lo, a.hi);
		for (unsigned m = XP_ARENA_f + 1; m < XP_ARENA_N_SCORES; m++)
			fprintf(out, "\t%.4g", xp_arena_score(one, m).value);
		fprintf(out, "\t%.4g\t%.4g\t%.4g\t%.4g\t%.3g\t%.3g\t%d\n",
		    c.ece.value, c.ece.lo, c.ece.hi, c.if_right,
		    arena_cpu_of(x, one, ARENA_CPU_S),
		    arena_cpu_of(x, one, ARENA_BYTES),
		    xp_arena_in_front(&x->standing, one));
	}
	return rc;
}

static int arena_put_standing(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	const struct xp_arena_head h = {.size = x->size,
	    .seed = xp_arena_seed(x->phrase),
	    .made_of = x->made_of};
	return xp_arena_print_standing(&x->standing, &h, out, e);
}

static int arena_put_cpu(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	(void)e;
	fwrite(x->cpu, 1, x->n_cpu, out);
	return 0;
}

int cmd_arena_write(const struct cmd_arena_told *x, struct sim_err *e)
{
	static const struct {
		const char *name;
		arena_printer *print;
	} file[] = {{"scores.csv", arena_put_scores},
	    {"pairs.csv", arena_put_pairs}, {"front.tsv", arena_put_front},
	    {"map.tsv", arena_put_map}, {"cd.tsv", arena_put_ranks},
	    {"cpu.csv", arena_put_cpu}, {"table.tsv", arena_put_table}};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(file) / sizeof(file[0]); i++)
		rc = arena_write(x, file[i].name, file[i].print, e);
	if (rc < 0 || x->n_lost == 0)
		return rc < 0
		    ? rc
		    : arena_write(x, "standing.tsv", arena_put_standing, e);
	/* One of earlier runs would be taken for theirs. */
	char path[4096];
	snprintf(path, sizeof(path), "%s/standing.tsv", x->dir);
	unlink(path);
	return 0;
}
