/* experiments/cmd/record.c -- culprit record: what a collector got, as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/pingmesh/bulk/record.h"
#include "experiments/pingmesh/record.h"
#include "sim/text.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run;
	int smoke, force;
};

static const struct cmd_option cmd_record_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT64_MAX},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. pingmesh.duration=600; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"output", 'o', "FILE",
	"recording, or tables (default: results/out/FIGURE.recording.h5, in "
	"bulk FIGURE.jobs.h5)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it holds something else, or is damaged; it is kept as "
	"FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static const struct cmd_line cmd_record_line = {
    .options = cmd_record_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "no spec",
    .args_doc = "SPEC",
    .doc = "Simulate one cell of a spec of plane pingmesh and write what its "
	   "collector got: every probe, and the agents' performance counters; "
	   "`culprit jobs` makes tables of it. Of plane pingmesh_bulk, which "
	   "draws late probes alone, write these tables instead, window by "
	   "window: summary, drop_rate, sla of servers, ToRs, pods and "
	   "services, heatmap, silent_drop_cells, and the counters of each 5 "
	   "minutes.\v"
	   "Counters are written where windows are whole periods of 5 minutes, "
	   "and these whole intervals between probes; the heat map is that of "
	   "pods, with pingmesh.unit=tor also of ToRs. Black holes are not "
	   "looked for in bulk.",
};

static int record_probes(struct xp_spec *s, const struct args *a,
    const char *out, struct sim_err *e)
{
	struct xp_recorded r;
	const int rc =
	    xp_record_cell(s, (size_t)a->point, (uint32_t)a->run, out, &r, e);
	if (rc == 0)
		printf("%s: %llu probes, %llu of VIPs, %llu counters -> %s\n",
		    s->figure, (unsigned long long)r.n_probes,
		    (unsigned long long)r.n_vip_probes,
		    (unsigned long long)r.n_counters, out);
	return rc;
}

static int record_tables(struct xp_spec *s, const struct args *a,
    const char *out, struct sim_err *e)
{
	struct xp_bulk_recorded r;
	const int rc = xp_bulk_record_cell(s, (size_t)a->point,
	    (uint32_t)a->run, out, &r, e);
	if (rc == 0)
		printf("%s: %llu windows of %llu probes, %llu late or failed; "
		       "%llu rows of tables -> %s\n",
		    s->figure, (unsigned long long)r.n_windows,
		    (unsigned long long)r.n_probes,
		    (unsigned long long)r.n_late, (unsigned long long)r.n_rows,
		    out);
	return rc;
}

/* Record one cell of the sweep. Point and run can be checked only
 * once the spec is read. */
static int record(struct xp_spec *s, const struct args *a, struct sim_err *e)
{
	char *out = NULL;
	int rc = cmd_check_cell(s, a->point, a->run, e);
	const int bulk =
	    rc == 0 ? xp_bulk_record_fits(s, (size_t)a->point, e) : rc;
	rc = bulk < 0 ? bulk
		      : cmd_choose_output(&out, a->output, s,
			    bulk ? "jobs" : "recording", a->force, e);
	if (rc == 0)
		rc = bulk ? record_tables(s, a, out, e)
			  : record_probes(s, a, out, e);
	free(out);
	return rc;
}

int cmd_record(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	cmd_parse(&cmd_record_line, argc, argv, &a);
	int code, rc;
	if ((rc = cmd_load_spec_still(&s, a.spec, a.smoke, a.set.set,
		 a.set.n_set, &e)) < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else
		code = (rc = record(&s, &a, &e)) < 0
		    ? cmd_fail(cmd_exit_of(rc), &e)
		    : CMD_GOOD;
	xp_spec_free(&s);
	return code;
}
