/* experiments/cmd/samples_record.c -- culprit samples record: on this host.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/long_run.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/live/recorder.h"
#include "experiments/millisampler/frame.h"
#include "sim/text.h"

enum { USUAL_MIB = 256, USUAL_MEMORY_MIB = 64 };

struct args {
	struct xp_recorder_params params;
	uint64_t line_mbps;
	const char *host;
};

static const char *const samples_record_marks[] = {
    [NETNS_SAMPLER_MARK_TTL] = "ttl",
    [NETNS_SAMPLER_MARK_DSCP] = "dscp",
    [NETNS_SAMPLER_MARK_NONE] = "none",
    NULL,
};

/* --- takers --------------------------------------------------------------- */

/* A key of the schedule that is an option as well: WITH is its name. */
static void samples_record_key(void *to, const char *value,
    const struct cmd_given *g)
{
	char text[128], what[64];
	snprintf(what, sizeof(what), "--%s", g->option->name);
	if (snprintf(text, sizeof(text), "%s=%s", (const char *)g->option->with,
		value) >= (int)sizeof(text))
		argp_error(g->state, "%s: what is given is too long", what);
	cmd_field_set(algo_schedule_fields, to, what, text, g->state);
}

static void samples_record_word(void *to, char *arg, const struct cmd_given *g)
{
	samples_record_key(to, arg, g);
}

static void samples_record_list(void *to, char *arg, const struct cmd_given *g)
{
	char list[96];
	snprintf(list, sizeof(list), "[%s]", arg);
	samples_record_key(to, list, g);
}

static void samples_record_time(void *to, char *arg, const struct cmd_given *g)
{
	char seconds[32];
	sim_ns ns = 0;
	cmd_take_time(&ns, arg, g);
	samples_record_key(to, sim_format_f64(seconds, 1e-9 * (double)ns), g);
}

static void samples_record_mark(void *to, char *arg, const struct cmd_given *g)
{
	const size_t i = sim_word_find(samples_record_marks, arg);
	if (!samples_record_marks[i])
		argp_error(g->state, "--mark \"%s\" is not ttl, dscp or none",
		    arg);
	*(enum netns_sampler_mark *)to = (enum netns_sampler_mark)i;
}

static void samples_record_region(void *to, char *arg,
    const struct cmd_given *g)
{
	struct netns_sampler_params *p = to;
	struct xp_frame_region r = {{p->net6[0], p->net6[1]},
	    {p->mask6[0], p->mask6[1]}, p->net4, p->mask4};
	struct sim_err e;
	if (xp_frame_region_take(&r, arg, &e) < 0)
		argp_error(g->state, "--region %s", e.msg);
	p->net4 = r.net4;
	p->mask4 = r.mask4;
	memcpy(p->net6, r.net6, sizeof(p->net6));
	memcpy(p->mask6, r.mask6, sizeof(p->mask6));
}

static void samples_record_wire(void *to, char *arg, const struct cmd_given *g)
{
	(void)arg, (void)g;
	*(uint8_t *)to = 1;
}

/* --- options -------------------------------------------------------------- */

static const struct cmd_option samples_record_options[] = {
    {"if", 0, "NAME", "the network interface", .take = cmd_take_text,
	.at = CMD_AT(params.interface)},
    {"dir", 0, "DIR", "keep runs in files in DIR; made if missing",
	.take = cmd_take_text, .at = CMD_AT(params.dir)},
    {"every", 0, "TIME", "from one run to the next (60s)",
	.take = samples_record_time, .at = CMD_AT(params.schedule),
	.with = "every"},
    {"widths", 0, "WIDTH,...", "of buckets, in turn (10ms,1ms,100us)",
	.take = samples_record_list, .at = CMD_AT(params.schedule),
	.with = "widths"},
    {"start", 0, "WHERE",
	"first_packet, which is where a run begins, or aligned: at the "
	"multiple of its width of TAI before that",
	.take = samples_record_word, .at = CMD_AT(params.schedule),
	.with = "start", .values = algo_start_names},
    {"sync", 0, "TIME",
	"besides, a run of 1 ms buckets whenever TAI is a multiple of this, as "
	"all hosts of a rack do that are told the same",
	.take = samples_record_time, .at = CMD_AT(params.schedule),
	.with = "sync_every"},
    {"param", 'p', "KEY=VALUE", "a parameter below; may be repeated",
	.take = cmd_take_key, .at = CMD_AT(params.schedule),
	.with = algo_schedule_fields},
    {"line", 0, "MBPS", "what the link carries (Mbit/s; as the interface says)",
	.take = cmd_take_u64, .at = CMD_AT(line_mbps), .min = 1,
	.max = 1000000000},
    {"region", 0, "NET/BITS",
	"addresses of this region; all others are across, IPv4 and IPv6 each "
	"by its own (all are of it)",
	.take = samples_record_region, .at = CMD_AT(params.sampler)},
    {"mark", 0, "HOW",
	"packets of TCP that are sent again are marked for their receiver: "
	"ttl, by its highest bit (usual; hosts' TTLs must begin at 64, as "
	"Linux has it, and not at 128); dscp, by its highest bit; none",
	.take = samples_record_mark, .at = CMD_AT(params.sampler.mark),
	.values = samples_record_marks},
    {"wire", 0, NULL, "count headers of each segment of large packets",
	.take = samples_record_wire, .at = CMD_AT(params.sampler.wire_bytes)},
    {"host", 0, "NAME", "whose runs they are (as the host is called)",
	.take = cmd_take_text, .at = CMD_AT(host)},
    {"rack", 0, "N", "where it stands", .take = cmd_take_u32,
	.at = CMD_AT(params.store.host.rack), .max = UINT32_MAX / 2},
    {"max-age", 0, "TIME", "take away files when they are older (72h)",
	.take = cmd_take_time, .at = CMD_AT(params.store.max_age)},
    {"max-mib", 0, "N", "and before they come to more than N MiB (256)",
	.take = cmd_take_mib, .at = CMD_AT(params.store.max_bytes), .min = 3,
	.max = CMD_MAX_MIB},
    CMD_LONG_RUN_OPTIONS,
    {"once", 0, NULL, "end when a run of each width is kept",
	.take = cmd_take_flag, .at = CMD_AT(params.once)},
    {0},
};

static void samples_record_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->params.interface)
		argp_error(state, "--if NAME: at which interface?");
	if (!a->params.dir)
		argp_error(state, "--dir DIR: where are runs to be kept?");
	if (a->params.store.max_age < SIM_SEC)
		argp_error(state, "--max-age: less than a second keeps none");
	if (a->params.schedule.widths == 0 &&
	    a->params.schedule.sync_every_s == 0)
		argp_error(state, "--widths: of none there are no runs");
	if (a->host && strlen(a->host) >= RES_RECORD_NAME)
		argp_error(state, "--host: a name has %d bytes at most",
		    RES_RECORD_NAME - 1);
}

static void samples_record_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out,
	    "A program of a few dozen ns a packet counts within the kernel; "
	    "where no run is under way it costs a load and a branch. It takes "
	    "Linux 6.6, and root or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, "
	    "all of which are given up once it is in place. It is gone when "
	    "this process is, however that ends.\n\n"
	    "What a host writes is bounded: --max-mib and --max-age are of "
	    "whole files, a 16th of either. A full disk costs runs, which are "
	    "counted. The other verbs of `culprit samples` read DIR as a "
	    "file, or a folder of such folders as a rack, also while this "
	    "goes on.\n\n"
	    "SIGTERM and SIGINT end it. Under systemd it says when it is "
	    "ready and alive.\n\n"
	    "Keys of --param:\n");
	cmd_field_help(out, algo_schedule_fields);
}

static const struct cmd_line samples_record_line = {
    .options = samples_record_options,
    .check = samples_record_check,
    .more = samples_record_more,
    .doc =
	"Count on this host, in short buckets, what comes and goes, what "
	"queues marked, what is sent again, and connections, as Millisampler "
	"does (IMC'22); keep runs of 2,000 buckets in a bounded folder."
	"\v ",
};

/* --- running -------------------------------------------------------------- */

static int samples_record_derive(struct args *a, struct sim_err *e)
{
	struct res_record_host *h = &a->params.store.host;
	if (a->host)
		snprintf(h->name, sizeof(h->name), "%s", a->host);
	else if (gethostname(h->name, sizeof(h->name) - 1) < 0)
		return sim_fail(e, SIM_EIO,
		    "this host's name cannot be read: %s.", strerror(errno));
	a->params.line_bps = a->line_mbps * 1000000;
	return 0;
}

int cmd_samples_record(int argc, char **argv)
{
	struct args a = {.params = {.memory_mib = USUAL_MEMORY_MIB,
			     .store = {.host = {.rack = UINT32_MAX},
				 .max_bytes = (uint64_t)USUAL_MIB << 20,
				 .max_age = 72 * 3600 * SIM_SEC}}};
	struct xp_recorder *r = NULL;
	struct sim_err e = {0};
	int rc =
	    sim_field_defaults(algo_schedule_fields, &a.params.schedule, &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&samples_record_line, argc, argv, &a);
	if ((rc = samples_record_derive(&a, &e)) < 0 ||
	    (rc = xp_recorder_open(&r, &a.params, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	printf("%s: samples %s, %" PRIu64 " Mbit/s, into %s\n",
	    a.params.store.host.name, a.params.interface,
	    xp_recorder_line_bps(r) / 1000000, a.params.dir);
	/* Who started it may wait for this line, also through a pipe. */
	fflush(stdout);
	rc = xp_recorder_run(r, &e);
	xp_recorder_close(r);
	return rc < 0 ? cmd_fail(CMD_TROUBLE, &e) : CMD_GOOD;
}
