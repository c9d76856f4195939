/* experiments/live/doctor.h -- is the live half well? By numbers, without I/O.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pingmesh's watchdogs (SIGCOMM'15, 3.5): are lists generated, are agents within
 * their budget, are data stored, are SLAs reported in time. What daemons say
 * comes as metrics (expose.h), what a store holds as struct xp_doctor_store.
 */
#ifndef EXPERIMENTS_LIVE_DOCTOR_H
#define EXPERIMENTS_LIVE_DOCTOR_H

#include "experiments/live/expose.h"

enum xp_health { XP_HEALTH_OK, XP_HEALTH_WARN, XP_HEALTH_FAIL };

struct xp_check {
	enum xp_health health;
	const char *of;   /* who was asked: borrowed */
	char name[32];    /* "lists", "store", ... */
	char says[200];   /* what was found */
	const char *todo; /* NULL if it is well */
};

enum { XP_DOCTOR_MOST = 512 };

struct xp_doctor_limits {
	double list_s, data_s, sla_s; /* ages, at most */
	uint32_t agent_mib;
	double agent_cpu; /* of one processor */
};

/* Zeroed but for limits and now_s, seconds since 1970. */
struct xp_doctor {
	struct xp_doctor_limits limits;
	double now_s;
	double servers;      /* of a controller; 0: none was asked */
	double list_version; /* of the first controller; 0: none was asked */
	size_t n;            /* more than there is room for are counted alone */
	size_t n_warned, n_failed;
	struct xp_check check[XP_DOCTOR_MOST];
};

/* OF does not answer, or not as it should: WHY. */
void xp_doctor_silent(struct xp_doctor *d, const char *of, const char *why);

/* File or folder OF cannot be read: WHY. */
void xp_doctor_unread(struct xp_doctor *d, const char *of, const char *why);

/* What they said. Agents after controllers, whose lists they are to have. */
void xp_doctor_controller(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x);
void xp_doctor_collector(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x);
void xp_doctor_agent(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x);

struct xp_doctor_store {
	uint64_t n_files;
	double written_s;  /* the newest file; NaN: none */
	double window_s;   /* the end of the newest window of counters; NaN */
	uint64_t n_agents; /* that have one no older than sla_s */
};
void xp_doctor_store(struct xp_doctor *d, const char *of,
    const struct xp_doctor_store *s);

/* What a database of jobs holds, see results/sql/schema.sql. */
struct xp_doctor_db {
	double counters_s,
	    probes_s;    /* the ends of the newest windows of 5 and 10
					minutes in which something came; NaN */
	uint64_t n_late; /* windows of the last day, not on time */
	char ill[160];   /* watchdogs that bark now; "": none */
};
void xp_doctor_db(struct xp_doctor *d, const char *of,
    const struct xp_doctor_db *b);

#endif
