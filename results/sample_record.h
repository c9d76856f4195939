/* results/sample_record.h -- one run of a host as bytes, and a file of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Little-endian; the checks are sim_fnv() of what is named:
 *
 *	file	"culpritM", u32 version, u32 rack, char host[64],
 *		u64 check of these; records
 *	record	"MsRn", u32 n_bytes, u32 n_raw, u32 packed,
 *		u64 start_ns (TAI), width_ns, line_bps,
 *		u32 n_buckets, n_missed, n_rows, n_cpus,
 *		u64 check of the n_bytes, u64 check of all these; n_bytes
 *
 * The n_bytes are n_raw, if `packed` by zlib: of columns of models/obs_samples.h
 * but `run`, one behind the other, those of 32 bits as differences to the row
 * before, zigzag, 7 bits a byte; those of 64 bits xor the row before.
 *
 * What is no record where one should begin is damage up to the next one, which
 * is found by its own check; less than a record at the end of a file is torn.
 * So whatever happens to a file, no run is read that was not written.
 */
#ifndef RESULTS_SAMPLE_RECORD_H
#define RESULTS_SAMPLE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "models/obs_samples.h"
#include "sim/err.h"

enum {
	RES_RECORD_VERSION = 1,
	RES_RECORD_FILE_BYTES = 88,  /* head of a file */
	RES_RECORD_HEAD_BYTES = 72,  /* of a record */
	RES_RECORD_RAW_MAX = 160000, /* of 2,000 buckets */
	RES_RECORD_MAX = RES_RECORD_HEAD_BYTES + RES_RECORD_RAW_MAX,
	RES_RECORD_NAME = 64,
};

/* Of whom a file is. */
struct res_record_host {
	char name[RES_RECORD_NAME]; /* ends with a 0 */
	uint32_t rack;              /* UINT32_MAX: not said */
};

/* A run; its host stands in the file's head, and is 0 here. */
struct res_record {
	struct obs_run run;
	uint32_t n_rows, n_cpus;
	uint32_t n_bytes, n_raw;
	int packed;
};

void res_record_put_file(unsigned char to[RES_RECORD_FILE_BYTES],
    const struct res_record_host *h);

/* Errors SIM_EPARSE (no such file, or damaged), SIM_EMISMATCH (another version). */
int res_record_get_file(const unsigned char *bytes, size_t n,
    struct res_record_host *h, struct sim_err *e);

/* A run with its buckets, rows of T with run 0, as a record of *N bytes. SCRATCH holds what
 * is to be packed; NULL: nothing is. Errors SIM_EINVAL (a run or row that cannot
 * be). */
int res_record_put(unsigned char to[RES_RECORD_MAX], size_t *n,
    const struct obs_run *run, uint32_t n_cpus, const struct obs_samples *t,
    unsigned char scratch[RES_RECORD_RAW_MAX], struct sim_err *e);

enum res_record_end {
	RES_RECORD_MORE,
	RES_RECORD_END,
	RES_RECORD_TORN,
	RES_RECORD_DAMAGED
};

/* The record at *AT of a file's N bytes. MORE: R, which begins at *BEGAN, and *AT
 * is behind it; its bytes are as written. DAMAGED: *AT is where to go on. */
enum res_record_end res_record_next(const unsigned char *bytes, size_t n,
    size_t *at, size_t *began, struct res_record *r);

/* Append the rows of R, whose payload is BYTES, to T, with RUN as their run.
 * Errors SIM_EPARSE (rows that cannot be), SIM_EUNSUPPORTED (packed, and there is
 * no zlib), SIM_ENOMEM; T is then as it was. */
int res_record_get(const unsigned char *bytes, const struct res_record *r,
    uint32_t run, struct obs_samples *t,
    unsigned char scratch[RES_RECORD_RAW_MAX], struct sim_err *e);

#endif
