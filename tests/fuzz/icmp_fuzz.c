/* tests/fuzz/icmp_fuzz.c -- any bytes as an answer to a probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says what the rest is: the whole message, or what a switch's
 * answer is changed by, bit for bit, so that more than its first check is met.
 */
#include <stdlib.h>
#include <string.h>

#include "models/real/icmp_wire.h"
#include "tests/fuzz/fuzz.h"

static const uint32_t key[2] = {1, 2};

static unsigned sum_of(const uint8_t *p, size_t n)
{
	unsigned sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned)p[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void put16(uint8_t *p, unsigned x)
{
	p[0] = (uint8_t)(x >> 8);
	p[1] = (uint8_t)x;
}

/* What is taken quotes, but for what routers write, the very probe that we
 * would have sent. */
static void check(const uint8_t *p, size_t n)
{
	uint8_t probe[REAL_ICMP_PROBE];
	struct real_icmp_answer a;
	if (!real_icmp_read(p, n, key, &a))
		return;
	const size_t quote = (p[0] & 15) * 4u + 8;
	must(n >= quote + 28);
	real_icmp_probe(probe, &a.tuple, 0, a.ip_id, key);
	must(p[quote] == probe[0]);
	must(memcmp(p + quote + 2, probe + 2, 2) == 0);
	must(a.ip_id == 0 || memcmp(p + quote + 4, probe + 4, 2) == 0);
	must(p[quote + 9] == probe[9]);
	must(memcmp(p + quote + 12, probe + 12, 16) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct topo_tuple tuple = {0x0a000001, 0x0a000002, 33000, 8765,
	    TOPO_PROTO_TCP};
	uint8_t message[24 + 8 + REAL_ICMP_PROBE] = {0x46, 0, 0,
	    sizeof(message)};
	if (n == 0)
		return 0;
	if (bytes[0] % 4 == 0) {
		check(bytes + 1, n - 1);
		return 0;
	}
	message[9] = 1;
	message[24] = 11;
	real_icmp_probe(message + 32, &tuple, 1, 7, key);
	/* Right unless it is said that it is to be wrong. */
	if (bytes[0] % 4 > 1)
		put16(message + 26, ~sum_of(message + 24, 8 + 40));
	for (size_t i = 0; i + 1 < n && i < sizeof(message); i++)
		message[i] ^= bytes[i + 1];
	const size_t ip = (message[0] & 15) * 4u;
	if (bytes[0] % 4 == 3 && ip + 4 <= sizeof(message)) {
		put16(message + ip + 2, 0);
		put16(message + ip + 2,
		    ~sum_of(message + ip, sizeof(message) - ip));
	}
	check(message, sizeof(message));
	return 0;
}
