/* results/samples.h -- runs of hosts that counted in short buckets, as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/         attributes: samples_version, spec (YAML; "": none), culprit,
 *	          seed, point, trial, n_hosts
 *	/hosts    host, rack, name: what the ids of hosts stand for; a host that
 *	          is not in it has no name
 *	/runs     columns of models/obs_samples.h; a run's id is its row
 *	/spans    first_row: of each run, its first row in /samples
 *	/samples  columns of the same header; rows of a run stand together, and
 *	          runs' in the order of /runs. A quiet bucket has no row.
 *
 * and of hosts that were simulated what hosts can't see:
 *
 *	/faults   links of hosts that lose or delay, NICs that stall among them
 *	/losses   bytes lost at a host in a bucket, by cause
 *	/bursts   what was sent to a host, or by it, at one time
 *
 * The format is that of results/h5_table.h: equal rows, equal bytes.
 *
 * Paper  Millisampler (IMC'22).
 */
#ifndef RESULTS_SAMPLES_H
#define RESULTS_SAMPLES_H

#include "models/obs_samples.h"
#include "sim/err.h"
#include "sim/table.h"

enum { RES_SAMPLES_VERSION = 1 };

/* Texts are borrowed by a writer until it is open, and belong to a reader. */
struct res_samples_info {
	const char *spec;
	const char *culprit; /* version and commit; a writer puts its own */
	uint64_t seed;
	uint32_t point, trial;
	uint32_t n_hosts; /* ids are below */
};

/*  X(type, column, units, meaning) */
#define RES_HOST_COLUMNS(X)                                                    \
	X(uint32_t, host, "1", "id in /runs")                                  \
	X(uint32_t, rack, "1", "hosts of one rack share it")                   \
	X(struct sim_name, name, "1", "as elsewhere")
struct res_hosts {
	SIM_TABLE_ARRAYS(RES_HOST_COLUMNS)
};
struct res_host {
	SIM_TABLE_FIELDS(RES_HOST_COLUMNS)
};
SIM_TABLE(res_hosts, res_host, RES_HOST_COLUMNS)

/*  X(type, column, units, meaning) */
#define RES_TRUE_FAULT_COLUMNS(X)                                              \
	X(uint32_t, host, "1", "whose link it is")                             \
	X(uint8_t, out, "1", "1: the link from it; 0: the one to it")          \
	X(double, rate, "1", "of packets, that are lost")                      \
	X(double, delay_us, "us", "that packets wait, on average")             \
	X(uint64_t, from_ns, "ns", "when it begins")                           \
	X(uint64_t, to_ns, "ns", "when it is over; 2^64 - 1: never")

#define RES_TRUE_LOSS_COLUMNS(X)                                               \
	X(uint64_t, start_ns, "ns", "of the bucket, by the right clock")       \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint64_t, buffer, "bytes", "for it, that a full buffer dropped")     \
	X(uint64_t, link_in, "bytes", "lost by the link to it")                \
	X(uint64_t, link_out, "bytes", "lost by the link from it")             \
	X(uint64_t, queue_max, "bytes", "longest queue to it meanwhile")

#define RES_TRUE_BURST_COLUMNS(X)                                              \
	X(uint64_t, start_ns, "ns", "when all of it begins")                   \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint8_t, out, "1", "1: it sends; 0: it receives")                    \
	X(uint64_t, bytes, "bytes", "to be delivered")                         \
	X(uint32_t, conns, "connections", "that share them")                   \
	X(uint32_t, n_new, "connections", "of these that begin with it")

struct res_true_faults {
	SIM_TABLE_ARRAYS(RES_TRUE_FAULT_COLUMNS)
};
struct res_true_fault {
	SIM_TABLE_FIELDS(RES_TRUE_FAULT_COLUMNS)
};
SIM_TABLE(res_true_faults, res_true_fault, RES_TRUE_FAULT_COLUMNS)

struct res_true_losses {
	SIM_TABLE_ARRAYS(RES_TRUE_LOSS_COLUMNS)
};
struct res_true_loss {
	SIM_TABLE_FIELDS(RES_TRUE_LOSS_COLUMNS)
};
SIM_TABLE(res_true_losses, res_true_loss, RES_TRUE_LOSS_COLUMNS)

struct res_true_bursts {
	SIM_TABLE_ARRAYS(RES_TRUE_BURST_COLUMNS)
};
struct res_true_burst {
	SIM_TABLE_FIELDS(RES_TRUE_BURST_COLUMNS)
};
SIM_TABLE(res_true_bursts, res_true_burst, RES_TRUE_BURST_COLUMNS)

/* Zeroed is empty. */
struct res_samples_truth {
	struct res_true_faults faults;
	struct res_true_losses losses;
	struct res_true_bursts bursts;
};
void res_samples_truth_free(struct res_samples_truth *t);

/* --- writing ---------------------------------------------------------------*/

struct res_samples_out;

/* Start a file that takes PATH's place when it is finished; a program that is
 * killed leaves PATH as it was, and PATH.tmp.<pid>. Errors SIM_EIO, SIM_EDEP,
 * SIM_ENOMEM. */
int res_samples_create(struct res_samples_out **w, const char *path,
    const struct res_samples_info *info, struct sim_err *e);

/* Append runs with their buckets; the column `run` counts within RUNS. Errors
 * those of obs_runs_check() and obs_samples_check(), SIM_EIO, SIM_ENOMEM. After an error only
 * _finish() and _discard() may follow, and both leave PATH as it was. Memory: a
 * chunk of each table. */
int res_samples_add(struct res_samples_out *w, const struct obs_runs *runs,
    const struct obs_samples *t, struct sim_err *e);

/* Say what hosts are. Errors SIM_EINVAL (an id that is too high), as above. */
int res_samples_add_hosts(struct res_samples_out *w, const struct res_hosts *h,
    struct sim_err *e);

/* Say what was true of the hosts, once a file. Errors SIM_EINVAL (a host that is
 * too high), as above. */
int res_samples_add_truth(struct res_samples_out *w,
    const struct res_samples_truth *t, struct sim_err *e);

/* Write what is left and give the file its name. W is closed in any case.
 * Errors SIM_EIO, SIM_ENOMEM, or that a call before failed; PATH is then as it
 * was. */
int res_samples_finish(struct res_samples_out *w, struct sim_err *e);
void res_samples_discard(struct res_samples_out *w); /* NULL is fine */

/* --- reading ---------------------------------------------------------------*/

struct res_samples;

/* PATH may also be a folder that a recorder writes, or one of such folders, a
 * rack (results/sample_stores.h): as a file of all that they hold now.
 * Errors SIM_EIO (cannot be read), SIM_EPARSE (no such file, or damaged),
 * SIM_EMISMATCH (another version), SIM_ENOMEM. Messages of all functions name
 * PATH. Memory: all runs and hosts. Cost one pass over the file, for its
 * checksum. */
int res_samples_open(struct res_samples **r, const char *path,
    struct sim_err *e);
void res_samples_close(struct res_samples *r); /* NULL is fine */

/* What of a folder could not be read, a sentence without a full stop that its
 * user should see; NULL: nothing. */
const char *res_samples_said(const struct res_samples *r);

/* The same of tables at hand, as if they were a file PATH that had no spec: they
 * are taken over and left empty. Errors SIM_EINVAL (what no file could have),
 * SIM_ENOMEM; then the tables are as they were. Cost O(runs + rows). */
int res_samples_keep(struct res_samples **r, const char *path, uint32_t n_hosts,
    struct res_hosts *h, struct obs_runs *runs, struct obs_samples *t,
    struct sim_err *e);

const struct res_samples_info *res_samples_info(const struct res_samples *r);
const struct obs_runs *res_samples_runs(const struct res_samples *r);
const struct res_hosts *res_samples_hosts(const struct res_samples *r);

/* 1 if it says what was true; T, which is empty, = that. Errors SIM_EPARSE,
 * SIM_ENOMEM. */
int res_samples_has_truth(const struct res_samples *r, struct sim_err *e);
int res_samples_load_truth(struct res_samples *r, struct res_samples_truth *t,
    struct sim_err *e);

/* Replace the rows of T by the buckets of runs FIRST .. FIRST + N - 1, with `run`
 * as in the file. Errors SIM_ERANGE (there are fewer), SIM_EPARSE (a row that cannot be),
 * SIM_ENOMEM. Cost O(their rows, and those of the chunks at both ends). */
int res_samples_load(struct res_samples *r, size_t first, size_t n,
    struct obs_samples *t, struct sim_err *e);

#endif
