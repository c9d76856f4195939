/* experiments/cmd/samples_run.c -- culprit samples run: one cell, as samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/cell.h"
#include "experiments/cmd/samples.h"
#include "experiments/rack/dump.h"

static const struct cmd_option samples_run_options[] = {
    CMD_CELL_OPTIONS("rack.widths=[100us,1ms]",
	"samples (default: results/out/FIGURE.samples.h5)",
	"it has no samples")};

static const struct cmd_line samples_run_line = {
    .options = samples_run_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_CELL_AT(spec)},
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

static int samples_run_write(struct xp_spec *s, const struct cmd_cell *a,
    const char *out, struct sim_err *e)
{
	struct xp_rack_dumped d;
	const int rc = xp_rack_dump(s, a->point, (uint32_t)a->run, out, &d, e);
	if (rc == 0)
		printf("%s: %u hosts in %u racks, %zu runs, %zu buckets with "
		       "traffic; %zu bursts sent, %zu faulty links, %llu bytes "
		       "lost in buffers, %llu by links -> %s\n",
		    s->figure, d.n_hosts, d.n_racks, d.n_runs, d.n_samples,
		    d.n_bursts, d.n_faults, (unsigned long long)d.buffer,
		    (unsigned long long)d.link, out);
	return rc;
}

int cmd_samples_run(int argc, char **argv)
{
	struct cmd_cell a = {0};
	cmd_parse(&samples_run_line, argc, argv, &a);
	return cmd_cell_write(&a, "samples", samples_run_write);
}
