/* experiments/bulk/vigil_matlab.c -- plane vigil_matlab: 007's own simulator.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/bulk/bulk.h"
#include "models/bulk/vigil_matlab.h"
#include "results/score.h"
#include "sim/vec.h"

struct vigil {
	int all; /* some algorithm needs the flows that lost nothing, too */
	struct obs window;
	struct losses lost;
};

/* As many connections of each host as the released simulator opens in an epoch
 * of 30 s: 16 a second, though the paper says 2. A spec may set its own. */
static void vigil_prepare(const struct sim_yaml *y, struct xp_config *c)
{
	if (!sim_yaml_get(sim_yaml_get(y->root, "traffic"), "conns"))
		c->scene.traffic.conns = (struct sim_dist){SIM_FIXED,
		    BULK_VIGIL_MATLAB_CONNS, BULK_VIGIL_MATLAB_CONNS};
}

static int vigil_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *per =
	    sim_yaml_get(sim_yaml_get(y->root, "noise"), "per");
	/* By its rules noise is per flow, whatever other planes have unless
	 * they are told. */
	int rc = 0;
	if (per && c->scene.noise.per == SCENE_NOISE_PER_LINK)
		rc = sim_yaml_mistake(y, per,
		    "per link: on plane vigil_matlab noise is per flow.");
	return rc < 0 || !t
	    ? rc
	    : xp_bulk_check_fits(y, t, c, bulk_vigil_matlab_fits, e);
}

static int vigil_open(void **p, const struct topo *t, const struct xp_config *c,
    struct sim_err *e)
{
	struct vigil *v;
	int rc = SIM_ZALLOC(&v, 1, e);
	(void)t;
	*p = v;
	if (rc == 0)
		v->all = (c->needs & OBS_ALL_FLOWS) != 0;
	return rc;
}

static int vigil_run(void *p, struct scene *scene, const struct xp_listener *to,
    struct res_trial_metrics row[], struct sim_err *e)
{
	struct vigil *v = p;
	int rc =
	    bulk_vigil_matlab_epoch(scene, v->all, &v->window, &v->lost, e);
	if (rc < 0)
		return rc;
	res_score_trial(&v->window, &scene->truth, &v->lost, &row[0]);
	return xp_bulk_tell(to, &v->window, &v->lost, e);
}

static int vigil_again(void *p, const struct xp_listener *to, struct sim_err *e)
{
	const struct vigil *v = p;
	return xp_bulk_tell(to, &v->window, &v->lost, e);
}

static int vigil_flows(void *p, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e)
{
	const struct vigil *v = p;
	struct obs w = {0};
	struct losses lost = {0};
	*all = 1;
	/* The window that is just being told must stay, so the epoch is run
	 * again beside it; equal scenes give equal epochs. */
	int rc = v->window.complete
	    ? to->hear(to->arg, &v->window, &v->lost, e)
	    : bulk_vigil_matlab_epoch(scene, 1, &w, &lost, e);
	if (rc == 0 && !v->window.complete)
		rc = to->hear(to->arg, &w, &lost, e);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

static void vigil_print(const void *p, const struct res_trial_metrics row[],
    FILE *out)
{
	(void)p;
	xp_bulk_print("vigil_matlab", &row[0], out);
}

static void vigil_close(void *p)
{
	struct vigil *v = p;
	if (!v)
		return;
	obs_free(&v->window);
	losses_free(&v->lost);
	free(v);
}

const struct xp_plane xp_plane_vigil_matlab = {
    .name = "vigil_matlab",
    .doc = "007's released simulator; traffic.conns is 480 unless set",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_ALL_FLOWS,
    .fills = RES_OF_SCENE | RES_OF_FLOWS,
    .no_buffers = "007's released simulator has none",
    .prepare = vigil_prepare,
    .check = vigil_check,
    .end = xp_bulk_end,
    .open = vigil_open,
    .run = vigil_run,
    .again = vigil_again,
    .flows = vigil_flows,
    .print = vigil_print,
    .close = vigil_close,
};
