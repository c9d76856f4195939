/* experiments/cmd/samples_run.c -- culprit samples run: one cell, as samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/rack/dump.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run;
	int smoke, force;
};

static const struct cmd_option samples_run_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT64_MAX},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. rack.widths=[100us,1ms]; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"output", 'o', "FILE", "samples (default: results/out/FIGURE.samples.h5)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no samples, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static const struct cmd_line samples_run_line = {
    .options = samples_run_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "no spec",
    .args_doc = "SPEC",
    .doc = "Simulate one cell of a spec of plane rack, the one that `culprit "
	   "run SPEC --point P --run R` shows, and write what its hosts "
	   "counted in buckets, and what was true: links that lose, NICs that "
	   "stall, bytes lost by cause, bursts as they were sent.\v"
	   "`culprit samples show`, `bursts`, `rack`, `cause` and `export` "
	   "read the file; what was true is in its groups /faults, /losses "
	   "and /bursts, for whoever holds answers against it.",
};

static int samples_run_write(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	struct xp_rack_dumped d;
	char *out = NULL;
	int rc = cmd_choose_output(&out, a->output, s, "samples", a->force, e);
	if (rc == 0)
		rc = xp_rack_dump(s, a->point, (uint32_t)a->run, out, &d, e);
	if (rc == 0)
		printf("%s: %u hosts in %u racks, %zu runs, %zu buckets with "
		       "traffic; %zu bursts sent, %zu faulty links, %llu bytes "
		       "lost in buffers, %llu by links -> %s\n",
		    s->figure, d.n_hosts, d.n_racks, d.n_runs, d.n_samples,
		    d.n_bursts, d.n_faults, (unsigned long long)d.buffer,
		    (unsigned long long)d.link, out);
	free(out);
	return rc;
}

int cmd_samples_run(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	cmd_parse(&samples_run_line, argc, argv, &a);
	int rc = cmd_load_spec(&s, a.spec, a.smoke, a.set.set, a.set.n_set, &e);
	if (rc == 0)
		rc = cmd_check_cell(&s, a.point, a.run, &e);
	int code = CMD_GOOD;
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = samples_run_write(&s, &a, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	xp_spec_free(&s);
	return code;
}
