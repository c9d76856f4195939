/* experiments/cmd/arena_tell.c -- what the arena came to: printed, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"

/* CPU seconds a window, the mean of what cpu.csv has of these. */
static double arena_cpu_of(const struct cmd_arena_told *x,
    const struct xp_arena_entry *one)
{
	char want[128];
	double sum = 0;
	int n = 0;
	snprintf(want, sizeof(want), ",%s,%s,",
	    xp_arena_telemetries[one->telemetry].name, one->algorithm);
	for (const char *at = x->cpu; (at = strstr(at, want)); n++) {
		at += strlen(want);
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

static void arena_print_row(const struct cmd_arena_told *x,
    const struct xp_arena_entry *one)
{
	static const unsigned shares[] = {XP_ARENA_precision, XP_ARENA_recall,
	    XP_ARENA_exact, XP_ARENA_alarms, XP_ARENA_blame};
	const struct sim_ratio f = xp_arena_score(one, XP_ARENA_f);
	char interval[32];
	snprintf(interval, sizeof(interval), "%.3f-%.3f", f.lo > 0 ? f.lo : 0,
	    f.hi < 1 ? f.hi : 1);
	printf("%-8s %-13s", xp_arena_telemetries[one->telemetry].name,
	    one->algorithm);
	arena_print_cell(f.value, 3, 0);
	printf(" %11s", isnan(f.value) ? "-" : interval);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		arena_print_cell(xp_arena_score(one, shares[i]).value, 3, 0);
	arena_print_cell(xp_arena_score(one, XP_ARENA_host_bytes_s).value, 4,
	    1);
	arena_print_cell(xp_arena_score(one, XP_ARENA_switch_bytes_s).value, 4,
	    1);
	arena_print_cell(1e3 * arena_cpu_of(x, one), 3, 1);
	printf("%s\n", xp_arena_in_front(&x->standing, one) ? " *" : "");
}

static void arena_say(const char *what, const struct xp_arena_entry *x)
{
	const struct sim_ratio f = xp_arena_score(x, XP_ARENA_f);
	printf("%s: %s on %s, F %.3f, %.4g B/s a host.\n", what, x->algorithm,
	    xp_arena_telemetries[x->telemetry].name, f.value,
	    xp_arena_score(x, XP_ARENA_host_bytes_s).value);
}

void cmd_arena_print(const struct cmd_arena_told *x)
{
	const struct xp_arena_standing *s = &x->standing;
	char least[80];
	printf("arena %d, size %s, phrase \"%s\", seed %" PRIu64 "\n\n",
	    XP_ARENA_VERSION, x->size, x->phrase, xp_arena_seed(x->phrase));
	printf("%-8s %-13s %8s %11s %8s %8s %8s %8s %8s %8s %8s %8s\n", "has",
	    "algorithm", "F", "95 %", "precis.", "recall", "exact", "alarms",
	    "blame", "host B/s", "sw. B/s", "CPU ms");
	for (size_t i = 0; i < s->n_of_all; i++)
		arena_print_row(x, &s->entry[i]);
	printf("\n* nothing with fewer bytes of a host has a greater F.\n");
	if (!xp_arena_best(s))
		return;
	arena_say("Best", xp_arena_best(s));
	snprintf(least, sizeof(least),
	    "Least telemetry for at most %g less, shown at 95 %%",
	    XP_ARENA_MARGIN);
	arena_say(least, xp_arena_thriftiest(s));
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
PRINTER(scores)
PRINTER(pairs)
PRINTER(front)
PRINTER(map)
#undef PRINTER

static int arena_put_ranks(const struct cmd_arena_told *x, FILE *out,
    struct sim_err *e)
{
	return xp_arena_ranks_print(&x->ranks, out, e);
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
	    {"cpu.csv", arena_put_cpu}};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(file) / sizeof(file[0]); i++)
		rc = arena_write(x, file[i].name, file[i].print, e);
	return rc;
}
