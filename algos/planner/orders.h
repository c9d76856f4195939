/* algos/planner/orders.h -- what scouts are told to do, and what came of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two messages, both little-endian and taken whole or not at all:
 *
 *	at         bytes
 *	0          4     "CPSJ": jobs; "CPSA": answers
 *	4          2     version: 1
 *	6          2     of jobs: 1 = there is nothing more to do; else 0
 *	8          4     round
 *	12         4     n
 *	16         m n   jobs of 16 bytes, or answers of 80
 *	16 + m n   8     64-bit FNV-1a of all bytes before
 *
 *	a job                        an answer
 *	0   4  id                    0   4   id
 *	4   4  dst_ip                4   4   n_sent
 *	8   2  src_port              8   4   n_lost
 *	10  2  dst_port              12  1   n_hops
 *	12  4  count; 0: trace it    13  3   0
 *	                             16  64  hop_ip[16]; behind n_hops: 0
 */
#ifndef ALGOS_PLANNER_ORDERS_H
#define ALGOS_PLANNER_ORDERS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "topo/ids.h"

enum {
	ALGO_SCOUT_JOBS = 64,      /* of a message */
	ALGO_SCOUT_MOST = 1 << 24, /* connects of a job */
	ALGO_SCOUT_DONE = 1,       /* flag of jobs */
	ALGO_SCOUT_HEAD = 16,
	ALGO_SCOUT_JOB = 16,
	ALGO_SCOUT_ANSWER = 80,
	ALGO_SCOUT_CHECK = 8,
	ALGO_SCOUT_MESSAGE = ALGO_SCOUT_HEAD +
	    ALGO_SCOUT_JOBS * ALGO_SCOUT_ANSWER + ALGO_SCOUT_CHECK,
};

/* Connect so often, or find the way of that five-tuple, from the host that is
 * told. */
struct algo_scout_job {
	uint32_t id, dst_ip;
	uint16_t src_port, dst_port;
	uint32_t count;
};

/* Of n_sent connects n_lost had no answer in time; or the way, as of an
 * agent_report. */
struct algo_scout_answer {
	uint32_t id, n_sent, n_lost;
	uint8_t n_hops;
	uint32_t hop_ip[TOPO_MAX_HOPS];
};

/* What stands before the jobs or answers of a message. */
struct algo_scout_head {
	uint32_t round;
	unsigned flags;
	size_t n;
};

/* Write a message; returns its bytes. Shape  out[ALGO_SCOUT_MESSAGE].
 * Domain  h->n <= ALGO_SCOUT_JOBS. */
size_t algo_scout_write_jobs(const struct algo_scout_head *h,
    const struct algo_scout_job job[], unsigned char *out);
size_t algo_scout_write_answers(const struct algo_scout_head *h,
    const struct algo_scout_answer answer[], unsigned char *out);

/* Read one of N bytes, which may be anything. Shape  job[ALGO_SCOUT_JOBS],
 * answer[ALGO_SCOUT_JOBS]; they and H are left alone on failure.
 * Errors SIM_EPARSE (no such message, another length, the checksum), SIM_ELIMIT
 * (too many), SIM_ERANGE (a value that none may have), naming it. */
int algo_scout_read_jobs(const void *bytes, size_t n, struct algo_scout_head *h,
    struct algo_scout_job job[], struct sim_err *e);
int algo_scout_read_answers(const void *bytes, size_t n,
    struct algo_scout_head *h, struct algo_scout_answer answer[],
    struct sim_err *e);

#endif
