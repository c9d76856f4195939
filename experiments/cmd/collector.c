/* experiments/cmd/collector.c -- culprit collector: results over HTTP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/plan.h"
#include "experiments/cmd/serve.h"
#include "experiments/live/batch_export.h"
#include "models/sim/tcp_connect.h"
#include "sim/text.h"

enum {
	KEY_DIR = 1000,
	KEY_FILE_MIB,
	KEY_TOTAL_MIB,
	KEY_NO_SYNC,
	KEY_EXPORT,
	KEY_TIMERS
};

static const struct argp_option cmd_collector_options[] = {
    {"dir", KEY_DIR, "DIR", 0, "keep batches in files in DIR; made if missing",
	0},
    {"file-mib", KEY_FILE_MIB, "N", 0,
	"begin a new file each day, and at N MiB (256)", 0},
    {"total-mib", KEY_TOTAL_MIB, "N", 0,
	"refuse batches once DIR holds N MiB (16384)", 0},
    {"no-sync", KEY_NO_SYNC, NULL, 0,
	"don't wait for the disk: a batch taken survives a kill of the "
	"collector, but maybe not a loss of power",
	0},
    {"export", KEY_EXPORT, "FILE.h5", 0,
	"serve nobody; write what DIR holds as a recording for `culprit jobs`",
	0},
    {"timers", KEY_TIMERS, "NAME", 0,
	"with --export: SYN timers of the servers: linux (default), "
	"linux_linear (6.5 and later), windows",
	0},
    {0},
};

struct args {
	struct xp_http_params http;
	struct xp_batch_store_params store;
	struct cmd_plan plan;
	const struct fabric_sim_tcp_ladder *ladder;
	const char *dir, *export, *spec;
};

static error_t cmd_collector_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		/* Options of the two children go
		 * straight into their structs. */
		state->child_inputs[0] = &a->http;
		state->child_inputs[1] = &a->plan;
		return 0;
	case KEY_DIR:
		a->dir = arg;
		return 0;
	case KEY_FILE_MIB:
		a->store.file_bytes =
		    cmd_number(arg, "--file-mib", 1, UINT32_MAX, state) << 20;
		return 0;
	case KEY_TOTAL_MIB:
		a->store.total_bytes =
		    cmd_number(arg, "--total-mib", 1, UINT32_MAX, state) << 20;
		return 0;
	case KEY_NO_SYNC:
		a->store.sync = 0;
		return 0;
	case KEY_EXPORT:
		a->export = arg;
		return 0;
	case KEY_TIMERS:
		a->ladder = fabric_sim_tcp_find(arg);
		if (!a->ladder)
			argp_error(state,
			    "--timers \"%s\" is not linux, linux_linear or "
			    "windows",
			    arg);
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_one(&a->spec, arg, "spec", state);
		return 0;
	case ARGP_KEY_END:
		if (!a->dir)
			argp_error(state, "--dir is missing");
		/* Options that would have no effect are
		 * refused rather than ignored. */
		if (!a->export && (a->spec || a->plan.is_set || a->ladder))
			argp_error(state,
			    "SPEC, --set, --dc and --timers are for --export");
		if (a->spec && a->plan.is_set)
			argp_error(state,
			    "--set and --dc describe a network, %s has "
			    "another",
			    a->spec);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_collector_children[] = {{&cmd_serve_argp, 0,
							       NULL, 0},
    {&cmd_plan_shape_argp, 0, NULL, 0}, {0}};

static void cmd_collector_put_more(FILE *out)
{
	fprintf(out,
	    "  POST /results  one batch of records, or of counters\n"
	    "  GET /health    counters, as JSON\n\n"
	    "The form of a batch, and of the files (one batch behind the "
	    "other, files only appended to), is told in "
	    "algos/pingmesh/wire.h. A batch is kept once, however often it is "
	    "sent: it is known by the server, the start of its agent and its "
	    "number, also after a restart, as long as its file is there. Only "
	    "once it is on the disk is it answered with 200; with anything "
	    "else an agent tries again. There is no encryption, and anybody "
	    "may post: listen where only servers reach.\n\n"
	    "--export may run beside a collector. SPEC, or --set and --dc, "
	    "say where the servers stand, as for `culprit controller`.\n\n");
	cmd_plan_shape_help(out);
	fprintf(out,
	    "\n  culprit collector --dir /var/lib/culprit --listen "
	    "10.0.0.250:8081 &\n"
	    "  culprit collector --dir /var/lib/culprit --export day.h5\n"
	    "  culprit jobs day.h5\n");
}

static char *cmd_collector_help(int key, const char *text, void *input)
{
	(void)input;
	return cmd_help_after(key, text, cmd_collector_put_more);
}

static const struct argp cmd_collector_argp = {
    .options = cmd_collector_options,
    .parser = cmd_collector_parse,
    .children = cmd_collector_children,
    .doc = "Take over HTTP what Pingmesh's agents saw, and keep it. SIGTERM "
	   "and SIGINT end it."
	   "\v ",
    .args_doc = "[SPEC]",
    .help_filter = cmd_collector_help,
};

/* Tell what was amiss with the files, if anything: what was cut off or passed
 * over is not in any export. */
static void cmd_collector_tell(const char *dir, const struct xp_batch_held *h)
{
	if (h->n_bytes_cut > 0)
		fprintf(stderr,
		    "culprit: %s: %" PRIu64
		    " bytes of a batch that was not written whole were cut "
		    "off.\n",
		    dir, h->n_bytes_cut);
	if (h->n_bytes_damaged > 0)
		fprintf(stderr,
		    "culprit: %s: %" PRIu64
		    " bytes are damaged or behind damage; they are left as "
		    "they are, and not read.\n",
		    dir, h->n_bytes_damaged);
}

/* Write what DIR holds as a recording. Batches name servers by address, so
 * where these stand, and the waits by which their SYNs were sent again, must be
 * told here for jobs to make sense of connect times. */
static int cmd_collector_export(struct args *a, struct xp_batch_exported *n,
    struct sim_err *e)
{
	const struct fabric_sim_tcp_ladder *ladder =
	    a->ladder ? a->ladder : &fabric_sim_tcp_linux;
	struct res_recording_info info = {.n_dcs = a->plan.n_dcs};
	int rc;
	for (int i = 0; i < ladder->n_retries && i < OBS_MAX_WAITS; i++)
		info.syn_wait_ns[i] = ladder->wait_ns[i];
	for (uint32_t d = 0; d < a->plan.n_dcs; d++) {
		struct topo_clos c = a->plan.dc[d];
		if ((rc = topo_clos_init(&c, e)) < 0)
			return rc;
		info.dc[d] = topo_dc_after(d > 0 ? &info.dc[d - 1] : NULL, &c);
	}
	return xp_batch_export(a->dir, a->export, &info, n, e);
}

/* Say on stderr what the export had to leave out, if anything. */
static void cmd_collector_note(const char *dir, uint64_t n, const char *what)
{
	if (n > 0)
		fprintf(stderr, "culprit: %s: %" PRIu64 " %s.\n", dir, n, what);
}

static int run_export(struct args *a)
{
	struct xp_batch_exported n;
	struct sim_err e = {0};
	int rc = 0;
	if (a->spec)
		rc = cmd_plan_read_spec(&a->plan, a->spec, &e);
	if (rc == 0)
		rc = cmd_collector_export(a, &n, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_collector_note(a->dir, n.n_lost,
	    "records were lost by their agents");
	cmd_collector_note(a->dir, n.n_failed,
	    "probes that were never sent are left out");
	cmd_collector_note(a->dir, n.n_foreign,
	    "records are left out: they are not between two of these servers");
	cmd_collector_note(a->dir, n.n_odd,
	    "records are left out: time and outcome do not agree");
	cmd_collector_note(a->dir, n.n_bytes_damaged,
	    "bytes are damaged or behind damage, and were not read");
	printf("%s: %" PRIu64 " batches, %" PRIu64 " probes, %" PRIu64
	       " of services, %" PRIu64 " counters; time 0 is %" PRIu64 " s\n",
	    a->export, n.n_batches, n.n_rows, n.n_vip_rows, n.n_counters,
	    n.origin_ns / SIM_SEC);
	return CMD_GOOD;
}

static int cmd_collector_serve(const struct args *a)
{
	struct xp_http_service service = {0};
	struct sim_err e = {0};
	char what[128];
	if (!xp_http_is_built_in()) /* before a folder is made */
		return cmd_serve(&a->http, &service, "");
	int rc = xp_batch_store_open(&service.store, a->dir, &a->store, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	const struct xp_batch_held held = xp_batch_store_held(service.store);
	cmd_collector_tell(a->dir, &held);
	snprintf(what, sizeof(what),
	    "%" PRIu64 " batches with %" PRIu64 " records so far",
	    held.n_batches, held.n_records);
	const int code = cmd_serve(&a->http, &service, what);
	/* Only closing tells whether all that was taken
	 * has reached the disk. */
	rc = xp_batch_store_close(service.store, &e);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : code;
}

int cmd_collector(int argc, char **argv)
{
	struct args a = {
	    .http = CMD_SERVE_DEFAULTS,
	    .store = {.file_bytes = UINT64_C(256) << 20,
		.total_bytes = UINT64_C(16384) << 20,
		/* Memory for the runs of batches that are known, see
		 * experiments/pingmesh/dsa/batch_set.h. */
		.max_runs = 1 << 22,
		.sync = 1},
	};
	struct sim_err e = {0};
	const int rc = cmd_plan_init(&a.plan, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	a.http.listen = "127.0.0.1:8081";
	cmd_parse(&cmd_collector_argp, argc, argv, &a);
	return a.export ? run_export(&a) : cmd_collector_serve(&a);
}
