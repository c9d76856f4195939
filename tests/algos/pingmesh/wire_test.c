/* tests/algos/pingmesh/wire_test.c -- batches as bytes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/wire.h"
#include "sim/bytes.h"
#include "tests/test.h"
#include "topo/addr.h"

static uint64_t draw(struct sim_rng *r, uint64_t below)
{
	return (uint64_t)(sim_rng_u01(r) * (double)below);
}

static void make_http(struct algo_pingmesh_record *x, struct sim_rng *r)
{
	x->ping = AGENT_PING_HTTP;
	x->payload = 0;
	if (x->outcome == AGENT_CONNECTED)
		x->answer = (uint8_t)(1 + draw(r, AGENT_N_ANSWERS - 1));
	x->echo_ns = x->answer == AGENT_ANSWER_OK ? 1 + draw(r, SIM_SEC) : 0;
}

static void random_batch(struct algo_pingmesh_batch *b, struct sim_rng *r,
    uint32_t n)
{
	memset(b, 0, sizeof(*b));
	b->born_ns = draw(r, UINT64_C(1) << 62);
	b->number = 1 + draw(r, 1000);
	b->n_lost = draw(r, 1000);
	b->src_ip = topo_addr_of_host((uint32_t)draw(r, 1 << 20));
	b->n = n;
	for (uint32_t i = 0; i < n; i++) {
		b->record[i] = (struct algo_pingmesh_record){
		    .sent_ns = draw(r, UINT64_C(1) << 62),
		    .rtt_ns = draw(r, UINT64_C(1) << 40),
		    .echo_ns = draw(r, UINT64_C(1) << 40),
		    .src_ip = b->src_ip,
		    .dst_ip = (uint32_t)draw(r, UINT32_MAX),
		    .src_port = (uint16_t)draw(r, 65536),
		    .dst_port = (uint16_t)draw(r, 65536),
		    .payload = (uint32_t)draw(r, 65537),
		    .class = (uint8_t)draw(r, ALGO_PINGLIST_MAX_CLASSES),
		    .level = (uint8_t)draw(r, ALGO_PINGLIST_N_LEVELS),
		    .outcome = (uint8_t)draw(r, AGENT_N_OUTCOMES),
		};
		if (draw(r, 4) == 0)
			make_http(&b->record[i], r);
	}
}

/* 64-bit FNV-1a, as a reader elsewhere would write it. */
static void sign(unsigned char *p, size_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (size_t i = 0; i < n - 8; i++) {
		hash ^= p[i];
		hash *= UINT64_C(1099511628211);
	}
	for (int i = 0; i < 8; i++)
		p[n - 8 + (size_t)i] = (unsigned char)(hash >> 8 * i);
}

/* Spelt byte by byte from the table in the header. */
static void the_bytes_are_as_documented(void **state)
{
	static const unsigned char want[40 + 48] = {'C', 'P', 'M', 'B', 1, 0,
	    48, 0, 1, 0, 0, 0, 7, 0, 0, 10, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0,
	    0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, /* record */
	    1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0,
	    0, 0, 7, 0, 0, 10, 8, 0, 0, 10, 0x34, 0x12, 0x3d, 0x22, 0, 4, 0, 0,
	    2, 1, 2, 0, 0, 0, 0, 0};
	static struct algo_pingmesh_batch b = {.born_ns =
						   UINT64_C(0x0102030405060708),
	    .number = 9,
	    .n_lost = 258,
	    .src_ip = 0x0a000007,
	    .n = 1,
	    .record[0] = {.sent_ns = UINT64_C(0x8000000000000001),
		.rtt_ns = 2,
		.echo_ns = 3,
		.src_ip = 0x0a000007,
		.dst_ip = 0x0a000008,
		.src_port = 0x1234,
		.dst_port = 8765,
		.payload = 1024,
		.class = 2,
		.level = 1,
		.outcome = 2}};
	unsigned char got[96], signed_[96];
	(void)state;
	assert_int_equal(algo_pingmesh_wire_encode(&b, NULL, got), 96);
	assert_memory_equal(got, want, sizeof(want));
	memcpy(signed_, want, sizeof(want));
	sign(signed_, 96);
	assert_memory_equal(got, signed_, 96);
}

static void what_was_written_is_read(void **state)
{
	static struct algo_pingmesh_batch b, back;
	static const uint32_t sizes[] = {1, 2, 100, ALGO_PINGMESH_BATCH};
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	(void)state;
	for (uint32_t run = 0; run < 4; run++) {
		struct algo_pingmesh_wire_id id;
		struct sim_rng r;
		size_t size;
		test_rng(&r, run);
		random_batch(&b, &r, sizes[run]);
		const size_t n = algo_pingmesh_wire_encode(&b, NULL, bytes);
		assert_ok(algo_pingmesh_wire_length(bytes, &size, test_err()));
		assert_int_equal(size, n);
		assert_ok(algo_pingmesh_wire_check(&id, bytes, n, test_err()));
		assert_true(id.n == b.n && topo_ip_to_4(&id.src) == b.src_ip &&
		    id.born_ns == b.born_ns && id.number == b.number &&
		    id.n_lost == b.n_lost);
		memset(&back, 0, sizeof(back));
		assert_ok(algo_pingmesh_wire_decode(&back, NULL, bytes, n,
		    test_err()));
		assert_memory_equal(&back, &b, sizeof(b));
	}
	/* Those of IPv6 are longer. */
	assert_int_equal(algo_pingmesh_wire_size(ALGO_PINGMESH_BATCH) + 16 +
		8 * ALGO_PINGMESH_BATCH,
	    ALGO_PINGMESH_WIRE_MAX);
}

/* FNV-1a is a chain of bijections of the hash, so one byte that differs always
 * gives another sum. */
static void each_wrong_byte_and_each_cut_is_found(void **state)
{
	static struct algo_pingmesh_batch b, back;
	unsigned char bytes[40 + 3 * 48 + 8], exact[sizeof(bytes)];
	struct sim_err e;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	random_batch(&b, &r, 3);
	assert_int_equal(algo_pingmesh_wire_encode(&b, NULL, bytes),
	    sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(exact, bytes, sizeof(bytes));
			exact[i] ^= (unsigned char)(1 << bit);
			assert_true(algo_pingmesh_wire_decode(&back, NULL,
					exact, sizeof(exact), &e) < 0);
		}
		unsigned char *cut = malloc(i ? i : 1);
		assert_non_null(cut);
		memcpy(cut, bytes, i);
		assert_int_equal(algo_pingmesh_wire_decode(&back, NULL, cut, i,
				     &e),
		    SIM_EPARSE);
		free(cut);
	}
	assert_int_equal(back.n, 0); /* left alone */
}

/* Signed as it should be, but nothing that an agent sends. */
static void values_that_none_can_have_are_refused(void **state)
{
	static const struct {
		size_t at, bytes;
		uint64_t value;
		int code;
		const char *say;
	} cases[] = {
	    {0, 1, 'X', SIM_EPARSE, "CPMB"},
	    {4, 2, 2, SIM_EPARSE, "version 2"},
	    {6, 2, 56, SIM_EPARSE, "56 bytes"},
	    {8, 4, 2, SIM_EPARSE, "144 bytes, not 96"},
	    {8, 4, 2049, SIM_ELIMIT, "2049 records"},
	    {8, 4, UINT32_MAX, SIM_ELIMIT, "at most 2048"},
	    {24, 8, 0, SIM_ERANGE, "count from 1"},
	    {40 + 24, 4, 1, SIM_ERANGE, "another server"},
	    {40 + 36, 4, 65537, SIM_ERANGE, "payload 65537"},
	    {40 + 40, 1, 8, SIM_ERANGE, "class 8"},
	    {40 + 41, 1, 4, SIM_ERANGE, "level 4"},
	    {40 + 42, 1, 4, SIM_ERANGE, "outcome 4"},
	    {40 + 43, 1, 1, SIM_ERANGE, "ping 1 with outcome 0, answer 0"},
	    {40 + 43, 1, 2, SIM_ERANGE, "ping 2"},
	    {40 + 44, 1, 1, SIM_ERANGE, "answer 1"},
	    {40 + 45, 1, 1, SIM_ERANGE, "not 0"},
	    {40 + 47, 1, 1, SIM_ERANGE, "not 0"},
	    {4, 2, 3, SIM_ERANGE, "version 3 has 0 HTTP pings"},
	};
	static struct algo_pingmesh_batch b;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	random_batch(&b, &r, 1);
	b.record[0].ping = b.record[0].answer = 0;
	b.record[0].outcome = AGENT_CONNECTED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[96];
		struct algo_pingmesh_wire_id id = {.n = 77};
		struct sim_err e = {0};
		algo_pingmesh_wire_encode(&b, NULL, bytes);
		for (size_t k = 0; k < cases[i].bytes; k++)
			bytes[cases[i].at + k] =
			    (unsigned char)(cases[i].value >> 8 * k);
		sign(bytes, sizeof(bytes));
		const int rc =
		    algo_pingmesh_wire_check(&id, bytes, sizeof(bytes), &e);
		if (rc != cases[i].code || !strstr(e.msg, cases[i].say))
			fail_msg("case %zu: %d, %s", i, rc, e.msg);
		assert_int_equal(id.n, 77);
	}
}

/* One record of an HTTP ping makes the batch version 3, which a collector from
 * before refuses; without any it is as it was before there were any. */
static void batches_with_http_pings_are_of_a_version_of_their_own(void **state)
{
	static struct algo_pingmesh_batch b, back;
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id id;
	struct sim_rng r;
	struct sim_err e;
	(void)state;
	test_rng(&r, 0);
	random_batch(&b, &r, 9);
	for (uint32_t i = 0; i < 9; i++)
		b.record[i].ping = b.record[i].answer = 0;
	algo_pingmesh_wire_encode(&b, NULL, bytes);
	assert_int_equal(bytes[4], 1);
	b.record[7].outcome = AGENT_CONNECTED;
	make_http(&b.record[7], &r);
	const size_t n = algo_pingmesh_wire_encode(&b, NULL, bytes);
	assert_int_equal(bytes[4], 3);
	assert_ok(algo_pingmesh_wire_check(&id, bytes, n, test_err()));
	assert_int_equal(id.kind, ALGO_PINGMESH_OF_RECORDS);
	memset(&back, 0, sizeof(back));
	assert_ok(algo_pingmesh_wire_decode(&back, NULL, bytes, n, test_err()));
	assert_memory_equal(&back, &b, sizeof(b));
	bytes[4] = 1;
	sign(bytes, n);
	assert_int_equal(algo_pingmesh_wire_check(&id, bytes, n, &e),
	    SIM_ERANGE);
	assert_non_null(strstr(e.msg, "version 1 has 1 HTTP ping"));
}

/* All that a record may say of an HTTP ping, and all that none can. */
static void an_answer_goes_with_its_outcome(void **state)
{
	static struct algo_pingmesh_batch b = {.number = 1,
	    .n = 2,
	    .record[1] = {.ping = AGENT_PING_HTTP, .outcome = AGENT_TIMEOUT}};
	unsigned char bytes[40 + 2 * 48 + 8];
	struct algo_pingmesh_wire_id id;
	unsigned n_good = 0;
	(void)state;
	for (unsigned i = 0; i < 2 * 5 * 7 * 2 * 2; i++) {
		struct algo_pingmesh_record *x = &b.record[0];
		*x = (struct algo_pingmesh_record){
		    .ping = i % 2,
		    .outcome = i / 2 % 5,
		    .answer = i / 10 % 7,
		    .echo_ns = i / 70 % 2,
		    .payload = i / 140,
		};
		const int asked = x->ping && x->outcome == AGENT_CONNECTED;
		const int good = x->outcome < 4 && x->answer < 6 &&
		    (asked ? x->answer > 0 : x->answer == 0) &&
		    (!x->ping ||
			(!x->payload &&
			    x->echo_ns == (x->answer == AGENT_ANSWER_OK)));
		const size_t n = algo_pingmesh_wire_encode(&b, NULL, bytes);
		assert_int_equal(algo_pingmesh_wire_check(&id, bytes, n, NULL),
		    good ? 0 : SIM_ERANGE);
		n_good += (unsigned)good;
	}
	/* By TCP 4 outcomes with or without echo and payload; by HTTP 5 answers
	 * and 3 ends before one. */
	assert_int_equal(n_good, 4 * 4 + 5 + 3);
}

static const struct algo_pingmesh_window window = {
    .born_ns = UINT64_C(0x0102030405060708),
    .number = 9,
    .start_ns = UINT64_C(0x8000000000000001),
    .end_ns = UINT64_C(0x8000000000000002),
    .n_probes = 3,
    .n_connected = 4,
    .n_unconnected = 5,
    .n_drop_1 = 6,
    .n_drop_2 = 7,
    .p50_ns = 8,
    .p99_ns = 258,
    .src_ip = 0x0a000007,
};

static void counters_are_as_documented_and_read_again(void **state)
{
	static const unsigned char want[40 + 72] = {'C', 'P', 'M', 'B', 2, 0,
	    72, 0, 1, 0, 0, 0, 7, 0, 0, 10, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0,
	    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* counters */
	    1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0x80, 3, 0, 0, 0, 0,
	    0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0,
	    0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2, 1};
	static struct algo_pingmesh_batch b;
	struct algo_pingmesh_wire_id id;
	struct algo_pingmesh_window back;
	unsigned char got[120], signed_[120];
	struct sim_err e;
	size_t size;
	(void)state;
	assert_int_equal(algo_pingmesh_wire_encode_window(&window, NULL, got),
	    120);
	memcpy(signed_, want, sizeof(want));
	sign(signed_, 120);
	assert_memory_equal(got, signed_, 120);
	assert_ok(algo_pingmesh_wire_length(got, &size, test_err()));
	assert_int_equal(size, 120);
	assert_ok(algo_pingmesh_wire_check(&id, got, 120, test_err()));
	assert_true(id.kind == ALGO_PINGMESH_OF_COUNTERS && id.n == 0 &&
	    id.number == 9 && topo_ip_to_4(&id.src) == 0x0a000007);
	memset(&back, 0, sizeof(back));
	assert_ok(algo_pingmesh_wire_decode_window(&back, NULL, got, 120,
	    test_err()));
	assert_memory_equal(&back, &window, sizeof(back));
	assert_int_equal(algo_pingmesh_wire_decode(&b, NULL, got, 120, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "is of counters"));
	static unsigned char one[ALGO_PINGMESH_WIRE_MAX];
	b.n = 1;
	b.number = 1;
	const size_t n = algo_pingmesh_wire_encode(&b, NULL, one);
	assert_int_equal(algo_pingmesh_wire_decode_window(&back, NULL, one, n,
			     &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "is of records"));
}

/* Byte by byte, as the table of wire.h has them. */
static void counters_of_http_and_the_list_are_as_documented(void **state)
{
	struct algo_pingmesh_window w = window, back;
	unsigned char got[ALGO_PINGMESH_WIRE_WINDOW_MAX];
	struct algo_pingmesh_wire_id id;
	(void)state;
	w.has_http = 1;
	w.n_http_ok = 21;
	w.n_http_other = 22;
	w.n_http_malformed = 23;
	w.n_http_cut = 24;
	w.n_http_late = 25;
	w.http_p50_ns = 26;
	w.http_p99_ns = 27;
	w.list_version = UINT64_C(0xfedcba9876543210);
	w.list_issued_ns = 28;
	assert_int_equal(algo_pingmesh_wire_encode_window(&w, NULL, got), 192);
	assert_true(got[4] == 6 && got[5] == 0 && got[6] == 144 && !got[7]);
	for (int i = 0; i < 7; i++)
		assert_int_equal(sim_load_64(got + 40 + 72 + 8 * i), 21 + i);
	assert_int_equal(got[40 + 128], 0x10);
	assert_int_equal(got[40 + 135], 0xfe);
	assert_int_equal(sim_load_64(got + 40 + 136), 28);
	assert_ok(algo_pingmesh_wire_check(&id, got, 192, test_err()));
	assert_int_equal(id.kind, ALGO_PINGMESH_OF_COUNTERS);
	memset(&back, 0, sizeof(back));
	assert_ok(algo_pingmesh_wire_decode_window(&back, NULL, got, 192,
	    test_err()));
	assert_memory_equal(&back, &w, sizeof(w));
	/* What an older agent posts says nothing of these, not that they are 0. */
	assert_int_equal(algo_pingmesh_wire_encode_window(&window, NULL, got),
	    120);
	assert_ok(algo_pingmesh_wire_decode_window(&back, NULL, got, 120,
	    test_err()));
	assert_true(
	    !back.has_http && back.n_http_ok == 0 && back.list_version == 0);
}

static void counters_that_none_can_send_are_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
		int code;
		const char *say;
	} cases[] = {
	    {4, 8, SIM_EPARSE, "version 8"},
	    {4, 6, SIM_EPARSE, "version 6 with records of 72"},
	    {4, 7, SIM_EPARSE, "version 7 with records of 72"},
	    {4, 5, SIM_EPARSE, "has 136 bytes, not 120"},
	    {4, 4, SIM_EPARSE, "version 4 with records of 72"},
	    {4, 3, SIM_EPARSE, "version 3 with records of 72"},
	    {4, 1, SIM_EPARSE, "version 1 with records of 72"},
	    {6, 48, SIM_EPARSE, "version 2 with records of 48"},
	    {8, 0, SIM_ELIMIT, "at least 1"},
	    {8, 2, SIM_ELIMIT, "at most 1"},
	    {24, 0, SIM_ERANGE, "count from 1"},
	    {32, 1, SIM_ERANGE, "n_lost"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct algo_pingmesh_window back;
		unsigned char bytes[120];
		struct sim_err e = {0};
		algo_pingmesh_wire_encode_window(&window, NULL, bytes);
		bytes[cases[i].at] = cases[i].value;
		sign(bytes, sizeof(bytes));
		const int rc = algo_pingmesh_wire_decode_window(&back, NULL,
		    bytes, sizeof(bytes), &e);
		if (rc != cases[i].code || !strstr(e.msg, cases[i].say))
			fail_msg("case %zu: %d, %s", i, rc, e.msg);
	}
}

/* --- IPv6 ----------------------------------------------------------------- */
/* fd00::100 + N, of which fd00::/64 has host 255 + N. */
static struct topo_ip six(uint32_t n)
{
	return (struct topo_ip){
	    {0xfd, [14] = (uint8_t)(1 + (n >> 8)), [15] = (uint8_t)n}};
}

/* A batch of one record from six(1) to six(2); returns its bytes. */
static size_t batch_6(unsigned char *out)
{
	static struct algo_pingmesh_batch b = {.born_ns = 7,
	    .number = 9,
	    .n_lost = 258,
	    .n = 1,
	    .record[0] = {.sent_ns = 1,
		.rtt_ns = 2,
		.echo_ns = 3,
		.src_port = 0x1234,
		.dst_port = 8765,
		.payload = 1024,
		.class = 2,
		.level = 1,
		.outcome = 2}};
	struct topo_ip_book book;
	const struct topo_ip src = six(1), dst = six(2);
	assert_ok(topo_ip_book_open(&book, 2, test_err()));
	b.src_ip = b.record[0].src_ip = topo_ip_book_note(&book, &src);
	b.record[0].dst_ip = topo_ip_book_note(&book, &dst);
	const size_t n = algo_pingmesh_wire_encode(&b, &book, out);
	topo_ip_book_close(&book);
	return n;
}

static void a_batch_of_ipv6_is_these_bytes(void **state)
{
	static const unsigned char want[112] = {'C', 'P', 'M', 'B', 4, 0, 56, 0,
	    1, 0, 0, 0, 0, 0, 0, 0, 7, [24] = 9, [32] = 2,
	    1, [40] = 0xfd, [54] = 1, 1,
	    1, [64] = 2, [72] = 3, [80] = 0xfd, [94] = 1, 2, 0x34, 0x12, 0x3d,
	    0x22, 0, 4, 0, 0, 2, 1, 2};
	static unsigned char got[ALGO_PINGMESH_WIRE_MAX];
	static struct algo_pingmesh_batch back;
	struct algo_pingmesh_wire_id id;
	struct topo_ip_net net;
	const struct topo_ip src = six(1);
	size_t size;
	(void)state;
	assert_int_equal(batch_6(got), 120);
	assert_memory_equal(got, want, sizeof(want));
	assert_ok(algo_pingmesh_wire_length(got, &size, test_err()));
	assert_int_equal(size, 120);
	assert_ok(algo_pingmesh_wire_check(&id, got, 120, test_err()));
	assert_true(topo_ip_same(&id.src, &src) && id.n == 1 && id.number == 9);
	assert_int_equal(id.kind, ALGO_PINGMESH_OF_RECORDS);
	assert_ok(topo_ip_net_parse("fd00::/64", &net, test_err()));
	assert_ok(algo_pingmesh_wire_decode(&back, &net, got, 120, test_err()));
	const struct algo_pingmesh_record *r = &back.record[0];
	assert_int_equal(back.src_ip, topo_addr_of_host(256));
	assert_int_equal(r->src_ip, back.src_ip);
	assert_int_equal(r->dst_ip, topo_addr_of_host(257));
	assert_true(r->sent_ns == 1 && r->rtt_ns == 2 && r->echo_ns == 3);
	assert_true(
	    r->src_port == 0x1234 && r->dst_port == 8765 && r->payload == 1024);
	assert_true(r->class == 2 && r->level == 1 && r->outcome == 2);
}

static void who_reads_one_family_takes_the_other_for_nobody_s(void **state)
{
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	static struct algo_pingmesh_batch b;
	struct topo_ip_net net, other;
	struct sim_rng rng;
	(void)state;
	assert_ok(topo_ip_net_parse("fd00::/64", &net, test_err()));
	assert_ok(topo_ip_net_parse("fd01::/64", &other, test_err()));
	size_t n = batch_6(bytes);
	assert_ok(algo_pingmesh_wire_decode(&b, NULL, bytes, n, test_err()));
	assert_true(b.src_ip == 0 && b.record[0].dst_ip == 0);
	assert_ok(algo_pingmesh_wire_decode(&b, &other, bytes, n, test_err()));
	assert_true(b.src_ip == 0 && b.record[0].dst_ip == 0);
	test_rng(&rng, 1);
	random_batch(&b, &rng, 1);
	n = algo_pingmesh_wire_encode(&b, NULL, bytes);
	assert_ok(algo_pingmesh_wire_decode(&b, &net, bytes, n, test_err()));
	assert_true(b.src_ip == 0 && b.record[0].dst_ip == 0);
}

/* IPv4 as IPv6 would be a server's second name, and its batches counted twice. */
static void batches_of_ipv6_that_none_can_send_are_refused(void **state)
{
	static const struct topo_ip mapped = {
	    {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}};
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id id;
	struct sim_err e;
	(void)state;
	for (int i = 0; i < 4; i++) {
		const size_t n = batch_6(bytes);
		if (i < 2)
			memcpy(bytes + (i == 0 ? 40 : 80), mapped.byte, 16);
		else
			bytes[i == 2 ? 12 : 111] = 1;
		sign(bytes, n);
		assert_int_equal(algo_pingmesh_wire_check(&id, bytes, n, &e),
		    SIM_ERANGE);
	}
	size_t n = batch_6(bytes);
	for (size_t i = 0; i < n; i++)
		assert_true(algo_pingmesh_wire_check(&id, bytes, i, &e) < 0);
	bytes[n] = 0;
	assert_int_equal(algo_pingmesh_wire_check(&id, bytes, n + 1, &e),
	    SIM_EPARSE);
}

static void counters_of_ipv6_read_back(void **state)
{
	struct algo_pingmesh_window w = {.born_ns = 5,
					.number = 3,
					.start_ns = 6,
					.end_ns = 7,
					.n_probes = 8,
					.p99_ns = 9},
				    back;
	unsigned char bytes[ALGO_PINGMESH_WIRE_WINDOW_MAX];
	struct algo_pingmesh_wire_id id;
	struct topo_ip_book book;
	struct topo_ip_net net;
	const struct topo_ip src = six(1);
	(void)state;
	assert_ok(topo_ip_book_open(&book, 1, test_err()));
	w.src_ip = topo_ip_book_note(&book, &src);
	assert_int_equal(algo_pingmesh_wire_encode_window(&w, &book, bytes),
	    136);
	assert_ok(algo_pingmesh_wire_check(&id, bytes, 136, test_err()));
	assert_int_equal(id.kind, ALGO_PINGMESH_OF_COUNTERS);
	assert_true(topo_ip_same(&id.src, &src));
	assert_ok(topo_ip_net_parse("fd00::/64", &net, test_err()));
	assert_ok(algo_pingmesh_wire_decode_window(&back, &net, bytes, 136,
	    test_err()));
	const uint32_t number = w.src_ip;
	w.src_ip = topo_addr_of_host(256);
	assert_memory_equal(&back, &w, sizeof(w));
	w.src_ip = number;
	w.has_http = 1;
	w.http_p99_ns = 10;
	w.list_version = 11;
	assert_int_equal(algo_pingmesh_wire_encode_window(&w, &book, bytes),
	    208);
	assert_int_equal(bytes[4], 7);
	assert_ok(algo_pingmesh_wire_decode_window(&back, &net, bytes, 208,
	    test_err()));
	w.src_ip = topo_addr_of_host(256);
	assert_memory_equal(&back, &w, sizeof(w));
	topo_ip_book_close(&book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_bytes_are_as_documented),
	    cmocka_unit_test(what_was_written_is_read),
	    cmocka_unit_test(each_wrong_byte_and_each_cut_is_found),
	    cmocka_unit_test(values_that_none_can_have_are_refused),
	    cmocka_unit_test(
		batches_with_http_pings_are_of_a_version_of_their_own),
	    cmocka_unit_test(an_answer_goes_with_its_outcome),
	    cmocka_unit_test(counters_are_as_documented_and_read_again),
	    cmocka_unit_test(counters_of_http_and_the_list_are_as_documented),
	    cmocka_unit_test(counters_that_none_can_send_are_refused),
	    cmocka_unit_test(a_batch_of_ipv6_is_these_bytes),
	    cmocka_unit_test(who_reads_one_family_takes_the_other_for_nobody_s),
	    cmocka_unit_test(batches_of_ipv6_that_none_can_send_are_refused),
	    cmocka_unit_test(counters_of_ipv6_read_back),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/wire", tests, NULL,
	    NULL);
}
