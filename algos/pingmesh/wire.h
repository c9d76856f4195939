/* algos/pingmesh/wire.h -- what agents post, as bytes that any host can read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent posts to the collector, and what the collector's files are: one
 * batch behind the other. Little-endian, times in nanoseconds, addresses as
 * numbers (10.0.0.1 is 0x0a000001):
 *
 *	at        bytes
 *	0         4     "CPMB"
 *	4         2     version: 1, records of probes; 2, counters of a window;
 *	                3, records of which some are of HTTP pings; 4 and 5,
 *	                records and counters of a server with IPv6; 6 and 7,
 *	                counters with those of HTTP pings and the list, of a
 *	                server with IPv4, and with IPv6
 *	6         2     bytes of a record: 48; of counters, 72; of versions 6
 *	                and 7, 144
 *	8         4     n, records of this batch, 1 at least; of counters, 1
 *	12        4     src_ip  \
 *	16        8     born_ns  > who sent it, and which of its batches it is
 *	24        8     number  /  (of batches of this version)
 *	                (records count on from version to version)
 *	32        8     n_lost; of counters, 0
 *	40        48 n  records, or 72 or 144 bytes of counters
 *	40 + 48n  8     64-bit FNV-1a of all bytes before
 *
 *	a record
 *	0   8  sent_ns          32  2  src_port     40  1  class
 *	8   8  rtt_ns           34  2  dst_port     41  1  level
 *	16  8  echo_ns          36  4  payload      42  1  outcome
 *	24  4  src_ip                               43  1  ping    \ of version
 *	28  4  dst_ip                               44  1  answer  / 1, 0
 *	                                            45  3  0
 *
 *	counters
 *	0   8  start_ns         24  8  n_connected     48  8  n_drop_2
 *	8   8  end_ns           32  8  n_unconnected   56  8  p50_ns
 *	16  8  n_probes         40  8  n_drop_1        64  8  p99_ns
 *
 *	... of versions 6 and 7 also
 *	72  8  n_http_ok        96   8  n_http_cut     120 8  http_p99_ns
 *	80  8  n_http_other     104  8  n_http_late    128 8  list_version
 *	88  8  n_http_malformed 112  8  http_p50_ns    136 8  list_issued_ns
 *
 * A batch of IPv6 has 0 for src_ip, and src, 16 bytes in network order, behind the
 * head; its records have 56 bytes: in place of src_ip and dst_ip, dst, and what
 * follows eight bytes further. A batch is of one family, as its server is. An
 * address of IPv4 as IPv6 (::ffff:0:0/96) is none that it can have.
 *
 * The meaning is that of structs algo_pingmesh_batch and algo_pingmesh_window.
 * Older agents post batches of version 1 only, and these are still read: their
 * pings are by TCP. So are those that are written of such pings alone, which older
 * collectors take; they refuse versions from 3 on. Counters are written with all
 * that is known, versions 6 and 7, so collectors are brought up to date before
 * agents; one from before 0.10.0 refuses them, which costs counters alone. The
 * checksum finds what was cut off or damaged on its way; it is no help against
 * a forger.
 */
#ifndef ALGOS_PINGMESH_WIRE_H
#define ALGOS_PINGMESH_WIRE_H

#include "algos/pingmesh/pingmesh.h"

enum {
	ALGO_PINGMESH_WIRE_HEAD = 40,
	ALGO_PINGMESH_WIRE_RECORD = 48,
	ALGO_PINGMESH_WIRE_COUNTERS = 144, /* and as older agents post them */
	ALGO_PINGMESH_WIRE_COUNTERS_OLD = 72,
	ALGO_PINGMESH_WIRE_CHECK = 8,
	/* Of IPv6: behind the head, and of a record. */
	ALGO_PINGMESH_WIRE_SRC_6 = 16,
	ALGO_PINGMESH_WIRE_RECORD_6 = 56,
	ALGO_PINGMESH_WIRE_MAX = ALGO_PINGMESH_WIRE_HEAD +
	    ALGO_PINGMESH_WIRE_SRC_6 +
	    ALGO_PINGMESH_BATCH * ALGO_PINGMESH_WIRE_RECORD_6 +
	    ALGO_PINGMESH_WIRE_CHECK,
	/* Of IPv4; and of IPv6. */
	ALGO_PINGMESH_WIRE_WINDOW = ALGO_PINGMESH_WIRE_HEAD +
	    ALGO_PINGMESH_WIRE_COUNTERS + ALGO_PINGMESH_WIRE_CHECK,
	ALGO_PINGMESH_WIRE_WINDOW_MAX =
	    ALGO_PINGMESH_WIRE_WINDOW + ALGO_PINGMESH_WIRE_SRC_6,
};

/* What a batch is of. Those with HTTP pings are of records. */
enum algo_pingmesh_wire_kind {
	ALGO_PINGMESH_OF_RECORDS = 1,
	ALGO_PINGMESH_OF_COUNTERS = 2,
};

/* What names a batch, and what it holds. */
struct algo_pingmesh_wire_id {
	enum algo_pingmesh_wire_kind kind;
	sim_ns born_ns;
	uint64_t number, n_lost;
	struct topo_ip src;
	uint32_t n; /* records; of counters, 0 */
};

/* Bytes of a batch of N records of IPv4. */
static inline size_t algo_pingmesh_wire_size(uint32_t n)
{
	return ALGO_PINGMESH_WIRE_HEAD + (size_t)n * ALGO_PINGMESH_WIRE_RECORD +
	    ALGO_PINGMESH_WIRE_CHECK;
}

/* Write B; returns its bytes. BOOK knows the numbers of addresses of IPv6; NULL:
 * there are none. Shape out[algo_pingmesh_wire_size(b->n)], of IPv6
 * [ALGO_PINGMESH_WIRE_MAX]. Domain b->n <= ALGO_PINGMESH_BATCH; all addresses are of
 * one family. */
size_t algo_pingmesh_wire_encode(const struct algo_pingmesh_batch *b,
    const struct topo_ip_book *book, unsigned char *out);

/* Write W, by an older version if it has no HTTP; returns its bytes. Shape
 * out[ALGO_PINGMESH_WIRE_WINDOW], of IPv6 [ALGO_PINGMESH_WIRE_WINDOW_MAX]. */
size_t algo_pingmesh_wire_encode_window(const struct algo_pingmesh_window *w,
    const struct topo_ip_book *book, unsigned char *out);

/* Bytes of the batch that begins with HEAD, [ALGO_PINGMESH_WIRE_HEAD]: all that
 * must be there before it can be checked.
 * Errors SIM_EPARSE (no batch of these versions), SIM_ELIMIT (too many
 * records). */
int algo_pingmesh_wire_length(const void *head, size_t *size,
    struct sim_err *e);

/* Are these N bytes one batch, and one that an agent can have sent? ID is set
 * only then.
 * Errors SIM_EPARSE (length, checksum, or no batch), SIM_ELIMIT, SIM_ERANGE (a
 * record with a value that none can have, or of another server).
 * Cost   O(bytes). */
int algo_pingmesh_wire_check(struct algo_pingmesh_wire_id *id,
    const void *bytes, size_t n, struct sim_err *e);

/* The same, and read it; B or W is left alone on failure. Servers are those of
 * 10.0.0.0/8, or, with a network of IPv6 NET, of that: address 1 + h of either is
 * read as topo_addr_of_host(h), and one of the other family, or of IPv6 beyond
 * NET, as 0, which is nobody's. So who reads has one family at a time: a pair whose
 * probes fail by IPv6 alone is not to hide behind those by IPv4. NET may be NULL.
 * Errors as check, and SIM_EPARSE for a batch of the other kind. */
int algo_pingmesh_wire_decode(struct algo_pingmesh_batch *b,
    const struct topo_ip_net *net, const void *bytes, size_t n,
    struct sim_err *e);
int algo_pingmesh_wire_decode_window(struct algo_pingmesh_window *w,
    const struct topo_ip_net *net, const void *bytes, size_t n,
    struct sim_err *e);

/* In 32 bits, as decode() reads addresses. */
uint32_t algo_pingmesh_wire_short(const struct topo_ip_net *net,
    const struct topo_ip *a);

#endif
