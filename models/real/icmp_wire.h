/* models/real/icmp_wire.h -- probes and their answers as bytes on the wire.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A probe is a TCP ACK of the flow's five-tuple that no receiver takes for one
 * of the flow:
 *
 *	IP   20 bytes, DF, its TTL and ID as asked
 *	TCP  20 bytes, ACK, no payload, a checksum that is wrong
 *	     sequence number = Philox(key; five-tuple, ID)
 *
 * A router at which the probe's TTL ends quotes it up to the sequence number at
 * least (RFC 792: 64 bits beyond the IP header). So an answer shows by itself
 * whether it is to a probe of ours: no list of probes is needed, and packets of
 * the flow itself that die on the way are not taken for probes.
 */
#ifndef MODELS_REAL_ICMP_WIRE_H
#define MODELS_REAL_ICMP_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "topo/route.h"

enum {
	REAL_ICMP_PROBE = 40,  /* bytes of a probe */
	REAL_ICMP_LEAST = 56,  /* of an answer with its IP header */
	REAL_ICMP_MOST = 1500, /* what need be read of one */
};

/* Write the probe. Domain proto TCP. */
void real_icmp_probe(uint8_t out[REAL_ICMP_PROBE],
    const struct topo_tuple *tuple, uint8_t ttl, uint16_t ip_id,
    const uint32_t key[2]);

struct real_icmp_answer {
	uint32_t from_ip; /* host byte order */
	uint16_t ip_id;   /* of the probe, as it was asked for */
	struct topo_tuple tuple;
};

/* Read what an ICMP socket gave: 1 and *A if it is "time exceeded in transit",
 * whole and with a right checksum, about a probe with this key. Nothing in
 * BYTES is trusted. A probe that was to have ID 0 is known as well, though the
 * kernel sends another in the place of 0. */
int real_icmp_read(const void *bytes, size_t n, const uint32_t key[2],
    struct real_icmp_answer *a);

#endif
