/* tests/algos/planner/survey_test.c -- a survey, and hosts that answer it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts here are a few lines: they answer by topo_path() and by a coin a connect.
 * Nothing here is statistical but the search, whose seeds are fixed.
 */
#include "algos/planner/survey.h"

#include "tests/test.h"
#include "topo/addr.h"

static const struct topo_clos survey_shape = {2, 2, 2, 2, 2, .n_cables = 0};
enum { SURVEY_SEED = 17, SURVEY_LINKS = 256 };

struct survey_rig {
	struct topo t;
	struct algo_survey_params params;
	struct algo_survey *s;
	struct sim_rng ask, r;
	double loss[SURVEY_LINKS];
	topo_link mute; /* who comes over it answers no trace */
	sim_ns now;
	uint64_t n_sent;
	unsigned n_checked;
};

/* WAYS a host; 0: as many as by default. */
static void survey_rig_open_ways(struct survey_rig *x, uint32_t run,
    uint32_t ways)
{
	*x = (struct survey_rig){.mute = TOPO_NONE};
	assert_ok(topo_open_clos(&x->t, &survey_shape, test_err()));
	assert_true(x->t.n_links <= SURVEY_LINKS);
	assert_ok(
	    sim_field_defaults(algo_survey_fields, &x->params, test_err()));
	assert_ok(sim_field_defaults(algo_planner_fields, &x->params.plan,
	    test_err()));
	x->params.packets = 20;
	x->params.ways = ways > 0 ? ways : x->params.ways;
	x->params.plan.round = 12;
	test_rng(&x->ask, run);
	test_rng(&x->r, run + 1000);
	assert_ok(algo_survey_open(&x->s, &x->t, &x->params, test_err()));
	algo_survey_begin(x->s, 0, &x->ask);
}

static void survey_rig_open(struct survey_rig *x, uint32_t run)
{
	survey_rig_open_ways(x, run, 0);
}

static void survey_rig_close(struct survey_rig *x)
{
	algo_survey_close(x->s);
	topo_close(&x->t);
}

static struct topo_tuple survey_tuple_of(topo_host src,
    const struct algo_scout_job *j)
{
	return (struct topo_tuple){topo_addr_of_host(src), j->dst_ip,
	    j->src_port, j->dst_port, TOPO_PROTO_TCP};
}

static unsigned survey_route(const struct survey_rig *x,
    const struct topo_tuple *t, topo_link path[])
{
	return topo_path(&x->t, SURVEY_SEED,
	    topo_addr_to_host(t->src_ip, x->t.n_hosts),
	    topo_addr_to_host(t->dst_ip, x->t.n_hosts), topo_tuple_digest(t),
	    path);
}

static struct topo_tuple survey_back(const struct topo_tuple *t)
{
	return (struct topo_tuple){t->dst_ip, t->src_ip, t->dst_port,
	    t->src_port, t->proto};
}

static void survey_trace_it(const struct survey_rig *x,
    const struct topo_tuple *t, struct algo_scout_answer *a)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = survey_route(x, t, path);
	a->n_hops = (uint8_t)(n - 1);
	for (unsigned i = 0; i + 1 < n; i++)
		a->hop_ip[i] =
		    path[i] == x->mute ? 0 : topo_addr_of_link(path[i]);
}

static void survey_connect_it(struct survey_rig *x, const struct topo_tuple *t,
    uint32_t count, struct algo_scout_answer *a)
{
	topo_link path[2 * TOPO_MAX_HOPS];
	const struct topo_tuple back = survey_back(t);
	unsigned n = survey_route(x, t, path);
	double arrives = 1;
	n += survey_route(x, &back, path + n);
	for (unsigned i = 0; i < n; i++)
		arrives *= 1 - x->loss[path[i]];
	a->n_sent = count;
	for (uint32_t k = 0; k < count; k++)
		a->n_lost += sim_rng_u01(&x->r) > arrives;
	x->n_sent += count;
}

/* What HOST says of the jobs that it is given now; returns its bytes, 0 if it is
 * given none. */
static size_t survey_answer(struct survey_rig *x, topo_host host,
    unsigned char *out)
{
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS] = {0};
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_head h;
	const void *data;
	size_t n;
	assert_ok(algo_survey_fetch(x->s, host, x->now, &data, &n, test_err()));
	assert_ok(algo_scout_read_jobs(data, n, &h, job, test_err()));
	if (h.flags & ALGO_SCOUT_DONE)
		assert_int_equal(h.n, 0);
	for (size_t i = 0; i < h.n; i++) {
		const struct topo_tuple t = survey_tuple_of(host, &job[i]);
		answer[i].id = job[i].id;
		if (job[i].count == 0)
			survey_trace_it(x, &t, &answer[i]);
		else
			survey_connect_it(x, &t, job[i].count, &answer[i]);
	}
	return h.n > 0 ? algo_scout_write_answers(&h, answer, out) : 0;
}

/* A round: all answer but SILENT. */
static void survey_round(struct survey_rig *x, topo_host silent)
{
	unsigned char bytes[16][ALGO_SCOUT_MESSAGE];
	size_t n[16];
	for (topo_host h = 0; h < x->t.n_hosts; h++)
		n[h] = h == silent ? 0 : survey_answer(x, h, bytes[h]);
	for (topo_host h = 0; h < x->t.n_hosts; h++)
		if (n[h] > 0)
			assert_ok(algo_survey_upload(x->s, h, x->now, bytes[h],
			    n[h], test_err()));
}

static struct algo_survey_view survey_seen(const struct survey_rig *x)
{
	struct algo_survey_view v;
	algo_survey_view(x->s, &v);
	return v;
}

static uint64_t survey_told(const struct survey_rig *x)
{
	const struct algo_survey_view v = survey_seen(x);
	uint64_t sum = 0;
	for (size_t i = 0; i < v.plan.told->n; i++)
		sum += v.plan.told->n_sent[i];
	return sum;
}

/* --- ways ----------------------------------------------------------------- */

/* Jobs of the second round are of ways: each has the links of its five-tuple and
 * of that turned round, a host's cable once at each end. */
static void survey_check_jobs(struct survey_rig *x, topo_host host)
{
	const struct algo_survey_view v = survey_seen(x);
	const struct obs_tallies *w = v.plan.told;
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_head h;
	const void *data;
	size_t n;
	assert_ok(algo_survey_fetch(x->s, host, x->now, &data, &n, test_err()));
	assert_ok(algo_scout_read_jobs(data, n, &h, job, test_err()));
	for (size_t i = 0; i < h.n; i++, x->n_checked++) {
		topo_link there[TOPO_MAX_HOPS], back[TOPO_MAX_HOPS];
		const struct topo_tuple t = survey_tuple_of(host, &job[i]),
					b = survey_back(&t);
		const unsigned n_there = survey_route(x, &t, there),
			       n_back = survey_route(x, &b, back);
		const uint32_t path = w->path[job[i].id];
		const topo_link *link = w->paths->link + w->paths->off[path];
		assert_int_equal(obs_path_length(w->paths, path),
		    n_there + n_back - 4);
		assert_memory_equal(link, there + 1,
		    (n_there - 2) * sizeof(link[0]));
		assert_memory_equal(link + n_there - 2, back + 1,
		    (n_back - 2) * sizeof(link[0]));
		assert_int_equal(w->up[job[i].id], there[0]);
		assert_int_equal(w->down[job[i].id], back[0]);
		assert_int_equal(job[i].count % x->params.packets, 0);
	}
}

static void ways_are_those_that_switches_choose(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct survey_rig x;
		survey_rig_open_ways(&x, run, run % 2);
		survey_round(&x, TOPO_NONE);
		const struct algo_survey_view v = survey_seen(&x);
		assert_int_equal(v.round, 2);
		assert_int_equal(v.n_ways, x.t.n_hosts * x.params.ways);
		for (topo_host h = 0; h < x.t.n_hosts; h++)
			survey_check_jobs(&x, h);
		assert_true(x.n_checked > 0);
		survey_rig_close(&x);
	}
}

/* A hop that does not answer makes all ways over it unusable; what only those
 * cross is not judged, and all else is. */
static void ways_that_are_not_known_are_not_used(void **state)
{
	struct survey_rig x;
	topo_link path[TOPO_MAX_HOPS];
	(void)state;
	survey_rig_open(&x, 2);
	const struct topo_tuple t = {topo_addr_of_host(0),
	    topo_addr_of_host(x.t.n_hosts - 1), 5, 6, TOPO_PROTO_TCP};
	survey_route(&x, &t, path);
	x.mute = path[2];
	survey_round(&x, TOPO_NONE);
	const struct algo_survey_view v = survey_seen(&x);
	const struct obs_paths *p = v.plan.told->paths;
	assert_true(v.n_ways > 0 && v.n_ways < v.n_tuples);
	for (uint32_t k = 0; k < p->off[p->n]; k++)
		assert_int_not_equal(p->link[k], x.mute);
	assert_false(v.plan.within[x.mute]);
	for (topo_host h = 0; h < x.t.n_hosts; h++) {
		assert_true(v.plan.within[topo_link_of(h, TOPO_UP)]);
		assert_false(v.plan.within[topo_link_of(h, TOPO_DOWN)]);
	}
	survey_rig_close(&x);
}

static void without_a_way_there_is_an_error(void **state)
{
	struct survey_rig x;
	struct sim_err e;
	unsigned char bytes[ALGO_SCOUT_MESSAGE];
	const struct algo_scout_head none = {1, 0, 0};
	int rc = 0;
	(void)state;
	survey_rig_open(&x, 2);
	const size_t n = algo_scout_write_answers(&none, NULL, bytes);
	for (topo_host h = 0; rc == 0 && h < x.t.n_hosts; h++)
		rc = algo_survey_upload(x.s, h, 0, bytes, n, &e);
	assert_int_equal(rc, SIM_EINVAL);
	assert_string_equal(e.msg, "probes can't be planned with 0 ways.");
	survey_rig_close(&x);
}

/* --- rounds --------------------------------------------------------------- */

/* A host that says nothing is waited for, `round_s` long, and no longer; what it
 * says later counts, once. */
static void who_is_silent_is_waited_for(void **state)
{
	struct survey_rig x;
	unsigned char bytes[ALGO_SCOUT_MESSAGE];
	const void *data;
	size_t n, n_fetched;
	topo_host late = 0;
	(void)state;
	survey_rig_open(&x, 4);
	survey_round(&x, TOPO_NONE);
	while ((n = survey_answer(&x, late, bytes)) == 0)
		late++;
	const uint64_t of_late = x.n_sent;
	survey_round(&x, late);
	assert_int_equal(survey_seen(&x).round, 2);
	assert_int_equal(survey_told(&x), x.n_sent - of_late);
	x.now += sim_ns_of(x.params.round_s) - 1;
	assert_ok(
	    algo_survey_fetch(x.s, 0, x.now, &data, &n_fetched, test_err()));
	assert_int_equal(survey_seen(&x).round, 2);
	x.now++;
	assert_ok(
	    algo_survey_fetch(x.s, 0, x.now, &data, &n_fetched, test_err()));
	assert_int_equal(survey_seen(&x).round, 3);
	assert_int_equal(survey_seen(&x).n_silent, 1);
	for (unsigned k = 0; k < 3; k++) {
		assert_ok(
		    algo_survey_upload(x.s, late, x.now, bytes, n, test_err()));
		assert_int_equal(survey_told(&x), x.n_sent);
		assert_int_equal(survey_seen(&x).n_connects, x.n_sent);
	}
	assert_int_equal(survey_seen(&x).n_bad, 0);
	survey_rig_close(&x);
}

/* Nobody tells of another host's way, of one that there is not, or of a round to
 * come. */
static void what_makes_no_sense_is_counted(void **state)
{
	struct survey_rig x;
	unsigned char bytes[ALGO_SCOUT_MESSAGE];
	struct algo_scout_head h = {2, 0, 2};
	(void)state;
	survey_rig_open(&x, 5);
	survey_round(&x, TOPO_NONE);
	const struct obs_tallies *w = survey_seen(&x).plan.told;
	uint32_t other = 0;
	while (w->up[other] == topo_link_of(0, TOPO_UP))
		other++;
	const struct algo_scout_answer a[2] = {{.id = other, .n_sent = 5},
	    {.id = (uint32_t)w->n, .n_sent = 5}};
	size_t n = algo_scout_write_answers(&h, a, bytes);
	assert_ok(algo_survey_upload(x.s, 0, 0, bytes, n, test_err()));
	assert_int_equal(survey_seen(&x).n_bad, 2);
	assert_ok(algo_survey_upload(x.s, 0, 0, bytes, n - 1, test_err()));
	assert_int_equal(survey_seen(&x).n_bad, 3);
	h.round = 99;
	n = algo_scout_write_answers(&h, a, bytes);
	assert_ok(algo_survey_upload(x.s, 1, 0, bytes, n, test_err()));
	assert_int_equal(survey_seen(&x).n_bad, 4);
	assert_int_equal(survey_told(&x), 0);
	survey_rig_close(&x);
}

/* --- the whole ------------------------------------------------------------ */

/* Rounds until it has no more to ask, with links BAD losing 3 %. */
static unsigned survey_search(struct survey_rig *x, const topo_link bad[2])
{
	unsigned rounds = 0;
	x->loss[bad[0]] = x->loss[bad[1]] = 0.03;
	do
		survey_round(x, TOPO_NONE);
	while (!survey_seen(x).plan.done && ++rounds < 400);
	return rounds;
}

/* A link between switches, and a host's cable that loses one way: told by its
 * link up. It stops when it expects fewer than .05 links to be taken wrongly, so
 * fewer than .8 in 16 runs, of which there are 7 or more once in 100,000. */
static void it_finds_what_loses_and_stops(void **state)
{
	enum { RUNS = 16, MOST = 6 };
	unsigned wrong = 0, rounds = 0;
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct survey_rig x;
		struct algo_survey_view v;
		unsigned char bytes[ALGO_SCOUT_MESSAGE];
		topo_link bad[2];
		survey_rig_open(&x, 30 + run);
		bad[0] = 2 * x.t.n_hosts +
		    sim_rng_below(&x.r, x.t.n_links - 2 * x.t.n_hosts);
		bad[1] = topo_link_of(run % x.t.n_hosts,
		    run % 2 ? TOPO_UP : TOPO_DOWN);
		rounds += survey_search(&x, bad);
		v = survey_seen(&x);
		if (!v.plan.done || !(v.plan.error < x.params.plan.error))
			fail_msg("run %u: expects %g to be wrong", run,
			    v.plan.error);
		bad[1] = topo_link_of(run % x.t.n_hosts, TOPO_UP);
		for (topo_link l = 0; l < x.t.n_links; l++)
			wrong += v.plan.within[l] &&
			    (v.plan.chance[l] > 0.5) !=
				(l == bad[0] || l == bad[1]);
		algo_survey_stop(x.s);
		assert_int_equal(survey_answer(&x, 0, bytes), 0);
		survey_rig_close(&x);
	}
	print_message("          %u links wrong in %d runs, of %.1f rounds\n",
	    wrong, RUNS, (double)rounds / RUNS);
	assert_in_range(wrong, 0, MOST);
}

static int survey_traces(void *arg, struct sim_err *e)
{
	struct survey_rig *x = arg;
	struct algo_survey *s;
	struct sim_rng ask;
	int rc = algo_survey_open(&s, &x->t, &x->params, e);
	if (rc < 0)
		return rc;
	test_rng(&ask, 1);
	algo_survey_begin(s, 0, &ask);
	for (topo_host h = 0; rc == 0 && h < x->t.n_hosts; h++) {
		struct algo_scout_answer answer[ALGO_SCOUT_JOBS] = {0};
		struct algo_scout_job job[ALGO_SCOUT_JOBS];
		unsigned char bytes[ALGO_SCOUT_MESSAGE];
		struct algo_scout_head head;
		const void *data;
		size_t n;
		rc = algo_survey_fetch(s, h, 0, &data, &n, e);
		if (rc == 0)
			rc = algo_scout_read_jobs(data, n, &head, job, e);
		for (size_t i = 0; rc == 0 && i < head.n; i++) {
			const struct topo_tuple t = survey_tuple_of(h, &job[i]);
			answer[i].id = job[i].id;
			survey_trace_it(x, &t, &answer[i]);
		}
		if (rc == 0)
			rc = algo_survey_upload(s, h, 0, bytes,
			    algo_scout_write_answers(&head, answer, bytes), e);
	}
	algo_survey_close(s);
	return rc;
}

static void memory_that_ends_is_told(void **state)
{
	struct survey_rig x;
	(void)state;
	survey_rig_open(&x, 0);
	test_each_alloc_fails(survey_traces, &x);
	survey_rig_close(&x);
}

static void one_host_alone_is_refused(void **state)
{
	const struct topo_clos lone = {1, 1, 0, 0, 1, .n_cables = 0};
	struct survey_rig x;
	struct topo t;
	struct algo_survey *s;
	struct sim_err e;
	(void)state;
	survey_rig_open(&x, 0);
	assert_ok(topo_open_clos(&t, &lone, test_err()));
	assert_int_equal(algo_survey_open(&s, &t, &x.params, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "probes go from host to host, and there is 1.");
	assert_null(s);
	topo_close(&t);
	survey_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_host_alone_is_refused),
	    cmocka_unit_test(ways_are_those_that_switches_choose),
	    cmocka_unit_test(ways_that_are_not_known_are_not_used),
	    cmocka_unit_test(without_a_way_there_is_an_error),
	    cmocka_unit_test(who_is_silent_is_waited_for),
	    cmocka_unit_test(what_makes_no_sense_is_counted),
	    cmocka_unit_test(it_finds_what_loses_and_stops),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/planner/survey", tests, NULL,
	    NULL);
}
