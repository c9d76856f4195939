/* experiments/cmd/trace_run.c -- culprit trace run: one cell as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/everflow/dump.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run;
	int smoke, force;
};

static const struct cmd_option trace_run_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT64_MAX},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. everflow.sample_n=64; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"output", 'o', "FILE", "traces (default: results/out/FIGURE.traces.h5)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no traces, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static const struct cmd_line trace_run_line = {
    .options = trace_run_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "no spec",
    .args_doc = "SPEC",
    .doc = "Simulate one cell of a spec of plane everflow, the one that "
	   "`culprit run SPEC --point P --run R` shows, and write what its "
	   "analyzers stored and counted, which probes were sent and what "
	   "debuggers found.\v"
	   "Analyzers store what is odd: loops, drops, the debug bit, special "
	   "protocols; with --set everflow.analyzer.store_all=true, all. "
	   "`culprit trace get`, `show`, `counter` and `debug` read the file.",
};

static int trace_run_write(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	struct xp_everflow_dumped d;
	char *out = NULL;
	int rc = cmd_choose_output(&out, a->output, s, "traces", a->force, e);
	if (rc == 0)
		rc =
		    xp_everflow_dump(s, a->point, (uint32_t)a->run, out, &d, e);
	if (rc == 0)
		printf("%s: %llu copies of %llu packets, %llu traces stored, "
		       "%llu guided probes, %zu findings -> %s\n",
		    s->figure, (unsigned long long)d.n_copies,
		    (unsigned long long)d.n_traces,
		    (unsigned long long)d.n_stored,
		    (unsigned long long)d.n_guided, d.n_findings, out);
	free(out);
	return rc;
}

int cmd_trace_run(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	cmd_parse(&trace_run_line, argc, argv, &a);
	int rc = cmd_load_spec(&s, a.spec, a.smoke, a.set.set, a.set.n_set, &e);
	if (rc == 0)
		rc = cmd_check_cell(&s, a.point, a.run, &e);
	int code = CMD_GOOD;
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = trace_run_write(&s, &a, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	xp_spec_free(&s);
	return code;
}
