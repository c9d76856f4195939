/* algos/sieve/sieve_search.h -- Sieve's search for the links that failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve.
 */
#ifndef ALGOS_SIEVE_SIEVE_SEARCH_H
#define ALGOS_SIEVE_SIEVE_SEARCH_H

#include "algos/sieve/sieve_bursts.h"
#include "algos/sieve/sieve_devices.h"
#include "algos/sieve/sieve_gain.h"
#include "algos/sieve/sieve_holes.h"
#include "algos/sieve/sieve_prior.h"
#include "algos/sieve/sieve_share.h"

/* A link that may have failed, and what was found of it last. */
struct sieve_candidate {
	topo_link link;
	struct sieve_finding found;
	double rivals; /* odds of others that explain the same */
	double chance; /* of having failed, by sieve_chances() */
};

/* A component, and what tells it from others. */
struct sieve_alike {
	uint64_t code;
	uint32_t part;
};

enum { SIEVE_KNOWN_ODDS = 64 };

struct sieve_search {
	struct sieve_model model;
	struct sieve_prior prior;
	double thin, rare; /* odds of a failure more (sieve_share.h) */
	double any;        /* chance, before a window, that something failed */
	double odds[SIEVE_KNOWN_ODDS]; /* sieve_search_odds() of so many */
	size_t n, cap;
	struct sieve_candidate *list;
	/* Failed links, and those of no accused switch. */
	size_t n_failed, n_alone, cap_failed, cap_stale, cap_least, cap_tried,
	    cap_before, cap_last, cap_shared;
	struct sieve_devices devices;
	struct sieve_sudden sudden;
	struct sieve_holes holes;
	struct sieve_bursts bursts;
	struct sieve_gain gain; /* scratch */
	double start; /* hazard of healthy links to begin with; 0: not known */
	uint8_t *failed, *stale, *tried, *before; /* [links] */
	uint8_t *shared;           /* [links] by sieve_trials() */
	unsigned n_trials;         /* by sieve_trials() */
	struct sieve_alike *alike; /* scratch: [links and switches] */
	uint64_t *code;            /* likewise */
	double *mass;              /* likewise */
	size_t cap_alike, cap_code, cap_mass;
	/* By sieve_chances(): what all say; the chance that nothing failed; and
	 * how many of those that are not in the list are expected to have. */
	struct sieve_share share;
	double none, unlisted;
	double *last;  /* [links] last finding; infinite: none that is good */
	double *least; /* [links] scratch: least rest of a way over it */
};
void sieve_search_free(struct sieve_search *s);

/* Find the failed links of what s->model has read. Errors SIM_ENOMEM. */
int sieve_search_run(struct sieve_search *s, struct sim_err *e);

/* Fill the list with all links that failed, and those that a bound does not rule
 * out to have failed with odds of exp(LEAST). Their findings are to be made. */
void sieve_search_screen(struct sieve_search *s, double least);

/* What is found of a link now, and of a failed one without its own kernel. */
struct sieve_finding sieve_search_weigh(const struct sieve_search *s,
    topo_link l);
struct sieve_finding sieve_search_again(struct sieve_search *s, topo_link l);

/* Mark in s->stale all links that lossy row I may have crossed; and those of all
 * rows that may have crossed L, and so L itself. */
void sieve_search_stale_row(struct sieve_search *s, uint32_t i);
void sieve_search_stale(struct sieve_search *s, topo_link l);

/* Where it is not known what lossy rows crossed, unmark in s->stale those of the
 * links marked that a bound says to have failed with odds below exp(LEAST). */
void sieve_search_rule_out(struct sieve_search *s, double least);

/* ln of the odds, before the window, of a component more than N_FAILED. */
double sieve_search_odds(const struct sieve_search *s, double n_failed);

/* The same of a link, given what else failed: by its device if that is accused,
 * else as a component more. Of switch EXCEPT it is taken that it is not accused;
 * TOPO_NONE: none. */
double sieve_search_link_odds(const struct sieve_search *s, topo_link l,
    topo_switch except);

/* A candidate joins, or a link whose HAZARD is known, and what depends on it is
 * stale; or one leaves. */
void sieve_search_join(struct sieve_search *s, const struct sieve_candidate *c);
void sieve_search_enter(struct sieve_search *s, topo_link l, double hazard);
void sieve_search_leave(struct sieve_search *s, topo_link l);

#endif
