/* experiments/cmd/jobs_live.h -- culprit jobs --continuous: on a collector's files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_JOBS_LIVE_H
#define EXPERIMENTS_CMD_JOBS_LIVE_H

#include "experiments/cmd/plan.h"
#include "results/sql/sql.h"
#include "sim/time.h"

struct cmd_jobs_live {
	struct cmd_plan plan;
	const struct fabric_sim_tcp_ladder *ladder; /* NULL: linux */
	const char *db, *spec, *service;
	sim_ns grace_ns, late_ns, poll_ns, until_ns; /* 0: not given */
	uint64_t max_probes;
	struct res_sql_keep keep;
	double http_failed;
	sim_ns http_p99_ns;
	int is_on, once;
};

/* Of a struct cmd_jobs_live. */
extern const struct cmd_option cmd_jobs_live_options[];

/* The defaults. Errors of cmd_plan_init(). */
int cmd_jobs_live_init(struct cmd_jobs_live *a, struct sim_err *e);

/* Ends the program if options do not go together; DIR is the only word. */
void cmd_jobs_live_check(const struct cmd_jobs_live *a, const char *dir,
    struct argp_state *state);

/* Run the jobs on folder DIR; returns the exit code. */
int cmd_jobs_live(struct cmd_jobs_live *a, const char *dir, int quiet);

#endif
