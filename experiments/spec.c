/* experiments/spec.c -- one YAML file a figure: what to run, over what sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config.h"
#include "sim/vec.h"

#define MAX_POINTS 100000

const struct sim_field xp_head_fields[] = {
    {"figure", SIM_F_STR, offsetof(struct xp_spec, figure),
     .size = sizeof(((struct xp_spec *)0)->figure),
     .doc = "name of the figure and its files: a-z, 0-9, _"},
    {"title", SIM_F_STR, offsetof(struct xp_spec, title),
     .size = sizeof(((struct xp_spec *)0)->title), .def = "",
     .doc = "what it shows"},
    {"paper", SIM_F_STR, offsetof(struct xp_spec, paper),
     .size = sizeof(((struct xp_spec *)0)->paper), .def = "",
     .doc = "what it redraws"},
    {"seed", SIM_F_U64, offsetof(struct xp_spec, seed), .def = "1",
     .doc = "names all random streams"},
    {"runs", SIM_F_U32, offsetof(struct xp_spec, runs), .min = 1, .max = 1e6,
     .unit = "runs", .def = "1",
     .doc = "independent repetitions of each point"},
    {0},
};

/* Keys of the root that the readers of the configuration and of the head
 * leave to each other. */
static const char *const head_keys[] = {
    "figure", "title",	"paper",      "seed",  "runs",	 "topology", "traffic",
    "noise",  "faults", "algorithms", "sweep", "claims", "smoke",    NULL};
static const char *const other_keys[] = {
    "plane",	  "common", "topology", "traffic", "noise", "faults",
    "algorithms", "sweep",  "claims",	"smoke",   NULL};

static int read_file(struct xp_spec *s, const char *path, struct sim_err *e)
{
	FILE *f = fopen(path, "rb");
	int rc = 0;
	if (!f)
		return sim_fail(e, SIM_EIO, "%s: %s.", path, strerror(errno));
	size_t cap = 0, n = 0, got = 0;
	do {
		n += got;
		rc = SIM_RESERVE(&s->text, &cap, n + 4096, e);
	} while (rc == 0 && n <= 1 << 20 &&
		 (got = fread(s->text + n, 1, 4096 - 1, f)) > 0);
	if (rc == 0 && ferror(f))
		rc = sim_fail(e, SIM_EIO, "%s: %s.", path, strerror(errno));
	fclose(f);
	if (rc < 0)
		return rc;
	s->text[n] = '\0';
	s->text_bytes = n;
	const char *slash = strrchr(path, '/');
	if ((rc = sim_yaml_dup(&s->folder, path, e)) == 0)
		s->folder[slash ? slash + 1 - path : 0] = '\0';
	return rc;
}

/* --- overrides ----------------------------------------------------------- */

static int note_override(struct xp_spec *s, const char *text, struct sim_err *e)
{
	char *joined;
	size_t had = s->overrides ? strlen(s->overrides) : 0;
	int rc = sim_zalloc(&joined, had + strlen(text) + 2, 1, e);
	if (rc < 0)
		return rc;
	snprintf(joined, had + strlen(text) + 2, "%s%s%s",
		 s->overrides ? s->overrides : "", had ? "\n" : "", text);
	free(s->overrides);
	s->overrides = joined;
	return 0;
}

static int is_key(const char *const *keys, const char *key)
{
	for (; *keys; keys++)
		if (strcmp(*keys, key) == 0)
			return 1;
	return 0;
}

/* Smoke's keys are checked in any case, and put when asked. */
static int put_smoke(struct xp_spec *s, int wanted, struct sim_err *e)
{
	const struct sim_yaml_node *smoke = sim_yaml_get(s->yaml.root, "smoke");
	int rc = 0;
	if (!smoke)
		return wanted ? sim_yaml_mistake(
				    &s->yaml, NULL,
				    "there is no `smoke` section to run.")
			      : 0;
	if (smoke->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(&s->yaml, smoke,
					"smoke is a map of keys to replace.");
	for (size_t i = 0; rc == 0 && i < smoke->n; i++) {
		const char *key = smoke->key[i];
		if ((!is_key(head_keys, key) && !is_key(other_keys, key)) ||
		    strcmp(key, "smoke") == 0 || strcmp(key, "figure") == 0)
			rc = sim_yaml_mistake(&s->yaml, smoke->child[i],
					      "smoke can't replace \"%s\".",
					      key);
		else if (wanted)
			rc = sim_yaml_put(&s->yaml, key, smoke->child[i], e);
	}
	if (rc == 0 && wanted)
		rc = note_override(s, "--smoke", e);
	return rc;
}

/* --- sweep --------------------------------------------------------------- */

static int add_axis(struct xp_spec *s, size_t n_keys, struct xp_axis **out,
		    struct sim_err *e)
{
	struct xp_axis *grown =
	    realloc(s->axis, (s->n_axes + 1) * sizeof(s->axis[0]));
	if (!grown)
		return sim_fail(e, SIM_ENOMEM, "no memory for an axis.");
	s->axis = grown;
	*out = &s->axis[s->n_axes];
	**out = (struct xp_axis){0};
	int rc = SIM_ZALLOC(&(*out)->key, n_keys, e);
	if (rc == 0)
		s->n_axes++;
	return rc;
}

static int add_key(struct xp_spec *s, struct xp_axis *a, const char *path,
		   const struct sim_yaml_node *values)
{
	if (values->kind != SIM_YAML_SEQ || values->n == 0)
		return sim_yaml_mistake(
		    &s->yaml, values,
		    "%s: a sweep gives a list of at least one value.", path);
	if (a->n > 0 && values->n != a->n)
		return sim_yaml_mistake(
		    &s->yaml, values,
		    "%s has %zu values, the others of this zip have %zu.", path,
		    values->n, a->n);
	a->n = values->n;
	a->key[a->n_keys++] = (struct xp_sweep_key){path, values};
	return 0;
}

static int read_sweep_map(struct xp_spec *s, const struct sim_yaml_node *map,
			  int zip, struct sim_err *e)
{
	struct xp_axis *a = NULL;
	int rc = 0;
	if (map->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(
		    &s->yaml, map,
		    "grid and zip are maps of a key to its values.");
	for (size_t i = 0; rc == 0 && i < map->n; i++) {
		if (!zip || i == 0)
			rc = add_axis(s, zip ? map->n : 1, &a, e);
		if (rc == 0)
			rc = add_key(s, a, map->key[i], map->child[i]);
	}
	return rc;
}

static int read_sweep(struct xp_spec *s, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(s->yaml.root, "sweep");
	int rc = 0;
	s->n_points = 1;
	if (!node)
		return 0;
	if (node->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(
		    &s->yaml, node,
		    "sweep is a map with `grid`, `zip` or both.");
	if ((rc = sim_yaml_copy(&s->sweep, node, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < s->sweep->n; i++) {
		const char *key = s->sweep->key[i];
		int zip = strcmp(key, "zip") == 0;
		if (!zip && strcmp(key, "grid") != 0)
			rc = sim_yaml_mistake(
			    &s->yaml, s->sweep->child[i],
			    "a sweep has `grid` and `zip`, not \"%s\".", key);
		else
			rc = read_sweep_map(s, s->sweep->child[i], zip, e);
	}
	for (size_t i = 0; i < s->n_axes; i++) {
		s->n_points *= s->axis[i].n ? s->axis[i].n : 1;
		if (s->n_points > MAX_POINTS)
			return sim_yaml_mistake(
			    &s->yaml, node,
			    "the sweep has more than %d points.", MAX_POINTS);
	}
	return rc;
}

/* Place along each axis: the last varies fastest. */
static size_t place_of(const struct xp_spec *s, size_t axis, size_t point)
{
	for (size_t i = s->n_axes; --i > axis;)
		point /= s->axis[i].n;
	return point % s->axis[axis].n;
}

static int put_point(struct xp_spec *s, size_t point, struct sim_err *e)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct xp_axis *a = &s->axis[i];
		const size_t at = place_of(s, i, point);
		for (size_t k = 0; k < a->n_keys; k++) {
			const struct sim_yaml_node *v =
			    a->key[k].values->child[at];
			struct sim_err why;
			int rc =
			    sim_yaml_put(&s->yaml, a->key[k].path, v, &why);
			if (rc == SIM_ENOMEM)
				return sim_fail(e, rc, "%s", why.msg);
			if (rc < 0)
				return sim_yaml_mistake(
				    &s->yaml, v, "sweep of %s: %s",
				    a->key[k].path, why.msg);
		}
	}
	return 0;
}

int xp_spec_point(struct xp_spec *s, size_t point, struct xp_config *c,
		  struct sim_err *e)
{
	int rc = put_point(s, point, e);
	if (rc == 0)
		rc = xp_config_read(&s->yaml, head_keys, s->folder, c, e);
	return rc < 0 ? rc : sim_yaml_verdict(&s->yaml, e);
}

/* --- loading ------------------------------------------------------------- */

/* Every point, up to the first that has a mistake: later ones would mostly
 * repeat it. */
static int check_points(struct xp_spec *s, struct sim_err *e)
{
	struct xp_config c = {0};
	int rc = 0;
	for (size_t p = 0; rc == 0 && p < s->n_points; p++) {
		rc = put_point(s, p, e);
		if (rc == 0)
			rc = xp_config_read(&s->yaml, head_keys, s->folder, &c,
					    e);
		if (s->yaml.n_mistakes > 0)
			break;
	}
	xp_config_free(&c);
	return rc;
}

static int check_name(struct xp_spec *s)
{
	const char *name = s->figure;
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return sim_yaml_mistake(
		    &s->yaml, sim_yaml_get(s->yaml.root, "figure"),
		    "\"%s\" is not made of a-z, 0-9 and _.", name);
	return 0;
}

int xp_spec_load(struct xp_spec *s, const char *path, int smoke,
		 const char *const set[], size_t n, struct sim_err *e)
{
	int rc;
	*s = (struct xp_spec){0};
	if ((rc = read_file(s, path, e)) < 0)
		return rc;
	if ((rc = sim_yaml_parse(&s->yaml, path, s->text, s->text_bytes, e)) <
		0 ||
	    (rc = put_smoke(s, smoke, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		if ((rc = sim_yaml_set(&s->yaml, set[i], e)) < 0 ||
		    (rc = note_override(s, set[i], e)) < 0)
			return sim_wrap(e, rc, "--set %s", set[i]);
	if ((rc = sim_yaml_read(&s->yaml, s->yaml.root, NULL, xp_head_fields,
				other_keys, s, e)) < 0 ||
	    (rc = check_name(s)) < 0 || (rc = xp_spec_claims(s, NULL, e)) < 0 ||
	    (rc = read_sweep(s, e)) < 0)
		return rc;
	if (s->yaml.n_mistakes == 0 || s->n_axes == 0)
		rc = check_points(s, e);
	return rc < 0 ? rc : sim_yaml_verdict(&s->yaml, e);
}

void xp_spec_free(struct xp_spec *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		free(s->axis[i].key);
	free(s->axis);
	free(s->text);
	free(s->overrides);
	free(s->folder);
	sim_yaml_node_free(s->sweep);
	sim_yaml_free(&s->yaml);
	*s = (struct xp_spec){0};
}
