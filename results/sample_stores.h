/* results/sample_stores.h -- folders of hosts' samples, read as one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What results/samples.c reads where it is given a folder: one host's
 * (results/sample_store.h), or one with a folder for each host. Hosts for which
 * no rack was said share one, behind those that were.
 *
 * Also while recorders append and take away: what is half written is left out, a
 * run whose file has gone since is an error of its own.
 */
#ifndef RESULTS_SAMPLE_STORES_H
#define RESULTS_SAMPLE_STORES_H

#include "results/samples.h"

struct res_stores;

/* Append the runs, by time, and the hosts that there are. Errors SIM_EIO,
 * SIM_EPARSE (no samples there), SIM_EMISMATCH (of another version), SIM_ENOMEM.
 * S may be closed either way. Cost one pass over all files. Memory their runs, and
 * the largest file. */
int res_stores_open(struct res_stores **s, const char *path,
    struct obs_runs *runs, struct res_hosts *hosts, struct sim_err *e);
void res_stores_close(struct res_stores *s); /* NULL is fine */

/* As res_samples_said(). */
const char *res_stores_said(const struct res_stores *s);

/* Append the rows of run I. Errors SIM_EIO (its file has gone), SIM_EPARSE,
 * SIM_EUNSUPPORTED, SIM_ENOMEM. */
int res_stores_load(struct res_stores *s, size_t i, struct obs_samples *t,
    struct sim_err *e);

#endif
