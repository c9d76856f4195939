/* experiments/cmd/jobs_tell.h -- what `culprit jobs` says of its windows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_JOBS_TELL_H
#define EXPERIMENTS_CMD_JOBS_TELL_H

#include "experiments/pingmesh/dsa/digest.h"

struct cmd_jobs_told {
	const char *what; /* the recording; "7 recordings" */
	const char *output;
	double window_s;
	uint32_t jobs, min_probes; /* of a scope, for an alert */
	int json;
	const struct xp_dsa_digest *digest;
};

/* On stdout a summary, or all windows as JSON; on stderr what was not seen. */
void cmd_jobs_tell(const struct cmd_jobs_told *t);

#endif
