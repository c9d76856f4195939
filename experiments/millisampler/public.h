/* experiments/millisampler/public.h -- runs in the form that Meta published.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is one run of one host, JSON, gzipped or not:
 *
 *	rack_id, server_hostname, sampling_freq
 *	ingressBytes, egressBytes, inRxmitBytes, outRxmitBytes,
 *	inCongestionExperiencedBytes, connections: arrays, a number a bucket
 *	burst_result.ingress: {"<start, us>": [{"Position", "Length", ...}]}
 *
 * and, in files of ours alone, start_ns, width_ns and line_bps. Sketches,
 * traffic across regions and packets that were missed have no place in it.
 *
 * That Position is a bucket from 0 on, and the key a time since 1970, is
 * unconfirmed: the comparison of bursts shows whether it fits. What sampling_freq
 * counts is not known, so the width is the user's to say.
 *
 * Source  github.com/facebookresearch/Millisampler-data, by its keys; none of its
 *         files was at hand.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_PUBLIC_H
#define EXPERIMENTS_MILLISAMPLER_PUBLIC_H

#include <stdio.h>

#include "models/obs_samples.h"
#include "results/samples.h"
#include "sim/err.h"

/* Why a file is left out. X(name, text) */
#define XP_PUBLIC_ENDS(X)                                                      \
	X(TAKEN, "taken")                                                      \
	X(NO_JSON, "is no JSON, or has more than 64 MiB of it")                \
	X(NO_HOST,                                                             \
	    "lacks rack_id or server_hostname, or has one above 63 bytes")     \
	X(NO_INGRESS, "lacks ingressBytes")                                    \
	X(ODD_SERIES, "has a series of another length, or of no counts")       \
	X(ODD_TIME, "starts after 146 years, or has buckets of 18 minutes")
enum xp_public_end {
#define X(name, text) XP_PUBLIC_##name,
	XP_PUBLIC_ENDS(X)
#undef X
	    XP_N_PUBLIC_ENDS
};
extern const char *const xp_public_texts[XP_N_PUBLIC_ENDS];

enum { XP_PUBLIC_MAX_BUCKETS = 100000 };

/* A burst as the file has it. */
#define XP_PUBLIC_BURST_COLUMNS(X)                                             \
	X(uint32_t, first, "1", "bucket that it begins with")                  \
	X(uint32_t, n_buckets, "1", "length")
struct xp_public_bursts {
	SIM_TABLE_ARRAYS(XP_PUBLIC_BURST_COLUMNS)
};
struct xp_public_burst {
	SIM_TABLE_FIELDS(XP_PUBLIC_BURST_COLUMNS)
};
SIM_TABLE(xp_public_bursts, xp_public_burst, XP_PUBLIC_BURST_COLUMNS)

/* One file. Zeroed is empty; renewed by each read, its memory kept. */
struct xp_public {
	struct sim_name rack, host;
	struct obs_run run; /* its host is 0 */
	struct obs_samples samples;
	struct xp_public_bursts bursts;
	uint8_t has_bursts;  /* burst_result.ingress is there */
	uint32_t n_odd;      /* entries of it without Position or Length */
	uint32_t n_cut;      /* buckets with more marked than came in: cut */
	double freq;         /* sampling_freq; 0: none */
	const char *problem; /* of NO_JSON: what the reader said */
	char said[192];
};

/* Read PATH. WIDTH and LINE are of buckets and links where the file does not say.
 * *END is why it was left out. Errors SIM_EIO, SIM_ENOMEM, SIM_EUNSUPPORTED (this
 * program was built without the reader). Memory some 10 times the file. */
int xp_public_read(struct xp_public *p, const char *path, uint64_t width_ns,
    uint64_t line_bps, enum xp_public_end *end, struct sim_err *e);
void xp_public_free(struct xp_public *p);
int xp_public_is_built_in(void);

/* Write a run with its buckets, rows FROM .. TO - 1 of T, to PATH, gzipped if its
 * name ends in .gz; and its bursts, B rows, if B is not NULL. Errors SIM_EIO. */
int xp_public_write(const char *path, const char *rack, const char *host,
    const struct obs_run *run, const struct obs_samples *t, size_t from,
    size_t to, const struct xp_public_bursts *b, struct sim_err *e);

/* --- bursts, ours and theirs ------------------------------------------------*/

enum { XP_FIT_SHARES = 9, XP_FIT_GAPS = 4 };

/* How well bursts above each share of the line, .1 to .9, parted by more than 0 to
 * 3 buckets, are those of the files. Zeroed is empty. */
struct xp_public_fit {
	uint64_t n_theirs;
	struct {
		uint64_t n_ours, n_same;
	} at[XP_FIT_SHARES][XP_FIT_GAPS];
};

/* Bursts of P's buckets, from scratch. Errors SIM_ENOMEM. */
int xp_public_find(const struct xp_public *p, double share, uint32_t gap,
    struct xp_public_bursts *out, struct sim_err *e);

/* Count P's bursts, if it has them. Errors SIM_ENOMEM. */
int xp_public_compare(struct xp_public_fit *f, const struct xp_public *p,
    struct sim_err *e);

/* Bursts that only one side has, of all of both; 0 if there are none. */
double xp_public_differ(const struct xp_public_fit *f, unsigned share,
    unsigned gap);

#endif
