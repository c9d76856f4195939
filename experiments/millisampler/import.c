/* experiments/millisampler/import.c -- published runs as one file of samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/import.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* --- names and their numbers ------------------------------------------------*/

struct import_name {
	char text[80]; /* of a rack; or its number, a slash, and a host */
	uint32_t id;
};

static int import_order(const void *a, const void *b)
{
	return strcmp(((const struct import_name *)a)->text,
	    ((const struct import_name *)b)->text);
}

/* The number of TEXT in TREE, *N of them so far. *IS_NEW: it had none. */
static int import_number(void **tree, const char *text, uint32_t *n,
    uint32_t *id, int *is_new, struct sim_err *e)
{
	struct import_name *name;
	int rc = SIM_ZALLOC(&name, 1, e);
	if (rc < 0)
		return rc;
	snprintf(name->text, sizeof(name->text), "%s", text);
	name->id = *n;
	struct import_name **at = tsearch(name, tree, import_order);
	if (!at) {
		free(name);
		return sim_fail(e, SIM_ENOMEM, "there is no memory.");
	}
	*is_new = *at == name;
	*id = (*at)->id;
	if (*is_new)
		++*n;
	else
		free(name);
	return 0;
}

/* --- one file after the other -----------------------------------------------*/

struct import {
	const struct xp_import_params *p;
	struct xp_import_said *said;
	struct res_samples_out *out;
	struct xp_public file;
	struct res_hosts hosts;
	void *racks, *names;
};

static int import_host(struct import *m, uint32_t *host, struct sim_err *e)
{
	struct res_host h = {.name = m->file.host};
	char text[80];
	int is_new;
	int rc = import_number(&m->racks, m->file.rack.text, &m->said->n_racks,
	    &h.rack, &is_new, e);
	/* By number, as a rack's name may have a slash. */
	snprintf(text, sizeof(text), "%" PRIu32 "/%s", h.rack,
	    m->file.host.text);
	if (rc == 0)
		rc = import_number(&m->names, text, &m->said->n_hosts, &h.host,
		    &is_new, e);
	*host = h.host;
	return rc == 0 && is_new ? res_hosts_add(&m->hosts, &h, e) : rc;
}

static int import_take(struct import *m, struct sim_err *e)
{
	struct xp_import_said *s = m->said;
	struct obs_run run = m->file.run;
	struct obs_runs runs = {0};
	int rc = import_host(m, &run.host, e);
	s->n_cut += m->file.n_cut;
	s->n_odd += m->file.n_odd;
	s->n_bursts += m->file.has_bursts;
	if (s->freq_hi == 0 || m->file.freq < s->freq_lo)
		s->freq_lo = m->file.freq;
	if (m->file.freq > s->freq_hi)
		s->freq_hi = m->file.freq;
	if (rc == 0)
		rc = xp_public_compare(&s->fit, &m->file, e);
	if (rc == 0)
		rc = obs_runs_add(&runs, &run, e);
	if (rc == 0)
		rc = res_samples_add(m->out, &runs, &m->file.samples, e);
	obs_runs_free(&runs);
	return rc;
}

static int import_one(struct import *m, const char *path, struct sim_err *e)
{
	struct xp_import_said *s = m->said;
	enum xp_public_end end;
	int rc = xp_public_read(&m->file, path, m->p->width_ns, m->p->line_bps,
	    &end, e);
	if (rc < 0)
		return rc;
	s->n_files++;
	if (s->n_end[end]++ == 0)
		snprintf(s->first[end], sizeof(s->first[end]), "%s", path);
	if (end == XP_PUBLIC_NO_JSON && s->n_end[end] == 1)
		snprintf(s->problem, sizeof(s->problem), "%s", m->file.said);
	return end == XP_PUBLIC_TAKEN ? import_take(m, e) : 0;
}

static int import_all(struct import *m, char *const path[], size_t n,
    xp_import_hear *hear, void *arg, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = import_one(m, path[i], e);
		if (rc == 0 && hear)
			hear(arg, m->said);
	}
	if (rc == 0 && m->said->n_end[XP_PUBLIC_TAKEN] == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "none of %zu files is a run that can be taken; the first "
		    "%s.",
		    n,
		    m->said->n_files > 0 ? "of them is named above"
					 : "is missing");
	return rc < 0 ? rc : res_samples_add_hosts(m->out, &m->hosts, e);
}

int xp_import(const struct xp_import_params *p, char *const path[], size_t n,
    xp_import_hear *hear, void *arg, struct xp_import_said *said,
    struct sim_err *e)
{
	struct import m = {.p = p, .said = said};
	/* As many hosts as files at most. */
	const struct res_samples_info info = {.n_hosts = (uint32_t)n};
	*said = (struct xp_import_said){0};
	int rc = res_samples_create(&m.out, p->output, &info, e);
	if (rc == 0 && (rc = import_all(&m, path, n, hear, arg, e)) == 0) {
		rc = res_samples_finish(m.out, e);
		m.out = NULL;
	}
	res_samples_discard(m.out);
	xp_public_free(&m.file);
	res_hosts_free(&m.hosts);
	tdestroy(m.racks, free);
	tdestroy(m.names, free);
	return rc;
}

/* --- a folder ---------------------------------------------------------------*/

static int import_is_run(const struct dirent *d)
{
	static const char *const suffix[] = {".json", ".json.gz", ".txt",
	    ".txt.gz"};
	const size_t n = strlen(d->d_name);
	for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		const size_t k = strlen(suffix[i]);
		if (n > k && strcmp(d->d_name + n - k, suffix[i]) == 0)
			return 1;
	}
	return 0;
}

int xp_import_files(const char *folder, char ***path, size_t *n,
    struct sim_err *e)
{
	struct dirent **entry = NULL;
	int rc = 0;
	*path = NULL;
	*n = 0;
	const int n_entries =
	    scandir(folder, &entry, import_is_run, versionsort);
	if (n_entries < 0)
		return sim_fail(e, errno == ENOMEM ? SIM_ENOMEM : SIM_EIO,
		    "cannot read %s: %s.", folder, strerror(errno));
	rc = SIM_ZALLOC(path, n_entries > 0 ? (size_t)n_entries : 1, e);
	for (int i = 0; i < n_entries; i++) {
		if (rc == 0 &&
		    asprintf(&(*path)[*n], "%s/%s", folder, entry[i]->d_name) <
			0)
			rc = sim_fail(e, SIM_ENOMEM, "there is no memory.");
		else if (rc == 0)
			++*n;
		free(entry[i]);
	}
	free(entry);
	if (rc < 0)
		xp_import_files_free(*path, *n);
	return rc;
}

void xp_import_files_free(char **path, size_t n)
{
	for (size_t i = 0; path && i < n; i++)
		free(path[i]);
	free(path);
}
