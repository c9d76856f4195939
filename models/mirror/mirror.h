/* models/mirror/mirror.h -- switches that mirror, and the way to the analyzer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	sighting --> table --> budget --> number --> loss --> delay --> copy
 *	             none,     policed               lost
 *	             never
 *
 * Packets are walked one after another (packet/walk.h), each from its beginning
 * to its end, so sightings come in no order of time. What depends on it, the
 * budget and the number, is therefore done when copies are taken, for which all
 * sightings up to then must have been told. What is drawn is drawn at the
 * sighting, from a stream of the switch: how often copies are taken changes
 * nothing.
 *
 * A copy that is lost has a number too, so an analyzer can count what each
 * switch lost, exactly.
 *
 * Paper  Everflow (SIGCOMM'15): match and mirror, encapsulation.
 */
#ifndef MODELS_MIRROR_MIRROR_H
#define MODELS_MIRROR_MIRROR_H

#include "models/obs_match.h"
#include "models/packet/walk.h"
#include "sim/field.h"
#include "sim/time.h"

enum mirror_delay_law {
	MIRROR_DELAY_CONSTANT,
	MIRROR_DELAY_UNIFORM, /* from 0 to twice the mean */
	MIRROR_DELAY_EXPONENTIAL
};

/* As in a spec. */
struct mirror_params {
	uint32_t truncate; /* bytes of a frame that a copy has */
	uint32_t overhead; /* bytes that carry it: outer headers */
	double budget;     /* bytes a second of each switch; 0 = no limit */
	uint32_t burst;    /* bytes that it may send at once */
	double policer;    /* copies a second of each switch; 0 = no limit */
	uint32_t police_burst; /* copies at once */
	double loss;           /* probability that a copy is lost on its way */
	double delay_us;       /* mean time to the analyzer */
	uint32_t delay_law;    /* enum mirror_delay_law */
};
extern const struct sim_field mirror_fields[];

/* What a switch's clock shows at T, from 1 on; ARG is the caller's. */
struct mirror_clock {
	const void *arg;
	sim_ns (*read)(const void *arg, topo_switch s, sim_ns t);
};

/* What became of a switch's sightings: matched = policed + sent, and of those
 * sent some are lost, and some cut so short that they tell nothing. */
struct mirror_counts {
	uint64_t n_seen, n_matched, n_policed, n_sent, n_lost, n_cut;
	uint64_t n_bytes; /* sent, with what carries them */
};

struct mirror;

/* TABLE[N_ROWS] is copied. CLOCK may be NULL: copies have no switch_ns. What is
 * drawn has the name WHERE, SIM_STREAM_MIRROR and the switch.
 * Errors SIM_EINVAL (a burst that no copy fits in), SIM_ENOMEM. */
int mirror_open(struct mirror **m, uint32_t n_switches,
    const struct mirror_params *p, const struct obs_match_row table[],
    size_t n_rows, const struct mirror_clock *clock,
    const struct sim_seed *where, struct sim_err *e);
void mirror_free(struct mirror *m); /* NULL is fine */

/* Sees for packet_walk(). Errors SIM_EINVAL if copies were taken up to that
 * time before, SIM_ENOMEM. Cost O(rows). */
struct packet_eye mirror_eye(struct mirror *m);

/* Append to OUT all copies that arrive up to UNTIL, in order of arrival;
 * SIM_NEVER: all there are. There must be no sighting up to UNTIL any more.
 * Errors SIM_ENOMEM. Cost O(copies). */
int mirror_take(struct mirror *m, sim_ns until, struct obs_mirror *out,
    struct sim_err *e);

/* Shape [n_switches]. Those of copies not taken yet are missing. */
const struct mirror_counts *mirror_counted(const struct mirror *m);

/* Bytes of a frame from its first on that tell all that a copy has to. */
uint32_t mirror_needs(const struct obs_packet *p);

#endif
