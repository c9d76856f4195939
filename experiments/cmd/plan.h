/* experiments/cmd/plan.h -- options that describe servers and their pinglists.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `culprit pinglist` and `culprit controller` take the same ones: --set, --dc,
 * --net6 and --param.
 */
#ifndef EXPERIMENTS_CMD_PLAN_H
#define EXPERIMENTS_CMD_PLAN_H

#include <stdio.h>

#include "algos/pingmesh/pinglist.h"
#include "experiments/cmd/option.h"
#include "models/sim/tcp_connect.h"
#include "results/recording.h"
#include "sim/err.h"
#include "topo/clos.h"

enum { CMD_PLAN_MAX_PARAMS = 32 };

struct cmd_plan {
	struct topo_clos dc[ALGO_PINGLIST_MAX_DCS];
	uint32_t n_dcs;
	int is_set; /* by --set or --dc */
	struct algo_pinglist_params params;
	const char *param[CMD_PLAN_MAX_PARAMS]; /* --param, as given */
	size_t n_params;
	struct topo_ip_net net6; /* --net6; zeroed: not given */
	int keeps_text; /* have cmd_plan_read_spec() keep the text of the spec */
	char *text;     /* to be freed; NULL */
};

/* Of a struct cmd_plan; the first are --set, --dc and --net6 alone. */
extern const struct cmd_option cmd_plan_shape_options[], cmd_plan_options[];

/* Ends the program if there is a SPEC beside --set or --dc. */
void cmd_plan_check(const struct cmd_plan *p, const char *spec,
    struct argp_state *state);

/* The defaults: one data centre. Errors of sim_field_defaults(). */
int cmd_plan_init(struct cmd_plan *p, struct sim_err *e);

/* Take the data centres of a spec's network at its first point and, if the spec
 * is of plane pingmesh, its pinglist; --param is put on top. NAME as in
 * cmd_find(). Errors of cmd_find(), as SIM_EINVAL, and of xp_spec_load();
 * SIM_EUNSUPPORTED if the network is neither a Clos nor a region of them. */
int cmd_plan_read_spec(struct cmd_plan *p, const char *name, struct sim_err *e);

/* Waits of TCP by their name in cmd_timers[], for --timers. */
cmd_taker cmd_take_ladder; /* const struct fabric_sim_tcp_ladder * */

/* What batches do not say: where their servers stand, and how these wait before
 * they send a SYN again (LADDER; NULL: as Linux). Errors of topo_clos_init(). */
int cmd_plan_info(const struct cmd_plan *p,
    const struct fabric_sim_tcp_ladder *ladder, struct res_recording_info *info,
    struct sim_err *e);

/* The keys of --set; of --param too, and the hard limits. */
void cmd_plan_shape_help(FILE *out);
void cmd_plan_help(FILE *out);

#endif
