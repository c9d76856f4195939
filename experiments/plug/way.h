/* experiments/plug/way.h -- a way in for algorithms: programs, or libraries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the two have in common is in plug.c: the description, the network as they
 * get it, checks of answers, asking twice, the hash of what they are.
 */
#ifndef EXPERIMENTS_PLUG_WAY_H
#define EXPERIMENTS_PLUG_WAY_H

#include "experiments/plug/about.h"
#include "experiments/plug/answer.h"
#include "models/obs.h"
#include "topo/topo.h"

/* What was given in a spec. */
struct plug_source {
	const char *text;   /* a command, or the name of a file */
	const char *folder; /* "" or with its slash: of relative names */
	uint64_t hash;      /* as it was when it was described */
	int is_command;
	const struct plug_about *about; /* whose files are of it, too */
};

/* An algorithm of one network and parameters is asked. */
struct plug_ask {
	const struct plug_source *source;
	const struct plug_about *about;
	const struct plug_params *params;
	const struct topo *topo;
	uint64_t id;  /* of network and parameters; from 1 */
	void **state; /* the way's, of these; NULL at first */
	const struct obs *window;
	uint64_t seed;
	struct plug_limits limits;
	struct plug_seen *seen;
};

struct plug_way {
	const char *key; /* as in a spec */

	/* *HOST is the way's, of one algorithm in one process. */
	int (*open)(void **host, struct sim_err *e);
	void (*close)(void *host);

	/* Have it say what it is, in another process. Errors SIM_EDEP,
	 * SIM_EIO, SIM_ENOMEM. */
	int (*describe)(void *host, const struct plug_source *s,
	    struct plug_about *a, struct sim_err *e);

	/* Errors SIM_EDEP are the algorithm's, others ours. */
	int (*ask)(void *host, const struct plug_ask *q,
	    struct algo_verdicts *out, struct sim_err *e);
	void (*forget)(void *host, void *state); /* NULL is fine */

	/* Should this process end soon, since the algorithm did it harm? NULL:
	 * it can't. */
	int (*is_spent)(const void *host);
};

extern const struct plug_way plug_exec, plug_library;

/* In plug.c: the hash of SOURCE as it is now, its `hash` aside: of its text, and
 * of the bytes of all files, wherever these lie. Errors SIM_ENOMEM. */
int plug_source_hash(const struct plug_source *s, uint64_t *hash,
    struct sim_err *e);
/* Is it what it was? Errors also SIM_EDEP. */
int plug_source_check(const struct plug_source *s, struct sim_err *e);

#endif
