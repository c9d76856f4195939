/* tests/fuzz/flock_fuzz.c -- any bytes as a trace and its black holes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is before the first line `=` is the network, if there is one and it is not
 * empty; what is behind a second one is the file of black holes. Each may be packed.
 * What is read must pass as tallies, and be read again as it was written, if only
 * once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/telemetry/flock.h"
#include "tests/fuzz/fuzz.h"

static int put(const void *bytes, size_t n, char path[32])
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* Holes and the switches that are broken by them. */
static void check_holes(const struct xp_flock *x, const char *edges,
    const char *trace, const struct xp_flock_asks *asks)
{
	static struct xp_flock back;
	struct xp_flock_asks again = *asks;
	char path[32];
	const int fd = put("", 0, path);
	must(xp_flock_write_fails(x, path, NULL) ==
	    (x->n_holes > 0 ? 0 : SIM_EUNSUPPORTED));
	again.fails = path;
	must(xp_flock_read(&back, edges, trace, &again, NULL) == 0);
	must(back.n_holes == x->n_holes);
	for (size_t i = 0; i < x->n_holes; i++) {
		const struct xp_flock_hole *a = &x->hole[i], *b = &back.hole[i];
		must(a->src == b->src && a->dst == b->dst && a->at == b->at &&
		    a->rate == b->rate);
		must(truth_is_failed_switch(&x->truth, a->at));
	}
	must(back.truth.n_parts == x->truth.n_parts);
	xp_flock_free(&back);
	close(fd);
}

static void check_again(const struct xp_flock *x, const char *edges,
    const struct xp_flock_asks *asks)
{
	static struct xp_flock back;
	char path[32];
	const int fd = put("", 0, path);
	must(xp_flock_write(x, path, NULL) == 0);
	must(xp_flock_read(&back, edges, path, asks, NULL) == 0);
	must(back.rows.n == x->rows.n);
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct obs_tally a = obs_tallies_at(&x->rows, i),
				       b = obs_tallies_at(&back.rows, i);
		must(a.up == b.up && a.down == b.down && a.n_sent == b.n_sent &&
		    a.n_lost == b.n_lost && a.is_probe == b.is_probe);
	}
	must(back.truth.n_switches == x->truth.n_switches);
	xp_flock_free(&back);
	close(fd);
}

/* A file of what is from *AT up to the next line `=`, or to END, behind which *AT
 * then is; NULL if nothing is left. Returns its descriptor, or -1. */
static int cut(const uint8_t **at, const uint8_t *end, char path[32])
{
	if (!*at)
		return -1;
	const uint8_t *from = *at,
		      *line = memmem(from, (size_t)(end - from), "\n=\n", 3);
	*at = line ? line + 3 : NULL;
	return put(from, (size_t)((line ? line + 1 : end) - from), path);
}

static void read_and_check(const char *edges, const char *trace,
    const char *fails)
{
	static struct xp_flock x;
	const struct xp_flock_asks asks = {.telemetry =
					       OBS_TELE_INT | OBS_TELE_A1,
	    .until_ms = INFINITY,
	    .late_us = NAN,
	    .fails = fails};
	struct sim_err e = {0};
	const int rc = xp_flock_read(&x, edges, trace, &asks, &e);
	must(rc == 0 || *e.msg != '\0');
	if (rc < 0)
		return;
	must(obs_paths_check(&x.paths, x.topo.n_links, NULL) == 0);
	must(obs_tallies_check(&x.rows, x.topo.n_links, x.window.flows.n,
		 NULL) == 0);
	must(obs_check(&x.window, x.topo.n_links, NULL) == 0);
	check_again(&x, edges, &asks);
	if (fails)
		check_holes(&x, edges, trace, &asks);
	xp_flock_free(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char plain[] = "1 3\n1 4\n2 3\n2 4\n10000->1\n10001->2\n";
	const uint8_t *at = bytes;
	char path[3][32];
	int fd[3];
	fd[0] = memmem(bytes, n, "\n=\n", 3) && *bytes != '\n'
	    ? cut(&at, bytes + n, path[0])
	    : put(plain, strlen(plain), path[0]);
	if (at == bytes && n >= 3 && memcmp(bytes, "\n=\n", 3) == 0)
		at += 3;
	fd[1] = cut(&at, bytes + n, path[1]);
	fd[2] = cut(&at, bytes + n, path[2]);
	read_and_check(path[0], path[1], fd[2] < 0 ? NULL : path[2]);
	for (unsigned i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return 0;
}
