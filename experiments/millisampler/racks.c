/* experiments/millisampler/racks.c -- a file of samples, rack by rack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/racks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"

/* A host that is of no rack is one of its own, behind all that are named. */
static int racks_name(struct xp_racks *r, const char *path, struct sim_err *e)
{
	const struct res_hosts *h = res_samples_hosts(r->file);
	const uint32_t n = res_samples_info(r->file)->n_hosts;
	uint32_t end = 0;
	for (uint32_t i = 0; i < n; i++)
		r->name[i] = SIZE_MAX;
	for (size_t i = 0; i < h->n; i++) {
		r->name[h->host[i]] = i;
		r->rack[h->host[i]] = h->rack[i];
		if (h->rack[i] >= UINT32_MAX - n)
			return sim_fail(e, SIM_EPARSE,
			    "%s: rack %" PRIu32 " is above %" PRIu32 ".", path,
			    h->rack[i], UINT32_MAX - n - 1);
		if (h->rack[i] >= end)
			end = h->rack[i] + 1;
	}
	for (uint32_t i = 0; i < n; i++)
		if (r->name[i] == SIZE_MAX)
			r->rack[i] = end + i;
	return 0;
}

static size_t racks_count_width(const struct obs_runs *runs, sim_ns width)
{
	size_t n = 0;
	for (size_t i = 0; i < runs->n; i++)
		n += runs->width_ns[i] == width;
	return n;
}

/* Widths of the runs that there are, each once, as long as the text has room.
 * Returns the one that more than half of the runs have, 0 if none has. */
static sim_ns racks_list_widths(const struct obs_runs *runs, char text[256])
{
	struct sim_text t = {text, 256, 0};
	sim_ns most = 0;
	for (size_t i = 0; i < runs->n; i++) {
		size_t k = 0;
		while (runs->width_ns[k] != runs->width_ns[i])
			k++;
		if (k < i)
			continue;
		const size_t n = racks_count_width(runs, runs->width_ns[i]);
		sim_put(&t, "%s%zu of %g ms", i > 0 ? ", " : "", n,
		    (double)runs->width_ns[i] / 1e6);
		if (2 * n > runs->n)
			most = runs->width_ns[i];
	}
	return most;
}

static int racks_choose_width(struct xp_racks *r, const char *path,
    struct sim_err *e)
{
	const struct obs_runs *runs = res_samples_runs(r->file);
	char text[256] = "";
	if (runs->n == 0)
		return sim_fail(e, SIM_EINVAL, "%s has no runs.", path);
	if (racks_count_width(runs, r->p.width_ns) > 0)
		return 0;
	const sim_ns most = racks_list_widths(runs, text);
	if (r->p.width_ns > 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s has no run with buckets of %g ms; it has %s.", path,
		    (double)r->p.width_ns / 1e6, text);
	if (most == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s has runs of several widths, and no width is that of "
		    "most: %s. --width says which.",
		    path, text);
	r->p.width_ns = most;
	return 0;
}

int xp_racks_open(struct xp_racks *r, const char *path,
    const struct xp_racks_params *p, struct sim_err *e)
{
	*r = (struct xp_racks){.p = *p};
	int rc = xp_source_open(&r->file, path, p->source, p->width_ns, e);
	if (rc < 0 || (rc = racks_choose_width(r, path, e)) < 0)
		return rc;
	const size_t n_hosts = res_samples_info(r->file)->n_hosts,
		     n_runs = res_samples_runs(r->file)->n;
	if ((rc = SIM_ZALLOC(&r->rack, n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->name, n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->taken, n_runs, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->run, n_runs, e)) < 0)
		return rc;
	return racks_name(r, path, e);
}

void xp_racks_close(struct xp_racks *r)
{
	res_samples_close(r->file);
	free(r->rack);
	free(r->name);
	free(r->taken);
	free(r->run);
	obs_runs_free(&r->runs);
	obs_samples_free(&r->samples);
	obs_samples_free(&r->one);
	*r = (struct xp_racks){0};
}

/* Append the buckets of run RUN of the file, as those of run AS. */
static int racks_append(struct xp_racks *r, uint32_t run, uint32_t as,
    struct sim_err *e)
{
	const struct obs_run row = obs_runs_at(res_samples_runs(r->file), run);
	int rc = res_samples_load(r->file, run, 1, &r->one, e);
	if (rc == 0)
		rc = obs_runs_add(&r->runs, &row, e);
	if (rc == 0)
		rc = obs_samples_reserve(&r->samples, r->one.n, e);
	for (size_t i = 0; rc == 0 && i < r->one.n; i++) {
		struct obs_sample s = obs_samples_at(&r->one, i);
		s.run = as;
		rc = obs_samples_add(&r->samples, &s, e);
	}
	return rc;
}

static int racks_by_host(const void *a, const void *b, void *runs)
{
	const uint32_t *host = ((const struct obs_runs *)runs)->host;
	const uint32_t x = host[*(const uint32_t *)a],
		       y = host[*(const uint32_t *)b];
	return (x > y) - (x < y);
}

int xp_racks_next(struct xp_racks *r, size_t *n, struct sim_err *e)
{
	const struct obs_runs *runs = res_samples_runs(r->file);
	int rc = 0;
	*n = algo_series_rack(runs, r->rack, r->p.width_ns, r->p.together_ns,
	    r->taken, r->run);
	/* By host, so that the order in which files came does not count. */
	qsort_r(r->run, *n, sizeof(*r->run), racks_by_host, (void *)runs);
	obs_runs_clear(&r->runs);
	obs_samples_clear(&r->samples);
	for (size_t i = 0; rc == 0 && i < *n; i++)
		rc = racks_append(r, r->run[i], (uint32_t)i, e);
	return rc;
}

const char *xp_racks_host(const struct xp_racks *r, uint32_t host, char buf[16])
{
	if (r->name[host] != SIZE_MAX)
		return res_samples_hosts(r->file)->name[r->name[host]].text;
	snprintf(buf, 16, "%" PRIu32, host);
	return buf;
}

uint32_t xp_racks_find(const struct xp_racks *r, const char *name)
{
	const struct res_hosts *h = res_samples_hosts(r->file);
	const uint32_t n = res_samples_info(r->file)->n_hosts;
	char buf[16];
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->name[i].text, name) == 0)
			return h->host[i];
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(xp_racks_host(r, i, buf), name) == 0)
			return i;
	return n;
}
