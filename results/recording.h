/* results/recording.h -- what the collector got, as one file: read by time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/                attributes: recording_version, spec, service, culprit,
 *	                 seed, point, run, duration_ns, syn_wait_ns [8, 0 = no
 *	                 more], n_dcs, shapes [n_dcs * 5: pods, ToRs, T1s, T2s,
 *	                 hosts, as in topo/clos.h]
 *	/probes          columns of models/obs_probes.h
 *	/probes_index    first_ns, last_ns: least and greatest sent_ns of each
 *	                 chunk of 65,536 rows
 *	/vip_probes      the same columns, to virtual addresses
 *	/vip_probes_index
 *	/counters        columns of models/obs_perf.h
 *	/http            columns of models/obs_http.h, to hosts alone: of probes
 *	                 that are rows of `probes` as well; since version 2, and
 *	                 with version 1 all probes are TCP pings
 *	/http_index
 *	/coverage        from_ns, to_ns: spans in which the collector listened
 *
 * Rows stand in the order of arrival, about that of time, so a window reads the
 * few chunks that its times fall into. Hosts are numbered over all data
 * centres, in order, as in topo/region.h. A row of vip_probes has the address
 * of the VIP (topo/addr.h) as its peer and level OBS_LEVEL_INTER_DC, so that
 * no analysis takes it for a host.
 *
 * What is not covered was not recorded; it does not mean that nothing happened.
 * The format is that of results/h5_table.h: equal rows, equal bytes.
 */
#ifndef RESULTS_RECORDING_H
#define RESULTS_RECORDING_H

#include "models/obs_http.h"
#include "models/obs_perf.h"
#include "models/obs_probes.h"
#include "sim/err.h"
#include "topo/dc.h"
#include "topo/ip.h"

enum {
	RES_RECORDING_VERSION = 2,   /* those from 1 on are read */
	RES_RECORDING_CHUNK = 65536, /* rows of what has an index */
	RES_RECORDING_MAX_DCS = 16,
};

/* The tables that are recorded, in the order of the file. A line makes a group
 * with the columns of the table, res_recorder_<group>() and
 * res_recording_<group>(); who adds one raises RES_RECORDING_VERSION. The first
 * column is a row's time; rows are checked by <table>_check().
 *  X(group, table, what that time is) */
#define RES_RECORDED_TABLES(X)                                                 \
	X(probes, obs_probes, RES_EVENT)                                       \
	X(vip_probes, obs_probes, RES_EVENT)                                   \
	X(counters, obs_perf, RES_WINDOW_END)                                  \
	X(http, obs_http, RES_EVENT)

enum res_recorded_time {
	RES_EVENT,     /* when it was; there is an index, <group>_index */
	RES_WINDOW_END /* when what it sums up ended; few rows, no index */
};
#define X(group, table, time) RES_RECORDED_##group,
enum res_recorded { RES_RECORDED_TABLES(X) RES_N_RECORDED };
#undef X

/* Texts are borrowed by a recorder until it is open, and belong to a reader. */
struct res_recording_info {
	const char *spec;    /* as it ran, with overrides and the point's
				values in place; "": none */
	const char *service; /* "web=0-15,32; db=16-31"; "": none */
	const char *culprit; /* version and commit; a recorder puts its own */
	uint64_t seed;
	uint32_t point, run;
	sim_ns duration_ns;
	sim_ns syn_wait_ns[OBS_MAX_WAITS]; /* as of obs_probes */
	uint32_t n_dcs;
	struct topo_dc dc[RES_RECORDING_MAX_DCS]; /* one after the other; a
						     recorder reads the five
						     numbers of shapes alone */

	/* Not in the file, which has servers by number: the network of IPv6 that
	 * batches name them in; zeroed: they have IPv4. */
	struct topo_ip_net net6;
};

/* --- writing ---------------------------------------------------------------*/

struct res_recorder;

/* Start a recording that takes PATH's place when it is finished; a program that
 * is killed leaves PATH as it was, and PATH.tmp.<pid>.
 * Errors SIM_EINVAL (shapes as topo_clos_init(); no data centre, too many, or
 * more than 2^24 - 2 hosts), SIM_EIO, SIM_ENOMEM. */
int res_recorder_open(struct res_recorder **w, const char *path,
    const struct res_recording_info *info, struct sim_err *e);

/* Append the rows of TABLE, a table of the type that WHICH stands for, in the
 * order of arrival; hosts are numbered over all data centres. Errors SIM_EINVAL
 * (a row that no reader would take), SIM_EIO. After an error only _finish() and
 * _discard() may follow, and both leave PATH as it was. */
int res_recorder_add(struct res_recorder *w, enum res_recorded which,
    const void *table, struct sim_err *e);
#define X(group, table, time)                                                  \
	static inline int res_recorder_##group(struct res_recorder *w,         \
	    const struct table *t, struct sim_err *e)                          \
	{                                                                      \
		return res_recorder_add(w, RES_RECORDED_##group, t, e);        \
	}
RES_RECORDED_TABLES(X)
#undef X

/* [FROM, TO) is covered. Spans come in order; those that touch become one.
 * Errors SIM_EINVAL (an empty span, or one before the end of the last). */
int res_recorder_covers(struct res_recorder *w, sim_ns from, sim_ns to,
    struct sim_err *e);

/* Write what is left and give the file its name. W is closed in any case.
 * Errors SIM_EIO, SIM_ENOMEM; PATH is then as it was. */
int res_recorder_finish(struct res_recorder *w, struct sim_err *e);
void res_recorder_discard(struct res_recorder *w); /* NULL is fine */

/* --- reading ---------------------------------------------------------------*/

struct res_recording;

/* Errors SIM_EIO (cannot be read), SIM_EPARSE (no recording, or damaged),
 * SIM_EMISMATCH (a later version), SIM_ENOMEM. Messages of all functions name
 * PATH. Cost one pass over the file, for its checksum. */
int res_recording_open(struct res_recording **r, const char *path,
    struct sim_err *e);
void res_recording_close(struct res_recording *r); /* NULL is fine */

const struct res_recording_info *res_recording_info(
    const struct res_recording *r);
uint64_t res_recording_n_probes(const struct res_recording *r);

/* How much of [FROM, TO) is covered. Cost O(spans). */
sim_ns res_recording_covered(const struct res_recording *r, sim_ns from,
    sim_ns to);

/* Replace the rows of TABLE by those of events in [FROM, TO), or of windows
 * that ended in (FROM, TO], in the order of the file. A table of probes also
 * gets the recording's waits. Errors SIM_EPARSE (a row that cannot be;
 * damaged), SIM_ENOMEM. Cost O(rows of the chunks that the window falls into),
 * or of all rows where there is no index. */
int res_recording_get(struct res_recording *r, enum res_recorded which,
    sim_ns from, sim_ns to, void *table, struct sim_err *e);
#define X(group, table, time)                                                  \
	static inline int res_recording_##group(struct res_recording *r,       \
	    sim_ns from, sim_ns to, struct table *t, struct sim_err *e)        \
	{                                                                      \
		return res_recording_get(r, RES_RECORDED_##group, from, to, t, \
		    e);                                                        \
	}
RES_RECORDED_TABLES(X)
#undef X

#endif
