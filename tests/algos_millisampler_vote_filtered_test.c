/* tests/algos_millisampler_vote_filtered_test.c -- who votes, and who does not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/vote_filtered.h"

#include "algos/vigil/vote.h"
#include "tests/sampled.h"
#include "tests/test.h"
#include "tests/windows.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 3,
    .n_hosts = 7};

static void diagnose(const struct algo_ops *a, const struct topo *t,
    const struct obs *w, struct algo_verdicts *v)
{
	void *work;
	assert_ok(algo_open(a, &work, t, NULL, test_err()));
	assert_ok(a->diagnose(work, w, NULL, v, test_err()));
	algo_close(a, work);
}

/* Flows to some hosts are set aside if and only if their losses are a buffer's:
 * the answer is 007's for a window in which these sent nothing again. */
static void flows_to_hosts_behind_full_buffers_do_not_vote(void **state)
{
	struct topo t = {0};
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	for (uint32_t run = 0; run < 30; run++) {
		struct algo_verdicts v = {0}, want = {0};
		struct sampled s = {0};
		struct obs w = {0}, same;
		struct sim_rng r;
		uint32_t n_retx[200], n_aside = 0;
		test_rng(&r, run);
		window_random(&w, t.n_links, 200, &r);
		/* Of each three hosts one behind a buffer, one behind a bad
		 * link, one that nothing is known of. */
		for (uint32_t h = 0; h < t.n_hosts; h += 1 + (h % 3 == 1))
			sampled_draw(&s, h,
			    h % 3 == 0 ? &(struct sampled_law){.rate = .05,
					     .marked = .8,
					     .full = .3,
					     .rto_ms = 5}
				       : &(struct sampled_law){.rate = .05,
					     .loss = .01},
			    &r);
		for (size_t i = 0; i < w.flows.n; i++) {
			w.flows.dst_host[i] = sim_rng_below(&r, t.n_hosts);
			const int aside = w.flows.dst_host[i] % 3 == 0;
			n_retx[i] = aside ? 0 : w.flows.n_retx[i];
			n_aside += aside && w.flows.n_retx[i] > 0;
		}
		same = w;
		same.flows.n_retx = n_retx;
		diagnose(&algo_vote, &t, &same, &want);
		w.runs = &s.runs;
		w.samples = &s.samples;
		diagnose(&algo_vote_filtered, &t, &w, &v);
		assert_true(n_aside > 20);
		assert_same_verdicts(&v, &want);
		/* Without samples it is 007. */
		w.runs = NULL;
		diagnose(&algo_vote, &t, &w, &want);
		diagnose(&algo_vote_filtered, &t, &w, &v);
		assert_same_verdicts(&v, &want);
		algo_verdicts_free(&v);
		algo_verdicts_free(&want);
		sampled_free(&s);
		obs_free(&w);
	}
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows_to_hosts_behind_full_buffers_do_not_vote),
	};
	return cmocka_run_group_tests_name("algos/millisampler/vote_filtered",
	    tests, NULL, NULL);
}
