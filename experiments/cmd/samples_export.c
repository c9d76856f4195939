/* experiments/cmd/samples_export.c -- culprit samples export: for other programs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"
#include "experiments/millisampler/public.h"

struct args {
	const char *file, *folder;
	sim_ns width_ns;
	struct xp_source_params source;
	int csv, force;
};

static const struct cmd_option samples_export_options[] = {
    {"output", 'o', "FOLDER",
	"a file for each run, as rackId_0_hostId_7_run_12.txt.gz",
	.take = cmd_take_file, .at = CMD_AT(folder)},
    {"force", 'f', NULL, "replace such files", .take = cmd_take_flag,
	.at = CMD_AT(force)},
    {"csv", 0, NULL, "all buckets as one table, on stdout",
	.take = cmd_take_flag, .at = CMD_AT(csv)},
    {"width", 0, "TIME", "of buckets of a capture (1ms)", .take = cmd_take_time,
	.at = CMD_AT(width_ns)},
    {.with = cmd_samples_capture, .at = CMD_AT(source)},
    {0},
};

static void samples_export_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->folder == !a->csv)
		argp_error(state, "-o FOLDER or --csv: in which form?");
}

static const struct cmd_line samples_export_line = {
    .options = samples_export_options,
    .word = {"FILE", .take = cmd_take_one, .at = CMD_AT(file)},
    .without = "samples of which FILE?",
    .check = samples_export_check,
    .args_doc = "FILE|FOLDER",
    .doc =
	"Write samples in the form of Meta's public data, gzipped JSON, a "
	"file each run, or as a table for pandas, with a row for each bucket "
	"in which something came or went."
	"\vFiles have besides start_ns, width_ns and line_bps, and bursts as "
	"we define them, so `culprit samples import` gives the same samples "
	"again. Sketches, traffic across regions and missed packets have no "
	"place in them. Connections are estimates, of which 621 says that "
	"there are too many to be told: see `culprit samples sketch`.\n ",
};

/* --- a file a run ----------------------------------------------------------- */

/* What is known of a host; its number is its name where there is none. */
static struct res_host samples_export_host(const struct res_samples *r,
    uint32_t host)
{
	const struct res_hosts *h = res_samples_hosts(r);
	struct res_host out = {.host = host};
	for (size_t i = 0; i < h->n; i++)
		if (h->host[i] == host)
			return res_hosts_at(h, i);
	snprintf(out.name.text, sizeof(out.name.text), "%u", host);
	return out;
}

static int samples_export_run(const struct args *a, struct res_samples *r,
    size_t i, struct xp_public *p, struct sim_err *e)
{
	const struct obs_run run = obs_runs_at(res_samples_runs(r), i);
	const struct res_host host = samples_export_host(r, run.host);
	struct xp_public_bursts bursts = {0};
	char path[4096], rack[16];
	snprintf(rack, sizeof(rack), "%u", host.rack);
	snprintf(path, sizeof(path), "%s/rackId_%u_hostId_%u_run_%zu.txt.gz",
	    a->folder, host.rack, run.host, i);
	if (!a->force && access(path, F_OK) == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is there already; --force replaces it.", path);
	p->run = run;
	int rc = res_samples_load(r, i, 1, &p->samples, e);
	if (rc == 0)
		rc = xp_public_find(p, .5, 0, &bursts, e);
	if (rc == 0)
		rc = xp_public_write(path, rack, host.name.text, &run,
		    &p->samples, 0, p->samples.n, &bursts, e);
	xp_public_bursts_free(&bursts);
	return rc;
}

static int samples_export_folder(const struct args *a, struct res_samples *r,
    struct sim_err *e)
{
	const size_t n = res_samples_runs(r)->n;
	struct xp_public p = {0};
	int rc = 0;
	if (mkdir(a->folder, 0777) < 0 && errno != EEXIST)
		return sim_fail(e, SIM_EIO, "cannot make %s: %s.", a->folder,
		    strerror(errno));
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = samples_export_run(a, r, i, &p, e);
	xp_public_free(&p);
	if (rc == 0)
		printf("%zu runs -> %s\n", n, a->folder);
	return rc;
}

/* --- a table ---------------------------------------------------------------- */

static void samples_export_row(const struct obs_run *run,
    const struct res_host *host, const struct obs_sample *s)
{
	const uint64_t at = run->start_ns + s->bucket * run->width_ns;
#define X(type, name, unit, doc) printf(",%" PRIu64, (uint64_t)s->name);
	printf("%" PRIu64 ",%" PRIu64 ",%u,%u", at, run->width_ns, host->rack,
	    run->host);
	OBS_SAMPLE_COLUMNS(X)
#undef X
	putchar('\n');
}

static int samples_export_csv(struct res_samples *r, struct sim_err *e)
{
	const struct obs_runs *runs = res_samples_runs(r);
	struct obs_samples t = {0};
	int rc = 0;
	printf("t_ns,width_ns,rack,host");
#define X(type, name, unit, doc) printf("," #name);
	OBS_SAMPLE_COLUMNS(X)
#undef X
	putchar('\n');
	for (size_t i = 0; rc == 0 && i < runs->n; i++) {
		const struct obs_run run = obs_runs_at(runs, i);
		const struct res_host host = samples_export_host(r, run.host);
		rc = res_samples_load(r, i, 1, &t, e);
		for (size_t k = 0; rc == 0 && k < t.n; k++) {
			const struct obs_sample s = obs_samples_at(&t, k);
			samples_export_row(&run, &host, &s);
		}
	}
	obs_samples_free(&t);
	return rc;
}

int cmd_samples_export(int argc, char **argv)
{
	struct args a = {.source = {.told = cmd_samples_told}};
	struct res_samples *r = NULL;
	struct sim_err e = {0};
	cmd_parse(&samples_export_line, argc, argv, &a);
	int rc = xp_source_open(&r, a.file, &a.source, a.width_ns, &e);
	if (rc == 0) {
		cmd_samples_warn(a.file, r);
		rc = a.csv ? samples_export_csv(r, &e)
			   : samples_export_folder(&a, r, &e);
	}
	res_samples_close(r);
	return cmd_samples_end(rc, &e);
}
