/* experiments/cluster/plan.c -- a sweep as shards: which, of what, and where.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cluster/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cluster/engine.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/shard.h"
#include "results/file.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "sim/yaml.h"

#define PLAN_AT(member)   offsetof(struct xp_plan, member)
#define PLAN_SIZE(member) sizeof(((struct xp_plan *)0)->member)

static const struct sim_field plan_fields[] = {
    {"figure", SIM_F_STR, PLAN_AT(figure), PLAN_SIZE(figure),
	.doc = "the spec's"},
    {"output", SIM_F_STR, PLAN_AT(output), PLAN_SIZE(output),
	.doc = "what the shards are merged into"},
    {"engine", SIM_F_ENUM, PLAN_AT(engine), .names = xp_engine_names,
	.doc = "who runs them"},
    {"shards", SIM_F_U32, PLAN_AT(n_shards), .min = 1, .max = XP_MAX_SHARDS,
	.doc = "how many there are"},
    {0},
};

int xp_plan_folder(char **folder, const char *out, struct sim_err *e)
{
	return xp_run_path(folder, out, ".cluster", e);
}

/* Jobs are found again by name alone, so no id of one can get lost between
 * submitting it and noting that. The hash is that of the place. */
void xp_plan_name(struct xp_plan *p)
{
	const uint64_t place =
	    sim_fnv(SIM_FNV_START, p->output, strlen(p->output));
	snprintf(p->name, sizeof(p->name), "culprit-%s-%08" PRIx32 "-%" PRIu32,
	    p->figure, (uint32_t)(place ^ place >> 32), p->n_shards);
}

int xp_plan_write(const struct xp_plan *p, const char *folder,
    struct sim_err *e)
{
	char text[3 * sizeof(*p)], path[4200];
	struct sim_text t = {text, sizeof(text), 0};
	sim_put(&t,
	    "# What `culprit submit` was asked for, for `culprit status "
	    "--cluster`.\nfigure: ");
	sim_put_scalar(&t, p->figure, 1);
	sim_put(&t, "\noutput: ");
	sim_put_scalar(&t, p->output, 1);
	sim_put(&t, "\nengine: %s\nshards: %" PRIu32 "\n",
	    xp_engine_names[p->engine], p->n_shards);
	snprintf(path, sizeof(path), "%s/plan.yaml", folder);
	return t.n < sizeof(text)
	    ? res_file_write(path, text, t.n, e)
	    : sim_fail(e, SIM_ELIMIT, "the name %.40s... is too long.",
		  p->output);
}

int xp_plan_read(struct xp_plan *p, const char *folder, struct sim_err *e)
{
	struct sim_yaml y = {0};
	char path[4200];
	*p = (struct xp_plan){0};
	snprintf(path, sizeof(path), "%s/plan.yaml", folder);
	int rc = sim_yaml_load(&y, path, e);
	if (rc == 0)
		rc = sim_yaml_read(&y, y.root, y.root, plan_fields, NULL, p, e);
	if (rc == 0)
		rc = sim_yaml_verdict(&y, e);
	sim_yaml_free(&y);
	if (rc == 0)
		xp_plan_name(p);
	return rc;
}

int xp_plan_shard(char **path, const struct xp_plan *p, const char *folder,
    uint32_t i, const char *suffix, struct sim_err *e)
{
	const size_t size =
	    strlen(folder) + strlen(p->figure) + strlen(suffix) + 32;
	const int rc = sim_zalloc(path, size, 1, e);
	if (rc == 0)
		snprintf(*path, size, "%s/%s.%" PRIu32 "-of-%" PRIu32 "%s",
		    folder, p->figure, i + 1, p->n_shards, suffix);
	return rc;
}
