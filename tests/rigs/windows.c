/* tests/rigs/windows.c -- windows of observations for tests: by hand and random.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/windows.h"

#include "tests/test.h"

void window_add(struct obs *o, uint32_t n_retx, unsigned n_hops,
    const topo_link hop[])
{
	const struct obs_flow flow = {.start_ns = 1000 + o->flows.n,
	    .src_host = 7,
	    .dst_host = 7,
	    .src_port = 40000,
	    .dst_port = 443,
	    .n_pkts = 100,
	    .n_retx = n_retx};
	assert_ok(obs_add_flow(o, &flow, hop, n_hops, test_err()));
}

static int is_among(topo_link l, const topo_link path[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (path[i] == l)
			return 1;
	return 0;
}

void window_random(struct obs *o, uint32_t n_links, unsigned n_flows,
    struct sim_rng *r)
{
	topo_link bad[3];
	for (int i = 0; i < 3; i++)
		bad[i] = sim_rng_below(r, n_links);
	for (unsigned i = 0; i < n_flows; i++) {
		topo_link path[8];
		unsigned n = sim_rng_below(r, n_links < 8 ? n_links : 9);
		const int is_bad = sim_rng_below(r, 2);
		for (unsigned j = 0; j < n;) {
			path[j] = is_bad && j == 0 ? bad[sim_rng_below(r, 3)]
						   : sim_rng_below(r, n_links);
			j += !is_among(path[j], path, j);
		}
		for (unsigned j = 0; j < n; j++)
			if (sim_rng_below(r, 8) == 0)
				path[j] = TOPO_NONE;
		window_add(o, sim_rng_below(r, 4), n, path);
	}
}

uint32_t *window_shuffled(uint32_t n, struct sim_rng *r)
{
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	assert_non_null(order);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = sim_rng_below(r, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

void window_rename(const struct obs *from, const uint32_t order[],
    const topo_link name[], struct obs *to)
{
	for (size_t i = 0; i < from->flows.n; i++) {
		const size_t f = order ? order[i] : i;
		const unsigned n = obs_n_hops(from, f);
		topo_link path[TOPO_MAX_HOPS];
		for (unsigned j = 0; j < n; j++) {
			path[j] = obs_path(from, f)[j];
			if (name && path[j] != TOPO_NONE)
				path[j] = name[path[j]];
		}
		window_add(to, from->flows.n_retx[f], n, path);
		to->flows.src_host[to->flows.n - 1] = from->flows.src_host[f];
		to->flows.dst_host[to->flows.n - 1] = from->flows.dst_host[f];
	}
}

int window_diagnose(const struct algo_ops *a, const void *params,
    uint32_t n_links, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct topo t = {.n_links = n_links};
	void *work;
	int rc;
	if ((rc = algo_open(a, &work, &t, params, e)) < 0)
		return rc;
	rc = a->diagnose(work, w, tie, out, e);
	algo_close(a, work);
	return rc;
}

void assert_same_verdicts(struct algo_verdicts *a, struct algo_verdicts *b)
{
	algo_verdicts_sort(a);
	algo_verdicts_sort(b);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_flagged, b->n_flagged);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->n_flows, b->n_flows);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(a->link[i], b->link[i]);
		if (a->score[i] != b->score[i])
			fail_msg("link %u: score %.17g and %.17g", a->link[i],
			    a->score[i], b->score[i]);
	}
	for (size_t i = 0; i < a->n_flows; i++)
		assert_int_equal(a->blame[i], b->blame[i]);
}

/* Ties go by id, so new names keep the order of the old ones. */
void assert_renaming_renames(const struct algo_ops *algo, const void *params)
{
	for (unsigned run = 0; run < 50; run++) {
		struct obs w = {0}, renamed = {0};
		struct algo_verdicts a = {0}, b = {0};
		topo_link name[20];
		struct sim_rng r;
		test_rng(&r, run);
		for (topo_link l = 0, next = 0; l < 20; l++, next++)
			name[l] = next += sim_rng_below(&r, 2);
		window_random(&w, 20, 100, &r);
		window_rename(&w, NULL, name, &renamed);
		assert_ok(window_diagnose(algo, params, 20, &w, NULL, &a,
		    test_err()));
		assert_ok(window_diagnose(algo, params, 40, &renamed, NULL, &b,
		    test_err()));
		for (size_t i = 0; i < a.n; i++)
			a.link[i] = name[a.link[i]];
		for (size_t i = 0; i < a.n_flows; i++)
			if (a.blame[i] != TOPO_NONE)
				a.blame[i] = name[a.blame[i]];
		assert_same_verdicts(&a, &b);
		algo_verdicts_free(&a);
		algo_verdicts_free(&b);
		obs_free(&w);
		obs_free(&renamed);
	}
}
