/* tests/algos/everflow/mirror_rule_test.c -- the table against plain words.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/mirror_rule.h"
#include "tests/rigs/packets.h"
#include "tests/test.h"

enum { NOTHING = -1, RULES_ALL = (1 << OBS_N_COPY_KINDS) - 1 };

static struct algo_mirror_params defaults(void)
{
	struct algo_mirror_params p;
	assert_ok(sim_field_defaults(algo_mirror_fields, &p, test_err()));
	return p;
}

/* --- an oracle in words --------------------------------------------------- */

/* One header of a packet: ports and all behind them are of the last one. */
static int kind_of_header(const struct obs_packet *p, const struct obs_ip *ip,
    const struct algo_mirror_params *with, int inner)
{
	const int last = ip == &p->ip, on = (int)with->rules;
	const int tcp = last && ip->proto == TOPO_PROTO_TCP;
	const uint32_t bits = with->sample_n - 1;
	if (p->ethertype == OBS_ETH_CONTROL)
		return !inner && on >> OBS_COPY_PFC & 1 ? OBS_COPY_PFC
							: NOTHING;
	if (on >> OBS_COPY_CONTROL & 1 && tcp &&
	    p->tcp_flags & (OBS_TCP_SYN | OBS_TCP_FIN | OBS_TCP_RST))
		return OBS_COPY_CONTROL;
	if (on >> OBS_COPY_DEBUG & 1 && ip->tos & OBS_TOS_DEBUG)
		return OBS_COPY_DEBUG;
	if (on >> OBS_COPY_SAMPLE & 1 && last &&
	    (ip->id & bits) == (with->pattern & bits))
		return OBS_COPY_SAMPLE;
	if (on >> OBS_COPY_BGP & 1 && tcp && !inner &&
	    (p->src_port == 179 || p->dst_port == 179))
		return OBS_COPY_BGP;
	if (on >> OBS_COPY_NAK & 1 && last && obs_packet_is_nak(p))
		return OBS_COPY_NAK;
	if (on >> OBS_COPY_RETX & 1 && last && ip->ttl >= 128)
		return OBS_COPY_RETX;
	return NOTHING;
}

static int kind_in_words(const struct obs_packet *p,
    const struct algo_mirror_params *with)
{
	if (p->is_mirror && obs_packet_outermost(p)->proto == OBS_PROTO_GRE)
		return NOTHING;
	const int kind = kind_of_header(p, obs_packet_outermost(p), with, 0);
	return kind != NOTHING || p->n_outer == 0 || !with->inner
	    ? kind
	    : kind_of_header(p, &p->ip, with, 1);
}

static int kind_by_table(const struct obs_packet *p,
    const struct algo_mirror_table *t)
{
	const int i = obs_match(t->row, t->n, p, 0);
	return i < 0 || t->row[i].kind == OBS_MATCH_NEVER ? NOTHING
							  : t->row[i].kind;
}

static void tables_say_what_the_words_say(void **state)
{
	uint64_t n_of[OBS_N_COPY_KINDS + 1] = {0};
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct sim_rng r;
		struct algo_mirror_table t;
		struct algo_mirror_params p = defaults();
		test_rng(&r, run);
		p.rules = sim_rng_u32(&r) & RULES_ALL;
		p.sample_n = 1u << sim_rng_below(&r, 6);
		p.pattern = 2 * sim_rng_below(&r, 100) + 1;
		p.inner = sim_rng_below(&r, 2);
		assert_ok(algo_mirror_table(&t, &p, test_err()));
		for (int i = 0; i < 300; i++) {
			struct obs_packet x;
			packets_any(&x, &r);
			if (x.n_outer > 0 && sim_rng_below(&r, 3) == 0) {
				x.outer[0].proto = OBS_PROTO_GRE;
				x.is_mirror = 1;
			}
			const int got = kind_by_table(&x, &t);
			const int want = kind_in_words(&x, &p);
			if (got != want)
				fail_msg("seed %llu run %u: packet %d is %d, "
					 "not %d",
				    (unsigned long long)test_seed(), run, i,
				    got, want);
			n_of[got + 1]++;
		}
	}
	/* Each kind, and none, came up: the least common are NACKs. */
	for (int i = 0; i <= OBS_N_COPY_KINDS; i++)
		assert_true(n_of[i] > 30);
}

/* --- its form ------------------------------------------------------------- */

static void a_switch_needs_about_20_rows(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	(void)state;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	assert_int_equal(t.n, 16);
	p.rules = RULES_ALL;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	assert_int_equal(t.n, 18);
	p.inner = 0;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	assert_int_equal(t.n, 11);
	p.rules = 0;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	assert_int_equal(t.n, 1);
}

static void copies_are_never_mirrored_whatever_else_is_on(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	(void)state;
	p.rules = RULES_ALL;
	p.sample_n = 1;
	for (p.sample = 0; p.sample < 2; p.sample++) {
		struct obs_packet x = {.ethertype = OBS_ETH_IPV4,
		    .ip = {1, 2, 3, 255, OBS_TOS_DEBUG, TOPO_PROTO_TCP},
		    .tcp_flags = OBS_TCP_SYN};
		assert_ok(algo_mirror_table(&t, &p, test_err()));
		assert_int_equal(kind_by_table(&x, &t), OBS_COPY_CONTROL);
		obs_packet_wrap(&x,
		    &(struct obs_ip){1, 2, 3, 255, OBS_TOS_DEBUG,
			OBS_PROTO_GRE});
		assert_int_equal(kind_by_table(&x, &t), OBS_COPY_DEBUG);
		x.is_mirror = 1;
		assert_int_equal(kind_by_table(&x, &t), NOTHING);
		assert_int_equal(obs_match(t.row, t.n, &x, 0), 0);
	}
}

/* A load balancer numbers what it wraps by itself: 1 in 4 of the outer IDs is
 * the pattern, and none of the inner. */
static void wrapped_packets_are_sampled_by_their_inner_id(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	(void)state;
	p.sample_n = 4;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	for (uint16_t id = 0; id < 16; id++) {
		struct obs_packet x = {.ethertype = OBS_ETH_IPV4,
		    .ip = {1, 2, id, 64, 0, OBS_PROTO_UDP}};
		const int bare = kind_by_table(&x, &t);
		assert_int_equal(bare, id % 4 == 1 ? OBS_COPY_SAMPLE : NOTHING);
		for (uint16_t outer = 0; outer < 16; outer++) {
			struct obs_packet y = x;
			obs_packet_wrap(&y,
			    &(struct obs_ip){3, 4, outer, 64, 0,
				OBS_PROTO_IPIP});
			assert_int_equal(kind_by_table(&y, &t), bare);
		}
	}
}

static void a_sample_by_chance_has_one_row_that_draws(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	size_t n_draw = 0;
	(void)state;
	p.sample = ALGO_SAMPLE_RANDOM;
	p.sample_n = 1000;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	for (size_t i = 0; i < t.n; i++)
		n_draw += t.row[i].one_in == 1000;
	assert_int_equal(n_draw, 1);
	assert_int_equal(t.n, 15);
}

/* --- mistakes and text ---------------------------------------------------- */

static void what_cannot_be_sampled_by_id_is_refused(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	struct sim_err e;
	(void)state;
	static const uint32_t bad[] = {0, 3, 1000, 131072};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p.sample_n = bad[i];
		assert_int_equal(algo_mirror_table(&t, &p, &e), SIM_EINVAL);
		assert_non_null(strstr(e.msg, "power of two"));
	}
	p.sample_n = 65536;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	p.sample_n = 256;
	p.pattern = 512;
	assert_int_equal(algo_mirror_table(&t, &p, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "pattern 512 is 0 in the bits that 1 in 256 looks at: SYN-ACKs, "
	    "all with ID 0, would be sampled.");
	/* What is off has no mistakes. */
	p.rules &= ~(1u << OBS_COPY_SAMPLE);
	assert_ok(algo_mirror_table(&t, &p, test_err()));
}

static void a_row_is_printed_as_value_and_mask(void **state)
{
	struct algo_mirror_table t;
	struct algo_mirror_params p = defaults();
	char *text = NULL;
	size_t n_bytes;
	(void)state;
	p.rules = 1 << OBS_COPY_SAMPLE | 1 << OBS_COPY_NAK;
	assert_ok(algo_mirror_table(&t, &p, test_err()));
	FILE *out = open_memstream(&text, &n_bytes);
	assert_non_null(out);
	algo_mirror_print(&t, out);
	fclose(out);
	assert_string_equal(text,
	    " 0  outer  eth.type=0x0800/0xffff ip.proto=0x2f/0xff "
	    "gre.mirror=0x01/0x01 -> never\n"
	    " 1  outer  eth.type=0x0800/0xffff ip.id=0x0001/0x03ff "
	    "ip.outer=0x00/0x01 -> sample\n"
	    " 2  outer  eth.type=0x0800/0xffff l4.dst=0x12b7/0xffff "
	    "ip.proto=0x11/0xff bth.opcode=0x11/0xff aeth.syndrome=0x60/0xe0 "
	    "-> nak\n"
	    " 3  inner  eth.type=0x0800/0xffff ip.id=0x0001/0x03ff "
	    "ip.outer=0x00/0x01 -> sample\n"
	    " 4  inner  eth.type=0x0800/0xffff l4.dst=0x12b7/0xffff "
	    "ip.proto=0x11/0xff bth.opcode=0x11/0xff aeth.syndrome=0x60/0xe0 "
	    "-> nak\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_say_what_the_words_say),
	    cmocka_unit_test(a_switch_needs_about_20_rows),
	    cmocka_unit_test(copies_are_never_mirrored_whatever_else_is_on),
	    cmocka_unit_test(wrapped_packets_are_sampled_by_their_inner_id),
	    cmocka_unit_test(a_sample_by_chance_has_one_row_that_draws),
	    cmocka_unit_test(what_cannot_be_sampled_by_id_is_refused),
	    cmocka_unit_test(a_row_is_printed_as_value_and_mask),
	};
	return cmocka_run_group_tests_name("algos/everflow/mirror_rule", tests,
	    NULL, NULL);
}
