/* tests/fuzz/flock_fuzz.c -- any bytes as a trace, packed or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is before the first line `=` is the network, if there is one. What is read
 * must pass as tallies, and be read again as it was written, if only once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/telemetry/flock.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(int holds)
{
	if (!holds)
		abort();
}

static int put(const void *bytes, size_t n, char path[32])
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_again(const struct xp_flock *x, const char *edges,
    const struct xp_flock_asks *asks)
{
	static struct xp_flock back;
	struct xp_flock_asks again = *asks;
	char path[32];
	const int fd = put("", 0, path);
	must(xp_flock_write(x, path, NULL) == 0);
	again.fails = NULL;
	must(xp_flock_read(&back, edges, path, &again, NULL) == 0);
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char plain[] = "1 3\n1 4\n2 3\n2 4\n10000->1\n10001->2\n";
	static struct xp_flock x;
	const struct xp_flock_asks asks = {.telemetry =
					       OBS_TELE_INT | OBS_TELE_A1,
	    .until_ms = INFINITY,
	    .late_us = NAN};
	struct sim_err e = {0};
	char edges[32], trace[32];
	const uint8_t *cut = memmem(bytes, n, "\n=\n", 3);
	const int of_net = cut ? put(bytes, (size_t)(cut - bytes) + 1, edges)
			       : put(plain, strlen(plain), edges);
	const uint8_t *from = cut ? cut + 3 : bytes;
	const int of_trace = put(from, n - (size_t)(from - bytes), trace);
	const int rc = xp_flock_read(&x, edges, trace, &asks, &e);
	must(rc == 0 || *e.msg != '\0');
	if (rc == 0) {
		must(obs_paths_check(&x.paths, x.topo.n_links, NULL) == 0);
		must(obs_tallies_check(&x.rows, x.topo.n_links,
			 x.window.flows.n, NULL) == 0);
		must(obs_check(&x.window, x.topo.n_links, NULL) == 0);
		check_again(&x, edges, &asks);
		xp_flock_free(&x);
	}
	close(of_net);
	close(of_trace);
	return 0;
}
