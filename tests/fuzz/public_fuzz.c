/* tests/fuzz/public_fuzz.c -- any bytes as a published run, packed or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken must pass as samples and, written, be read as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/millisampler/public.h"
#include "tests/fuzz/fuzz.h"

static void check_same(const struct xp_public *a, const struct xp_public *b)
{
	must(strcmp(a->rack.text, b->rack.text) == 0);
	must(strcmp(a->host.text, b->host.text) == 0);
	must(memcmp(&a->run, &b->run, sizeof(a->run)) == 0);
	must(b->n_cut == 0 && b->n_odd == 0);
	must(a->samples.n == b->samples.n && a->bursts.n == b->bursts.n);
	for (size_t i = 0; i < a->samples.n; i++) {
		const struct obs_sample x = obs_samples_at(&a->samples, i),
					y = obs_samples_at(&b->samples, i);
		must(memcmp(&x, &y, sizeof(x)) == 0);
	}
	for (size_t i = 0; i < a->bursts.n; i++)
		must(a->bursts.first[i] == b->bursts.first[i] &&
		    a->bursts.n_buckets[i] == b->bursts.n_buckets[i]);
}

static void check_taken(const struct xp_public *p, const char *path)
{
	static struct xp_public again;
	struct xp_public_fit fit = {0};
	struct obs_runs runs = {0};
	enum xp_public_end end;
	must(obs_runs_add(&runs, &p->run, NULL) == 0);
	must(obs_runs_check(&runs, 1, NULL) == 0);
	must(obs_samples_check(&p->samples, &runs, NULL) == 0);
	must(xp_public_compare(&fit, p, NULL) == 0);
	for (unsigned s = 0; s < XP_FIT_SHARES; s++)
		for (unsigned g = 0; g < XP_FIT_GAPS; g++)
			must(fit.at[s][g].n_ours <= p->samples.n);
	must(xp_public_write(path, p->rack.text, p->host.text, &p->run,
		 &p->samples, 0, p->samples.n, &p->bursts, NULL) == 0);
	must(xp_public_read(&again, path, 1, 1, &end, NULL) == 0);
	must(end == XP_PUBLIC_TAKEN);
	check_same(p, &again);
	obs_runs_free(&runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct xp_public p;
	struct sim_err e = {0};
	enum xp_public_end end;
	char path[32];
	const int fd = memfd_create("run", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const int rc = xp_public_read(&p, path, 1000000, 12500000000, &end, &e);
	must(rc == 0 || *e.msg != '\0');
	must(rc < 0 || end < XP_N_PUBLIC_ENDS);
	must(rc < 0 || end != XP_PUBLIC_NO_JSON || *p.said != '\0');
	if (rc == 0 && end == XP_PUBLIC_TAKEN)
		check_taken(&p, path);
	close(fd);
	return 0;
}
