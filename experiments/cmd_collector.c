/* experiments/cmd_collector.c -- culprit collector: results over HTTP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/cmd.h"
#include "experiments/cmd_serve.h"
#include "sim/text.h"

enum { KEY_DIR = 1000, KEY_FILE_MIB, KEY_TOTAL_MIB, KEY_NO_SYNC };

static const struct argp_option options[] = {
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
    {0},
};

struct args {
	struct xp_http_params http;
	struct xp_batch_store_params store;
	const char *dir;
};

static uint64_t mib(const char *arg, const char *option,
    struct argp_state *state)
{
	uint64_t n = 0;
	if (sim_parse_u64(arg, &n, NULL) < 0 || n < 1 || n > UINT32_MAX)
		argp_error(state, "%s \"%s\" is not in [1, %" PRIu32 "]",
		    option, arg, UINT32_MAX);
	return n << 20;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->http;
		return 0;
	case KEY_DIR:
		a->dir = arg;
		return 0;
	case KEY_FILE_MIB:
		a->store.file_bytes = mib(arg, "--file-mib", state);
		return 0;
	case KEY_TOTAL_MIB:
		a->store.total_bytes = mib(arg, "--total-mib", state);
		return 0;
	case KEY_NO_SYNC:
		a->store.sync = 0;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is no option; the folder is --dir",
		    arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->dir)
			argp_error(state, "--dir is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&cmd_serve_argp, 0, NULL, 0},
    {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Take over HTTP what Pingmesh's agents saw, and keep it. SIGTERM "
	   "and SIGINT end it."
	   "\v"
	   "  POST /results  one batch of records\n"
	   "  GET /health    counters, as JSON\n\n"
	   "The form of a batch, and of the files (one batch behind the other, "
	   "files only appended to), is told in algos/pingmesh_wire.h. A batch "
	   "is kept once, however often it is sent: it is known by the server, "
	   "the start of its agent and its number, also after a restart, as "
	   "long as its file is there. Only once it is on the disk is it "
	   "answered with 200; with anything else an agent tries again.\n\n"
	   "  culprit collector --dir /var/lib/culprit --listen "
	   "10.0.0.250:8081\n",
};

/* What was amiss with the files, if anything. */
static void tell(const char *dir, const struct xp_batch_held *h)
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

int cmd_collector(int argc, char **argv)
{
	struct args a = {
	    .http = CMD_SERVE_DEFAULTS,
	    .store = {.file_bytes = UINT64_C(256) << 20,
		.total_bytes = UINT64_C(16384) << 20,
		.max_runs = 1 << 22,
		.sync = 1},
	};
	struct xp_http_service service = {0};
	struct sim_err e = {0};
	a.http.listen = "127.0.0.1:8081";
	cmd_parse(&argp, argc, argv, &a);
	if (!xp_http_is_built_in()) /* before a folder is made */
		return cmd_serve(&a.http, &service, "");
	int rc = xp_batch_store_open(&service.store, a.dir, &a.store, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	const struct xp_batch_held held = xp_batch_store_held(service.store);
	char what[128];
	tell(a.dir, &held);
	snprintf(what, sizeof(what),
	    "%" PRIu64 " batches with %" PRIu64 " records so far",
	    held.n_batches, held.n_records);
	const int code = cmd_serve(&a.http, &service, what);
	rc = xp_batch_store_close(service.store, &e);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : code;
}
