/* experiments/cmd/convert.c -- culprit convert: epochs as Flock's traces, and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/epoch/convert.h"
#include "sim/text.h"

struct args {
	const char *epoch, *edges, *trace, *fails, *output, *telemetry;
	const char *until, *late;
	int unsealed, force;
};

static const struct cmd_option cmd_convert_options[] = {
    {"edges", 0, "FILE", "the network: A B, two switches; H->T, host and ToR",
	.take = cmd_take_file, .at = CMD_AT(edges)},
    {"trace", 0, "FILE", "the trace; .gz is packed", .take = cmd_take_file,
	.at = CMD_AT(trace)},
    {"fails", 0, "FILE", "black holes of the trace: Failing_component lines",
	.take = cmd_take_file, .at = CMD_AT(fails)},
    {"telemetry", 0, "LIST",
	"what is read of the trace: int, a1, a2, p (default: int,a1, all of "
	"it)",
	.take = cmd_take_text, .at = CMD_AT(telemetry)},
    {"until", 0, "MS", "only snapshots before that are read",
	.take = cmd_take_text, .at = CMD_AT(until)},
    {"late", 0, "US",
	"each flow is one packet, lost if its RANDOM is above that, 10000 for "
	"flapping links",
	.take = cmd_take_text, .at = CMD_AT(late)},
    {"output", 'o', "EPOCH", "read the trace into this file",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"unsealed", 0, NULL, "EPOCH may be without a checksum",
	.take = cmd_take_flag, .at = CMD_AT(unsealed)},
    {"force", 'f', NULL,
	"replace EPOCH if it is no epoch, or damaged; it is kept as EPOCH~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static void cmd_convert_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->edges || !a->trace)
		argp_error(state, "--edges and --trace: which files?");
	if (!a->epoch == !a->output)
		argp_error(state,
		    "either EPOCH, which is written as a trace, or -o EPOCH, "
		    "into which one is read");
	if (a->epoch && (a->telemetry || a->until || a->late))
		argp_error(state,
		    "--telemetry, --until and --late are of traces that are "
		    "read (-o)");
}

static const struct cmd_line cmd_convert_line = {
    .options = cmd_convert_options,
    .word = {"EPOCH", .take = cmd_take_one, .at = CMD_AT(epoch)},
    .check = cmd_convert_check,
    .args_doc = "[EPOCH] --edges FILE --trace FILE",
    .doc =
	"Write an epoch of plane telemetry as a text trace of Flock "
	"(CoNEXT'23) "
	"with its list of edges, or with -o read one, for `culprit diagnose`.\v"
	"A trace has the path of each flow, so an epoch needs telemetry int, "
	"or int and a1. What was written once is written alike when it was "
	"read. Of other programs' traces sizes are 1500 bytes a packet then, "
	"times 0, one snapshot a flow is left, and paths of the same ends "
	"follow each other. Of black holes that were read an epoch has the "
	"switches alone. Which links of a failed switch failed is not told "
	"there, so all count as faulty, and its share is 1 when it is written "
	"again; nor is it where packets were lost, so scores that count flows "
	"mean nothing.\n\n"
	"  culprit convert --edges n.e --trace t.gz --telemetry a1,a2,p -o "
	"t.h5\n"
	"  culprit diagnose t.h5 -a flock",
};

/* --- numbers and lists ------------------------------------------------------ */

static int cmd_convert_kinds(const char *list, unsigned *kinds,
    struct sim_err *e)
{
	static const char *const name[] = {
#define X(bit, word, text) word,
	    OBS_TELEMETRIES(X)
#undef X
		NULL};
	*kinds = 0;
	for (const char *at = list; *at;) {
		const size_t n = strcspn(at, ",");
		char word[8] = "";
		if (n < sizeof(word))
			memcpy(word, at, n);
		const size_t i = sim_word_find(name, word);
		if (!name[i])
			return sim_fail(e, SIM_EINVAL,
			    "--telemetry %.40s: %.*s is none of int, a1, a2 "
			    "and p.",
			    list, (int)(n < 20 ? n : 20), at);
		*kinds |= 1u << i;
		at += n + (at[n] == ',');
	}
	return *kinds
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "--telemetry must not be empty.");
}

static int cmd_convert_number(const char *name, const char *text, double *out,
    struct sim_err *e)
{
	const int rc = text ? sim_parse_f64(text, out, e) : 0;
	return rc < 0 ? sim_wrap(e, SIM_EINVAL, "--%s", name) : 0;
}

static int cmd_convert_asks(const struct args *a, struct xp_flock_asks *asks,
    struct sim_err *e)
{
	int rc;
	*asks = (struct xp_flock_asks){.telemetry = OBS_TELE_INT | OBS_TELE_A1,
	    .until_ms = INFINITY,
	    .late_us = NAN,
	    .fails = a->fails};
	if ((rc = cmd_convert_number("until", a->until, &asks->until_ms, e)) <
		0 ||
	    (rc = cmd_convert_number("late", a->late, &asks->late_us, e)) < 0)
		return rc;
	return a->telemetry
	    ? cmd_convert_kinds(a->telemetry, &asks->telemetry, e)
	    : 0;
}

/* --- the work --------------------------------------------------------------- */

static int cmd_convert_read(const struct args *a, struct sim_err *e)
{
	char *in[] = {(char *)(uintptr_t)a->edges, (char *)(uintptr_t)a->trace,
	    (char *)(uintptr_t)a->fails};
	struct xp_flock x = {0};
	struct xp_flock_asks asks;
	int rc = cmd_convert_asks(a, &asks, e);
	if (rc < 0 ||
	    (rc = cmd_check_output("--output", a->output, in, a->fails ? 3 : 2,
		 e)) < 0 ||
	    (rc = cmd_make_room(a->output, "epoch", a->force, e)) < 0 ||
	    (rc = xp_flock_read(&x, a->edges, a->trace, &asks, e)) < 0)
		return rc;
	rc = xp_convert_to_epoch(&x, a->output, e);
	if (rc == SIM_ENOMEM)
		rc = sim_wrap(e, rc, "%s", a->output);
	if (rc == 0)
		printf("%" PRIu64 " lines: %" PRIu64 " flows, %" PRIu64
		       " probes, %zu failed links, %zu failed switches; %zu "
		       "rows over %zu paths -> %s\n",
		    x.n_lines, x.window.n_flows, x.n_probes, x.truth.n_faults,
		    x.truth.n_switches, x.rows.n, x.paths.n, a->output);
	if (rc == 0 && x.n_early + x.n_idle > 0)
		printf("left out: %" PRIu64 " flows without a snapshot by "
		       "then, %" PRIu64 " that sent nothing\n",
		    x.n_early, x.n_idle);
	xp_flock_free(&x);
	return rc;
}

static int cmd_convert_write(const struct args *a, struct sim_err *e)
{
	char *const in = (char *)(uintptr_t)a->epoch;
	struct xp_converted n = {0};
	int rc;
	if ((rc = cmd_check_output("--edges", a->edges, &in, 1, e)) < 0 ||
	    (rc = cmd_check_output("--trace", a->trace, &in, 1, e)) < 0 ||
	    (a->fails &&
		(rc = cmd_check_output("--fails", a->fails, &in, 1, e)) < 0) ||
	    (rc = xp_convert_to_trace(a->epoch, a->unsealed, a->edges, a->trace,
		 a->fails, &n, e)) < 0)
		return rc;
	printf("%u hosts, %u switches -> %s\n%zu flows and probes over %zu "
	       "paths -> %s\n",
	    n.n_hosts, n.n_switches, a->edges, n.n_rows, n.n_paths, a->trace);
	return 0;
}

int cmd_convert(int argc, char **argv)
{
	struct args a = {0};
	struct sim_err e = {0};
	cmd_parse(&cmd_convert_line, argc, argv, &a);
	const int rc =
	    a.output ? cmd_convert_read(&a, &e) : cmd_convert_write(&a, &e);
	if (rc == 0)
		return CMD_GOOD;
	return cmd_fail(rc == SIM_EINVAL || rc == SIM_EUNSUPPORTED
		? CMD_USAGE
		: CMD_TROUBLE,
	    &e);
}
