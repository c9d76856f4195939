/* experiments/spec/origin.c -- what results depend on beside the spec's text.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "sim/bytes.h"
#include "sim/input.h"
#include "sim/text.h"
#include "sim/vec.h"

int xp_note_input(struct xp_spec *s, const char *path, struct sim_err *e)
{
	int rc = SIM_RESERVE(&s->input, &s->cap_inputs, s->n_inputs + 1, e);
	if (rc == 0)
		rc = sim_dup(&s->input[s->n_inputs], path, e);
	s->n_inputs += rc == 0;
	return rc;
}

int xp_note_override(struct xp_spec *s, const char *text, struct sim_err *e)
{
	const char *had = s->overrides ? s->overrides : "";
	const size_t n = strlen(had) + strlen(text) + 2;
	char *joined;
	int rc = SIM_ZALLOC(&joined, n, e);
	if (rc < 0)
		return rc;
	snprintf(joined, n, "%s%s%s", had, *had ? "\n" : "", text);
	free(s->overrides);
	s->overrides = joined;
	return 0;
}

/* What a GraphML file holds decides about results as much as the spec. Its hash
 * is noted among the overrides, so that a sweep does not go on with results
 * from an older state of the file. */
static int origin_graphml(struct xp_spec *s, const struct xp_topology *x,
    struct sim_err *e)
{
	char line[sizeof(x->file) + 64], *path;
	unsigned char block[4096];
	uint64_t hash = SIM_FNV_START;
	const char *why;
	FILE *f = NULL;
	size_t n;
	if (x->kind != XP_TOPO_GRAPHML)
		return 0;
	int rc = xp_topology_path(&path, x, s->folder, e);
	if (rc < 0)
		return rc;
	if (!(f = sim_input_open(path, &why))) {
		rc = sim_fail(e, SIM_EIO, "%s: %s.", path, why);
		goto out;
	}
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		hash = sim_fnv(hash, block, n);
	snprintf(line, sizeof(line),
	    "topology.file %s" RES_CUBE_SUM "%016" PRIx64, x->file, hash);
	/* Many points share one file. */
	if (!s->overrides || !strstr(s->overrides, line)) {
		rc = xp_note_override(s, line, e);
		if (rc == 0)
			rc = xp_note_input(s, path, e);
	}
	fclose(f);
out:
	free(path);
	return rc;
}

static int origin_warn(struct xp_spec *s, const struct xp_algo *a,
    struct sim_err *e)
{
	struct sim_err line;
	if (!plug_warns(a->plug))
		return 0;
	sim_fail(&line, 0, "%s: algorithm %s " PLUG_WARNS, s->yaml.name,
	    a->label, plug_warns(a->plug));
	int rc =
	    SIM_RESERVE(&s->warning, &s->cap_warnings, s->n_warnings + 1, e);
	if (rc == 0)
		rc = sim_dup(&s->warning[s->n_warnings], line.msg, e);
	s->n_warnings += rc == 0;
	return rc;
}

/* So is that of each program that is an algorithm, and of the files it names. */
static int origin_plugs(struct xp_spec *s, const struct xp_config *c,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->n_algos; i++) {
		const struct xp_algo *a = &c->algo[i];
		char line[sizeof(a->label) + 64];
		if (!a->plug)
			continue;
		snprintf(line, sizeof(line),
		    "algorithm %s" RES_CUBE_SUM "%016" PRIx64, a->label,
		    plug_hash(a->plug));
		if (!s->overrides || !strstr(s->overrides, line))
			if ((rc = xp_note_override(s, line, e)) == 0)
				rc = origin_warn(s, a, e);
	}
	return rc;
}

int xp_note_origin(struct xp_spec *s, const struct xp_config *c,
    struct sim_err *e)
{
	const int rc = origin_graphml(s, &c->topology, e);
	return rc < 0 ? rc : origin_plugs(s, c, e);
}
