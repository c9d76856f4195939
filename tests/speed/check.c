/* tests/speed/check.c -- what the last whole `make check` took of a CPU.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is read from tests/cpu.tsv of this build, which `check` writes at its end, so
 * nothing is run twice. What was built then is counted, be it all or little. The
 * figures are of that machine and of what else ran on it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/provenance.h"
#include "tests/speed/bench.h"

/* FOLDER of this program, and a file in it. */
static FILE *open_beside(const char *name)
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	const size_t left = sizeof(path) - (size_t)(slash + 1 - path);
	return (size_t)snprintf(slash + 1, left, "%s", name) < left
	    ? fopen(path, "r")
	    : NULL;
}

struct spent {
	double build, gates, accuracy, tests;
	double most; /* of one test program or script */
	char of[80]; /* and which */
};

static void add_line(struct spent *x, const char *line)
{
	char what[80];
	double user, sys;
	if (sscanf(line, "%79s %lf %lf", what, &user, &sys) != 3)
		return;
	const double s = user + sys;
	if (strcmp(what, "check-build") == 0)
		x->build = s;
	else if (strcmp(what, "check-gates") == 0)
		x->gates = s;
	else if (strcmp(what, "check-accuracy") == 0)
		x->accuracy = s;
	else
		x->tests += s;
	if (strncmp(what, "check-", 6) != 0 && s > x->most) {
		x->most = s;
		snprintf(x->of, sizeof(x->of), "%s", what);
	}
}

/* The build that was checked, from "# commit C, build B, N tests". */
static void print_whose(const char *head, unsigned *n_tests)
{
	char commit[80], build[80];
	if (sscanf(head, "# commit %79[^,], build %79[^,], %u", commit, build,
		n_tests) != 3)
		*n_tests = 0;
	else if (strcmp(build, res_build()) != 0)
		printf("  (OLD: of commit %s, build %s)\n", commit, build);
	else
		printf("  (of commit %s, this program)\n", commit);
}

void bench_check(void)
{
	struct spent x = {0};
	char line[256];
	unsigned n_tests = 0;
	FILE *f = open_beside("cpu.tsv");
	if (!f || !fgets(line, sizeof(line), f)) {
		printf("%-48s %10s  (no whole `make check` of this build)\n",
		    "make check: CPU", "skipped");
		if (f)
			fclose(f);
		return;
	}
	print_whose(line, &n_tests);
	while (fgets(line, sizeof(line), f))
		add_line(&x, line);
	fclose(f);
	bench_row("make check: CPU", x.build + x.gates + x.accuracy + x.tests,
	    "s", '-', 0);
	bench_row("  of what it built", x.build, "s", '-', 0);
	bench_row("  of gates", x.gates, "s", '-', 0);
	bench_row("  of gates of accuracy", x.accuracy, "s", '-', 0);
	bench_row("  of tests", x.tests, "s", '-', 0);
	bench_row("  a test", x.tests / (n_tests > 0 ? n_tests : 1) * 1e3, "ms",
	    '-', 0);
	snprintf(line, sizeof(line), "  the most costly: %s", x.of);
	bench_row(line, x.most, "s", '-', 0);
}
