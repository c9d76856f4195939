/* algos/everflow/guided.h -- a guided probe: its bytes, and what switches see.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	IP to via[0] | IP to via[1] | ... | IP of the tuple | TCP | 16 bytes
 *
 * Each switch takes the header off that is addressed to it. Where the tuple has
 * no destination the last switch is that of the innermost header, so the probe
 * ends there. All headers have the debug bit, and none the mark of what is sent
 * again. The TCP segment is a bare ACK with a checksum that no receiver takes;
 * its sequence number is the order's id and its acknowledgement the probe's
 * number. The payload is "CPGUIDED" and a 64-bit FNV-1a of the innermost
 * addresses, ports and both numbers, big-endian: it tells a probe from what else
 * has the debug bit, but is no help against a forger.
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef ALGOS_EVERFLOW_GUIDED_H
#define ALGOS_EVERFLOW_GUIDED_H

#include "models/obs_guided.h"
#include "models/obs_packet.h"
#include "sim/err.h"
#include "sim/time.h"

enum {
	ALGO_GUIDED_TTL = 64, /* of each header, as sent */
	ALGO_GUIDED_PAYLOAD = 16,
	ALGO_GUIDED_MAX = 20 * (OBS_MAX_VIA + 1) + 20 + ALGO_GUIDED_PAYLOAD,
	/* XORed into the checksum of TCP, which is then never right. */
	ALGO_GUIDED_WRONG = 0x5555,
};

/* One probe. Domain: n_via <= OBS_MAX_VIA; the tuple is TCP's, its destination
 * no switch, and 0 only if n_via > 0. */
struct algo_guided {
	uint32_t order, number;
	struct topo_tuple tuple; /* dst_ip 0: it ends at the last switch */
	uint32_t sender;         /* source of the outer headers */
	uint8_t n_via;
	topo_switch via[OBS_MAX_VIA];
};

/* The IP ID of all its headers: not 0, which kernels replace. Probes of an
 * order have the same one after 65,535. */
uint16_t algo_guided_ip_id(uint32_t order, uint32_t number);

/* Write it; returns the number of bytes.
 * Shape  out[ALGO_GUIDED_MAX]. */
size_t algo_guided_write(const struct algo_guided *g, uint8_t *out);

/* The same as a packet, such as it leaves its host. */
void algo_guided_packet(const struct algo_guided *g, struct obs_packet *p);

/* Its row in the table of those sent. */
struct obs_guided_probe algo_guided_row(const struct algo_guided *g,
    topo_host from, sim_ns sent);

/* Read N bytes that begin with an IP header: a probe as it was sent, or on its
 * way, with headers taken off, TTLs run down and ECN marked. All else must be as
 * written. Switches are those below N_SWITCHES. Without outer headers SENDER is
 * 0. G is left alone on failure.
 * Errors SIM_EPARSE. Cost O(n). */
int algo_guided_read(const void *bytes, size_t n, uint32_t n_switches,
    struct algo_guided *g, struct sim_err *e);

#endif
