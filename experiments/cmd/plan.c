/* experiments/cmd/plan.c -- options that describe servers and their pinglists.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/plan.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/pingmesh/pingmesh.h"
#include "experiments/spec/plane.h"

static void take_shape(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_plan *p = to;
	/* --set is about the last data centre that --dc has begun. */
	cmd_take_key(&p->dc[p->n_dcs - 1], arg, g);
	p->is_set = 1;
}

static void take_dc(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_plan *p = to;
	(void)arg;
	if (p->n_dcs == ALGO_PINGLIST_MAX_DCS)
		argp_error(g->state, "more than %d data centres",
		    ALGO_PINGLIST_MAX_DCS);
	/* Data centres are mostly alike. */
	p->dc[p->n_dcs] = p->dc[p->n_dcs - 1];
	p->n_dcs++;
	p->is_set = 1;
}

static void take_net6(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_plan *p = to;
	struct topo_ip_net *net = &p->net6;
	struct sim_err e;
	if (topo_ip_net_parse(arg, net, &e) < 0 ||
	    algo_pinglist_check_net(net, &e) < 0)
		argp_error(g->state, "--net6: %s", e.msg);
}

static void take_param(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_plan *p = to;
	cmd_take_key(&p->params, arg, g);
	if (p->n_params == CMD_PLAN_MAX_PARAMS)
		argp_error(g->state, "more than %d times --param",
		    CMD_PLAN_MAX_PARAMS);
	/* Kept, as a spec that is read later would replace it. */
	p->param[p->n_params++] = arg;
}

const struct cmd_option cmd_plan_shape_options[] = {
    {"set", 's', "KEY=VALUE",
	"a number of the data centre's Clos, e.g. n_pods=4; may be repeated",
	.take = take_shape, .with = topo_clos_fields},
    {"dc", 0, NULL,
	"another data centre, like the one before but for what follows of "
	"--set",
	.take = take_dc},
    {"net6", 0, "ADDRESS/N",
	"servers have IPv6, too: server N, from 0, the address that is N + 1 "
	"behind the first of this network, as it is of 10.0.0.0/8",
	.take = take_net6},
    {0},
};

const struct cmd_option cmd_plan_options[] = {
    {.with = cmd_plan_shape_options},
    {"param", 'p', "KEY=VALUE", "a parameter below; may be repeated",
	.take = take_param, .with = algo_pinglist_fields},
    {0},
};

void cmd_plan_check(const struct cmd_plan *p, const char *spec,
    struct argp_state *state)
{
	/* A spec has its own network. */
	if (spec && p->is_set)
		argp_error(state,
		    "--set and --dc describe a network, %s has another", spec);
}

int cmd_plan_init(struct cmd_plan *p, struct sim_err *e)
{
	int rc;
	*p = (struct cmd_plan){.n_dcs = 1};
	if ((rc = sim_field_defaults(topo_clos_fields, &p->dc[0], e)) < 0)
		return rc;
	return sim_field_defaults(algo_pinglist_fields, &p->params, e);
}

/* Take the shapes of a spec's network; other networks
 * have no pods to plan by. */
static int take_topology(struct cmd_plan *p, const struct xp_topology *x,
    const char *path, struct sim_err *e)
{
	const int is_region = x->kind == XP_TOPO_REGION;
	if (!xp_topology_is_clos(x) && !is_region)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s: pinglists are for a Clos, or a region of them.", path);
	p->n_dcs = is_region ? x->region.n_dcs : 1;
	if (p->n_dcs > ALGO_PINGLIST_MAX_DCS)
		return sim_fail(e, SIM_ELIMIT,
		    "%s: %u data centres; at most %d are allowed.", path,
		    p->n_dcs, ALGO_PINGLIST_MAX_DCS);
	/* In a region all data centres have one shape. */
	for (uint32_t d = 0; d < p->n_dcs; d++)
		p->dc[d] = x->clos;
	return 0;
}

/* Take the parameters of the spec, and put those of --param on top again; they
 * were checked when they were read. */
static int take_params(struct cmd_plan *p, const struct xp_config *c,
    struct sim_err *e)
{
	int rc = 0;
	if (xp_plane_of(c) != &xp_plane_pingmesh)
		return 0;
	p->params = xp_pingmesh_of(c)->pinglist;
	for (size_t i = 0; i < p->n_params && rc == 0; i++) {
		const char *value = strchr(p->param[i], '=');
		char key[64];
		snprintf(key, sizeof(key), "%.*s", (int)(value - p->param[i]),
		    p->param[i]);
		rc = sim_field_set(sim_field_find(algo_pinglist_fields, key),
		    &p->params, value + 1, e);
	}
	return rc;
}

int cmd_plan_read_spec(struct cmd_plan *p, const char *name, struct sim_err *e)
{
	struct xp_config c = {0};
	struct xp_spec s;
	char *path;
	int rc = cmd_find(&path, name, "experiments", ".yaml", e);
	if (rc < 0)
		/* A spec that is not there is a mistake of the command line. */
		return rc == SIM_EIO ? SIM_EINVAL : rc;
	rc = xp_spec_load_still(&s, path, 0, NULL, 0, e);
	if (rc == 0 && (rc = xp_spec_point(&s, 0, &c, e)) == 0)
		rc = take_topology(p, &c.topology, path, e);
	if (rc == 0)
		rc = take_params(p, &c, e);
	if (rc == 0 && p->keeps_text)
		rc = xp_spec_cell_text(&s, &p->text, e);
	free(path);
	xp_config_free(&c);
	xp_spec_free(&s);
	return rc;
}

void cmd_take_ladder(void *to, char *arg, const struct cmd_given *g)
{
	const struct fabric_sim_tcp_ladder *ladder = fabric_sim_tcp_find(arg);
	if (!ladder)
		argp_error(g->state,
		    "--timers \"%s\" is not linux, linux_linear or windows",
		    arg);
	*(const struct fabric_sim_tcp_ladder **)to = ladder;
}

int cmd_plan_info(const struct cmd_plan *p,
    const struct fabric_sim_tcp_ladder *ladder, struct res_recording_info *info,
    struct sim_err *e)
{
	if (!ladder)
		ladder = &fabric_sim_tcp_linux;
	*info = (struct res_recording_info){.n_dcs = p->n_dcs, .net6 = p->net6};
	for (int i = 0; i < ladder->n_retries && i < OBS_MAX_WAITS; i++)
		info->syn_wait_ns[i] = ladder->wait_ns[i];
	for (uint32_t d = 0; d < p->n_dcs; d++) {
		struct topo_clos c = p->dc[d];
		const int rc = topo_clos_init(&c, e);
		if (rc < 0)
			return rc;
		info->dc[d] =
		    topo_dc_after(d > 0 ? &info->dc[d - 1] : NULL, &c);
	}
	return 0;
}

void cmd_plan_shape_help(FILE *out)
{
	fprintf(out, "Keys of --set, with defaults and ranges:\n");
	cmd_field_help(out, topo_clos_fields);
}

void cmd_plan_help(FILE *out)
{
	cmd_plan_shape_help(out);
	fprintf(out, "\nKeys of --param:\n");
	cmd_field_help(out, algo_pinglist_fields);
	fprintf(out,
	    "\nWhatever the parameters, a server probes another at most once "
	    "in 10 s and\nwith at most 65536 bytes.\n");
}
