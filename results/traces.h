/* results/traces.h -- what analyzers and debuggers made of copies, as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/             attributes: traces_version, spec (YAML with the `topology`
 *	              that ids are of; "": no topology is known), culprit, seed,
 *	              point, run, n_hosts, n_switches, n_links (0: not known),
 *	              ecmp_seed, knows_hash (as in struct algo_routing), end_ns
 *	/traces       columns of algos/everflow/trace.h; a trace's id is its row
 *	/traces_index first_ns, last_ns: least and greatest t_ns of each chunk of
 *	              8,192 traces
 *	/hops         columns of the same header; those of a trace stand together,
 *	              in the order of its way, and traces' in the order of traces
 *	/counters     columns of algos/everflow/counter.h
 *	/names        of counters that were added: id, name; older files have none
 *	/guided       columns of models/obs_guided.h
 *	/findings     what debuggers found; columns below
 *	/cycles       node: switches of findings that are loops
 *
 * Columns `kind` of traces and counters and `cause` of findings have the words
 * for their numbers; `marks` are bits, in the order of ALGO_TRACE_MARKS.
 *
 * Traces stand in the order in which they were finished, about that of time.
 * The format is that of results/h5_table.h: equal rows, equal bytes.
 *
 * Paper  Everflow (SIGCOMM'15): what is stored of a packet.
 */
#ifndef RESULTS_TRACES_H
#define RESULTS_TRACES_H

#include "algos/everflow/debug.h"
#include "sim/err.h"

enum { RES_TRACES_VERSION = 1 };

/* Texts are borrowed by a writer until it is open, and belong to a reader. */
struct res_traces_info {
	const char *spec;
	const char *culprit; /* version and commit; a writer puts its own */
	uint64_t seed;
	uint32_t point, run;
	uint32_t n_hosts, n_switches, n_links; /* 0: not known */
	uint32_t ecmp_seed;
	uint8_t knows_hash;
	sim_ns end_ns; /* when mirroring ended; of readers */
};

/*  X(type, column, units, meaning) */
#define RES_FINDING_COLUMNS(X)                                                 \
	X(struct sim_name, debugger, "1", "who found it")                      \
	X(uint64_t, from_ns, "ns", "first of its evidence")                    \
	X(uint64_t, to_ns, "ns", "last of its evidence")                       \
	X(uint32_t, link, "1", "directed link; 2^32-1 = none")                 \
	X(uint32_t, node, "1", "host, or n_hosts + switch; 2^32-1 = none")     \
	X(double, score, "1", "higher = surer")                                \
	X(double, rate, "1", "of loss, of time, or skew")                      \
	X(double, lo, "1", "lower end of its 95 % interval")                   \
	X(double, hi, "1", "upper end")                                        \
	X(double, excess_us, "us", "latency above that of its class")          \
	X(uint64_t, cycle_off, "1", "of a loop: index of its first switch")    \
	X(uint32_t, value_src_ip, "1", "what its packets have in common")      \
	X(uint32_t, value_dst_ip, "1", "likewise")                             \
	X(uint32_t, mask_src_ip, "1", "of which bits; 0: of none")             \
	X(uint32_t, mask_dst_ip, "1", "likewise")                              \
	X(uint16_t, value_src_port, "1", "likewise")                           \
	X(uint16_t, value_dst_port, "1", "likewise")                           \
	X(uint16_t, mask_src_port, "1", "likewise")                            \
	X(uint16_t, mask_dst_port, "1", "likewise")                            \
	X(uint8_t, value_proto, "1", "likewise")                               \
	X(uint8_t, mask_proto, "1", "likewise")                                \
	X(uint8_t, n_cycle, "1", "of a loop: switches in /cycles")             \
	X(uint8_t, cause, "1", "enum algo_cause")                              \
	X(uint8_t, persistent, "1", "1: still there when probed")              \
	X(uint8_t, intermittent, "1", "1: it comes and goes")

struct res_findings {
	SIM_TABLE_ARRAYS(RES_FINDING_COLUMNS)
};
struct res_finding {
	SIM_TABLE_FIELDS(RES_FINDING_COLUMNS)
};
SIM_TABLE(res_findings, res_finding, RES_FINDING_COLUMNS)

/* Which name a counter of kind CUSTOM has; a name that was given again is that of
 * the last. */
#define RES_COUNTER_NAME_COLUMNS(X)                                            \
	X(uint32_t, id, "1", "of rows of /counters that are custom")           \
	X(struct sim_name, name, "1", "as it was added")
struct res_counter_names {
	SIM_TABLE_ARRAYS(RES_COUNTER_NAME_COLUMNS)
};
struct res_counter_name {
	SIM_TABLE_FIELDS(RES_COUNTER_NAME_COLUMNS)
};
SIM_TABLE(res_counter_names, res_counter_name, RES_COUNTER_NAME_COLUMNS)

/* --- writing ---------------------------------------------------------------*/

struct res_traces_out;

/* Start a file that takes PATH's place when it is finished; a program that is
 * killed leaves PATH as it was, and PATH.tmp.<pid>. Errors SIM_EIO, SIM_EDEP,
 * SIM_ENOMEM. */
int res_traces_create(struct res_traces_out **w, const char *path,
    const struct res_traces_info *info, struct sim_err *e);

/* Append a trace with its n_hops hops, whatever its hop_off; rows of counters or
 * of guided probes; N findings of DEBUGGER. Memory of all: a chunk of each table.
 * Errors SIM_EINVAL (what no reader would take), SIM_EIO. After an error only
 * _finish() and _discard() may follow, and both leave PATH as it was. */
int res_traces_add(struct res_traces_out *w, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e);
int res_traces_add_counters(struct res_traces_out *w,
    const struct algo_counters *c, struct sim_err *e);
int res_traces_add_guided(struct res_traces_out *w, const struct obs_guided *g,
    struct sim_err *e);
int res_traces_add_findings(struct res_traces_out *w, const char *debugger,
    const struct algo_finding f[], size_t n, struct sim_err *e);

/* Say what a counter is called. Errors also SIM_EINVAL: a name of no bytes, or of
 * 64 or more. */
int res_traces_add_name(struct res_traces_out *w, uint32_t id, const char *name,
    struct sim_err *e);

/* What analyzers may be given: all that it takes is appended. */
struct algo_trace_sink res_traces_sink(struct res_traces_out *w);

/* Write what is left and give the file its name; mirroring went on until END.
 * W is closed in any case. Errors SIM_EIO, SIM_ENOMEM; PATH is then as it was. */
int res_traces_finish(struct res_traces_out *w, sim_ns end, struct sim_err *e);
void res_traces_discard(struct res_traces_out *w); /* NULL is fine */

/* --- reading ---------------------------------------------------------------*/

struct res_traces;

/* Errors SIM_EIO (cannot be read), SIM_EPARSE (no such file, or damaged),
 * SIM_EMISMATCH (another version), SIM_ENOMEM. Messages of all functions name
 * PATH. Cost one pass over the file, for its checksum. */
int res_traces_open(struct res_traces **r, const char *path, struct sim_err *e);
void res_traces_close(struct res_traces *r); /* NULL is fine */

const struct res_traces_info *res_traces_info(const struct res_traces *r);
uint64_t res_traces_n(const struct res_traces *r);

/* Gets traces one by one; HOP is borrowed for the call. Above 0: no more; below:
 * an error. */
typedef int res_traces_taker(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e);

/* Give each trace whose first copy was in [FROM, TO) to TAKE, by id. Errors
 * SIM_EPARSE (a row that cannot be; damaged), SIM_ENOMEM, those of TAKE. Memory:
 * a chunk. Cost O(traces of the chunks that the span falls into). */
int res_traces_each(struct res_traces *r, sim_ns from, sim_ns to,
    res_traces_taker *take, void *arg, struct sim_err *e);

/* The same of the one trace ID. Errors also SIM_ERANGE: there is none. */
int res_traces_one(struct res_traces *r, uint64_t id, res_traces_taker *take,
    void *arg, struct sim_err *e);

/* Append all traces of [FROM, TO) to S; counters of spans that ended in (FROM,
 * TO]; guided probes that were sent in [FROM, TO); all findings, with their
 * cycles' nodes in CYCLE. Errors SIM_EPARSE, SIM_ENOMEM. */
struct res_cycles;
int res_traces_load(struct res_traces *r, sim_ns from, sim_ns to,
    struct algo_trace_store *s, struct sim_err *e);
int res_traces_counters(struct res_traces *r, sim_ns from, sim_ns to,
    struct algo_counters *c, struct sim_err *e);
int res_traces_guided(struct res_traces *r, sim_ns from, sim_ns to,
    struct obs_guided *g, struct sim_err *e);
int res_traces_findings(struct res_traces *r, struct res_findings *f,
    struct res_cycles *cycle, struct sim_err *e);

#define RES_CYCLE_COLUMNS(X) X(uint32_t, node, "1", "n_hosts + switch")
struct res_cycles {
	SIM_TABLE_ARRAYS(RES_CYCLE_COLUMNS)
};
struct res_cycle {
	SIM_TABLE_FIELDS(RES_CYCLE_COLUMNS)
};
SIM_TABLE(res_cycles, res_cycle, RES_CYCLE_COLUMNS)

/* Append all names; none of a file that has none. Errors SIM_EPARSE, SIM_ENOMEM. */
int res_traces_names(struct res_traces *r, struct res_counter_names *names,
    struct sim_err *e);

/* As it was added, of row I. */
struct algo_finding res_finding_at(const struct res_findings *f,
    const struct res_cycles *cycle, size_t i);

#endif
