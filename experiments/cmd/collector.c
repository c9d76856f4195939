/* experiments/cmd/collector.c -- culprit collector: results over HTTP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/plan.h"
#include "experiments/cmd/serve.h"
#include "experiments/live/batch_export.h"
#include "experiments/live/page/page.h"
#include "sim/text.h"

struct args {
	struct cmd_serve serve;
	struct xp_batch_store_params store;
	struct cmd_plan plan;
	const struct fabric_sim_tcp_ladder *ladder;
	const char *dir, *db, *export, *spec;
	int force;
	/* As the program was called, to read its file again. */
	int argc;
	char **argv;
};

static void take_no_sync(void *to, char *arg, const struct cmd_given *g)
{
	(void)g;
	(void)arg;
	*(int *)to = 0;
}

static void take_known(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	if (algo_pinglist_allow_nets(to, arg, &e) < 0)
		argp_error(g->state, "--known: %s", e.msg);
}

static const struct cmd_option cmd_collector_options[] = {
    {.with = cmd_serve_options, .at = CMD_AT(serve)},
    {"known", 0, "ADDRESS/N,...",
	"networks of our agents, who alone have the connections of --reserve "
	"(in the clear: who has sent batches for ten minutes); may be repeated",
	.take = take_known, .at = CMD_AT(serve.http.known)},
    {.with = cmd_plan_shape_options, .at = CMD_AT(plan)},
    {"dir", 0, "DIR", "keep batches in files in DIR; made if missing",
	.take = cmd_take_text, .at = CMD_AT(dir)},
    {"file-mib", 0, "N", "begin a new file each day, and at N MiB (256)",
	.take = cmd_take_mib, .at = CMD_AT(store.file_bytes), .min = 1,
	.max = UINT32_MAX},
    {"total-mib", 0, "N", "refuse batches once DIR holds N MiB (16384)",
	.take = cmd_take_mib, .at = CMD_AT(store.total_bytes), .min = 1,
	.max = UINT32_MAX, .live = 1},
    {"make-room", 0, NULL,
	"remove the oldest file then, instead of refusing batches",
	.take = cmd_take_flag, .at = CMD_AT(store.make_room), .live = 1},
    {"keep-days", 0, "N",
	"remove files of more than N days ago, not counting days without "
	"files",
	.take = cmd_take_u32, .at = CMD_AT(store.keep_days), .min = 1,
	.max = 36500, .live = 1},
    {"client-mib", 0, "N",
	"refuse batches of a server that sent N MiB today (2048; 0: no limit)",
	.take = cmd_take_mib, .at = CMD_AT(store.client_bytes), .min = 0,
	.max = UINT32_MAX, .live = 1},
    {"no-sync", 0, NULL,
	"don't wait for the disk: a batch taken survives a kill of the "
	"collector, but maybe not a loss of power",
	.take = take_no_sync, .at = CMD_AT(store.sync)},
    {"db", 0, "FILE",
	"show on the page / what `culprit jobs --continuous` writes there",
	.take = cmd_take_text, .at = CMD_AT(db)},
    {"export", 0, "FILE.h5",
	"serve nobody; write what DIR holds as a recording for `culprit jobs`",
	.take = cmd_take_text, .at = CMD_AT(export)},
    {"force", 'f', NULL,
	"with --export: replace FILE.h5 if it is no recording, or damaged; it "
	"is kept as FILE.h5~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"timers", 0, "NAME",
	"with --export: SYN timers of the servers: linux (default), "
	"linux_linear (6.5 and later), windows",
	.take = cmd_take_ladder, .at = CMD_AT(ladder), .values = cmd_timers},
    {0},
};

static void cmd_collector_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	cmd_serve_check(&a->serve, state);
	if (!a->dir)
		argp_error(state, "--dir is missing");
	/* Options that would have no effect are refused rather than ignored. */
	if (a->export && a->db)
		argp_error(state,
		    "--db is not for --export, which serves nobody");
	if (!a->export && (a->spec || a->plan.is_set || a->ladder || a->force))
		argp_error(state,
		    "SPEC, --set, --dc, --timers and --force are for --export");
	if (a->export && a->serve.user)
		argp_error(state, "--user is not for --export");
	cmd_plan_check(&a->plan, a->spec, state);
}

static void cmd_collector_put_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out,
	    "  POST /results  one batch of records, or of counters\n"
	    "  GET /          the page: heat map, service level, alerts, "
	    "agents\n"
	    "  GET /v1/now    and more: what the page shows, as JSON\n"
	    "  GET /health    counters, as JSON\n"
	    "  GET /metrics   the same for Prometheus\n\n"
	    "The form of a batch, and of the files (one batch behind the "
	    "other, files only appended to), is told in "
	    "algos/pingmesh/wire.h. A batch is kept once, however often it is "
	    "sent: it is known by the server, the start of its agent and its "
	    "number, also after a restart, as long as its file is there. Only "
	    "once it is on the disk is it answered with 200; with anything "
	    "else an agent tries again.\n\n");
	cmd_serve_help(out);
	fprintf(out,
	    "A batch is taken of an agent that has its address in its "
	    "certificate, and of no other.\n\n"
	    "--export may run beside a collector. SPEC, or --set and --dc, "
	    "say where the servers stand, as for `culprit controller`.\n\n");
	cmd_plan_shape_help(out);
}

static const struct cmd_line cmd_collector_line = {
    .options = cmd_collector_options,
    .word = {"spec", .take = cmd_take_one, .at = CMD_AT(spec)},
    .check = cmd_collector_check,
    .more = cmd_collector_put_more,
    .doc = "Take over HTTP what Pingmesh's agents saw, and keep it. SIGTERM "
	   "and SIGINT end it."
	   "\v ",
    .args_doc = "[SPEC]",
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

/* Write what DIR holds as a recording. */
static int cmd_collector_export(struct args *a, struct xp_batch_exported *n,
    struct sim_err *e)
{
	struct res_recording_info info;
	const int rc = cmd_plan_info(&a->plan, a->ladder, &info, e);
	return rc < 0 ? rc : xp_batch_export(a->dir, a->export, &info, n, e);
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
		rc = cmd_make_room(a->export, "recording", a->force, &e);
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
	cmd_collector_note(a->dir, n.n_untimely,
	    "records are left out: their time is not of the days before they "
	    "came");
	cmd_collector_note(a->dir, n.n_bytes_damaged,
	    "bytes are damaged or behind damage, and were not read");
	printf("%s: %" PRIu64 " batches, %" PRIu64 " probes, %" PRIu64
	       " of services, %" PRIu64 " counters; time 0 is %" PRIu64 " s\n",
	    a->export, n.n_batches, n.n_rows, n.n_vip_rows, n.n_counters,
	    n.origin_ns / SIM_SEC);
	return CMD_GOOD;
}

static int cmd_collector_init(struct args *a, struct sim_err *e)
{
	a->serve = (struct cmd_serve)CMD_SERVE_DEFAULTS;
	a->serve.http.listen = "127.0.0.1:8081";
	a->store =
	    (struct xp_batch_store_params){.file_bytes = UINT64_C(256) << 20,
		.total_bytes = UINT64_C(16384) << 20,
		.client_bytes = UINT64_C(2048) << 20,
		/* Some 230 MB, whatever is sent; 100,000 agents need half of
	     * the half that is kept. */
		.max_runs = 1 << 20,
		.sync = 1};
	return cmd_plan_init(&a->plan, e);
}

/* What ARG has of the store is replaced, as the server is told of it by that. */
static int cmd_collector_again(void *arg, struct xp_http_change *c, char *tell,
    size_t size)
{
	struct args *a = arg, now = {0};
	int rc = cmd_collector_init(&now, NULL);
	if (rc == 0)
		rc = cmd_parse_again(&cmd_collector_line, a->argc, a->argv,
		    &now, tell, size);
	if (rc > 0)
		a->store = now.store;
	*c = (struct xp_http_change){.per_address = now.serve.http.per_address,
	    .head_s = now.serve.http.head_s,
	    .receive_s = now.serve.http.receive_s,
	    .send_s = now.serve.http.send_s,
	    .store = &a->store};
	return rc;
}

static int cmd_collector_serve(struct args *a)
{
	struct xp_http_service service = {.page = xp_live_page_answer};
	struct xp_live_page *page;
	struct sim_err e = {0};
	char what[128];
	struct xp_http_server *server;
	a->serve.http.net6 = a->plan.net6;
	int code = cmd_serve_begin(&server, &a->serve, a->dir);
	if (code != CMD_GOOD)
		return code;
	/* By whom it is from here on, whose all files are. */
	int rc = xp_live_page_open(&page, a->db, &e);
	if (rc < 0) {
		xp_http_close(server);
		return cmd_fail(cmd_exit_of(rc), &e);
	}
	service.of_page = page;
	rc = xp_batch_store_open(&service.store, a->dir, &a->store, &e);
	if (rc < 0) {
		xp_live_page_close(page);
		xp_http_close(server);
		return cmd_fail(cmd_exit_of(rc), &e);
	}
	const struct xp_batch_held held = xp_batch_store_held(service.store);
	cmd_collector_tell(a->dir, &held);
	snprintf(what, sizeof(what),
	    "%" PRIu64 " batches with %" PRIu64 " records so far",
	    held.n_batches, held.n_records);
	const struct cmd_serve_again again = {cmd_collector_again, a};
	code = cmd_serve(server, &a->serve, &service, &again, what);
	xp_live_page_close(page);
	/* Only closing tells whether all that was taken
	 * has reached the disk. */
	rc = xp_batch_store_close(service.store, &e);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : code;
}

int cmd_collector(int argc, char **argv)
{
	struct args a = {.argc = argc, .argv = argv};
	struct sim_err e = {0};
	const int rc = cmd_collector_init(&a, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_parse(&cmd_collector_line, argc, argv, &a);
	return a.export ? run_export(&a) : cmd_collector_serve(&a);
}
