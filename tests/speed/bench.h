/* tests/speed/bench.h -- benchmarks: rows with a goal beside each ratio.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ratios compare two subjects in interleaved rounds of one process; absolute
 * times are shown but never judged. One file tests/bench_<topic>.c a topic,
 * each with one function listed in bench.c.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdint.h>

/* Print one row: what, value with unit, and its goal: CMP '>' means at least,
 * '<' at most, '-' no goal. */
void bench_row(const char *what, double value, const char *unit, char cmp,
    double goal);

/* CPU seconds of this process. */
double bench_cpu_s(void);

/* Seconds of CPU time for FN(arg): the least of ROUNDS. */
double bench_best(int rounds, void (*fn)(void *arg), void *arg);

/* Time A and B alternately for ROUNDS; the least time of each, and the median
 * over rounds of (time of a) / (time of b). */
struct bench_pair {
	double a_s, b_s, ratio;
};
struct bench_pair bench_against(int rounds, void (*a)(void *), void *a_arg,
    void (*b)(void *), void *b_arg);

/* Peak resident memory of this process, bytes. */
uint64_t bench_peak_bytes(void);

/* Keep a result alive. */
extern volatile uint64_t bench_sink;

/* The topics. */
void bench_scale(void);
void bench_evq(void);
void bench_bulk(void);
void bench_algos(void);
void bench_program(void);
void bench_agents(void);
void bench_pinglist(void);
void bench_pingmesh(void);
void bench_pingmesh_bulk(void);
void bench_events(void);
void bench_fabric(void);
void bench_jobs(void);
void bench_filter(void);
void bench_trial(void);
void bench_erspan(void);
void bench_everflow(void);
void bench_bpf(void);
void bench_rack(void);
void bench_packets(void);
void bench_rivals(void);
void bench_sieve(void);
void bench_plug(void);
void bench_skip(void);
void bench_check(void);
void bench_figures(void);

/* A counted loop of K events with N pending, for callgrind: run under
 * `build/tests/bench evq-hold N K`. */
void bench_evq_hold(uint32_t n_pending, uint64_t n_events);

/* Feed the copies of N packets K times, likewise:
 * `build/tests/bench everflow-feed N K`. */
void bench_everflow_feed(uint32_t n_live, uint64_t k);

/* Read 4096 copies K times, likewise: of TCP in one IP header if ALIKE is 1, else
 * of any kind. */
void bench_erspan_read(uint32_t alike, uint64_t k);

/* Play half a second of a rack of services (KIND 1) or jobs (2) K times,
 * likewise: `build/tests/bench rack-play KIND K`. */
void bench_rack_play(uint32_t kind, uint64_t times);

/* Diagnose a window of 112,500 flows K times, likewise, of INT (KIND 1) or of
 * A1+A2+P (2): `build/tests/bench rivals-flock KIND K`. */
void bench_rivals_flock(uint32_t kind, uint64_t times);

/* Sieve on a window of 112,500 flows K times, likewise, of telemetry KIND (the sum
 * of 1: int, 2: a1, 4: a2, 8: p): `build/tests/bench sieve-run KIND K`. */
void bench_sieve_run(uint32_t kind, uint64_t times);
/* Run K trials of 007's size with N faults, likewise: `bench trial-run N K`. */
void bench_trial_run(uint32_t n_faults, uint64_t k);

/* Run K runs of a sweep of N thresholds, likewise: `bench trial-shared N K`; and
 * with an epoch for each cell, `bench trial-anew N K`. */
void bench_trial_shared(uint32_t n_points, uint64_t k);
void bench_trial_anew(uint32_t n_points, uint64_t k);

/* Instructions of `bench MODE N K` by callgrind; -1 without valgrind. */
double bench_instructions(const char *mode, uint32_t n, uint32_t k);

/* The same of another PROGRAM with one argument. */
double bench_program_instructions(const char *program, const char *arg);

#endif
