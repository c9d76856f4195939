/* tests/fuzz/erspan_fuzz.c -- any bytes as a copy; what is read can be written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An input is the EtherType of the carrier and then its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/erspan.h"
#include "models/mirror/mirror.h"
#include "tests/fuzz/fuzz.h"

enum { VENDOR = 0x8949, IP = 0x0800 };

static void check_fields(const struct obs_packet *p, size_t n)
{
	must(p->n_outer <= OBS_MAX_OUTER && !p->is_mirror);
	must(p->ethertype == OBS_ETH_IPV4 || p->ethertype == OBS_ETH_CONTROL);
	if (p->ethertype == OBS_ETH_CONTROL)
		must(p->ip.proto == 0 && p->ip.src_ip == 0 && p->n_bytes >= 60);
	else
		must(p->n_bytes >= 34);
	if (p->ip.proto != TOPO_PROTO_TCP)
		must(p->tcp_flags == 0 && p->ack == 0);
	if (p->dst_port != OBS_PORT_ROCE || p->ip.proto != OBS_PROTO_UDP)
		must(p->bth_opcode == 0 && p->aeth == 0);
	/* The carrier has at least 20 bytes of IP and 4 of GRE; headers within
	 * GRE take more than IP alone. */
	must(mirror_needs(p) <= n || p->ethertype == OBS_ETH_CONTROL ||
	    p->n_bytes > n);
}

/* The writer puts IP in IP and no tags. */
static int can_be_written(const struct obs_packet *p)
{
	for (unsigned i = 0; i < p->n_outer; i++)
		if (p->outer[i].proto != OBS_PROTO_IPIP)
			return 0;
	return p->n_bytes <= 9216 && p->ip.proto != OBS_PROTO_GRE &&
	    p->ip.proto != OBS_PROTO_IPIP;
}

static void check_round(const struct algo_erspan_copy *c)
{
	struct algo_erspan_copy again;
	uint8_t *out = malloc(ALGO_ERSPAN_MAX);
	must(out != NULL);
	const size_t n = algo_erspan_write(c, 9216, out);
	must(algo_erspan_read(IP, out, n, 0, &again) == ALGO_ERSPAN_FINE);
	must(memcmp(&again.packet, &c->packet, sizeof(c->packet)) == 0);
	must(again.src_mac == c->src_mac && again.sequence == c->sequence);
	must(again.switch_ip == c->switch_ip && !again.is_cut);
	free(out);
}

/* Less of it is the same packet or is refused. */
static void check_cuts(uint16_t ethertype, const uint8_t bytes[], size_t n,
    const struct algo_erspan_copy *c)
{
	for (size_t k = 0; k < n; k++) {
		struct algo_erspan_copy got;
		if (algo_erspan_read(ethertype, bytes, k, VENDOR, &got) !=
		    ALGO_ERSPAN_FINE)
			continue;
		/* The size of a pause frame is that of its bytes. */
		if (got.packet.ethertype == OBS_ETH_CONTROL)
			got.packet.n_bytes = c->packet.n_bytes;
		must(memcmp(&got, c, sizeof(got)) == 0);
	}
}

/* Most copies are read in one go; the long way gives the same. */
static void check_both_ways(uint16_t ethertype, const uint8_t bytes[], size_t n,
    enum algo_erspan_end end, const struct algo_erspan_copy *c)
{
	struct algo_erspan_copy any;
	must(algo_erspan_read_any(ethertype, bytes, n, VENDOR, &any) == end);
	if (end == ALGO_ERSPAN_FINE)
		must(memcmp(&any, c, sizeof(any)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct algo_erspan_copy c;
	if (n < 2 || n > 2048)
		return 0;
	const uint16_t ethertype = (uint16_t)(bytes[0] << 8 | bytes[1]);
	const enum algo_erspan_end end =
	    algo_erspan_read(ethertype, bytes + 2, n - 2, VENDOR, &c);
	must(end < ALGO_N_ERSPAN_ENDS);
	check_both_ways(ethertype, bytes + 2, n - 2, end, &c);
	if (end != ALGO_ERSPAN_FINE)
		return 0;
	check_fields(&c.packet, n);
	if (can_be_written(&c.packet))
		check_round(&c);
	check_cuts(ethertype, bytes + 2, n - 2, &c);
	return 0;
}
