/* experiments/spec/noise.c -- what a spec says of noise, and what it can't.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "experiments/spec/config.h"

/* A rate that is cut at 1 would be of another law than the spec says. */
static int noise_check(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct scene_noise_params *p)
{
	const struct sim_yaml_node *classes = sim_yaml_get(node, "classes");
	const double most = fmin(1, p->rate.b * p->scale) * p->times;
	if (p->times == 1)
		return 0;
	if (most > 1)
		return sim_yaml_mistake(y, sim_yaml_get(node, "times"),
		    "times: rates up to %g times %g are above 1.",
		    fmin(1, p->rate.b * p->scale), p->times);
	if (p->classes == 0)
		return sim_yaml_mistake(y, classes,
		    "classes must not be empty.");
	return t ? xp_classes_check(y, classes ? classes : node, t, p->classes)
		 : 0;
}

int xp_noise_read(struct sim_yaml *y, const struct topo *t,
    struct scene_noise_params *p, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "noise");
	const size_t had = y->n_mistakes;
	const int rc =
	    sim_yaml_read(y, node, y->root, scene_noise_fields, NULL, p, e);
	return rc == 0 && node && y->n_mistakes == had
	    ? noise_check(y, node, t, p)
	    : rc;
}
