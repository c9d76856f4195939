/* experiments/bulk/bulk.c -- planes auto, exact and skip: flows in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/bulk/bulk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/spec/config.h"
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "results/score.h"
#include "sim/vec.h"

struct xp_bulk {
	enum xp_bulk_by by, ran; /* as asked for; the last epoch, never AUTO */
	int all; /* some algorithm needs the flows that lost nothing, too */
	struct bulk *exact;
	struct bulk_skip *skip;
	const struct scene_samples_params *sampled; /* NULL: nobody asks */
	struct scene_samples samples;
	struct obs window;
	struct losses lost;
};

enum xp_bulk_by xp_bulk_chosen(const struct xp_config *c)
{
	return c->looks ? XP_BULK_EXACT : XP_BULK_AUTO;
}

struct xp_end xp_bulk_end(const struct xp_config *c)
{
	return (struct xp_end){c->scene.traffic.epoch_s, "traffic.epoch", 1};
}

/* Of a scene of seed 0: whether skipping fits may be another matter in another
 * run, but the choice must be one for all runs. */
int xp_bulk_weigh(const struct topo *t, struct xp_config *c, struct sim_err *e)
{
	const struct sim_seed where = {0};
	struct scene scene = {0};
	if (c->needs & OBS_ALL_FLOWS)
		return 0;
	const int rc = scene_draw(&scene, t, &c->scene, &where, e);
	if (rc == 0 && bulk_skip_fits(&scene, NULL) == 0)
		c->skip_excess =
		    (double)scene.traffic.n_flows * bulk_skip_excess(&scene);
	scene_free(&scene);
	/* A scene that can't be drawn is told by who draws it for a run. */
	return rc == SIM_ENOMEM ? rc : 0;
}

/* Flows cross three links at least, as none stays under its ToR. */
double xp_bulk_bytes(const struct topo *t, const struct xp_config *c)
{
#define X(type, ...) +sizeof(type)
	const double row = 0 OBS_FLOW_COLUMNS(X) + sizeof(uint64_t) +
	    3 * (sizeof(topo_link) + sizeof(uint32_t));
#undef X
	return c->needs & OBS_ALL_FLOWS
	    ? row * t->n_hosts * c->scene.traffic.conns.a
	    : 0;
}

int xp_bulk_open(struct xp_bulk **out, enum xp_bulk_by by, int all,
    struct sim_err *e)
{
	struct xp_bulk *b;
	*out = NULL;
	int rc = SIM_ZALLOC(&b, 1, e);
	if (rc < 0)
		return rc;
	b->by = by;
	b->all = all;
	if ((rc = bulk_open(&b->exact, NULL, e)) < 0 ||
	    (rc = bulk_skip_open(&b->skip, e)) < 0)
		xp_bulk_close(b);
	else
		*out = b;
	return rc;
}

void xp_bulk_close(struct xp_bulk *b)
{
	if (!b)
		return;
	bulk_close(b->exact);
	bulk_skip_close(b->skip);
	scene_samples_free(&b->samples);
	obs_free(&b->window);
	losses_free(&b->lost);
	free(b);
}

/* Of whatever plane made the window: samples are drawn from its flows. */
static int bulk_sample(struct xp_bulk *b, const struct scene *scene,
    struct sim_err *e)
{
	const int rc =
	    scene_samples_draw(&b->samples, b->sampled, scene, &b->window, e);
	b->window.runs = &b->samples.runs;
	b->window.samples = &b->samples.rows;
	b->window.retx_ns = b->samples.retx_ns;
	return rc;
}

int xp_bulk_epoch(struct xp_bulk *b, const struct scene *scene,
    const struct obs **w, const struct losses **lost,
    struct res_trial_metrics *m, struct sim_err *e)
{
	int rc;
	b->ran = b->by;
	if (b->by == XP_BULK_AUTO)
		b->ran = !b->all && bulk_skip_fits(scene, NULL) == 0
		    ? XP_BULK_SKIP
		    : XP_BULK_EXACT;
	/* Skipping draws only the flows that lose, so it has no others to give.
	 * A spec that asks for both was refused when it was read, by
	 * xp_plane_check_needs(). */
	assert(!b->all || b->ran != XP_BULK_SKIP);
	if (b->ran == XP_BULK_SKIP)
		rc = bulk_skip_epoch(b->skip, scene, &b->window, &b->lost, e);
	else
		rc = bulk_epoch(b->exact, scene, b->all, &b->window, &b->lost,
		    e);
	if (rc == 0 && b->sampled)
		rc = bulk_sample(b, scene, e);
	if (rc < 0)
		return rc;
	res_score_trial(&b->window, &scene->truth, &b->lost, m);
	*w = &b->window;
	*lost = &b->lost;
	return 0;
}

/* The same flows once more, with those that lost nothing, in blocks: each is a
 * function of the scene and its number (models/bulk/bulk.h). */
static int tell_all(struct xp_bulk *b, const struct scene *scene,
    const struct xp_flow_listener *to, struct sim_err *e)
{
	enum { BLOCK = 65536 };
	const uint64_t n = scene->traffic.n_flows;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_begin(b->exact, scene, e);
	for (uint64_t i = 0; rc == 0 && i < n; i += BLOCK) {
		obs_clear(&w);
		losses_clear(&lost);
		rc = bulk_run(b->exact, i, n - i < BLOCK ? n : i + BLOCK, 1, &w,
		    &lost, e);
		if (rc == 0)
			rc = to->hear(to->arg, &w, &lost, e);
	}
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

int xp_bulk_flows(struct xp_bulk *b, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e)
{
	*all = b->ran != XP_BULK_SKIP;
	if (*all && !b->window.complete)
		return tell_all(b, scene, to, e);
	return to->hear(to->arg, &b->window, &b->lost, e);
}

const struct xp_plane *xp_bulk_ran(const struct xp_bulk *b)
{
	return b->ran == XP_BULK_SKIP ? &xp_plane_skip : &xp_plane_exact;
}

void xp_bulk_print(const char *plane, const struct res_trial_metrics *m,
    FILE *out)
{
	fprintf(out, "%.0f flows, of which %.0f lost %.0f packets (plane %s)\n",
	    m->n_flows, m->n_failed_flows, m->n_drops, plane);
}

/* After_s is NaN, since an epoch as a whole has no time of detection. */
int xp_bulk_tell(const struct xp_listener *to, const struct obs *w,
    const struct losses *lost, struct sim_err *e)
{
	const struct xp_window all = {.seen = w,
	    .lost = lost,
	    .n_rows = 1,
	    .after_s = NAN};
	return to->hear ? to->hear(to->arg, &all, e) : 0;
}

/* --- what specs ask in vain ----------------------------------------------- */

/* Whether a model fits is a question about a scene, so one is drawn, with seed
 * 0, for nothing but to ask. What differs between the scenes of one spec (which
 * random links fail) is checked apart. */
int xp_bulk_check_fits(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c,
    int (*fits)(const struct scene *s, struct sim_err *e), struct sim_err *e)
{
	const struct sim_seed where = {0};
	struct scene scene = {0};
	struct sim_err why;
	int rc = scene_draw(&scene, t, &c->scene, &where, &why);
	if (rc == 0)
		rc = fits(&scene, &why);
	scene_free(&scene);
	return xp_take_mistake(y, sim_yaml_get(y->root, "plane"), rc, &why, e);
}

static int skip_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	/* Without a network (other mistakes were found first) nothing can be
	 * checked. */
	return t ? xp_bulk_check_fits(y, t, c, bulk_skip_fits, e) : 0;
}

/* --- planes --------------------------------------------------------------- */

/* Which of the three it is says what C asks for. */
static int bulk_plane_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct xp_plane *of = xp_plane_of(c);
	const unsigned needs = c->needs;
	struct xp_bulk *b;
	int rc = xp_bulk_open(&b,
	    of == &xp_plane_auto       ? xp_bulk_chosen(c)
		: of == &xp_plane_skip ? XP_BULK_SKIP
				       : XP_BULK_EXACT,
	    (needs & OBS_ALL_FLOWS) != 0, e);
	(void)t;
	if (rc == 0 && needs & OBS_SAMPLES)
		b->sampled = &c->scene.samples;
	*p = b;
	return rc;
}

static int plane_run(void *p, struct scene *scene, const struct xp_listener *to,
    struct res_trial_metrics row[], struct sim_err *e)
{
	const struct obs *w;
	const struct losses *lost;
	int rc = xp_bulk_epoch(p, scene, &w, &lost, &row[0], e);
	return rc < 0 ? rc : xp_bulk_tell(to, w, lost, e);
}

static int plane_again(void *p, const struct xp_listener *to, struct sim_err *e)
{
	const struct xp_bulk *b = p;
	return xp_bulk_tell(to, &b->window, &b->lost, e);
}

static int plane_flows(void *p, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e)
{
	return xp_bulk_flows(p, scene, to, all, e);
}

static void plane_print(const void *p, const struct res_trial_metrics row[],
    FILE *out)
{
	xp_bulk_print(xp_bulk_ran(p)->name, &row[0], out);
}

static void plane_close(void *p)
{
	xp_bulk_close(p);
}

const struct xp_plane xp_plane_auto = {
    .name = "auto",
    .doc = "flows in bulk: skip where it fits and pays, else exact",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_ALL_FLOWS | OBS_SAMPLES,
    .fills = RES_OF_SCENE | RES_OF_FLOWS | RES_OF_BUFFERS,
    .has_buffers = 1,
    .has_hosts = 1,
    .end = xp_bulk_end,
    .weigh = xp_bulk_weigh,
    .bytes = xp_bulk_bytes,
    .open = bulk_plane_open,
    .run = plane_run,
    .again = plane_again,
    .flows = plane_flows,
    .print = plane_print,
    .close = plane_close,
};

const struct xp_plane xp_plane_exact = {
    .name = "exact",
    .doc = "flows in bulk, each drawn",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_ALL_FLOWS | OBS_SAMPLES,
    .fills = RES_OF_SCENE | RES_OF_FLOWS | RES_OF_BUFFERS,
    .has_buffers = 1,
    .has_hosts = 1,
    .end = xp_bulk_end,
    .bytes = xp_bulk_bytes,
    .open = bulk_plane_open,
    .run = plane_run,
    .again = plane_again,
    .flows = plane_flows,
    .print = plane_print,
    .close = plane_close,
};

const struct xp_plane xp_plane_skip = {
    .name = "skip",
    .doc = "flows in bulk, only those that lose are drawn",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_SAMPLES,
    .fills = RES_OF_SCENE | RES_OF_FLOWS,
    .no_buffers = "it draws flows by rates that hold for the epoch",
    .has_hosts = 1,
    .check = skip_check,
    .end = xp_bulk_end,
    .open = bulk_plane_open,
    .run = plane_run,
    .again = plane_again,
    .flows = plane_flows,
    .print = plane_print,
    .close = plane_close,
};
