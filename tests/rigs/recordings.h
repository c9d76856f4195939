/* tests/rigs/recordings.h -- tables and recordings of probes, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_RECORDINGS_H
#define TESTS_RECORDINGS_H

#include "results/recording.h"
#include "sim/rng.h"

/* One or two data centres of other shapes, waits of 3 and 6 s, two services;
 * texts are constants. */
struct res_recording_info recordings_info(uint32_t n_dcs, sim_ns duration_ns);

/* Append N probes that such a recording may hold, sent about in order over the
 * duration: every outcome, level and kind of time. */
void recordings_probes(struct obs_probes *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r);

/* The same to VIPs, and N rows of counters. */
void recordings_vip_probes(struct obs_probes *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r);
void recordings_counters(struct obs_perf *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r);

/* GETs of about a quarter of the probes of T that connected: every answer. */
void recordings_http(struct obs_http *out, const struct obs_probes *t);

/* Write it all; all of the duration is covered. VIP and PERF may be NULL. */
int recordings_write(const char *path, const struct res_recording_info *info,
    const struct obs_probes *probes, const struct obs_probes *vip,
    const struct obs_perf *perf, struct sim_err *e);

#endif
