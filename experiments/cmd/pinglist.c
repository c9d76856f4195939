/* experiments/cmd/pinglist.c -- culprit pinglist: whom each server probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algos/pingmesh/pinglist.xsd.h" /* of pinglist.xsd */
#include "algos/pingmesh/pinglist_xml.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/plan.h"
#include "results/file.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	struct cmd_plan plan;
	const char *server, *output;
	uint32_t id;
	int all, schema;
};

static void take_server(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	uint64_t id;
	if (sim_parse_u64(arg, &id, NULL) < 0 || id > UINT32_MAX)
		argp_error(g->state, "--server \"%s\" is no server", arg);
	a->server = arg;
	a->id = (uint32_t)id;
}

static const struct cmd_option cmd_pinglist_options[] = {
    {.with = cmd_plan_options, .at = CMD_AT(plan)},
    {"server", 'n', "N", "print the list of server N, from 0",
	.take = take_server},
    {"all", 0, NULL, "print the lists of all servers", .take = cmd_take_flag,
	.at = CMD_AT(all)},
    {"output", 'o', "FILE", "write the lists to FILE; - is stdout (default)",
	.take = cmd_take_text, .at = CMD_AT(output)},
    {"schema", 0, NULL, "print the XML schema of a list", .take = cmd_take_flag,
	.at = CMD_AT(schema)},
    {0},
};

static void cmd_pinglist_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if ((a->server != NULL) + a->all + a->schema > 1)
		argp_error(state,
		    "one of --server, --all and --schema at a time");
	if (a->output && !a->server && !a->all)
		argp_error(state, "--output is for --server or --all");
}

/* Keys are printed from the tables that they are read by, so that the help
 * can't lag behind. */
static void cmd_pinglist_put_more(FILE *out, const void *args)
{
	(void)args;
	cmd_plan_help(out);
}

static const struct cmd_line cmd_pinglist_line = {
    .options = cmd_pinglist_options,
    .check = cmd_pinglist_check,
    .more = cmd_pinglist_put_more,
    .doc = "Whom each server of a Clos probes, as Pingmesh (SIGCOMM'15) has "
	   "it: all servers under its ToR, the server with its index under "
	   "every other ToR, chosen servers of other data centres, and "
	   "services. Without --server or --all, say how many."
	   "\v ",
};

/* --- how many ------------------------------------------------------------- */
struct count {
	uint64_t peers, entries, at[ALGO_PINGLIST_N_LEVELS];
	uint32_t most;
};

static int cmd_pinglist_count(const struct algo_pinglist *l, struct count *n,
    struct sim_err *e)
{
	struct algo_pinglist_server s;
	int rc;
	*n = (struct count){.most = 0};
	for (uint32_t i = 0; i < l->n_servers; i++) {
		if ((rc = algo_pinglist_server(&s, l, i, e)) < 0)
			return rc;
		for (int v = 0; v < ALGO_PINGLIST_N_LEVELS; v++)
			n->at[v] += s.end[v] - (v > 0 ? s.end[v - 1] : 0);
		n->peers += s.n_peers;
		n->entries += algo_pinglist_n_entries(&s);
		if (s.n_peers > n->most)
			n->most = s.n_peers;
	}
	return 0;
}

/* Print how large a plan is. What the cap on peers dropped is told by the same
 * plan without a cap. */
static int cmd_pinglist_print_summary(const struct args *a,
    const struct algo_pinglist *l, struct sim_err *e)
{
	struct algo_pinglist_params p = a->plan.params;
	struct algo_pinglist uncapped;
	struct count n, all;
	int rc;
	p.max_peers = UINT32_MAX;
	if ((rc = algo_pinglist_open(&uncapped, &p, a->plan.dc, a->plan.n_dcs,
		 e)) < 0 ||
	    (rc = cmd_pinglist_count(l, &n, e)) < 0 ||
	    (rc = cmd_pinglist_count(&uncapped, &all, e)) < 0)
		return rc;
	printf("servers     %u in %u data centre%s\n", l->n_servers, l->n_dcs,
	    l->n_dcs > 1 ? "s" : "");
	printf("peers       %" PRIu64 " in all, %u a server at most\n", n.peers,
	    n.most);
	for (int v = 0; v < ALGO_PINGLIST_N_LEVELS; v++)
		printf("  %-9s %" PRIu64 ", %u entr%s each, every %u s\n",
		    algo_pinglist_levels[v], n.at[v], l->n_kinds[v],
		    l->n_kinds[v] > 1 ? "ies" : "y", l->interval_s[v]);
	printf("entries     %" PRIu64 "\n", n.entries);
	printf("dropped     %" PRIu64 " peers by max_peers\n",
	    all.peers - n.peers);
	printf("version     %016" PRIx64 "\n", l->version);
	return 0;
}

/* --- lists ---------------------------------------------------------------- */
static int write_to(const struct args *a, const struct algo_pinglist *l,
    FILE *out, struct sim_err *e)
{
	struct algo_pinglist_xml *x;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	algo_pinglist_xml_open(x, l);
	x->of_6 = l->net6.bits > 0;
	rc = a->all ? algo_pinglist_xml_write_all(x, out, e)
		    : algo_pinglist_xml_write(x, a->id, out, e);
	free(x);
	return rc;
}

/* Write the lists to PATH. Those of all servers are too many bytes to keep in
 * memory. */
static int write_path(const struct args *a, const struct algo_pinglist *l,
    const char *path, struct sim_err *e)
{
	struct res_file_draft d;
	int rc = res_file_begin(&d, path, e);
	if (rc < 0)
		return rc;
	const int fd = res_file_hand(&d, e);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !f) {
		close(fd);
		rc = sim_fail(e, SIM_ENOMEM, "no memory to write %s.", path);
	}
	if (!f)
		return res_file_end(&d, fd < 0 ? fd : rc, e);
	if ((rc = write_to(a, l, f, e)) < 0)
		sim_wrap(e, rc, "%s", path);
	if (fclose(f) != 0 && rc == 0)
		rc = res_file_failed("write", path, e);
	return res_file_end(&d, rc, e);
}

int cmd_pinglist(int argc, char **argv)
{
	struct args a = {0};
	struct algo_pinglist_server server;
	struct algo_pinglist l;
	struct sim_err e = {0};
	int rc;
	if ((rc = cmd_plan_init(&a.plan, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_parse(&cmd_pinglist_line, argc, argv, &a);
	if (a.schema) {
		fputs(schema, stdout);
		return CMD_GOOD;
	}
	rc =
	    algo_pinglist_open(&l, &a.plan.params, a.plan.dc, a.plan.n_dcs, &e);
	if (rc == 0 && a.plan.net6.bits > 0)
		rc = algo_pinglist_add_net(&l, &a.plan.net6, &e);
	if (rc == 0 && a.server)
		rc = algo_pinglist_server(&server, &l, a.id, &e);
	if (rc == 0 && !a.server && !a.all)
		rc = cmd_pinglist_print_summary(&a, &l, &e);
	else if (rc == 0 && a.output && strcmp(a.output, "-") != 0)
		rc = write_path(&a, &l, a.output, &e);
	else if (rc == 0)
		rc = write_to(&a, &l, stdout, &e);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
