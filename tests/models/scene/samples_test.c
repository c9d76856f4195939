/* tests/models/scene/samples_test.c -- models/scene/samples: its law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Means are held to 5 standard errors, 16 times in all: one false alarm in
 * 100,000 seeds.
 */
#include "models/scene/samples.h"

#include "models/bulk/bulk.h"
#include "models/dist.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"

enum { SEGMENT = SCENE_SAMPLES_SEGMENT };
static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 5};

/* Scenes with congestion, a fault and noise; epochs of 3 s. */
struct sampler {
	struct scenes s;
	struct scene_samples_params p;
	struct bulk *bulk;
	struct obs w;
	struct scene_samples x;
};

static void sampler_open(struct sampler *a)
{
	*a = (struct sampler){0};
	scenes_open(&a->s, &shape);
	assert_ok(sim_field_defaults(scene_samples_fields, &a->p, test_err()));
	assert_ok(bulk_open(&a->bulk, NULL, test_err()));
	a->s.params.traffic.epoch_s = 3;
	a->s.params.noise.rate = scenes_uniform(0, 1e-3);
	a->s.params.congestion = (struct scene_congestion_params){0.7, 10, 1,
	    0.1, 0.02, scenes_uniform(0.05, 0.9), {0}};
	scenes_add_fault(&a->s, topo_link_of(3, TOPO_DOWN), 0.02);
	a->p.every_s = 1;
	a->p.buckets = 1000;
}

static void sampler_close(struct sampler *a)
{
	scene_samples_free(&a->x);
	obs_free(&a->w);
	bulk_close(a->bulk);
	scenes_close(&a->s);
}

static int sampler_check(const struct sampler *a, struct sim_err *e)
{
	const int rc = obs_runs_check(&a->x.runs, a->s.topo.n_hosts, e);
	return rc < 0 ? rc : obs_samples_check(&a->x.rows, &a->x.runs, e);
}

static void sampler_draw(struct sampler *a)
{
	assert_ok(
	    scene_samples_draw(&a->x, &a->p, &a->s.scene, &a->w, test_err()));
	assert_ok(sampler_check(a, test_err()));
}

static const struct scene *sampler_epoch(struct sampler *a, uint32_t run)
{
	const struct scene *s = scenes_draw(&a->s, run);
	assert_ok(bulk_epoch(a->bulk, s, 0, &a->w, &a->s.lost, test_err()));
	sampler_draw(a);
	return s;
}

/* The row of HOST's bucket that holds time T, NULL if it is silent; *KNOWN: it
 * was sampled at all. */
static struct obs_sample sampler_at(const struct sampler *a, topo_host host,
    uint64_t t, int *known)
{
	const struct obs_runs *u = &a->x.runs;
	*known = 0;
	for (uint32_t i = 0; i < u->n; i++) {
		if (u->host[i] != host || t < u->start_ns[i] ||
		    t >= u->start_ns[i] + u->width_ns[i] * u->n_buckets[i])
			continue;
		*known = 1;
		for (size_t k = 0; k < a->x.rows.n; k++)
			if (a->x.rows.run[k] == i &&
			    a->x.rows.bucket[k] ==
				(t - u->start_ns[i]) / u->width_ns[i])
				return obs_samples_at(&a->x.rows, k);
	}
	return (struct obs_sample){0};
}

/* --- what is sent again ----------------------------------------------------*/

/* By brute force, row by row: what flows to and from a host sent again within
 * its sampled time, and nothing else, is in its buckets. */
static void what_is_sent_again_is_what_was_lost(void **state)
{
	struct sampler a;
	uint64_t n_all = 0, n_out = 0;
	(void)state;
	sampler_open(&a);
	for (uint32_t run = 0; run < 12; run++) {
		a.p.buckets = run % 3 ? 1000 : 300;
		a.p.sampled = run % 4 ? 1 : 0.5;
		sampler_epoch(&a, run);
		const struct obs_flows *f = &a.w.flows;
		for (size_t i = 0; i < a.x.rows.n; i++) {
			const uint32_t u = a.x.rows.run[i];
			const topo_host h = a.x.runs.host[u];
			const uint64_t from = a.x.runs.start_ns[u] +
			    a.x.rows.bucket[i] * a.x.runs.width_ns[u];
			uint64_t in = 0, out = 0;
			for (size_t k = 0; k < f->n; k++) {
				if (a.x.retx_ns[k] < from ||
				    a.x.retx_ns[k] >=
					from + a.x.runs.width_ns[u])
					continue;
				in += f->dst_host[k] == h ? f->n_retx[k] : 0;
				out += f->src_host[k] == h ? f->n_retx[k] : 0;
			}
			assert_int_equal(a.x.rows.in_retx[i], in * SEGMENT);
			assert_int_equal(a.x.rows.out_retx[i], out * SEGMENT);
			n_all += in;
			n_out += out;
		}
		/* Sampled all the time, all that came again within the epoch is
		 * in some row. */
		uint64_t want = 0, got = 0;
		for (size_t k = 0; k < f->n; k++)
			want += a.x.retx_ns[k] < 3 * SIM_MS * 1000
			    ? f->n_retx[k]
			    : 0;
		for (size_t i = 0; i < a.x.rows.n; i++)
			got += a.x.rows.in_retx[i];
		if (run % 3 && run % 4)
			assert_int_equal(got, want * SEGMENT);
		else
			assert_true(got < want * SEGMENT);
	}
	assert_true(n_all > 1000 && n_out > 100);
	sampler_close(&a);
}

/* A flow that lost nothing is told when it started, and changes no other's time. */
static void what_was_not_lost_is_told_by_its_start(void **state)
{
	struct sampler all, some;
	size_t k = 0, n = 0;
	(void)state;
	sampler_open(&all);
	sampler_open(&some);
	sampler_epoch(&some, 3);
	assert_ok(bulk_epoch(all.bulk, scenes_draw(&all.s, 3), 1, &all.w,
	    &all.s.lost, test_err()));
	sampler_draw(&all);
	const struct obs_flows *f = &all.w.flows;
	for (size_t i = 0; i < f->n; i++)
		if (f->n_retx[i] == 0) {
			assert_int_equal(all.x.retx_ns[i], f->start_ns[i]);
			n++;
		} else {
			assert_true(all.x.retx_ns[i] > f->start_ns[i]);
			assert_int_equal(all.x.retx_ns[i], some.x.retx_ns[k++]);
		}
	assert_true(n > 100 && k > 100);
	assert_int_equal(k, some.w.flows.n);
	sampler_close(&all);
	sampler_close(&some);
}

/* It takes a round trip, or the timer where less than three packets got
 * through; no cause has a time of its own. */
static void losses_come_again_after_a_round_trip_or_a_timer(void **state)
{
	struct sampler a;
	unsigned n[2] = {0, 0};
	(void)state;
	sampler_open(&a);
	for (uint32_t run = 0; run < 5; run++) {
		sampler_epoch(&a, run);
		for (size_t i = 0; i < a.w.flows.n; i++) {
			const struct obs_flow f = obs_flows_at(&a.w.flows, i);
			const uint64_t after = a.x.retx_ns[i] - f.start_ns;
			const int timer = f.n_pkts - f.n_retx < 3;
			n[timer]++;
			if (timer)
				assert_int_equal(after, 5 * SIM_MS);
			else
				assert_true(after >= SIM_MS / 10 &&
				    after <= SIM_MS / 2);
		}
	}
	assert_true(n[0] > 100 && n[1] > 10);
	sampler_close(&a);
}

/* --- where it is seen ------------------------------------------------------*/

/* A port that is full shows a marked burst at the line's rate, also in buckets
 * in which no flow lost anything; so does every flow's start there. */
static void a_full_port_is_a_marked_burst(void **state)
{
	struct sampler a;
	unsigned n_flows = 0, n_buckets = 0;
	(void)state;
	sampler_open(&a);
	for (uint32_t run = 0; run < 5; run++) {
		const struct scene *s = sampler_epoch(&a, run);
		for (size_t i = 0; i < a.w.flows.n; i++) {
			const topo_host h = a.w.flows.dst_host[i];
			int known;
			const struct obs_sample row =
			    sampler_at(&a, h, a.w.flows.start_ns[i], &known);
			if (!known ||
			    scene_congestion_hazard(&s->congestion,
				topo_link_of(h, TOPO_DOWN),
				a.w.flows.start_ns[i]) == 0)
				continue;
			assert_true(row.in_ce > 0);
			n_flows++;
		}
		for (uint32_t u = 0; u < a.x.runs.n; u++) {
			const topo_link l =
			    topo_link_of(a.x.runs.host[u], TOPO_DOWN);
			for (uint32_t k = 0; k < a.x.runs.n_buckets[u];
			     k += 7) {
				const sim_ns t =
				    a.x.runs.start_ns[u] + k * SIM_MS;
				int known;
				/* Cells are longer than buckets. */
				if (scene_congestion_hazard(&s->congestion, l,
					t) == 0 ||
				    scene_congestion_until(&s->congestion, l,
					t) < t + SIM_MS)
					continue;
				const struct obs_sample row =
				    sampler_at(&a, a.x.runs.host[u], t, &known);
				assert_int_equal(row.in_ce, 1562500);
				n_buckets++;
			}
		}
	}
	assert_true(n_flows > 50 && n_buckets > 100);
	sampler_close(&a);
}

static void put_flow(struct obs *w, uint64_t start_ns, topo_host dst,
    uint16_t port)
{
	const struct obs_flow f = {.start_ns = start_ns,
	    .src_host = (dst + 5) % 20,
	    .dst_host = dst,
	    .src_port = port,
	    .n_pkts = 50,
	    .n_retx = 1};
	assert_ok(obs_add_flow(w, &f, NULL, 0, test_err()));
}

/* Where no port is full, a flow is in a marked burst by chance, as the header
 * says in closed form, in any burst where all are marked; and bytes are those of
 * the load. */
static void chance_has_a_closed_form(double marked, uint32_t first)
{
	enum { EPOCHS = 200, FROM_MS = 40 };
	struct law_mean met = {0}, bytes = {0};
	struct sampler a;
	sampler_open(&a);
	a.s.params.congestion.racks = 0;
	a.s.params.traffic.epoch_s = 0.1;
	a.p.every_s = 0.02;
	a.p.buckets = 2000;
	a.p.width_ms = 0.01;
	a.p.bursts_hz = 60;
	a.p.length_ms = scenes_uniform(1, 4);
	a.p.marked = marked;
	a.p.load = 0.4;
	a.p.other = 0.5;
	const double duty = 60 * 2.5e-3, beta = duty / 0.4;
	assert_near(scene_samples_beta(&a.p), beta, 1e-12);
	for (uint32_t run = 0; run < EPOCHS; run++) {
		scenes_draw(&a.s, first + run);
		obs_clear(&a.w);
		for (topo_host h = 0; h < 20; h++)
			put_flow(&a.w, (7 + h) * SIM_MS, h, (uint16_t)run);
		sampler_draw(&a);
		for (topo_host h = 0; h < 20; h++) {
			int known;
			const struct obs_sample row =
			    sampler_at(&a, h, (7 + h) * SIM_MS, &known);
			assert_true(known);
			law_add(&met, row.in_ce > 0);
		}
		/* Well behind the flows, whose bursts are more than chance. */
		double sum = 0;
		for (size_t i = 0; i < a.x.rows.n; i++)
			if (a.x.runs.start_ns[a.x.rows.run[i]] +
				a.x.rows.bucket[i] * UINT64_C(10000) >=
			    FROM_MS * SIM_MS)
				sum += a.x.rows.in_bytes[i];
		law_add(&bytes, sum / (20 * (100 - FROM_MS) * 1562500.0));
	}
	/* A bucket is in a marked burst if its one time is, but for a hundredth
	 * of a millisecond. */
	assert_true(fabs(law_z(&met,
			1 - (1 - beta * marked) * exp(-duty * marked))) < 5);
	/* Others have what bursts leave of the line. */
	const double line = 15625, mean = 0.4 * (1 - beta) * line / 0.5;
	const double on = 1 - exp(-duty);
	const double other = 0.5 * (64 + mean * (1 - exp(-(line - 64) / mean)));
	assert_true(fabs(law_z(&bytes, on + (1 - on) * other / line)) < 5);
	sampler_close(&a);
}

static void other_losses_meet_bursts_by_chance(void **state)
{
	(void)state;
	chance_has_a_closed_form(0.4, 0);
	chance_has_a_closed_form(1, 1000);
}

/* Where bursts overlap the line is as fast as ever, in buckets that are longer than
 * bursts, too: bytes are those of the time that any burst covers, marked ones of
 * what any marked one does. */
static void bursts_that_overlap_are_no_faster(void **state)
{
	enum { EPOCHS = 100, FROM_MS = 40 };
	struct law_mean bytes = {0}, marked = {0};
	struct sampler a;
	(void)state;
	sampler_open(&a);
	a.s.params.congestion.racks = 0;
	a.s.params.traffic.epoch_s = 0.1;
	a.p.every_s = 0.1;
	a.p.buckets = 20;
	a.p.width_ms = 5;
	a.p.bursts_hz = 400;
	a.p.length_ms = scenes_uniform(1, 4);
	a.p.marked = 0.5;
	a.p.load = 0.9; /* less than the bursts have: no others come */
	for (uint32_t run = 0; run < EPOCHS; run++) {
		double in = 0, ce = 0;
		scenes_draw(&a.s, 2000 + run);
		obs_clear(&a.w);
		for (topo_host h = 0; h < 20; h++)
			put_flow(&a.w, (7 + h) * SIM_MS, h, (uint16_t)run);
		sampler_draw(&a);
		for (size_t i = 0; i < a.x.rows.n; i++)
			if (a.x.runs.start_ns[a.x.rows.run[i]] +
				a.x.rows.bucket[i] * 5 * SIM_MS >=
			    FROM_MS * SIM_MS) {
				in += a.x.rows.in_bytes[i];
				ce += a.x.rows.in_ce[i];
				assert_true(a.x.rows.in_bytes[i] <= 7812500);
			}
		law_add(&bytes, in / (20 * (100 - FROM_MS) * 1562500.0));
		law_add(&marked, ce / (20 * (100 - FROM_MS) * 1562500.0));
	}
	assert_true(fabs(law_z(&bytes, 1 - exp(-1))) < 5);
	assert_true(fabs(law_z(&marked, 1 - exp(-0.5))) < 5);
	sampler_close(&a);
}

/* Runs cover the share of the time that they should, anywhere in the epoch. */
static void each_moment_is_sampled_as_often(void **state)
{
	enum { EPOCHS = 300, PLACES = 4 };
	struct law_mean share = {0}, at[PLACES] = {{0}};
	struct sampler a;
	(void)state;
	sampler_open(&a);
	a.s.params.congestion.racks = 0;
	a.p.every_s = 0.7;
	a.p.buckets = 200;
	a.p.sampled = 0.75;
	const double want = 0.75 * 0.2 / 0.7;
	for (uint32_t run = 0; run < EPOCHS; run++) {
		uint64_t sum = 0;
		scenes_draw(&a.s, run);
		obs_clear(&a.w);
		for (topo_host h = 0; h < 20; h++)
			put_flow(&a.w, SIM_MS, h, 7);
		sampler_draw(&a);
		for (size_t i = 0; i < a.x.runs.n; i++)
			sum += a.x.runs.n_buckets[i];
		law_add(&share, (double)sum / (20 * 3000));
		for (unsigned k = 0; k < PLACES; k++) {
			static const uint64_t ms[PLACES] = {0, 199, 1500, 2999};
			int known;
			sampler_at(&a, 3, ms[k] * SIM_MS + 17, &known);
			law_add(&at[k], known);
		}
	}
	assert_true(fabs(law_z(&share, want)) < 5);
	for (unsigned k = 0; k < PLACES; k++)
		assert_true(fabs(law_z(&at[k], want)) < 5);
	sampler_close(&a);
}

/* --- whose they are --------------------------------------------------------*/

/* A host's counts, and a flow's time, do not depend on who else failed. */
static void hosts_are_apart(void **state)
{
	struct sampler a;
	struct obs w = {0}, few = {0};
	(void)state;
	sampler_open(&a);
	sampler_epoch(&a, 3);
	w = a.w;
	for (size_t i = 0; i < w.flows.n; i++) {
		const struct obs_flow f = obs_flows_at(&w.flows, i);
		/* A host keeps all flows to it, and those from it. */
		if (f.dst_host == 3 || f.src_host == 3)
			assert_ok(obs_add_flow(&few, &f, NULL, 0, test_err()));
	}
	struct scene_samples all = a.x;
	a.x = (struct scene_samples){0};
	a.w = few;
	sampler_draw(&a);
	size_t k = 0, n = 0;
	for (size_t i = 0; i < all.rows.n; i++) {
		if (all.runs.host[all.rows.run[i]] != 3)
			continue;
		while (a.x.runs.host[a.x.rows.run[k]] != 3)
			k++;
		struct obs_sample x = obs_samples_at(&all.rows, i);
		struct obs_sample y = obs_samples_at(&a.x.rows, k++);
		assert_int_equal(all.runs.start_ns[x.run],
		    a.x.runs.start_ns[y.run]);
		x.run = y.run;
		assert_memory_equal(&x, &y, sizeof(x));
		n++;
	}
	assert_true(n > 100);
	for (size_t i = 0, j = 0; i < w.flows.n; i++)
		if (w.flows.dst_host[i] == 3 || w.flows.src_host[i] == 3)
			assert_int_equal(all.retx_ns[i], a.x.retx_ns[j++]);
	/* Hosts that nobody failed to are not there. */
	for (size_t i = 0; i < a.x.runs.n; i++) {
		size_t j = 0;
		while (few.flows.dst_host[j] != a.x.runs.host[i])
			assert_true(++j < few.flows.n);
	}
	scene_samples_free(&all);
	a.w = w;
	obs_free(&few);
	sampler_close(&a);
}

/* Clocks put times off, a host's runs and what it sends by the same error, and
 * change no count. */
static void clocks_put_times_off(void **state)
{
	struct sampler a;
	struct law_mean off = {0};
	(void)state;
	sampler_open(&a);
	for (uint32_t run = 0; run < 40; run++) {
		sampler_epoch(&a, run);
		struct scene_samples right = a.x;
		a.x = (struct scene_samples){0};
		a.p.clock_sd_us = 100;
		sampler_draw(&a);
		a.p.clock_sd_us = 0;
		assert_int_equal(a.x.rows.n, right.rows.n);
		assert_memory_equal(a.x.rows.in_bytes, right.rows.in_bytes,
		    right.rows.n * sizeof(uint32_t));
		int64_t error[20];
		for (topo_host h = 0; h < 20; h++)
			error[h] = INT64_MAX;
		for (size_t i = 0; i < a.x.runs.n; i++) {
			if (right.runs.start_ns[i] < SIM_MS)
				continue;
			const topo_host h = right.runs.host[i];
			const int64_t by = (int64_t)(a.x.runs.start_ns[i] -
			    right.runs.start_ns[i]);
			if (error[h] == INT64_MAX)
				law_add(&off, (double)by * by);
			else
				assert_int_equal(error[h], by);
			error[h] = by;
		}
		for (size_t i = 0; i < a.w.flows.n; i++) {
			const topo_host h = a.w.flows.src_host[i];
			if (error[h] != INT64_MAX)
				assert_int_equal(a.x.retx_ns[i],
				    (int64_t)right.retx_ns[i] + error[h]);
		}
		scene_samples_free(&right);
	}
	assert_true(fabs(law_z(&off, 1e10)) < 5);
	sampler_close(&a);
}

/* --- what cannot be --------------------------------------------------------*/

static int draw_anew(void *arg, struct sim_err *e)
{
	struct sampler *a = arg;
	scene_samples_free(&a->x);
	return scene_samples_draw(&a->x, &a->p, &a->s.scene, &a->w, e);
}

static void each_allocation_may_fail(void **state)
{
	struct sampler a;
	(void)state;
	sampler_open(&a);
	sampler_epoch(&a, 1);
	test_each_alloc_fails(draw_anew, &a);
	sampler_close(&a);
}

static void runs_do_not_overlap(void **state)
{
	struct scene_samples_params p;
	struct sim_err e;
	(void)state;
	assert_ok(sim_field_defaults(scene_samples_fields, &p, test_err()));
	assert_ok(scene_samples_check(&p, &e));
	p.every_s = 2;
	assert_ok(scene_samples_check(&p, &e));
	p.every_s = 1.5;
	assert_int_equal(scene_samples_check(&p, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "a run of 2000 buckets of 1 ms takes 2 s, and the next one begins "
	    "1.5 s behind its begin (every).");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_sent_again_is_what_was_lost),
	    cmocka_unit_test(what_was_not_lost_is_told_by_its_start),
	    cmocka_unit_test(losses_come_again_after_a_round_trip_or_a_timer),
	    cmocka_unit_test(a_full_port_is_a_marked_burst),
	    cmocka_unit_test(other_losses_meet_bursts_by_chance),
	    cmocka_unit_test(bursts_that_overlap_are_no_faster),
	    cmocka_unit_test(each_moment_is_sampled_as_often),
	    cmocka_unit_test(hosts_are_apart),
	    cmocka_unit_test(clocks_put_times_off),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(runs_do_not_overlap),
	};
	return cmocka_run_group_tests_name("models/scene/samples", tests, NULL,
	    NULL);
}
