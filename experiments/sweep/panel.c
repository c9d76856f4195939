/* experiments/sweep/panel.c -- the algorithms of one point, and what they said.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/panel.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "sim/vec.h"

static int open_algo(struct xp_panel *p, size_t i, const struct topo *told,
    struct algo_common *common, struct sim_err *e)
{
	const struct xp_algo *a = &p->config.algo[i];
	if (a->unable)
		return 0;
	const int rc = algo_open(a->ops, &p->work[i], told, a->params, e);
	if (rc < 0)
		return sim_wrap(e, rc, "algorithm %s", a->label);
	if (a->ops->join)
		a->ops->join(p->work[i], common);
	return 0;
}

int xp_panel_open(struct xp_panel *p, size_t point,
    const struct xp_config *drawn, struct xp_config *c, const struct topo *told,
    struct algo_common *common, size_t n_along, struct sim_err *e)
{
	const size_t n = c->n_algos;
	int rc;
	*p = (struct xp_panel){.point = point, .config = *drawn};
	memcpy(p->config.label, c->label, sizeof(c->label));
	p->config.algo = c->algo;
	p->config.n_algos = n;
	c->algo = NULL;
	c->n_algos = 0;
	if ((rc = SIM_ZALLOC(&p->work, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->verdicts, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->scores, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->row_scores, n * n_along, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = open_algo(p, i, told, common, e);
	return rc;
}

void xp_panel_free(struct xp_panel *p)
{
	for (size_t i = 0; i < p->config.n_algos; i++) {
		if (p->work && p->work[i])
			algo_close(p->config.algo[i].ops, p->work[i]);
		if (p->verdicts)
			algo_verdicts_free(&p->verdicts[i]);
	}
	xp_algos_free(p->config.algo, p->config.n_algos);
	free(p->work);
	free(p->verdicts);
	free(p->scores);
	free(p->row_scores);
	*p = (struct xp_panel){0};
}
