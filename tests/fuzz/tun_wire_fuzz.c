/* tests/fuzz/tun_wire_fuzz.c -- any bytes as a packet; what is taken is sound.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "models/tun/wire.h"
#include "tests/fuzz/fuzz.h"

enum { FROM = 0x64400001 };

/* Byte by byte, unlike the code under test. */
static unsigned sum_of(const uint8_t bytes[], size_t n)
{
	unsigned long sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned long)bytes[i] << (i % 2 ? 0 : 8);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned)sum;
}

static void check_fields(const uint8_t bytes[], size_t n,
    const struct tun_packet *p)
{
	const size_t header = (size_t)(bytes[0] & 15) * 4;
	must(p->bytes == n && p->ttl == bytes[8]);
	must(p->tuple.proto == bytes[9]);
	must(header + 8 <= n);
	must(p->tuple.src_ip >> 24 == bytes[12]);
	must((p->tuple.dst_ip & 0xff) == bytes[19]);
	if (p->tuple.proto != TUN_PROTO_ICMP)
		must(p->tuple.src_port >> 8 == bytes[header] &&
		    (p->tuple.dst_port & 0xff) == bytes[header + 3]);
	must(!p->is_error || p->tuple.proto == TUN_PROTO_ICMP);
}

/* Aged, it is the same packet but for its TTL. */
static void check_age(const uint8_t bytes[], size_t n,
    const struct tun_packet *p)
{
	struct tun_packet older;
	uint8_t *copy = malloc(n);
	must(copy != NULL);
	memcpy(copy, bytes, n);
	tun_wire_age(copy, p->ttl / 2u);
	must(tun_wire_parse(copy, n, &older) == TUN_FINE);
	must(older.ttl == p->ttl - p->ttl / 2);
	must(topo_tuple_digest(&older.tuple) == topo_tuple_digest(&p->tuple));
	copy[8] = bytes[8];
	memcpy(copy + 10, bytes + 10, 2);
	must(memcmp(copy, bytes, n) == 0);
	free(copy);
}

static void check_answer(const uint8_t bytes[], size_t n,
    const struct tun_packet *p)
{
	struct tun_packet a;
	uint8_t *out = malloc(TUN_ANSWER_BYTES);
	must(out != NULL);
	const size_t size = tun_wire_exceeded(bytes, n, FROM, out);
	const size_t quoted = size - 28;
	must(size <= TUN_ANSWER_BYTES && quoted <= n);
	must(quoted >= (size_t)(bytes[0] & 15) * 4 + 8);
	must(tun_wire_parse(out, size, &a) == TUN_FINE);
	must(a.tuple.src_ip == FROM && a.tuple.dst_ip == p->tuple.src_ip);
	must(a.is_error && a.tuple.proto == TUN_PROTO_ICMP);
	must(sum_of(out + 20, size - 20) == 0xffff);
	must(memcmp(out + 28, bytes, quoted) == 0);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tun_packet p;
	const enum tun_refusal why = tun_wire_parse(bytes, n, &p);
	must(why == TUN_FINE || why < TUN_SOURCE);
	if (why != TUN_FINE)
		return 0;
	check_fields(bytes, n, &p);
	check_age(bytes, n, &p);
	check_answer(bytes, n, &p);
	return 0;
}
