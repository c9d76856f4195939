/* experiments/epoch/replay.c -- algorithms on an epoch's file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/epoch/replay.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "experiments/sweep/answer.h"
#include "models/telemetry/telemetry.h"
#include "results/score.h"
#include "sim/vec.h"

/* --- which algorithms ------------------------------------------------------*/

/* Only what algorithms are asked is read of the spec here: any other key would
 * be set in vain. */
static int replay_set(struct sim_yaml *y, const struct xp_replay_asks *asks,
    struct sim_err *e)
{
	static const char key[] = "algorithms";
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < asks->n_set; i++) {
		const size_t n = strcspn(asks->set[i], ".=");
		rc = n == strlen(key) && strncmp(asks->set[i], key, n) == 0
		    ? sim_yaml_set(y, asks->set[i], e)
		    : sim_fail(e, SIM_EINVAL,
			  "--set %.60s: of an epoch's spec only algorithms can "
			  "be set, e.g. algorithms.0.threshold=0.02.",
			  asks->set[i]);
	}
	return rc;
}

static int parse_spec(struct sim_yaml *y, const struct xp_replay *r,
    const char *path, const struct xp_replay_asks *asks, struct sim_err *e)
{
	const char *spec = r->epoch.info.spec;
	int rc = sim_yaml_parse(y, path, spec, strlen(spec), e);
	if (rc == 0 && y->root->kind != SIM_YAML_MAP)
		rc = sim_fail(e, SIM_EPARSE,
		    "cannot read %s: its spec is no map of keys.", path);
	return rc < 0 ? rc : replay_set(y, asks, e);
}

static int add_algo(struct xp_replay *r, struct sim_yaml *y,
    const struct sim_yaml_node *node, uint32_t number, struct sim_err *e)
{
	struct xp_replayed *grown =
	    realloc(r->one, (r->n + 1) * sizeof(r->one[0]));
	if (!grown)
		return sim_fail(e, SIM_ENOMEM, "no memory for an algorithm.");
	r->one = grown;
	/* What is counted is freed. */
	struct xp_replayed *x = &grown[r->n++];
	*x = (struct xp_replayed){.number = number};
	int rc = xp_algo_read(y, node, r->plugs, number, &x->algo, e);
	return rc < 0 ? rc : sim_yaml_verdict(y, e);
}

/* Parts of a window (enum obs_part) that the file has. Not every telemetry of sums
 * says which way a flow took. */
static unsigned replay_holds(const struct xp_replay *r)
{
	const unsigned sums = r->epoch.info.telemetry;
	return (sums ? telemetry_holds(sums) : OBS_FLOWS | OBS_HOPS) |
	    (r->epoch.info.all_seen || r->epoch.info.complete ? OBS_ALL_FLOWS
							      : 0u);
}

/* The place in the list of the spec of the algorithm that has that label, or
 * NULL. Its label is its name unless it has another. */
static const struct sim_yaml_node *
find_algo_labelled(const struct sim_yaml_node *list, const char *label,
    uint32_t *number)
{
	for (size_t i = 0; list && list->kind == SIM_YAML_SEQ && i < list->n;
	     i++) {
		const struct sim_yaml_node *one = list->child[i];
		const struct sim_yaml_node *is = sim_yaml_get(one, "label");
		if (!is && one->kind == SIM_YAML_SCALAR)
			is = one;
		if (!is)
			is = sim_yaml_get(one, "name");
		*number = (uint32_t)i;
		if (is && is->kind == SIM_YAML_SCALAR &&
		    strcmp(is->text, label) == 0)
			return one;
	}
	return NULL;
}

/* An algorithm as the user has written it. */
static int add_asked(struct xp_replay *r, struct sim_yaml *spec,
    const char *text, uint32_t place, struct sim_err *e)
{
	const struct sim_yaml_node *list =
				       sim_yaml_get(spec->root, "algorithms"),
				   *node = NULL;
	struct sim_yaml y = {0};
	uint32_t number = place;
	int rc = sim_yaml_parse(&y, "--algorithm", text, strlen(text), e);
	if (rc == 0 && y.root->kind == SIM_YAML_SCALAR)
		node = find_algo_labelled(list, y.root->text, &number);
	if (rc == 0)
		rc = node ? add_algo(r, spec, node, number, e)
			  : add_algo(r, &y, y.root, place, e);
	sim_yaml_free(&y);
	return rc;
}

static int add_of_spec(struct xp_replay *r, struct sim_yaml *y,
    const char *path, struct sim_err *e)
{
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "algorithms");
	int rc = 0;
	if (!list || list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s names no algorithms; which --algorithm?", path);
	const struct sim_yaml_node *unable = sim_yaml_get(y->root, "unable");
	const int skips = unable && unable->kind == SIM_YAML_SCALAR &&
	    strcmp(unable->text, "skip") == 0;
	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		rc = add_algo(r, y, list->child[i], (uint32_t)i, e);
		/* As in the sweep; but were nobody left, that would not be
		 * told. */
		const int alone = r->n == 1 && i + 1 == list->n;
		if (rc == 0 && skips && !alone &&
		    r->one[r->n - 1].algo.ops->needs & ~replay_holds(r))
			free(r->one[--r->n].algo.params);
	}
	return rc;
}

/* Output is told apart by labels. */
static int replay_check_labels(const struct xp_replay *r, struct sim_err *e)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->one[k].algo.label,
				r->one[i].algo.label) == 0)
				return sim_fail(e, SIM_EINVAL,
				    "two algorithms are labelled \"%s\"; give "
				    "one a `label` of its own.",
				    r->one[i].algo.label);
	return 0;
}

static int check_needs(const struct xp_replay *r, const char *path,
    unsigned *needs, struct sim_err *e)
{
	const unsigned has = replay_holds(r);
	*needs = 0;
	for (size_t i = 0; i < r->n; i++) {
		const unsigned lacks = r->one[i].algo.ops->needs & ~has;
		*needs |= r->one[i].algo.ops->needs;
		if (lacks)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "%s reads %s; %s has none.",
			    r->one[i].algo.ops->name, obs_part_text(lacks),
			    path);
	}
	return 0;
}

static int take_algos(struct xp_replay *r, const char *path,
    const struct xp_replay_asks *asks, struct sim_err *e)
{
	struct sim_yaml y = {0};
	int rc = plug_set_open(&r->plugs, "", e);
	if (rc == 0)
		rc = parse_spec(&y, r, path, asks, e);
	if (rc == 0 && asks->n_algorithms == 0)
		rc = add_of_spec(r, &y, path, e);
	for (size_t i = 0; rc == 0 && i < asks->n_algorithms; i++)
		rc = add_asked(r, &y, asks->algorithm[i], (uint32_t)i, e);
	sim_yaml_free(&y);
	return rc < 0 ? rc : replay_check_labels(r, e);
}

int xp_replay_open(struct xp_replay *r, const char *path,
    const struct xp_replay_asks *asks, struct sim_err *e)
{
	unsigned needs;
	*r = (struct xp_replay){0};
	int rc = res_epoch_open(&r->epoch, path, asks->any, e);
	if (rc == 0 && (rc = take_algos(r, path, asks, e)) == 0 &&
	    (rc = check_needs(r, path, &needs, e)) == 0)
		/* As in a cell: if one algorithm needs them, all are shown the
		 * flows that lost nothing too. */
		rc = res_epoch_window(&r->epoch,
		    needs & OBS_ALL_FLOWS && !r->epoch.info.complete, e);
	if (rc < 0)
		xp_replay_free(r);
	return rc;
}

void xp_replay_free(struct xp_replay *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->one[i].algo.params);
		algo_verdicts_free(&r->one[i].verdicts);
	}
	free(r->one);
	plug_set_free(r->plugs);
	res_epoch_free(&r->epoch);
	*r = (struct xp_replay){0};
}

/* --- asking them -----------------------------------------------------------*/

static int replay_one(struct xp_replay *r, struct xp_replayed *x,
    struct sim_err *e)
{
	const struct res_epoch *ep = &r->epoch;
	const struct sim_seed where = {.seed = ep->info.seed,
	    .point = ep->info.tie_point,
	    .run = ep->info.run};
	void *work;
	int rc = algo_open(x->algo.ops, &work, &ep->topo, x->algo.params, e);
	if (rc < 0)
		return sim_wrap(e, rc, "algorithm %s", x->algo.label);
	rc = xp_answer(&x->algo, work, &where, x->number, &ep->window,
	    &x->verdicts, e);
	algo_close(x->algo.ops, work);
	if (rc == SIM_EDEP && x->algo.plug && e) {
		x->failed = *e;
		x->failed.code = rc;
		algo_verdicts_clear(&x->verdicts);
		return 0;
	}
	if (rc == 0 && ep->has_truth)
		rc = res_score_algo(&ep->window, &ep->truth, &ep->lost,
		    &x->verdicts, &x->metrics, e);
	return rc;
}

const struct sim_err *xp_replay_failed(const struct xp_replay *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->one[i].failed.code < 0)
			return &r->one[i].failed;
	return NULL;
}

int xp_replay_run(struct xp_replay *r, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < r->n; i++)
		rc = replay_one(r, &r->one[i], e);
	return rc;
}
