/* tests/models/bulk/sieve_test.c -- which flows the sieve lets through: those that
 * may lose something by plain sums, and no others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/sieve.h"

#include <math.h>

#include "tests/rigs/scenes.h"
#include "topo/addr.h"

static const struct topo_clos shape = {.n_pods = 3,
    .n_tors = 4,
    .n_t1 = 3,
    .n_t2 = 5,
    .n_hosts = 6};

/* Flows between any hosts of two racks, by the plain kernel, whose bounds are of
 * about the hazards that there are. */
static void fill_block(struct bulk_block *k, const struct scene *s,
    const struct bulk_clos *net, const struct bulk_kernel *kernel,
    struct sim_rng *r)
{
	const uint32_t n = s->topo->n_hosts;
	k->n = BULK_BLOCK - 5;
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		k->src[i] = sim_rng_below(r, n);
		do
			k->dst[i] = sim_rng_below(r, n);
		while (k->dst[i] / shape.n_hosts == k->src[i] / shape.n_hosts);
		k->dtor[i] = k->dst[i] / shape.n_hosts;
		for (int w = 0; w < 4; w++)
			k->word[w][i] = sim_rng_u32(r);
	}
	kernel->path(k, net);
	for (uint32_t i = 0; i < BULK_BLOCK; i++)
		k->need[i] = (float)(0.02 * sim_rng_u01(r));
}

static struct topo_tuple tuple_of(const struct bulk_block *k, uint32_t i)
{
	const uint32_t ports = bulk_ports(k->word[2][i]);
	return (struct topo_tuple){.src_ip = topo_addr_of_host(k->src[i]),
	    .dst_ip = topo_addr_of_host(k->dst[i]),
	    .src_port = (uint16_t)(ports >> 16),
	    .dst_port = (uint16_t)ports,
	    .proto = TOPO_PROTO_TCP};
}

/* The most that a link can do at any time. */
static double bound_of(const struct scene *s, topo_link l)
{
	double rate[512], sum;
	scene_noise_bounds(&s->loss.noise, s->topo->n_links, rate);
	sum = scene_hazard(rate[l]) + scene_congestion_bound(&s->congestion, l);
	for (size_t i = 0; i < s->truth.n_faults; i++)
		if (s->truth.fault[i].link == l &&
		    !truth_is_mark(&s->truth.fault[i]))
			sum += scene_hazard(s->truth.fault[i].rate);
	return sum;
}

static double way_of(const struct scene *s, const double bound[],
    const struct topo_tuple *t)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned h = topo_path(s->topo, s->ecmp_seed,
	    topo_addr_to_host(t->src_ip, s->topo->n_hosts),
	    topo_addr_to_host(t->dst_ip, s->topo->n_hosts),
	    topo_tuple_digest(t), path);
	double sum = 0;
	for (unsigned i = 0; i < h; i++)
		sum += bound[path[i]];
	return sum;
}

static int is_taken(const struct scene *s, const struct topo_tuple *t)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned h = topo_path(s->topo, s->ecmp_seed,
	    topo_addr_to_host(t->src_ip, s->topo->n_hosts),
	    topo_addr_to_host(t->dst_ip, s->topo->n_hosts),
	    topo_tuple_digest(t), path);
	for (unsigned i = 0; i + 1 < h; i++)
		for (size_t k = 0; k < s->truth.n_holes; k++)
			if (s->truth.hole[k].at ==
				bulk_switch_behind(s->topo, path[i]) &&
			    blackhole_rule_drops(&s->truth.hole[k].rule, t))
				return 1;
	return 0;
}

/* All flows of the block, against their sums; counts those let through. What is
 * within the margin of rounding may be either. */
static unsigned check_block(const struct scene *s, const struct bulk_block *k,
    const uint32_t candidate[], uint32_t n)
{
	const int both = scene_tcp_is_on(&s->traffic.params.tcp);
	double bound[512];
	uint32_t at = 0;
	assert_true(s->topo->n_links <= 512);
	for (topo_link l = 0; l < s->topo->n_links; l++)
		bound[l] = bound_of(s, l);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct topo_tuple t = tuple_of(k, i);
		const struct topo_tuple back = {.src_ip = t.dst_ip,
		    .dst_ip = t.src_ip,
		    .src_port = t.dst_port,
		    .dst_port = t.src_port,
		    .proto = t.proto};
		double sum = way_of(s, bound, &t);
		if (truth_outage_at(&s->truth, TRUTH_HOST_OFF, k->src[i],
			20 * SIM_SEC))
			assert_true(isinf(sum));
		if (both)
			sum += way_of(s, bound, &back);
		const int is = at < n && candidate[at] == i;
		at += (uint32_t)is;
		if (!both && is_taken(s, &t))
			assert_true(is);
		else if (sum > (double)k->need[i])
			assert_true(is);
		else if (sum * (1 + 3e-5) + 1e-30 < (double)k->need[i])
			assert_false(is);
	}
	assert_int_equal(at, n);
	return n;
}

/* Faults of links at any times, and noise; and the same with holes, one or many, with
 * hosts that are off, and with TCP, whose ways back count. */
static void flows_come_through_by_their_sums(void **state)
{
	enum { HOLES = 1, OFF = 2, TCP = 4 };
	const struct bulk_kernel *const *kernel = bulk_kernels();
	struct bulk_sieve v = {0};
	struct sim_rng r;
	(void)state;
	while (kernel[1])
		kernel++;
	test_rng(&r, 0);
	for (unsigned kind = 0; kind < 8; kind++) {
		static struct bulk_block k;
		uint32_t candidate[BULK_BLOCK];
		struct scenes x;
		unsigned n = 0, all = 0;
		scenes_open(&x, &shape);
		x.params.noise.rate = scenes_uniform(0, 1e-3);
		struct fault_params *g = scenes_add_group(&x);
		g->count = 9;
		g->classes |= 1u << TOPO_HOST_TOR | 1u << TOPO_TOR_HOST;
		g->rate = scenes_uniform(0, 0.02);
		g->spread_s = 10;
		g->lasts_s = 5;
		g->again = 1;
		g->every_s = 6;
		if (kind & HOLES)
			for (int type = 0; type < 2; type++) {
				g = scenes_add_group(&x);
				g->kind = type ? FAULT_BLACK_HOLE_1
					       : FAULT_BLACK_HOLE_2;
				g->switches =
				    kind == HOLES ? (uint32_t)type : 3;
				g->entries = scenes_fixed(0.2);
			}
		if (kind & OFF) {
			g = scenes_add_group(&x);
			g->kind = FAULT_HOST_OFF;
			g->count = 4;
			g->from_s = 3;
		}
		if (kind & TCP)
			scenes_use_tcp(&x, 3);
		const struct scene *s = scenes_draw(&x, kind);
		const struct bulk_clos net = {.c = s->topo->clos,
		    .ecmp_seed = s->ecmp_seed,
		    .none = s->topo->n_links,
		    .pkt_lo = 1,
		    .pkt_span = 1};
		assert_ok(bulk_sieve_begin(&v, s, &net, *kernel, test_err()));
		for (unsigned i = 0; i < 4; i++) {
			fill_block(&k, s, &net, *kernel, &r);
			n += check_block(s, &k, candidate,
			    bulk_sieve_pick(&v, &k, candidate));
			all += k.n;
		}
		/* Some of both, or there would be nothing to see. */
		assert_in_range(n, all / 10, all - all / 10);
		scenes_close(&x);
	}
	bulk_sieve_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows_come_through_by_their_sums),
	};
	return cmocka_run_group_tests_name("models/bulk/sieve", tests, NULL,
	    NULL);
}
