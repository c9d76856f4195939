/* experiments/millisampler/racks.h -- a file of samples, rack by rack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is read at a time is the runs of one rack that were sampled together
 * (algos/millisampler/series.h), so a file of days of a region needs no more
 * memory than its largest rack.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_RACKS_H
#define EXPERIMENTS_MILLISAMPLER_RACKS_H

#include "algos/millisampler/series.h"
#include "experiments/millisampler/source.h"
#include "results/samples.h"

struct xp_racks_params {
	sim_ns width_ns;    /* of runs; 0: what more than half of them have */
	sim_ns together_ns; /* within which runs of a rack start */
	const struct xp_source_params *source; /* NULL: usual */
};

/* Zeroed is empty. */
struct xp_racks {
	struct res_samples *file;
	struct xp_racks_params p;
	uint32_t *rack; /* [n_hosts] of each host; its own where none is said */
	uint8_t *taken; /* [runs] */
	uint32_t *run;  /* [runs] of the rack, rows of the file's runs */
	size_t *name;   /* [n_hosts] row of the file's hosts, SIZE_MAX: none */
	/* The rack at hand: its runs, numbered from 0, and their buckets. */
	struct obs_runs runs;
	struct obs_samples samples, one;
};

/* Errors those of xp_source_open(); SIM_EINVAL if no run has that width, or none
 * is said and none has most of the runs, naming those that there are. R may be
 * closed either way. */
int xp_racks_open(struct xp_racks *r, const char *path,
    const struct xp_racks_params *p, struct sim_err *e);
void xp_racks_close(struct xp_racks *r);

/* Go to the next rack: *N of its runs are in R->runs, 0 if there is none left.
 * Errors those of res_samples_load(). */
int xp_racks_next(struct xp_racks *r, size_t *n, struct sim_err *e);

/* Whose a run is: its host's name, or number. BUF holds the latter. */
const char *xp_racks_host(const struct xp_racks *r, uint32_t host,
    char buf[16]);

/* The host that has that name or, if none has, number; N_HOSTS if there is
 * none. */
uint32_t xp_racks_find(const struct xp_racks *r, const char *name);

#endif
