/* tests/models/obs_match_test.c -- ternary rows: an oracle by fields, chance.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_match.h"
#include "tests/rigs/packets.h"
#include "tests/test.h"

/* Field by field, in wide numbers. */
static int hits_by_fields(const struct obs_match_row *row,
    const struct obs_match_key *key)
{
	int hits = 1;
#define X(type, field, name)                                                   \
	hits &= ((uint64_t)key->field & row->mask.field) ==                    \
	    ((uint64_t)row->value.field & row->mask.field);
	OBS_MATCH_FIELDS(X)
#undef X
	return hits;
}

/* Few bits are asked for, so that many rows hit. */
static struct obs_match_row any_row(struct sim_rng *r)
{
	struct obs_match_row row = {.inner = sim_rng_below(r, 3) == 0,
	    .kind = (uint8_t)sim_rng_below(r, OBS_N_COPY_KINDS)};
#define X(type, field, name)                                                   \
	row.value.field = (type)sim_rng_u32(r);                                \
	if (sim_rng_below(r, 4) == 0)                                          \
		row.mask.field =                                               \
		    (type)(sim_rng_u32(r) & sim_rng_u32(r) & sim_rng_u32(r));
	OBS_MATCH_FIELDS(X)
#undef X
	return row;
}

static void the_first_row_that_hits_by_fields_is_found(void **state)
{
	enum { N = 12 };
	uint64_t n_at[N + 1] = {0};
	(void)state;
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		struct obs_match_row row[N];
		struct obs_packet p;
		int want = -1;
		test_rng(&r, run);
		packets_any(&p, &r);
		for (int i = 0; i < N; i++)
			row[i] = any_row(&r);
		for (int i = N - 1; i >= 0; i--) {
			const struct obs_match_key k =
			    obs_match_key(&p, row[i].inner);
			if ((!row[i].inner || p.n_outer > 0) &&
			    hits_by_fields(&row[i], &k))
				want = i;
		}
		const int got = obs_match(row, N, &p, 0);
		if (got != want)
			fail_msg("seed %llu run %u: row %d, not %d",
			    (unsigned long long)test_seed(), run, got, want);
		n_at[got + 1]++;
	}
	/* The test has seen each case. */
	for (int i = 0; i <= N; i++)
		assert_true(n_at[i] > 20);
}

static void ports_are_those_of_the_innermost_header(void **state)
{
	struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
	    .ip = {1, 2, 3, 64, 0, TOPO_PROTO_TCP},
	    .src_port = 5,
	    .dst_port = 6,
	    .tcp_flags = OBS_TCP_SYN};
	(void)state;
	const struct obs_match_key alone = obs_match_key(&p, 0);
	assert_int_equal(alone.dst_port, 6);
	assert_int_equal(alone.is_outer, 0);
	obs_packet_wrap(&p, &(struct obs_ip){7, 8, 9, 10, 0, OBS_PROTO_IPIP});
	const struct obs_match_key outer = obs_match_key(&p, 0);
	const struct obs_match_key inner = obs_match_key(&p, 1);
	assert_int_equal(outer.src_ip, 7);
	assert_int_equal(outer.is_outer, 1);
	assert_int_equal(outer.dst_port | outer.tcp_flags, 0);
	assert_memory_equal(&inner, &alone, sizeof(inner));
}

/* Of all chances those are counted that are near the edge, where rounding would
 * show. */
static void a_row_takes_one_in_n_of_all_chances(void **state)
{
	static const uint32_t ns[] = {2, 3, 1000, 1024, 8388608};
	const struct obs_packet p = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		const struct obs_match_row row = {.one_in = ns[i]};
		const uint32_t edge =
		    (uint32_t)(((UINT64_C(1) << 32) + ns[i] - 1) / ns[i]);
		assert_int_equal(obs_match(&row, 1, &p, 0), 0);
		assert_int_equal(obs_match(&row, 1, &p, edge - 1), 0);
		assert_int_equal(obs_match(&row, 1, &p, edge), -1);
		assert_int_equal(obs_match(&row, 1, &p, UINT32_MAX), -1);
	}
	for (uint32_t n = 0; n < 2; n++) {
		const struct obs_match_row row = {.one_in = n};
		assert_int_equal(obs_match(&row, 1, &p, UINT32_MAX), 0);
	}
}

static void a_row_whose_chance_is_missed_is_passed_by(void **state)
{
	const struct obs_match_row row[2] = {{.one_in = 2}, {.kind = 1}};
	const struct obs_packet p = {0};
	(void)state;
	assert_int_equal(obs_match(row, 2, &p, 0), 0);
	assert_int_equal(obs_match(row, 2, &p, UINT32_MAX), 1);
	assert_int_equal(obs_match(row, 0, &p, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_row_that_hits_by_fields_is_found),
	    cmocka_unit_test(ports_are_those_of_the_innermost_header),
	    cmocka_unit_test(a_row_takes_one_in_n_of_all_chances),
	    cmocka_unit_test(a_row_whose_chance_is_missed_is_passed_by),
	};
	return cmocka_run_group_tests_name("models/obs_match", tests, NULL,
	    NULL);
}
