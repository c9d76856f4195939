/* tests/models/bulk/kernel_test.c -- SIMD loops against the code for one flow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/kernel.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

/* Ordinary, degenerate, and near the limits of 2^24 hosts and 2^20 switches. */
static const struct topo_clos shapes[] = {
    {2, 20, 8, 10, 40, .n_cables = 0},
    {3, 7, 5, 3, 11, .n_cables = 0},
    {1, 6, 3, 0, 5, .n_cables = 0},
    {1, 6, 3, 4, 5, .n_cables = 0},
    {1, 2, 1, 0, 1, .n_cables = 0},
    {2, 1, 1, 1, 1, .n_cables = 0},
    {5, 1, 4, 3, 7, .n_cables = 0},
    {4, 3, 1, 1, 1, .n_cables = 0},
    {64, 64, 4, 4, 4095, .n_cables = 0},
    {2, 2, 3, 2, 4194303, .n_cables = 0},
    {500, 1000, 2, 10, 33, .n_cables = 0},
    {1, 1000000, 1, 0, 16, .n_cables = 0},
    {250000, 1, 3, 2, 67, .n_cables = 0},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The float quotient grows with x and is then off by at most one, so both ends
 * of every run of equal quotients prove all x between: all d, all x < 2^24. */
static void quotients_without_division_are_exact(void **state)
{
	(void)state;
	const uint32_t limit = UINT32_C(1) << 24;
	for (uint32_t d = 1; d < limit; d++) {
		const float inv = 1.0f / (float)d;
		uint32_t wrong = 0;
		for (uint32_t q = 0, x = 0; x < limit; q++, x += d) {
			const uint32_t end = x + d - 1;
			wrong |= bulk_quotient(x, d, inv) ^ q;
			if (end < limit)
				wrong |= bulk_quotient(end, d, inv) ^ q;
		}
		if (wrong)
			fail_msg("wrong quotients by %u", d);
	}
}

static struct bulk_clos net_of(const struct scene *s)
{
	const struct sim_dist *d = &s->traffic.params.packets;
	return (struct bulk_clos){
	    .c = s->topo->clos,
	    .ecmp_seed = s->ecmp_seed,
	    .none = s->topo->n_links,
	    .pkt_lo = (uint32_t)d->a,
	    .pkt_span = (uint32_t)(d->b - d->a) + 1,
	};
}

/* Random sources; the last host of all and of a ToR among them. */
static void fill(struct bulk_block *b, struct sim_rng *r, const struct scene *s)
{
	const struct topo *t = s->topo;
	memset(b, 0xa5, sizeof(*b));
	b->n = BULK_BLOCK;
	for (int i = 0; i < BULK_BLOCK; i++)
		b->src[i] = sim_rng_below(r, t->n_hosts);
	b->src[0] = 0;
	b->src[1] = t->n_hosts - 1;
	b->src[2] = t->clos.n_hosts - 1;
	for (int i = 0; i < BULK_BLOCK && s->traffic.place; i++)
		b->own[i] = s->traffic.place[topo_tor_of(t, b->src[i])];
}

static void run_kernel(const struct bulk_kernel *k, struct bulk_block *b,
    const struct bulk_key *key, const struct scene *s, uint32_t first)
{
	static struct bulk_block more;
	const struct bulk_clos net = net_of(s);
	k->draw(b, key, first, 0);
	k->draw(&more, key, first, 1);
	if (s->traffic.n_hot > 0)
		k->aim_skewed(b, &net, scene_traffic_aim(&s->traffic),
		    s->traffic.tor, more.word[0]);
	else
		k->aim(b, &net);
	k->path(b, &net);
}

/* A block of kernels against the code for one flow. */
static void assert_block(const struct bulk_block *b, const struct bulk_key *key,
    const struct scene *s, uint32_t first)
{
	const uint32_t none = s->topo->n_links;
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		uint32_t w[4], more[4];
		topo_link path[TOPO_MAX_HOPS];
		bulk_words(key, first + i, 0, w);
		bulk_words(key, first + i, 1, more);
		for (int j = 0; j < 4; j++)
			assert_int_equal(b->word[j][i], w[j]);
		const topo_host src = b->src[i];
		assert_int_equal(b->dst[i],
		    scene_traffic_dst(&s->traffic, src, w[0], more[0]));
		assert_int_equal(b->dtor[i], topo_tor_of(s->topo, b->dst[i]));
		const float n = (float)scene_traffic_packets(&s->traffic, w[1]);
		assert_true(b->need[i] == (float)w[3] * 0x1p-32f / n);
		const struct topo_tuple tuple = {topo_addr_of_host(src),
		    topo_addr_of_host(b->dst[i]),
		    (uint16_t)(bulk_ports(w[2]) >> 16),
		    (uint16_t)bulk_ports(w[2]), TOPO_PROTO_TCP};
		const unsigned h = topo_path(s->topo, s->ecmp_seed, src,
		    b->dst[i], topo_tuple_digest(&tuple), path);
		assert_int_equal(path[0], topo_link_of(src, TOPO_UP));
		assert_int_equal(b->up1[i], path[1]);
		assert_int_equal(b->up2[i], h == 6 ? path[2] : none);
		assert_int_equal(b->down2[i], h == 6 ? path[3] : none);
		assert_int_equal(b->down1[i], path[h - 2]);
		assert_int_equal(path[h - 1],
		    topo_link_of(b->dst[i], TOPO_DOWN));
	}
}

/* One hot ToR, all but one, or some; all flows go there, none, or some. */
static void skew(struct scenes *s, struct sim_rng *r)
{
	const uint32_t n = s->topo.clos.all_tors;
	const uint32_t n_hot[] = {1, n - 1, 1 + sim_rng_below(r, n - 1)};
	const double share[] = {0, 1, sim_rng_u01(r)};
	s->params.traffic.dst = SCENE_DST_SKEWED;
	s->params.traffic.n_hot = n_hot[sim_rng_below(r, 3)];
	s->params.traffic.hot_share = share[sim_rng_below(r, 3)];
}

static void all_kernels_give_the_bits_of_the_plain_code(void **state)
{
	(void)state;
	static struct bulk_block got, plain;
	const struct bulk_kernel *const *k = bulk_kernels();
	const struct bulk_kernel *const *last = k;
	struct sim_rng r;
	test_rng(&r, 0);
	while (last[1])
		last++;
	assert_string_equal((*last)->name, "portable");
	for (uint32_t i = 0; i < N_SHAPES * 20; i++) {
		struct scenes s;
		scenes_open(&s, &shapes[i % N_SHAPES]);
		s.params.traffic.conns = scenes_fixed(1);
		if (i % 3 == 1)
			s.params.traffic.packets = scenes_uniform(1, 1e9);
		if (i % 3 == 2)
			s.params.traffic.packets = scenes_fixed(17);
		if (i / N_SHAPES % 2 == 1 && s.topo.clos.all_tors > 2)
			skew(&s, &r);
		const struct scene *scene = scenes_draw(&s, i);
		const struct bulk_key key = {
		    {sim_rng_u32(&r), sim_rng_u32(&r), i, i * i}};
		const uint32_t first =
		    i % 4 ? sim_rng_u32(&r) : UINT32_MAX - BULK_BLOCK + 1;
		fill(&plain, &r, scene);
		for (k = bulk_kernels(); *k; k++) {
			memset(&got, 0x5a, sizeof(got));
			got.n = plain.n;
			memcpy(got.src, plain.src, sizeof(got.src));
			memcpy(got.own, plain.own, sizeof(got.own));
			run_kernel(*k, &got, &key, scene, first);
			run_kernel(*last, &plain, &key, scene, first);
			assert_memory_equal(&got, &plain, sizeof(got));
		}
		assert_block(&plain, &key, scene, first);
		scenes_close(&s);
	}
}

static void ports_are_never_privileged(void **state)
{
	(void)state;
	for (int i = 0; i < 32; i++) {
		const uint32_t ports[] = {bulk_ports(UINT32_C(1) << i),
		    bulk_ports(~(UINT32_C(1) << i))};
		for (int j = 0; j < 2; j++)
			assert_true(ports[j] >> 16 >= 1024 &&
			    (ports[j] & 0xffff) >= 1024);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quotients_without_division_are_exact),
	    cmocka_unit_test(all_kernels_give_the_bits_of_the_plain_code),
	    cmocka_unit_test(ports_are_never_privileged),
	};
	return cmocka_run_group_tests_name("models/bulk/kernel", tests, NULL,
	    NULL);
}
