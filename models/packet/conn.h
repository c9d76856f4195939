/* models/packet/conn.h -- TCP connections as packets that switches may mirror.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	client   SYN ...    ACK data data ... FIN     ACK
 *	             \     /                     \   /
 *	server        SYN-ACK     ACK ... ACK     FIN
 *
 * The flows are those of the bulk planes (models/bulk/bulk.h), so the same scene
 * gives the same five-tuples, sizes and starts. Of a connection only those
 * packets are made that a rule can match: SYN, SYN-ACK and FINs; data and
 * acknowledgements whose IP ID is sampled, all of them if the connection has the
 * debug bit; and what is sent again, which is marked (OBS_TTL_RETX). Each of
 * these walks by itself (walk.h). Of the other data it is drawn which are lost,
 * from the hazards of the links that the SYN went by, as they were when the
 * connection stood, and of the ports that are full when each of them leaves.
 *
 * A SYN is sent again by the ladder of the SYN timer until its answer comes; data
 * and FIN after rto_ms, twice that, ...
 *
 * IP IDs  Each side counts from a random number. A SYN-ACK has 0, as in Linux,
 *         and so have no others.
 *         What is sent again has the next one.
 * DEPARTS: There is no congestion window: data are sent gap_us apart, lost or
 *         not, and each that is lost has a timer of its own. Acknowledgements
 *         of data that are lost do no harm. Servers answer, and have no timers.
 */
#ifndef MODELS_PACKET_CONN_H
#define MODELS_PACKET_CONN_H

#include "models/obs.h"
#include "models/packet/walk.h"
#include "sim/field.h"

struct packet_conn_params {
	uint32_t timers;    /* of SYNs: 0 windows, 1 linux, 2 linux_linear */
	double gap_us;      /* between data packets of a connection */
	double rto_ms;      /* before data is sent again for the first time */
	uint32_t retries;   /* of one data packet */
	uint32_t mark;      /* 1: what is sent again has OBS_TTL_RETX */
	uint32_t data;      /* bytes of payload in a data packet */
	double vip_share;   /* of connections that go to VIPs */
	double debug_share; /* of connections all whose packets have the debug
			       bit */
};
extern const struct sim_field packet_conn_fields[];

/* Which packets rules sample: those of whose IP ID the bits MASK equal PATTERN.
 * PATTERN must not be 0, which is no IP ID here. With MASK 0 none, or all if
 * PATTERN is not 0: for rules that go by chance. */
struct packet_sample {
	uint16_t mask, pattern;
};

/* What became of a connection: the client's direction as a row of a window of
 * flows, and what was lost of it. Its path is that of the SYN; as far as one
 * came that never arrived, it goes on as the network should. */
struct packet_conn_end {
	struct obs_flow flow; /* dst_host is the server, not the VIP */
	unsigned n_hops;
	topo_link path[TOPO_MAX_HOPS];
	uint32_t drops[TOPO_MAX_HOPS];
	uint32_t buffer[TOPO_MAX_HOPS]; /* of drops, by full ports */
	uint32_t n_early;               /* of flow.n_retx, before it stood */
	uint8_t established;            /* the client has a SYN-ACK */
	uint8_t is_debug, has_vip;
	uint64_t n_walked; /* packets that were made */
	uint64_t n_bytes;  /* of all, both ways, made or not */
};

/* Who hears of packets: EYE of what switches see, ENDED of what became of each,
 * where P is as it was
 * sent, at SENT. Each may be NULL. */
struct packet_conn_to {
	void *arg;
	const struct packet_eye *eye;
	int (*ended)(void *arg, const struct obs_packet *p, sim_ns sent,
	    const struct packet_end *end, struct sim_err *e);
	const uint8_t *marks; /* [n_hosts], of clients: their connections have
				 the debug bit, too; may be NULL */
};

/* Let connection FLOW of the scene happen, but nothing of it from UNTIL on; one
 * whose host is off when it should begin has no packets (flow.n_pkts 0).
 * VIPS are N_VIPS addresses, for a share of connections; their servers are those
 * that the net's mux sends them to. Draws from a stream of the flow's own.
 * Errors those of TO. Cost O(packets made * hops + packets). */
int packet_conn_run(const struct packet_net *net,
    const struct packet_conn_params *p, const struct packet_sample *sample,
    const uint32_t vip[], uint32_t n_vips, uint64_t flow, sim_ns until,
    const struct packet_conn_to *to, struct packet_conn_end *end,
    struct sim_err *e);

/* The one of VIPS that connection FLOW would go to, or 0: to none of them. */
uint32_t packet_conn_vip(const struct packet_conn_params *p,
    const struct sim_seed *where, const uint32_t vip[], uint32_t n_vips,
    uint64_t flow);

/* What a connection of N data packets is, both ways, if nothing of it is lost. */
struct packet_conn_size {
	uint64_t packets, bytes;
};
struct packet_conn_size packet_conn_whole(const struct packet_conn_params *p,
    uint32_t n);

#endif
