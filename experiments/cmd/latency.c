/* experiments/cmd/latency.c -- culprit latency: connect times without faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "models/scene/loss.h"
#include "models/sim/rtt_profile.h"
#include "models/sim/tcp_connect.h"
#include "sim/stat.h"

enum { MAX_RUNS = 10000000, N_TAILS = 4, PAYLOAD = 1000 };

/* A connect that ends this much after a wait is taken for a lost SYN. */
#define SLACK (SIM_SEC / 2)

struct args {
	const struct fabric_sim_rtt_profile *only;
	const struct fabric_sim_tcp_ladder *client;
	uint64_t runs, seed;
	double load; /* NaN: the profile's */
	int tsv;
};

static void take_profile(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!(a->only = fabric_sim_rtt_find(arg)))
		argp_error(g->state,
		    "there is no profile \"%s\"; there are dc1, dc2 and "
		    "calm",
		    arg);
}

static void take_load(void *to, char *arg, const struct cmd_given *g)
{
	double *load = to;
	if (sim_parse_f64(arg, load, NULL) < 0 ||
	    !(*load >= 0 && *load <= FABRIC_SIM_RTT_MAX_LOAD))
		argp_error(g->state, "--load \"%s\" is not in [0, %g]", arg,
		    FABRIC_SIM_RTT_MAX_LOAD);
}

static void take_client(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!(a->client = fabric_sim_tcp_find(arg)))
		argp_error(g->state,
		    "there are no timers \"%s\"; there are windows, linux "
		    "and linux_linear",
		    arg);
}

static void refuse_word(void *to, char *arg, const struct cmd_given *g)
{
	(void)to;
	argp_error(g->state, "\"%s\" is one word too many", arg);
}

static const char *const profile_names[] = {"dc1", "dc2", "calm", NULL};

static const struct cmd_option cmd_latency_options[] = {
    {"profile", 0, "NAME", "dc1, dc2 or calm (default: all)",
	.take = take_profile, .values = profile_names},
    {"runs", 0, "N", "probes of each row (default: 200000)",
	.take = cmd_take_u64, .at = CMD_AT(runs), .min = 1, .max = MAX_RUNS},
    {"load", 0, "SHARE",
	"of the links, in [0, 0.99] (default: where the profile is "
	"calibrated)",
	.take = take_load, .at = CMD_AT(load)},
    {"timers", 0, "NAME",
	"of the hosts: windows, linux or linux_linear (default: windows)",
	.take = take_client, .values = cmd_timers},
    {"seed", 0, "N", "of the sample (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(seed), .max = UINT64_MAX},
    {"tsv", 0, NULL, "tab-separated values with full precision",
	.take = cmd_take_flag, .at = CMD_AT(tsv)},
    {0},
};

static const struct cmd_line cmd_latency_line = {
    .options = cmd_latency_options,
    .word = {.take = refuse_word},
    .doc = "Connect times of Pingmesh's probes in healthy data centers: "
	   "profiles fitted to the paper's quantiles as remembered "
	   "(unconfirmed), their law and a sample of connects with SYNs lost "
	   "at the profile's drop rate.",
};

/* --- rows ---------------------------------------------------------------- */

static const double tails[N_TAILS] = {0.5, 0.01, 0.001, 0.0001};

static const struct path {
	const char *name;
	unsigned n_hops;
	uint32_t payload;
} paths[] = {
    {"intra-pod", FABRIC_SIM_RTT_INTRA_POD, 0},
    {"inter-pod", FABRIC_SIM_RTT_INTER_POD, 0},
    {"inter-pod+1kB", FABRIC_SIM_RTT_INTER_POD, PAYLOAD},
};
enum { N_PATHS = sizeof(paths) / sizeof(paths[0]) };

struct row {
	double law_us[N_TAILS];
	double sample_us[N_TAILS]; /* NaN: none connected */
	uint64_t n_connected, n_drops;
	double drop_lo, drop_hi; /* 95 % */
};

/* Profiles know two drop rates, within a pod and between pods. */
static double drop_rate(const struct fabric_sim_rtt_profile *p,
    const struct path *path)
{
	return path->n_hops == FABRIC_SIM_RTT_INTRA_POD ? p->intra_drop_rate
							: p->inter_drop_rate;
}

/* Connect a->runs times; times go to US[runs] and how many to ROW. Either
 * direction loses packets, so each has half of the hazard. ENTITY names the
 * random streams, so that rows are independent of each other. */
static void draw_connects(const struct args *a,
    const struct fabric_sim_rtt *law, double rate, uint32_t entity, double us[],
    struct row *row)
{
	const struct sim_seed where = {.seed = a->seed};
	const double hazard = scene_hazard(rate) / 2;
	struct fabric_sim_tcp c = {
	    .there.hazard = hazard,
	    .back.hazard = hazard,
	    .client = a->client,
	    .server = a->client == &fabric_sim_tcp_windows
		? NULL
		: &fabric_sim_tcp_linux_synack,
	    .n_retries = a->client->n_retries,
	    .listening = 1,
	};
	struct sim_rng times, losses;
	sim_rng_init(&times, &where, SIM_STREAM_RTT, entity);
	sim_rng_init(&losses, &where, SIM_STREAM_CONNECT, entity);
	for (uint64_t i = 0; i < a->runs; i++) {
		const sim_ns rtt = fabric_sim_rtt_draw(law, &times);
		c.there.latency_ns = rtt / 2;
		/* Halves that add up to the whole, also when it is odd. */
		c.back.latency_ns = rtt - rtt / 2;
		const struct fabric_sim_tcp_result x =
		    fabric_sim_tcp(&c, &losses);
		if (x.outcome != FABRIC_SIM_TCP_CONNECTED)
			continue;
		us[row->n_connected++] = (double)x.rtt_ns / 1e3;
		/* What Pingmesh counts as a drop: a connect time that
		 * shows a SYN sent again. */
		row->n_drops +=
		    fabric_sim_tcp_class(a->client, x.rtt_ns, SLACK) > 0;
	}
}

/* Fill a row with what the law says of a path, and with a sample of connects to
 * hold it against. */
static int fill_row(const struct args *a,
    const struct fabric_sim_rtt_profile *p, unsigned path, double us[],
    struct row *row, struct sim_err *e)
{
	/* A stream of its own for each profile and path,
	 * whichever are asked for. */
	const uint32_t entity =
	    (uint32_t)(p - fabric_sim_rtt_profiles) * N_PATHS + path;
	const double load = isnan(a->load) ? p->load : a->load;
	const double rate = drop_rate(p, &paths[path]);
	struct fabric_sim_rtt law;
	int rc = fabric_sim_rtt_init(&law, p, paths[path].n_hops,
	    paths[path].payload, load, e);
	if (rc < 0)
		return rc;
	*row = (struct row){.n_connected = 0};
	draw_connects(a, &law, rate, entity, us, row);
	sim_sort_finite(us, row->n_connected);
	for (int i = 0; i < N_TAILS; i++) {
		/* Also the law has SYNs lost, as drops show in the
		 * tail of connect times. */
		row->law_us[i] = fabric_sim_rtt_exceeded_with_drops(&law,
		    tails[i], rate, (double)a->client->wait_ns[0] / 1e3);
		row->sample_us[i] =
		    sim_quantile_sorted(us, row->n_connected, 1 - tails[i]);
	}
	/* The rate as Pingmesh would see it: drops among the
	 * probes that connected. */
	return sim_binomial_interval(row->n_drops, row->n_connected, 0.95,
	    &row->drop_lo, &row->drop_hi, e);
}

/* --- output -------------------------------------------------------------- */

static void print_heads(void)
{
	printf("profile\tpath\tsource\tp50_us\tp99_us\tp999_us\tp9999_us\t"
	       "drop_rate\tdrop_rate_lo\tdrop_rate_hi\n");
}

static void print_title(const struct fabric_sim_rtt_profile *p)
{
	printf("%s: %s\n%-14s%-7s%7s%8s%9s%10s  %s\n", p->name, p->doc, "us",
	    "", "P50", "P99", "P99.9", "P99.99", "drop rate");
}

static void print_times(const struct fabric_sim_rtt_profile *p,
    const struct path *path, const char *source, const double us[N_TAILS],
    int tsv)
{
	if (tsv)
		printf("%s\t%s\t%s\t%.9g\t%.9g\t%.9g\t%.9g", p->name,
		    path->name, source, us[0], us[1], us[2], us[3]);
	else
		printf("%-14s%-7s%7.0f%8.0f%9.0f%10.0f", path->name, source,
		    us[0], us[1], us[2], us[3]);
}

static void cmd_latency_print_row(const struct fabric_sim_rtt_profile *p,
    const struct path *path, const struct row *row, int tsv)
{
	const double rate = drop_rate(p, path);
	const double got = row->n_connected > 0
	    ? (double)row->n_drops / (double)row->n_connected
	    : NAN;
	print_times(p, path, "law", row->law_us, tsv);
	printf(tsv ? "\t%.9g\t%.9g\t%.9g\n" : "  %.3g\n", rate, rate, rate);
	print_times(p, path, "sample", row->sample_us, tsv);
	printf(tsv ? "\t%.9g\t%.9g\t%.9g\n" : "  %.2g [%.1g, %.1g]\n", got,
	    row->drop_lo, row->drop_hi);
}

static int print_profile(const struct args *a,
    const struct fabric_sim_rtt_profile *p, double us[], struct sim_err *e)
{
	if (!a->tsv)
		print_title(p);
	for (unsigned i = 0; i < N_PATHS; i++) {
		struct row row;
		int rc = fill_row(a, p, i, us, &row, e);
		if (rc < 0)
			return rc;
		cmd_latency_print_row(p, &paths[i], &row, a->tsv);
	}
	return 0;
}

int cmd_latency(int argc, char **argv)
{
	struct args a = {.client = &fabric_sim_tcp_windows,
	    .runs = 200000,
	    .load = NAN};
	struct sim_err e = {0};
	int rc = 0;
	cmd_parse(&cmd_latency_line, argc, argv, &a);
	double *us = calloc(a.runs, sizeof(us[0]));
	if (!us)
		rc = sim_fail(&e, SIM_ENOMEM, "no memory for %llu probes.",
		    (unsigned long long)a.runs);
	else if (a.tsv)
		print_heads();
	for (const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_profiles;
	     rc == 0 && p->name; p++)
		if (!a.only || a.only == p)
			rc = print_profile(&a, p, us, &e);
	free(us);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
