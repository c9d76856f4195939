/* models/telemetry/telemetry.h -- flows as sums, and what telemetry has of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An epoch as the papers of localisers from passive telemetry simulate it:
 * flows between random hosts, of Pareto sizes, each on one of the equal paths of
 * its ToRs; each packet is lost on each link independently, at its first lossy
 * link, and is not sent again. Nothing else happens, and so nothing else need be
 * drawn: a flow that loses nothing costs a dozen random words. When flows begin, and
 * with which ports, is drawn only where that matters (models/telemetry/way.h), and
 * moves no other draw.
 *
 * Whoever reads rows may have a wrong file of the network. Then sets are those of
 * the file, between the ToRs that it gives to hosts. A known path is one of switches
 * that were passed: it is told by cables that the file has between them, and not
 * told where it has none or where it is none of the file's equal paths. Probes are
 * told by the path that their sender took from the file; they take the one of that
 * number that there is. A verdict names a cable by its number.
 *
 * Which rows there are and whose paths are known is for the telemetry to say
 * (models/obs_tallies.h): the same epoch, drawn with other kinds, has the same
 * flows with the same losses.
 *
 * Paper  Flock (CoNEXT'23), 7.1; DEPARTS: no flow goes from a host to itself, and
 * `flows` is a number a host and not the mean of one.
 */
#ifndef MODELS_TELEMETRY_TELEMETRY_H
#define MODELS_TELEMETRY_TELEMETRY_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/obs_tallies.h"
#include "models/telemetry/trace.h"

/* As in a spec, but for the length of an epoch, which that of costs is. */
struct telemetry_params {
	uint32_t kinds;           /* bits of enum obs_telemetry */
	uint32_t flows;           /* of a host */
	double mean, shape, most; /* of sizes: bytes, 1, bytes */
	uint32_t segment;         /* bytes a packet */
	double busy, busy_share;  /* of racks; of the ends of flows */
	uint32_t probe_packets;
	struct telemetry_trace_params trace;
	double window_s;
};
extern const struct sim_field telemetry_fields[];

/* An epoch's rows, and what is kept from one to the next. Zeroed is empty. */
struct telemetry {
	/* The network as a file has it by which rows are told; NULL: as it is. It
	 * has the same nodes and cables (topo/swap.h), and is the owner's. */
	const struct topo *file;
	struct obs_paths paths; /* of rows: all, or those of this epoch */
	uint8_t has_all, too_many;
	struct obs_paths ways; /* the same as it is, where the file is not */
	uint8_t has_all_ways, too_many_ways;
	struct obs_tallies rows;
	struct telemetry_links links;
	struct telemetry_traces traces;
	struct obs_paths legs, legs_as_is; /* of probes that come back */
	uint8_t bounces;                   /* paths have such probes' */
	topo_host *host; /* all of them, those of busy racks first */
	size_t cap_host;
	uint32_t n_busy;
	uint8_t *top; /* [switches] 1: probes go there */
	size_t cap_top;
};
void telemetry_free(struct telemetry *t);

/* Parts of a window (enum obs_part) that such kinds fill. */
unsigned telemetry_holds(unsigned kinds);

/* Draw an epoch of SCENE, of which congestion, noise a link and faults that drop,
 * black holes among them, count; or delays alone (models/telemetry/late.h). Rows
 * are in T; W, overwritten, has a flow for each flow that lost something, whose
 * hops are TOPO_NONE where nobody tells them, and LOST has what it lost. Of a2 alone
 * a flow that is not traced has no row.
 * T is of one network. Errors SIM_ELIMIT, SIM_ENOMEM. Cost O(flows + hosts * top
 * switches for probes). */
int telemetry_draw(struct telemetry *t, const struct telemetry_params *p,
    const struct scene *scene, struct obs *w, struct losses *lost,
    struct sim_err *e);

/* The same a probe at a time, for who decides which to send next. T's rows are
 * then all that a1 sends, none of it lost; of P the probes' packets count, and
 * whether they come back. Errors SIM_ELIMIT, SIM_ENOMEM. */
int telemetry_ways(struct telemetry *t, const struct telemetry_params *p,
    const struct topo *topo, struct sim_err *e);

/* Send the packets of ROW, whose path is T's, over T's links, which are open and
 * of which none changes in the epoch: n_lost is set. Cost O(hops), and O(packets
 * lost). */
void telemetry_send(const struct telemetry *t, struct sim_rng *r,
    struct obs_tally *row);

#endif
