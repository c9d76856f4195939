/* tests/models/real/icmp_wire_test.c -- probes as bytes, and what comes back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/icmp_wire.h"

#include "tests/test.h"

static const uint32_t key[2] = {0x01234567, 0x89abcdef};

static const struct topo_tuple some = {0x0a000001, 0x0a00000b, 33001, 8765,
    TOPO_PROTO_TCP};

/* Sum of big-endian words, folded. */
static unsigned sum_of(const uint8_t *p, size_t n)
{
	unsigned sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned)p[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void set16(uint8_t *p, unsigned x)
{
	p[0] = (uint8_t)(x >> 8);
	p[1] = (uint8_t)x;
}

/* A switch's answer to PROBE, which it quotes N_QUOTED bytes of: IP header with
 * OPTIONS words of options, ICMP, quote. Returns its bytes. */
static size_t answer(uint8_t out[], const uint8_t *probe, size_t n_quoted,
    unsigned options)
{
	const size_t ip = 20 + 4 * options, n = ip + 8 + n_quoted;
	memset(out, 0, n);
	out[0] = (uint8_t)(0x40 | ip / 4);
	set16(out + 2, (unsigned)n);
	out[8] = 63;
	out[9] = 1;
	memcpy(out + 12, (const uint8_t[]){100, 64, 0, 7, 10, 0, 0, 1}, 8);
	out[ip] = 11;
	memcpy(out + ip + 8, probe, n_quoted);
	out[ip + 8 + 8] = 1; /* the TTL that was left */
	set16(out + ip + 2, ~sum_of(out + ip, n - ip));
	return n;
}

/* Make the ICMP checksum right again. */
static void resum(uint8_t *p, size_t n)
{
	const size_t ip = (p[0] & 15) * 4u;
	set16(p + ip + 2, 0);
	set16(p + ip + 2, ~sum_of(p + ip, n - ip));
}

static void a_probe_is_what_it_is_said_to_be(void **state)
{
	uint8_t p[REAL_ICMP_PROBE];
	(void)state;
	real_icmp_probe(p, &some, 5, 0x1234, key);
	const uint8_t head[] = {0x45, 0, 0, 40, 0x12, 0x34, 0x40, 0, 5, 6};
	const uint8_t ends[] = {10, 0, 0, 1, 10, 0, 0, 11, 33001 >> 8,
	    33001 & 255, 8765 >> 8, 8765 & 255};
	assert_memory_equal(p, head, sizeof(head));
	assert_memory_equal(p + 12, ends, sizeof(ends));
	assert_int_equal(sum_of(p, 20), 0xffff);
	assert_int_equal(p[32], 5 << 4); /* TCP's header alone */
	assert_int_equal(p[33], 0x10);   /* ACK */
	/* TCP's checksum is wrong by just 0x5555. */
	uint8_t sum[12 + 20];
	memcpy(sum, p + 12, 8);
	memcpy(sum + 8, (const uint8_t[]){0, 6, 0, 20}, 4);
	memcpy(sum + 12, p + 20, 20);
	assert_int_not_equal(sum_of(sum, 32), 0xffff);
	set16(sum + 12 + 16, (unsigned)(sum[28] << 8 | sum[29]) ^ 0x5555);
	assert_int_equal(sum_of(sum, 32), 0xffff);
}

static void answers_are_read_back(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 2000; run++) {
		struct real_icmp_answer a;
		struct sim_rng r;
		uint8_t p[REAL_ICMP_PROBE], got[128];
		test_rng(&r, run);
		const struct topo_tuple t = {sim_rng_u32(&r), sim_rng_u32(&r),
		    (uint16_t)sim_rng_u32(&r), (uint16_t)sim_rng_u32(&r),
		    TOPO_PROTO_TCP};
		const uint16_t id = (uint16_t)sim_rng_u32(&r);
		real_icmp_probe(p, &t, (uint8_t)sim_rng_u32(&r), id, key);
		const size_t n = answer(got, p, 28 + sim_rng_below(&r, 13),
		    sim_rng_below(&r, 3));
		if (!real_icmp_read(got, n, key, &a))
			fail_msg("seed %llu run %u",
			    (unsigned long long)test_seed(), run);
		assert_int_equal(a.from_ip, 0x64400007);
		assert_int_equal(a.ip_id, id);
		assert_memory_equal(&a.tuple.src_ip, &t.src_ip, 12);
		assert_int_equal(a.tuple.proto, TOPO_PROTO_TCP);
	}
}

static void an_id_of_zero_is_known_under_another(void **state)
{
	struct real_icmp_answer a;
	uint8_t p[REAL_ICMP_PROBE], got[128];
	(void)state;
	real_icmp_probe(p, &some, 1, 0, key);
	set16(p + 4, 0x9999);
	const size_t n = answer(got, p, 28, 0);
	assert_true(real_icmp_read(got, n, key, &a));
	assert_int_equal(a.ip_id, 0);
}

/* Any one byte of an answer that is changed, with the checksum put right, makes
 * it another or none, unless routers may write it. */
static void no_other_answer_is_taken(void **state)
{
	struct real_icmp_answer a;
	uint8_t p[REAL_ICMP_PROBE], good[128], bad[128];
	(void)state;
	real_icmp_probe(p, &some, 1, 77, key);
	const size_t n = answer(good, p, 28, 0);
	assert_true(real_icmp_read(good, n, key, &a));
	for (size_t i = 0; i < n; i++) {
		/* Outer: TOS, ID, flags, TTL, checksum, addresses. ICMP's
		 * checksum is made right, its unused word is. Quote: TOS, TTL,
		 * flags' first bit, checksum. */
		static const uint8_t free_at[] = {1, 4, 5, 8, 10, 11, 12, 13,
		    14, 15, 16, 17, 18, 19, 22, 23, 24, 25, 26, 27, 29, 36, 38,
		    39};
		int free_byte =
		    memchr(free_at, (int)i, sizeof(free_at)) != NULL;
		for (unsigned x = 1; x < 256; x++) {
			memcpy(bad, good, n);
			bad[i] ^= (uint8_t)x;
			if (i >= 20)
				resum(bad, n);
			/* DF and the reserved flag may have any value in either
			 * IP header. */
			const int flags =
			    (i == 6 || i == 34) && (x & 0x3f) == 0;
			if (real_icmp_read(bad, n, key, &a) !=
			    (free_byte || flags))
				fail_msg("byte %zu ^ %u", i, x);
		}
	}
}

static void what_is_cut_short_is_refused(void **state)
{
	struct real_icmp_answer a;
	uint8_t p[REAL_ICMP_PROBE], got[128];
	(void)state;
	real_icmp_probe(p, &some, 1, 77, key);
	const size_t n = answer(got, p, 28, 0);
	assert_int_equal(n, REAL_ICMP_LEAST);
	for (size_t k = 0; k < n; k++) {
		uint8_t *exact = malloc(k ? k : 1);
		memcpy(exact, got, k);
		assert_false(real_icmp_read(exact, k, key, &a));
		/* The packet's length agrees with its header, but there is too
		 * little of it. */
		if (k >= 28) {
			set16(exact + 2, (unsigned)k);
			resum(exact, k);
			assert_false(real_icmp_read(exact, k, key, &a));
		}
		free(exact);
	}
	/* Bytes beyond the length in the header are not looked at. */
	assert_true(real_icmp_read(got, n + 40, key, &a));
}

static void other_keys_and_other_messages_are_not_ours(void **state)
{
	const uint32_t other[2] = {key[0], key[1] ^ 1};
	struct real_icmp_answer a = {.from_ip = 42};
	uint8_t p[REAL_ICMP_PROBE], got[128];
	(void)state;
	real_icmp_probe(p, &some, 1, 77, key);
	const size_t n = answer(got, p, 40, 0);
	assert_false(real_icmp_read(got, n, other, &a));
	for (unsigned type = 0; type < 256; type++)
		for (unsigned code = 0; code < 2; code++) {
			got[20] = (uint8_t)type;
			got[21] = (uint8_t)code;
			resum(got, n);
			assert_int_equal(real_icmp_read(got, n, key, &a),
			    type == 11 && code == 0);
		}
	/* A wrong checksum. */
	got[20] = 11, got[21] = 0;
	resum(got, n);
	got[22] ^= 1;
	a.from_ip = 42;
	assert_false(real_icmp_read(got, n, key, &a));
	assert_int_equal(a.from_ip, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_probe_is_what_it_is_said_to_be),
	    cmocka_unit_test(answers_are_read_back),
	    cmocka_unit_test(an_id_of_zero_is_known_under_another),
	    cmocka_unit_test(no_other_answer_is_taken),
	    cmocka_unit_test(what_is_cut_short_is_refused),
	    cmocka_unit_test(other_keys_and_other_messages_are_not_ours),
	};
	return cmocka_run_group_tests_name("models/real/icmp_wire", tests, NULL,
	    NULL);
}
