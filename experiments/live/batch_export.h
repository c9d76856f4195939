/* experiments/live/batch_export.h -- a collector's files as one recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batches know no topology; who exports says which data centres their servers
 * stand in. Rows keep the order of arrival, each batch once. Time 0 of the
 * recording is the whole ten minutes, of the agents' clock, before the first
 * probe; from that probe to the last one all counts as covered, for files do
 * not say when the collector did not listen. Counters are those of windows that
 * have a part in that time; files of agents that did not send any have none.
 */
#ifndef EXPERIMENTS_LIVE_BATCH_EXPORT_H
#define EXPERIMENTS_LIVE_BATCH_EXPORT_H

#include <stdint.h>

#include "results/recording.h"
#include "sim/err.h"

struct xp_batch_exported {
	uint64_t n_batches, n_rows, n_vip_rows, n_counters;
	sim_ns origin_ns; /* of the agents' clock */
	uint64_t n_lost;  /* records that agents say they lost */
	/* Left out, see enum xp_dsa_fate. */
	uint64_t n_failed, n_foreign, n_odd;
	/* And of another time than the day, by the collector's clock, on which
	 * they came: more than two days before it, or a day after. */
	uint64_t n_untimely;
	uint64_t n_bytes_damaged; /* of the files, and what is behind them */
};

/* Write the batches in DIR to the recording PATH. INFO has the data centres
 * and syn_wait_ns; its duration is set here.
 * Errors SIM_EIO, SIM_ENOMEM, those of res_recorder_*(); SIM_EINVAL if there is
 * no probe. Cost two passes over the files. */
int xp_batch_export(const char *dir, const char *path,
    struct res_recording_info *info, struct xp_batch_exported *n,
    struct sim_err *e);

#endif
