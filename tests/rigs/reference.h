/* tests/rigs/reference.h -- the data plane as one would first write it, with GSL.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Independent of models/bulk and models/skip: its own generator (mt19937), its
 * own draws of destinations and paths (uniform, no hash), losses a packet or a
 * hop at a time. The oracle of their laws and the yardstick of their speed, for
 * uniform traffic, ToRs with equally many hosts, noise that is uniform if it is
 * per flow, and at most one fault a link that lasts all the epoch.
 */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <gsl/gsl_rng.h>

#include "models/obs.h"
#include "models/scene/scene.h"

/* What one epoch of the reference sees. */
struct reference_counts {
	uint64_t n_failed_flows, n_drops;
	uint64_t *link_drops; /* [n_links], added to; may be NULL */
	uint64_t *link_flows; /* [n_links]: flows that crossed; may be NULL */
};

/* Every packet on every hop: gsl_ran_bernoulli. */
void reference_packets(const struct scene *s, gsl_rng *r,
    struct reference_counts *out);

/* One connection of N packets, packet by packet: WAY[0] there, WAY[1] back, with
 * hazards given and drops added to; *END is added to, too. Returns 1 if any
 * packet was lost that a connection without losses would have sent, plain
 * acknowledgements apart. */
int reference_connection(gsl_rng *r, const struct scene_tcp_params *p,
    uint32_t n, struct scene_tcp_way way[2], struct scene_tcp_end *end);

/* The same of every flow of a scene that asks for TCP; counts are those of the
 * rows that a plane gives: flows that lost or sent again, and ways back on
 * which a FIN was sent again. */
void reference_tcp(const struct scene *s, gsl_rng *r,
    struct reference_counts *out);

/* Every flow on every hop: gsl_ran_binomial on the packets that are left. */
void reference_binomial(const struct scene *s, gsl_rng *r,
    struct reference_counts *out);

#endif
