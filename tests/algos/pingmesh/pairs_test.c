/* tests/algos/pingmesh/pairs_test.c -- all ports of each pair, none at a time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Closed forms and random histories; nothing here is statistical but that two
 * agents do not begin alike, which is said there.
 */
#include "algos/pingmesh/pairs.h"
#include "tests/test.h"

enum { PORTS = 65536, MOST = 5000, FIRST = 32768, LAST = 60999 };
#define GUARD (10 * SIM_SEC)

struct rig {
	struct algo_pingmesh_params params;
	struct algo_pingmesh_ports ports;
	struct algo_pinglist_entry entry[MOST];
	struct algo_pingmesh_pair pair[MOST];
	uint32_t slot[ALGO_PINGMESH_PAIR_SLOTS];
	struct algo_pingmesh_pairs l;
	uint32_t stamp, seen[PORTS]; /* seen[port] == stamp: in this test */
	struct sim_rng rng;
};

static uint32_t below(struct rig *g, uint32_t n)
{
	return sim_rng_below(&g->rng, n);
}

/* An agent that starts, with N ports from FIRST on. */
static void begin(struct rig *g, uint32_t n,
    enum algo_pingmesh_port_order order)
{
	g->params.first_port = n > PORTS - FIRST ? PORTS - n : FIRST;
	g->params.last_port = g->params.first_port + n - 1;
	g->params.ports = order;
	algo_pingmesh_ports_init(&g->ports, &g->params, below(g, n));
}

static struct rig *open_rig(void)
{
	struct rig *g = calloc(1, sizeof(*g));
	assert_non_null(g);
	g->l = (struct algo_pingmesh_pairs){g->entry, g->pair, g->slot, 0};
	test_rng(&g->rng, 0);
	return g;
}

/* A list of N entries of as many peers. */
static void list_of(struct rig *g, uint32_t n, sim_ns from)
{
	for (uint32_t i = 0; i < n; i++)
		g->entry[i] =
		    (struct algo_pinglist_entry){.address =
						     TOPO_ADDR_HOST_BASE + i,
			.port = 80};
	g->l.n = n;
	algo_pingmesh_pairs_begin(&g->l, &g->ports, from, GUARD);
}

static uint16_t next(struct rig *g, uint32_t i)
{
	return algo_pingmesh_ports_next(&g->ports, g->pair, i);
}

static uint32_t test_gcd(uint32_t a, uint32_t b)
{
	return b == 0 ? a : test_gcd(b, a % b);
}

/* --- closed forms --------------------------------------------------------- */
/* Then n strides, and no fewer, lead back: n ports in a row are all. */
static void a_stride_has_no_divisor_in_common_with_any_range(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	for (uint32_t n = 1; n < PORTS; n++) {
		begin(g, n, ALGO_PINGMESH_PORTS_PAIR);
		assert_int_equal(test_gcd(g->ports.stride, n), 1);
		assert_true(g->ports.stride < n || n == 1);
	}
	free(g);
}

/* Among probes of others, any N of a pair in a row have all N ports. */
static void a_pair_takes_all_ports_once_whatever_the_list(void **state)
{
	const uint32_t n = LAST - FIRST + 1;
	struct rig *g = open_rig();
	(void)state;
	begin(g, n, ALGO_PINGMESH_PORTS_PAIR);
	for (uint32_t m = 1; m <= MOST; m++) {
		list_of(g, m, m * GUARD);
		const uint32_t i = below(g, m);
		for (uint32_t skipped = below(g, 4); skipped > 0; skipped--)
			next(g, i);
		g->stamp++;
		for (uint32_t k = 0; k < n; k++) {
			const uint16_t port = next(g, i);
			if (port < FIRST || port > LAST ||
			    g->seen[port] == g->stamp)
				fail_msg("%u entries: port %u after %u", m,
				    port, k);
			g->seen[port] = g->stamp;
			if (m > 1)
				next(g, (i + 1 + k % (m - 1)) % m);
		}
	}
	free(g);
}

/* ... and of short ranges, where all pairs are looked at. */
static void so_do_all_pairs_of_short_ranges(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	for (uint32_t n = 1; n <= 64; n++) {
		begin(g, n, ALGO_PINGMESH_PORTS_PAIR);
		for (uint32_t m = 1; m <= 100; m++) {
			list_of(g, m, m * GUARD);
			for (uint32_t i = 0; i < m; i++) {
				g->stamp++;
				for (uint32_t k = 0; k < n; k++) {
					const uint16_t port = next(g, i);
					assert_in_range(port, FIRST,
					    FIRST + n - 1);
					assert_true(g->seen[port] != g->stamp);
					g->seen[port] = g->stamp;
				}
			}
		}
	}
	free(g);
}

/* Of a list that is gone through again and again. */
static uint32_t n_ports_of_a_pair(struct rig *g, uint32_t m, uint32_t n)
{
	const uint32_t i = below(g, m);
	uint32_t n_seen = 0;
	g->stamp++;
	for (uint32_t round = 0; round < 2 * n / test_gcd(n, m); round++)
		for (uint32_t k = 0; k < m; k++) {
			const uint16_t port = next(g, k);
			if (k != i || g->seen[port] == g->stamp)
				continue;
			g->seen[port] = g->stamp;
			n_seen++;
		}
	return n_seen;
}

static void one_count_for_the_list_gives_a_pair_n_over_gcd(void **state)
{
	static const struct {
		uint32_t n, m, n_seen;
	} of[] = {{28232, 3529, 8}, {28232, 2538, 14116}, {288, 36, 8},
	    {288, 37, 288}, {1, 5, 1}};
	struct rig *g = open_rig();
	(void)state;
	for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
		begin(g, of[k].n, ALGO_PINGMESH_PORTS_LIST);
		list_of(g, of[k].m, 0);
		assert_int_equal(n_ports_of_a_pair(g, of[k].m, of[k].n),
		    of[k].n_seen);
	}
	for (uint32_t n = 1; n <= 60; n++)
		for (uint32_t m = 1; m <= 60; m++) {
			begin(g, n, ALGO_PINGMESH_PORTS_LIST);
			list_of(g, m, 0);
			assert_int_equal(n_ports_of_a_pair(g, m, n),
			    n / test_gcd(n, m));
		}
	free(g);
}

/* It goes on where it was across lists: any n probes have n ports. */
static void the_count_of_the_list_outlives_lists(void **state)
{
	const uint32_t n = 997;
	struct rig *g = open_rig();
	(void)state;
	begin(g, n, ALGO_PINGMESH_PORTS_LIST);
	uint16_t before = 0;
	for (uint32_t k = 0; k < 10 * n; k++) {
		if (k % 13 == 0)
			list_of(g, 1 + below(g, 50), k * GUARD);
		const uint16_t port = next(g, below(g, g->l.n));
		if (k > 0)
			assert_int_equal(port,
			    before == FIRST + n - 1 ? FIRST : before + 1);
		before = port;
	}
	free(g);
}

/* The longest stretch of N ports in a circle without any of the R seen ones. */
static uint32_t stretch(const struct rig *g, uint32_t n)
{
	uint32_t longest = 0, length = 0;
	for (uint32_t k = 0; k < 2 * n; k++) {
		length = g->seen[k % n] == g->stamp ? 0 : length + 1;
		longest = length > longest ? length : longest;
	}
	return longest;
}

static void early_ports_of_a_pair_lie_all_over_the_range(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	for (uint32_t n = 1; n < PORTS; n += n < 300 ? 1 : 4999) {
		begin(g, n, ALGO_PINGMESH_PORTS_PAIR);
		list_of(g, 1, 0);
		g->stamp++;
		for (uint32_t r = 1; r * r <= n; r++) {
			g->seen[next(g, 0) - g->params.first_port] = g->stamp;
			assert_true(stretch(g, n) <= 3.5 * n / r);
		}
	}
	free(g);
}

/* --- who shares ----------------------------------------------------------- */
static void entries_share_by_address_and_by_address_and_port(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	begin(g, 100, ALGO_PINGMESH_PORTS_PAIR);
	for (unsigned run = 0; run < 300; run++) {
		const uint32_t n = 1 + below(g, 300), kinds = 1 + below(g, 40);
		for (uint32_t i = 0; i < n; i++)
			g->entry[i] =
			    (struct algo_pinglist_entry){.address =
							     below(g, kinds) *
				    12345,
				.port = (uint16_t)below(g, 4)};
		g->l.n = n;
		algo_pingmesh_pairs_begin(&g->l, &g->ports, run * GUARD, GUARD);
		for (uint32_t i = 0; i < n; i++) {
			const struct algo_pinglist_entry *x = &g->entry[i];
			uint32_t peer = 0, pair = 0;
			while (g->entry[peer].address != x->address)
				peer++;
			while (g->entry[pair].address != x->address ||
			    g->entry[pair].port != x->port)
				pair++;
			assert_int_equal(g->pair[i].of_peer, peer);
			assert_int_equal(g->pair[i].of_pair, pair);
		}
	}
	free(g);
}

/* --- lists and starts ----------------------------------------------------- */
struct sent {
	struct algo_pingmesh_record record;
	sim_ns at, end;
};

/* A small world of changing lists: probes of a pair are GUARD apart or more,
 * and each is under way for up to n - 2 times that. */
struct world {
	struct rig *g;
	uint32_t n;
	sim_ns now, last;
	struct sent sent[4096];
	size_t n_sent;
};

static int is_alike(const struct algo_pingmesh_record *a,
    const struct algo_pingmesh_record *b)
{
	return a->dst_ip == b->dst_ip && a->dst_port == b->dst_port &&
	    a->src_port == b->src_port;
}

static void new_list(struct world *w)
{
	struct rig *g = w->g;
	w->now = w->last + GUARD + below(g, 3) * (GUARD / 2);
	g->l.n = 1 + below(g, 12);
	for (uint32_t i = 0; i < g->l.n; i++)
		g->entry[i] =
		    (struct algo_pinglist_entry){.address =
						     TOPO_ADDR_HOST_BASE +
			    below(g, 12),
			.port = (uint16_t)(80 + below(g, 2))};
	algo_pingmesh_pairs_begin(&g->l, &g->ports, w->now, GUARD);
	for (size_t k = 0; k < w->n_sent; k++)
		if (w->sent[k].end > w->now)
			algo_pingmesh_pairs_follow(&g->l, &g->ports,
			    &w->sent[k].record);
}

/* One probe of each entry whose peer's last is long enough ago. */
static void one_round(struct world *w)
{
	struct rig *g = w->g;
	for (uint32_t i = 0; i < g->l.n; i++) {
		sim_ns *last = &g->pair[g->pair[i].of_peer].last;
		if (w->now < *last + GUARD || below(g, 4) == 0)
			continue;
		struct sent *s = &w->sent[w->n_sent++];
		*s = (struct sent){.record = {.dst_ip = g->entry[i].address,
				       .dst_port = g->entry[i].port,
				       .src_port = next(g, i)},
		    .at = w->now,
		    .end = w->now + below(g, w->n - 1) * GUARD};
		*last = w->last = w->now;
		for (struct sent *x = w->sent; x < s; x++)
			if (x->end > w->now && is_alike(&x->record, &s->record))
				fail_msg("port %u of %u again after %g s",
				    s->record.src_port, w->n,
				    (double)(w->now - x->at) * 1e-9);
	}
	w->now += GUARD / 2 + below(g, 3) * GUARD / 4;
}

static void no_two_under_way_are_alike_also_across_lists(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	(void)state;
	assert_non_null(w);
	w->g = open_rig();
	for (uint32_t run = 0; run < 120; run++) {
		w->n = 2 + run % 20;
		w->n_sent = 0;
		w->now = w->last = GUARD;
		begin(w->g, w->n, ALGO_PINGMESH_PORTS_PAIR);
		while (w->n_sent < 4000) {
			new_list(w);
			for (uint32_t i = 0; i < w->g->l.n; i++)
				w->g->pair[i].last = w->last;
			for (uint32_t k = below(w->g, 9); k > 0; k--)
				if (w->n_sent < 4000)
					one_round(w);
		}
	}
	free(w->g);
	free(w);
}

/* A pair that is in every list has no port twice before n times GUARD. */
static void lists_that_change_often_do_not_go_over_the_same_ports(void **state)
{
	const uint32_t n = 5000;
	struct rig *g = open_rig();
	(void)state;
	for (unsigned run = 0; run < 50; run++) {
		sim_ns now = below(g, 100) * SIM_SEC;
		const sim_ns end = now + n * GUARD;
		begin(g, n, ALGO_PINGMESH_PORTS_PAIR);
		g->stamp++;
		while (now < end) {
			const sim_ns slow = GUARD + below(g, 2) * 7 * SIM_SEC;
			const uint32_t m = 1 + below(g, 100);
			list_of(g, m, now);
			for (uint32_t k = 1 + below(g, 60); k > 0; k--) {
				const uint16_t port = next(g, 0);
				if (now >= end)
					break;
				assert_true(g->seen[port] != g->stamp);
				g->seen[port] = g->stamp;
				now += slow;
			}
		}
	}
	free(g);
}

/* False alarm: 28232^-19. */
static void agents_do_not_begin_alike(void **state)
{
	struct rig *g = open_rig();
	uint32_t n_alike = 0;
	uint16_t first = 0;
	(void)state;
	for (unsigned run = 0; run < 20; run++) {
		begin(g, LAST - FIRST + 1, ALGO_PINGMESH_PORTS_PAIR);
		list_of(g, 3, 0);
		const uint16_t port = next(g, 2);
		first = run == 0 ? port : first;
		n_alike += port == first;
	}
	assert_true(n_alike < 20);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_stride_has_no_divisor_in_common_with_any_range),
	    cmocka_unit_test(a_pair_takes_all_ports_once_whatever_the_list),
	    cmocka_unit_test(so_do_all_pairs_of_short_ranges),
	    cmocka_unit_test(one_count_for_the_list_gives_a_pair_n_over_gcd),
	    cmocka_unit_test(the_count_of_the_list_outlives_lists),
	    cmocka_unit_test(early_ports_of_a_pair_lie_all_over_the_range),
	    cmocka_unit_test(entries_share_by_address_and_by_address_and_port),
	    cmocka_unit_test(no_two_under_way_are_alike_also_across_lists),
	    cmocka_unit_test(
		lists_that_change_often_do_not_go_over_the_same_ports),
	    cmocka_unit_test(agents_do_not_begin_alike),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/pairs", tests, NULL,
	    NULL);
}
