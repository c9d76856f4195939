/* experiments/cmd/trace_serve.c -- culprit trace serve: a live analyzer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/everflow/serve.h"
#include "experiments/live/daemon.h"
#include "experiments/live/seccomp.h"
#include "experiments/spec/config.h"
#include "topo/addr.h"

struct args {
	const char *spec, *interface, *listen, *user, *output;
	struct algo_analyzer_params analyzer;
	struct xp_http_params http;
	struct algo_control_params control;
	struct algo_admission_params capacity;
	uint64_t most;
	uint32_t group, slots, memory_mib, keep_mib, gre;
	int index_is_link, force;
};

static const struct cmd_option trace_serve_options[] = {
    {"if", 'i', "IFACE", "an interface (default: all)", .take = cmd_take_text,
	.at = CMD_AT(interface)},
    {"listen", 'l', "ADDRESS", "to which switches send copies (default: any)",
	.take = cmd_take_text, .at = CMD_AT(listen)},
    {"group", 'g', "N",
	"share copies with all others of group N, by the innermost packet",
	.take = cmd_take_u32, .at = CMD_AT(group), .min = 1, .max = 65535},
    {"index-is-link", 0, NULL,
	"the index of ERSPAN II is the number of the link that a packet came "
	"by, as in labs",
	.take = cmd_take_flag, .at = CMD_AT(index_is_link)},
    {"gre", 0, "N",
	"protocol of GRE that carries Ethernet frames, besides those of ERSPAN",
	.take = cmd_take_u32, .at = CMD_AT(gre), .min = 1, .max = 65535},
    {"slots", 0, "N", "packets that may wait (default: 32768, of 16 MiB)",
	.take = cmd_take_u32, .at = CMD_AT(slots), .min = 128, .max = 1 << 22},
    {"most", 'n', "N",
	"traces that are stored; others are counted (default: 1000000)",
	.take = cmd_take_u64, .at = CMD_AT(most), .max = UINT64_MAX},
    {"memory-mib", 0, "N", "end rather than take more (default: 1024)",
	.take = cmd_take_u32, .at = CMD_AT(memory_mib), .min = 64,
	.max = 1 << 20},
    {"user", 'u', "NAME",
	"become NAME once packets can be had (default: nobody, if this is "
	"root)",
	.take = cmd_take_text, .at = CMD_AT(user)},
    {"param", 'p', "KEY=VALUE",
	"a key of the analyzer, as of trace pcap; may be repeated",
	.take = cmd_take_key, .at = CMD_AT(analyzer),
	.with = algo_analyzer_fields},
    {"control", 0, "ADDRESS:PORT",
	"take requests by HTTP there: traces, counters, tracing of servers; "
	"port 0 is any free one, which is printed (default: nowhere)",
	.take = cmd_take_text, .at = CMD_AT(http.listen)},
    {"keep-mib", 0, "N",
	"memory for the traces and counters that can be asked for (default: "
	"64)",
	.take = cmd_take_u32, .at = CMD_AT(keep_mib), .min = 1, .max = 1 << 19},
    {"capacity", 0, "KEY=VALUE",
	"a capacity that tracing of servers may not exceed; may be repeated",
	.take = cmd_take_key, .at = CMD_AT(capacity),
	.with = algo_admission_fields},
    {"session", 0, "KEY=VALUE",
	"a key of tracing of servers, as life_s; may be repeated",
	.take = cmd_take_key, .at = CMD_AT(control),
	.with = algo_control_fields},
    {"output", 'o', "FILE", "traces", .take = cmd_take_file,
	.at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no traces, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static void trace_serve_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->output)
		argp_error(state, "-o FILE: where are traces to be?");
	if (a->keep_mib >= a->memory_mib)
		argp_error(state, "--keep-mib %u is not below --memory-mib %u",
		    a->keep_mib, a->memory_mib);
}

static void trace_serve_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --capacity:\n\n");
	cmd_field_help(out, algo_admission_fields);
	fprintf(out, "\nKeys of --session:\n\n");
	cmd_field_help(out, algo_control_fields);
}

static const struct cmd_line trace_serve_line = {
    .options = trace_serve_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "whose network is it: SPEC?",
    .check = trace_serve_check,
    .more = trace_serve_more,
    .args_doc = "SPEC",
    .doc =
	"Be an analyzer: take the copies that switches of SPEC's network send "
	"to this host, put them together as traces, and write what is odd of "
	"them to FILE, until SIGTERM or ^C, which end it in good order."
	"\v"
	"Copies are ERSPAN I to III, or Ethernet in GRE, as of `culprit trace "
	"pcap`. It takes CAP_NET_RAW until packets can be had, and no right "
	"after that: FILE's folder is one that NAME may write to. FILE is "
	"there when it ends. Each 10 s it says what it has done.\n\n"
	"With --control, `culprit trace get`, `counter` and `debug` take the "
	"URL that is printed in place of a file; so does curl, see GET /. "
	"Answers are of the latest traces and counters, which take up to "
	"--keep-mib; then the older half is forgotten. At most 32 may ask at "
	"a time; each request has 10 s to come, each answer 60 s to be "
	"fetched. Who reaches the address may ask: there is no password and "
	"no encryption.",
};

/* --- what is said --------------------------------------------------------- */

static void trace_serve_tell(void *arg, const struct xp_everserve *s)
{
	(void)arg;
	printf("%" PRIu64 " packets, %" PRIu64 " copies of %" PRIu64
	       " packets, %" PRIu64 " traces stored, %" PRIu64
	       " loops, %" PRIu64 " drops, %" PRIu64 " lost in the ring\n",
	    s->copies->n_packets, s->copies->n_copies, s->count.n_traces,
	    s->count.n_stored - s->n_unstored, s->count.n_loops,
	    s->count.n_confirmed, s->n_lost);
	fflush(stdout);
}

static void trace_serve_hear(void *arg, const char *url)
{
	(void)arg;
	printf("%s takes requests\n", url);
	fflush(stdout);
}

/* --- the work ------------------------------------------------------------- */

static int trace_serve_listen(const struct args *a, struct xp_ether **x,
    struct sim_err *e)
{
	struct xp_ether_params p = {.slots = a->slots, .group = a->group};
	int rc = a->listen ? topo_addr_parse(a->listen, &p.address, e) : 0;
	if (rc < 0)
		return sim_wrap(e, rc, "--listen");
	if (a->interface && (p.ifindex = if_nametoindex(a->interface)) == 0)
		return sim_fail(e, SIM_EINVAL, "--if: there is no %s.",
		    a->interface);
	return xp_ether_open(x, &p, e);
}

/* The signals that end it are held from before it says that it listens, lest one
 * that comes at once kill it. */
static int trace_serve_signals(struct sim_err *e)
{
	sigset_t end;
	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	const int fd = signalfd(-1, &end, SFD_CLOEXEC);
	return fd >= 0 ? fd
		       : sim_fail(e, SIM_EIO, "Signals cannot be had: %s.",
			     strerror(errno));
}

/* Rights are given up before the first packet is looked at, and what it has no use
 * for. */
static int trace_serve_settle(const struct args *a, struct sim_err *e)
{
	struct sim_err none;
	const int rc = xp_daemon_drop(a->user, e);
	if (rc == 0 && xp_seccomp_begin(XP_SECCOMP_NETWORK, &none) < 0)
		fprintf(stderr, "culprit: %s\n", none.msg);
	return rc;
}

static int trace_serve_work(const struct args *a, struct xp_spec *spec,
    const struct xp_config *c, const struct topo *t, struct sim_err *e)
{
	const struct algo_routing routing = {.topo = t};
	struct xp_copies copies = {0};
	struct xp_ether *ether = NULL;
	char *text = NULL;
	int end = -1, rc;
	if ((rc = xp_copies_open(&copies, t, (uint16_t)a->gre, e)) == 0 &&
	    (rc = xp_spec_cell_text(spec, &text, e)) == 0 &&
	    (rc = trace_serve_listen(a, &ether, e)) == 0 &&
	    (rc = trace_serve_settle(a, e)) == 0 &&
	    (rc = xp_daemon_limit(a->memory_mib, e)) == 0 &&
	    (rc = cmd_make_room(a->output, "traces", a->force, e)) == 0)
		rc = end = trace_serve_signals(e);
	copies.index_is_link = (uint8_t)a->index_is_link;
	const struct res_traces_info info = {.spec = text,
	    .n_hosts = t->n_hosts,
	    .n_switches = t->n_switches,
	    .n_links = t->n_links};
	struct xp_everserve s = {.ether = ether,
	    .copies = &copies,
	    .routing = &routing,
	    .analyzer = &a->analyzer,
	    .info = &info,
	    .output = a->output,
	    .http = a->http.listen ? &a->http : NULL,
	    .control = {.everflow = xp_everflow_of(c),
		.control = a->control,
		.capacity = a->capacity,
		.keep_bytes = (size_t)a->keep_mib << 20},
	    .hear = trace_serve_hear,
	    .most = a->most,
	    .every_s = 10,
	    .end_fd = end,
	    .tell = trace_serve_tell};
	if (rc >= 0) {
		printf("listening; SIGTERM or ^C ends it\n");
		fflush(stdout);
		if ((rc = xp_everserve_run(&s, e)) == 0)
			trace_serve_tell(NULL, &s);
	}
	if (end >= 0)
		close(end);
	xp_ether_close(ether);
	xp_copies_free(&copies);
	free(text);
	return rc;
}

int cmd_trace_serve(int argc, char **argv)
{
	struct args a = {.most = 1000000,
	    .memory_mib = 1024,
	    .keep_mib = 64,
	    .http = {.max_connections = 32,
		.receive_s = 10,
		.send_s = 60,
		/* It has no certificates; the help says so. */
		.identity.insecure = 1}};
	struct xp_spec s = {0};
	struct xp_config c = {0};
	struct topo t = {0};
	struct sim_err e = {0};
	if (sim_field_defaults(algo_analyzer_fields, &a.analyzer, &e) < 0 ||
	    sim_field_defaults(algo_control_fields, &a.control, &e) < 0 ||
	    sim_field_defaults(algo_admission_fields, &a.capacity, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&trace_serve_line, argc, argv, &a);
	int code = CMD_GOOD;
	int rc = cmd_load_spec_still(&s, a.spec, 0, NULL, 0, &e);
	if (rc == 0 && (rc = xp_spec_point(&s, 0, &c, &e)) == 0)
		rc = xp_topology_open(&c.topology, s.folder, &t, &e);
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = trace_serve_work(&a, &s, &c, &t, &e)) < 0)
		code = cmd_fail(rc == SIM_EINVAL ? CMD_USAGE : CMD_TROUBLE, &e);
	topo_close(&t);
	xp_config_free(&c);
	xp_spec_free(&s);
	return code;
}
