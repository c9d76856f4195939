/* tests/rigs/planes.c -- both bulk data planes behind one function.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/planes.h"

#include "tests/test.h"

void planes_open(struct planes *p)
{
	*p = (struct planes){0};
	assert_ok(bulk_open(&p->bulk, NULL, test_err()));
	assert_ok(bulk_skip_open(&p->skip, test_err()));
}

void planes_close(struct planes *p)
{
	bulk_close(p->bulk);
	bulk_skip_close(p->skip);
	obs_free(&p->window);
	losses_free(&p->lost);
}

void planes_run(struct planes *p, enum which which, struct scene *s)
{
	if (which == BULK)
		assert_ok(bulk_epoch(p->bulk, s, 0, &p->window, &p->lost,
		    test_err()));
	else
		assert_ok(bulk_skip_epoch(p->skip, s, &p->window, &p->lost,
		    test_err()));
}

/* What one epoch of a plane shows. */
struct features {
	double failed, drops;
	double class_drops[TOPO_N_LINK_CLASSES];
	double at_failed;   /* drops on failed links */
	double two_failed;  /* lossy flows that cross two failed links */
	double two_dropped; /* flows that lost on two links */
	double naive;       /* failed flows, were double hits halved */
	double all_lost;    /* flows that lost every packet */
	double low_tor;     /* lossy flows to ToRs 0 to 2 */
	double first_host;  /* lossy flows of the first host */
	double n_flows;     /* that ran */
};
_Static_assert(sizeof(struct features) == PLANES_FEATURES * sizeof(double),
    "a comparison has all features");

static struct features features_of(const struct scene *s,
    const struct planes *p, uint64_t histogram[])
{
	const struct obs *w = &p->window;
	struct features x = {.n_flows = (double)w->n_flows};
	for (size_t i = 0; i < w->flows.n; i++) {
		const uint32_t *drops = p->lost.drops + w->hops.off[i];
		unsigned n_failed = 0, n_dropping = 0;
		for (unsigned j = 0; j < obs_n_hops(w, i); j++) {
			const topo_link l = obs_path(w, i)[j];
			const int faulty = truth_is_faulty(&s->truth, l);
			x.class_drops[topo_class_of(s->topo, l)] += drops[j];
			x.at_failed += faulty * drops[j];
			n_failed += faulty;
			n_dropping += drops[j] > 0;
		}
		const uint32_t lost = w->flows.n_retx[i];
		x.failed++;
		x.drops += lost;
		x.two_failed += n_failed > 1;
		x.two_dropped += n_dropping > 1;
		x.naive += n_failed > 1 ? 1.0 / n_failed : 1;
		x.all_lost += lost == w->flows.n_pkts[i];
		x.first_host += w->flows.src_host[i] == 0;
		x.low_tor += topo_tor_of(s->topo, w->flows.dst_host[i]) < 3;
		histogram[lost < PLANES_HISTOGRAM ? lost
						  : PLANES_HISTOGRAM - 1]++;
	}
	return x;
}

void planes_compare(struct planes *p, struct scenes *s, uint32_t n_epochs,
    struct planes_comparison *c)
{
	memset(c, 0, sizeof(*c));
	for (uint32_t run = 0; run < n_epochs; run++) {
		union {
			struct features f;
			double v[PLANES_FEATURES];
		} x[2];
		struct scene *scene = scenes_draw(s, run);
		for (enum which which = BULK; which <= SKIP; which++) {
			planes_run(p, which, scene);
			if (which == SKIP)
				scenes_assert_sound(&s->topo, &p->window,
				    &p->lost);
			assert_true(truth_has_host_off(&scene->truth) ||
			    p->window.n_flows == scene->traffic.n_flows);
			x[which].f = features_of(scene, p, c->histogram[which]);
		}
		for (int i = 0; i < PLANES_FEATURES; i++)
			law_add(&c->difference[i], x[SKIP].v[i] - x[BULK].v[i]);
		law_add(&c->failed, x[BULK].f.failed);
		law_add(&c->naive_difference,
		    x[SKIP].f.naive - x[BULK].f.failed);
	}
}

void planes_assert_equal_laws(const struct planes_comparison *c,
    const char *what)
{
	for (int i = 0; i < PLANES_FEATURES; i++) {
		const double z = law_z(&c->difference[i], 0);
		if (!(fabs(z) < PLANES_ERRORS))
			fail_msg("%s: feature %d differs by %.2f standard "
				 "errors, seed %ju",
			    what, i, z, (uintmax_t)test_seed());
	}
	const double p = law_chi2_equal(c->histogram[BULK], c->histogram[SKIP],
	    PLANES_HISTOGRAM);
	if (!(p >= PLANES_LEVEL))
		fail_msg("%s: drops a flow, p = %g, seed %ju", what, p,
		    (uintmax_t)test_seed());
}
