/* experiments/cmd/trace_run.c -- culprit trace run: one cell as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/cell.h"
#include "experiments/cmd/trace.h"
#include "experiments/everflow/dump.h"

static const struct cmd_option trace_run_options[] = {
    CMD_CELL_OPTIONS("everflow.sample_n=64",
	"traces (default: results/out/FIGURE.traces.h5)", "it has no traces")};

static const struct cmd_line trace_run_line = {
    .options = trace_run_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_CELL_AT(spec)},
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

static int trace_run_write(struct xp_spec *s, const struct cmd_cell *a,
    const char *out, struct sim_err *e)
{
	struct xp_everflow_dumped d;
	const int rc =
	    xp_everflow_dump(s, a->point, (uint32_t)a->run, out, &d, e);
	if (rc == 0)
		printf("%s: %llu copies of %llu packets, %llu traces stored, "
		       "%llu guided probes, %zu findings -> %s\n",
		    s->figure, (unsigned long long)d.n_copies,
		    (unsigned long long)d.n_traces,
		    (unsigned long long)d.n_stored,
		    (unsigned long long)d.n_guided, d.n_findings, out);
	return rc;
}

int cmd_trace_run(int argc, char **argv)
{
	struct cmd_cell a = {0};
	cmd_parse(&trace_run_line, argc, argv, &a);
	return cmd_cell_write(&a, "traces", trace_run_write);
}
