/* experiments/spec/spec.c -- one YAML file a figure: what to run and sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/spec.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/along.h"
#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/plane.h"
#include "experiments/spec/strict.h"
#include "sim/input.h"
#include "sim/vec.h"

enum {
	MAX_POINTS = 100000,
	MAX_MISTAKES = 20, /* more would hardly be read */
};

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

/* --- the file and its overrides ----------------------------------------- */

static int read_text(struct xp_spec *s, FILE *f, const char *path,
    struct sim_err *e)
{
	/* The file is read until it is longer than sim_yaml_parse()
	 * takes, which then says so. A file without an end, as a
	 * device, ends here too. */
	enum { BLOCK = 4096, ENOUGH = 1 << 20 }; /* for sim_yaml_parse() */
	size_t cap = 0, got = 0;
	do {
		s->text_bytes += got;
		int rc =
		    SIM_RESERVE(&s->text, &cap, s->text_bytes + BLOCK + 1, e);
		if (rc < 0)
			return rc;
		got = fread(s->text + s->text_bytes, 1, BLOCK, f);
	} while (got > 0 && s->text_bytes <= ENOUGH);
	if (ferror(f))
		return sim_fail(e, SIM_EIO, "%s: %s.", path, strerror(errno));
	s->text[s->text_bytes] = '\0';
	return 0;
}

static int spec_read_file(struct xp_spec *s, const char *path,
    struct sim_err *e)
{
	const char *why;
	FILE *f = sim_input_open(path, &why);
	if (!f)
		return sim_fail(e, SIM_EIO, "%s: %s.", path, why);
	int rc = read_text(s, f, path, e);
	fclose(f);
	if (rc < 0 || (rc = xp_note_input(s, path, e)) < 0 ||
	    (rc = sim_dup(&s->folder, path, e)) < 0)
		return rc;
	/* What is left is the folder with its slash, or nothing: a file's name
	 * can be written right behind it. */
	const char *slash = strrchr(path, '/');
	s->folder[slash ? slash + 1 - path : 0] = '\0';
	return 0;
}

/* A path that leads nowhere, as faults.3.rate when there is one group, is told
 * at V. */
static int put_node(struct xp_spec *s, const char *path,
    const struct sim_yaml_node *v, struct sim_err *e)
{
	struct sim_err why;
	const int rc = sim_yaml_put(&s->yaml, path, v, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	return rc < 0 ? sim_yaml_mistake(&s->yaml, v, "%s", why.msg) : 0;
}

/* What is written under `smoke` is checked at any time, so that a mistake shows
 * before the day it is run. It is put only if WANTED. */
static int put_smoke(struct xp_spec *s, int wanted, struct sim_err *e)
{
	struct sim_yaml *y = &s->yaml;
	const struct sim_yaml_node *smoke = sim_yaml_get(y->root, "smoke");
	const struct xp_keys keys = xp_keys_smoke();
	int rc = 0, known;
	if (!smoke)
		return wanted ? sim_yaml_mistake(y, NULL,
				    "there is no `smoke` section to run.")
			      : 0;
	if (smoke->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(y, smoke,
		    "smoke is a map of keys to replace.");
	for (size_t i = 0; rc == 0 && i < smoke->n; i++) {
		rc = xp_keys_check(y, smoke, i, &keys, "smoke can't replace",
		    &known);
		if (rc == 0 && known && wanted)
			rc = put_node(s, smoke->key[i], smoke->child[i], e);
	}
	if (rc == 0)
		rc = xp_strict_smoke(y, smoke, e);
	if (rc == 0 && wanted)
		rc = xp_note_override(s, "--smoke", e);
	return rc;
}

/* --- sweep -------------------------------------------------------------- */

static int add_axis(struct xp_spec *s, size_t n_keys, struct sim_err *e)
{
	struct xp_axis *grown =
	    realloc(s->axis, (s->n_axes + 1) * sizeof(s->axis[0]));
	if (!grown)
		return sim_fail(e, SIM_ENOMEM, "no memory for an axis.");
	s->axis = grown;
	grown[s->n_axes] = (struct xp_axis){0};
	int rc = SIM_ZALLOC(&grown[s->n_axes].key, n_keys, e);
	/* The axis counts only once it has its array of keys. */
	if (rc == 0)
		s->n_axes++;
	return rc;
}

static const char *find_overlap(const struct xp_spec *s, const char *path)
{
	for (size_t a = 0; a < s->n_axes; a++)
		for (size_t k = 0; k < s->axis[a].n_keys; k++)
			if (xp_path_holds(s->axis[a].key[k].path, path) ||
			    xp_path_holds(path, s->axis[a].key[k].path))
				return s->axis[a].key[k].path;
	return NULL;
}

/* What stands for the values of PATH is no list of some. */
static int refuse_values(struct sim_yaml *y, const char *path,
    const struct sim_yaml_node *values)
{
	if (values->kind == SIM_YAML_MAP && values->n > 0)
		return sim_yaml_mistake(y, values,
		    "%s: a sweep gives a list of values; to vary a key of it "
		    "write %s.%s: [...].",
		    path, path, values->key[0]);
	if (values->kind == SIM_YAML_SCALAR && *values->text)
		return sim_yaml_mistake(y, values,
		    "%s: a sweep gives a list of values; write [%.40s].", path,
		    values->text);
	return sim_yaml_mistake(y, values,
	    "%s: a sweep gives a list of at least one value.", path);
}

/* Is key I of MAP, a grid or a zip, fit to be swept? */
static int check_swept(struct xp_spec *s, const struct sim_yaml_node *map,
    size_t i, int *good)
{
	const struct xp_keys keys = xp_keys_config();
	const struct sim_yaml_node *values = map->child[i];
	const struct sim_yaml_node at = {.line = map->key_line[i],
	    .col = map->key_col[i]};
	const char *path = map->key[i], *other;
	int known,
	    rc = xp_keys_check(&s->yaml, map, i, &keys, "a sweep can't vary",
		&known);
	*good = 0;
	if (rc < 0 || !known)
		return rc;
	if (values->kind != SIM_YAML_SEQ || values->n == 0)
		return refuse_values(&s->yaml, path, values);
	if (sim_yaml_get(map, path) != values)
		return 0; /* given twice: the parser has said so */
	if ((other = find_overlap(s, path)))
		return sim_yaml_mistake(&s->yaml, &at,
		    "%s and %s are swept both; one would replace the other.",
		    other, path);
	*good = 1;
	return 0;
}

/* The keys of a zip walk in step, so they must have as many values each. If
 * they don't, the axis has the fewest, so that none is read beyond its end
 * while further mistakes are looked for. */
static int add_key(struct xp_spec *s, const char *path,
    const struct sim_yaml_node *values)
{
	struct xp_axis *a = &s->axis[s->n_axes - 1];
	const size_t n = a->n;
	a->key[a->n_keys++] = (struct xp_sweep_key){path, values};
	a->n = n == 0 || values->n < n ? values->n : n;
	if (n == 0 || values->n == n)
		return 0;
	return sim_yaml_mistake(&s->yaml, values,
	    "%s has %zu values, but %s, of the same zip, has %zu.", path,
	    values->n, a->key[0].path, a->key[0].values->n);
}

/* Each key of a grid is an axis; those of a zip are one. */
static int read_axes(struct xp_spec *s, const char *name, struct sim_err *e)
{
	const struct sim_yaml_node *map = sim_yaml_get(s->sweep, name);
	const int zip = strcmp(name, "zip") == 0;
	int rc = 0, good, begun = 0;
	if (map && map->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(&s->yaml, map,
		    "%s is a map of a key to its values.", name);
	for (size_t i = 0; map && rc == 0 && i < map->n; i++) {
		if ((rc = check_swept(s, map, i, &good)) < 0 || !good)
			continue;
		/* A zip gets room for all its keys,
		 * though some may be refused. */
		if (!zip || !begun)
			rc = add_axis(s, zip ? map->n : 1, e);
		begun = 1;
		if (rc == 0)
			rc = add_key(s, map->key[i], map->child[i]);
		if (rc == 0 && !zip)
			rc = xp_strict_axis(s, &s->axis[s->n_axes - 1], e);
	}
	if (rc < 0 || !zip || !begun)
		return rc;
	s->axis[s->n_axes - 1].is_zip = 1;
	return xp_strict_axis(s, &s->axis[s->n_axes - 1], e);
}

static int read_sweep(struct xp_spec *s, struct sim_err *e)
{
	static const struct xp_keys kinds = {{"grid", "zip"}, 2};
	const struct sim_yaml_node *node = sim_yaml_get(s->yaml.root, "sweep");
	int rc, known;
	s->n_points = 1;
	if (!node)
		return 0;
	if (node->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(&s->yaml, node,
		    "sweep is a map with `grid`, `zip` or both.");
	/* A copy, as putting the values of a point changes the tree, and may
	 * free the very node that lists them. */
	if ((rc = sim_yaml_copy(&s->sweep, node, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < node->n; i++)
		rc = xp_keys_is_config(node->key[i])
		    ? sim_yaml_mistake(&s->yaml, node->child[i],
			  "what a sweep varies stands within grid or zip: "
			  "{grid: {%s: [...]}}.",
			  node->key[i])
		    : xp_keys_check(&s->yaml, node, i, &kinds, "a sweep has no",
			  &known);
	if (rc < 0 || (rc = read_axes(s, "grid", e)) < 0 ||
	    (rc = read_axes(s, "zip", e)) < 0)
		return rc;
	/* Every point is read when a spec is loaded, and a journal has 32 bits
	 * for its number, so their number is bounded. */
	for (size_t i = 0; i < s->n_axes; i++)
		if (__builtin_mul_overflow(s->n_points, s->axis[i].n,
			&s->n_points) ||
		    s->n_points > MAX_POINTS) {
			/* The first point is still read, to
			 * tell what else is wrong. */
			s->n_points = 1;
			return sim_yaml_mistake(&s->yaml, node,
			    "the sweep has more than %d points.", MAX_POINTS);
		}
	return 0;
}

/* The place of a point along one axis; the last axis varies fastest. */
static size_t spec_place_of(const struct xp_spec *s, size_t axis, size_t point)
{
	for (size_t i = s->n_axes; --i > axis;)
		point /= s->axis[i].n;
	return point % s->axis[axis].n;
}

/* All keys of the sweep are put, also those that did not change, so nothing is
 * left of the point that was read before. */
static int spec_put(struct xp_spec *s, size_t point, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct xp_axis *a = &s->axis[i];
		const size_t at = spec_place_of(s, i, point);
		for (size_t k = 0; rc == 0 && k < a->n_keys; k++)
			rc = put_node(s, a->key[k].path,
			    a->key[k].values->child[at], e);
	}
	return rc;
}

/* Memory may run out at places that leave no message, so
 * this one is made here. */
static int spec_verdict(const struct xp_spec *s, int rc, struct sim_err *e)
{
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "no memory to read the spec %s.",
		    s->yaml.name ? s->yaml.name : "");
	return rc < 0 ? rc : sim_yaml_verdict(&s->yaml, e);
}

int xp_spec_put_point(struct xp_spec *s, size_t point, struct sim_err *e)
{
	return spec_verdict(s, spec_put(s, point, e), e);
}

int xp_spec_point(struct xp_spec *s, size_t point, struct xp_config *c,
    struct sim_err *e)
{
	assert(point < s->n_points);
	int rc = spec_put(s, point, e);
	if (rc == 0)
		rc = xp_config_read(&s->yaml, s->folder, s->plugs, c, e);
	xp_bulk_choose(s, c);
	return spec_verdict(s, rc, e);
}

/* --- loading ------------------------------------------------------------ */

/* Forget those of the mistakes from FROM on that were made before: what is
 * wrong at one point is mostly wrong at others too. */
static void drop_repeats(struct sim_yaml *y, size_t from)
{
	const size_t n = y->n_mistakes;
	y->n_mistakes = from;
	for (size_t i = from; i < n; i++) {
		int told = 0;
		for (size_t k = 0; k < y->n_mistakes && !told; k++)
			told = strcmp(y->mistake[i], y->mistake[k]) == 0;
		if (told)
			free(y->mistake[i]);
		else
			y->mistake[y->n_mistakes++] = y->mistake[i];
	}
}

/* Rows of results have the same columns at all points. */
static int check_labels(struct sim_yaml *y, const struct xp_config *first,
    const struct xp_config *c)
{
	int same = first->n_algos == c->n_algos;
	for (size_t i = 0; same && i < c->n_algos; i++)
		same = strcmp(first->algo[i].label, c->algo[i].label) == 0;
	return same ? 0
		    : sim_yaml_mistake(y, sim_yaml_get(y->root, "algorithms"),
			  "a sweep can't change how many algorithms there are "
			  "or their labels.");
}

/* Whoever is skipped everywhere has no results at all, which nobody means. FIRST
 * keeps who was skipped at all points so far. */
static void note_unable(struct xp_config *first, const struct xp_config *c)
{
	for (size_t i = 0; i < first->n_algos; i++)
		first->algo[i].unable &= c->algo[i].unable;
}

static int check_unable(struct sim_yaml *y, const struct xp_config *first)
{
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "algorithms");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < first->n_algos; i++)
		if (first->algo[i].unable)
			rc = xp_plane_check_needs(y, list->child[i], first,
			    first->algo[i].ops->name,
			    first->algo[i].ops->needs);
	return rc;
}

/* What trials are read along must be the same at all points too, as it makes
 * axes of the results. FIRST is empty at the first point, and keeps its axes
 * for the others to be compared with. */
static int check_along(struct xp_spec *s, const struct xp_config *c,
    struct xp_along_axes *first, struct sim_err *e)
{
	const struct xp_section *own = xp_plane_of(c)->section;
	const struct sim_yaml_node *at =
	    sim_yaml_get(s->yaml.root, own ? own->name : "plane");
	struct xp_along_axes a;
	struct sim_err why;
	int rc = xp_along_init(&a, c, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	if (rc < 0)
		return sim_yaml_mistake(&s->yaml, at, "%s", why.msg);
	if (first->n_points == 0) {
		*first = a;
		s->n_along = a.n_points;
		return a.n_points <= MAX_POINTS / s->n_points
		    ? 0
		    : sim_yaml_mistake(&s->yaml, at,
			  "%zu points of the sweep, each read along %zu, are "
			  "more than %d.",
			  s->n_points, a.n_points, MAX_POINTS);
	}
	const int same = xp_along_same(first, &a);
	xp_along_free(&a);
	return same ? 0
		    : sim_yaml_mistake(&s->yaml, at,
			  "a sweep can't change what a trial is read along: "
			  "the places of its axes are the same at all "
			  "points.");
}

static void note_world(struct xp_spec *s, const struct xp_config *c)
{
	const struct xp_plane *p = xp_plane_of(c);
	const struct xp_fabric *f = xp_fabric_of(c);
	for (size_t i = 0; i < c->n_algos; i++)
		s->is_outside |= c->algo[i].plug != NULL;
	/* Only real fabrics are opened, and ask something of the machine. */
	if (!f->open)
		return;
	s->is_real = 1;
	s->takes[c->fabric] |= f->takes(c);
	if (p->lasts_s)
		s->real_s += s->runs * p->lasts_s(c);
}

/* All points are read, whatever was wrong before, to tell everything at once,
 * or as much as anybody will read. */
static int check_points(struct xp_spec *s, struct sim_err *e)
{
	struct xp_config first = {0}, later = {0};
	struct xp_along_axes along = {0};
	struct sim_yaml *y = &s->yaml;
	int rc = 0;
	for (size_t p = 0;
	     rc == 0 && p < s->n_points && y->n_mistakes < MAX_MISTAKES; p++) {
		/* The first point is kept, as the others
		 * are compared with it. */
		struct xp_config *c = p == 0 ? &first : &later;
		const size_t had = y->n_mistakes;
		rc = spec_put(s, p, e);
		if (rc == 0)
			rc = xp_config_read(y, s->folder, s->plugs, c, e);
		if (rc == 0)
			note_world(s, c);
		s->skip_excess += c->common ? c->skip_excess : 0;
		s->bytes = c->bytes > s->bytes ? c->bytes : s->bytes;
		/* At a point with mistakes something is missing, which would be
		 * taken for a difference between points. */
		if (rc == 0 && y->n_mistakes == had)
			rc = check_labels(y, &first, c);
		if (rc == 0 && y->n_mistakes == 0)
			note_unable(&first, c);
		if (rc == 0 && y->n_mistakes == 0)
			rc = xp_note_origin(s, c, e);
		if (rc == 0 && y->n_mistakes == 0)
			rc = check_along(s, c, &along, e);
		if (rc == 0 && y->n_mistakes == 0)
			rc = xp_strict_point(s, c, e);
		drop_repeats(y, had);
	}
	if (rc == 0 && y->n_mistakes == 0)
		rc = check_unable(y, &first);
	xp_along_free(&along);
	xp_config_free(&first);
	xp_config_free(&later);
	return rc;
}

static int spec_check_name(struct xp_spec *s)
{
	/* The name becomes that of files and of a gnuplot script, so it may
	 * hold nothing that has a meaning in a path. */
	const struct sim_yaml_node *node = sim_yaml_get(s->yaml.root, "figure");
	const char *name = s->figure;
	char quote[64];
	/* One that is absent, empty or too long has been told already. */
	if (!node || node->kind != SIM_YAML_SCALAR ||
	    (!*name && !node->quoted) || strcmp(name, node->text) != 0)
		return 0;
	if (*name &&
	    !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return 0;
	return sim_yaml_mistake(&s->yaml, node,
	    "figure %s is not made of a-z, 0-9 and _.", sim_quote(quote, name));
}

/* S has its text and folder. */
static int spec_load(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e)
{
	struct sim_yaml *y = &s->yaml;
	int rc = sim_yaml_parse(y, path, s->text, s->text_bytes, e);
	if (rc < 0)
		return rc;
	y->elsewhere = xp_keys_elsewhere;
	if (y->root->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(y, y->root, "a spec is a map of keys.");
	s->is_smoke = smoke != 0;
	if ((rc = put_smoke(s, smoke, e)) < 0)
		return rc;
	/* After smoke, so that --set has the last word. */
	for (size_t i = 0; i < n; i++)
		if ((rc = sim_yaml_set(y, set[i], e)) < 0 ||
		    (rc = xp_note_override(s, set[i], e)) < 0)
			return rc;
	/* The tree is now what will be run. Only from here on is it checked, so
	 * that what an override replaces may be wrong. */
	const struct xp_keys also = xp_keys_other();
	if ((rc = sim_yaml_read(y, y->root, NULL, xp_head_fields, also.name, s,
		 e)) < 0 ||
	    (rc = spec_check_name(s)) < 0 ||
	    (rc = xp_spec_claims(s, NULL, e)) < 0 ||
	    (rc = read_sweep(s, e)) < 0 || (rc = xp_strict_base(s, e)) < 0 ||
	    (rc = xp_strict_sets(s, set, n, e)) < 0 ||
	    (rc = check_points(s, e)) < 0)
		return rc;
	/* After a mistake not all points have been read, or not as meant. */
	return y->n_mistakes > 0 ? 0 : xp_strict_keys(s, set, n, e);
}

static int spec_load_file(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e)
{
	int rc = spec_read_file(s, path, e);
	if (rc == 0)
		rc = spec_load(s, path, smoke, set, n, e);
	return spec_verdict(s, rc, e);
}

int xp_spec_load_still(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e)
{
	*s = (struct xp_spec){0};
	return spec_load_file(s, path, smoke, set, n, e);
}

int xp_spec_load_with(struct xp_spec *s, struct plug_set *plugs,
    const char *path, int smoke, const char *const set[], size_t n,
    struct sim_err *e)
{
	*s = (struct xp_spec){.plugs = plugs, .borrows_plugs = 1};
	return spec_load_file(s, path, smoke, set, n, e);
}

int xp_spec_load(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e)
{
	*s = (struct xp_spec){0};
	int rc = spec_read_file(s, path, e);
	if (rc == 0 && (rc = plug_set_open(&s->plugs, s->folder, e)) == 0)
		rc = spec_load(s, path, smoke, set, n, e);
	return spec_verdict(s, rc, e);
}

int xp_spec_load_text(struct xp_spec *s, const char *name, const char *text,
    const char *folder, int smoke, const char *const set[], size_t n,
    struct sim_err *e)
{
	*s = (struct xp_spec){0};
	int rc = sim_dup(&s->folder, folder, e);
	if (rc == 0 && (rc = sim_dup(&s->text, text, e)) == 0) {
		s->text_bytes = strlen(text);
		rc = spec_load(s, name, smoke, set, n, e);
	}
	return spec_verdict(s, rc, e);
}

void xp_spec_free(struct xp_spec *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		free(s->axis[i].key);
	free(s->axis);
	for (size_t i = 0; i < s->n_warnings; i++)
		free(s->warning[i]);
	free(s->warning);
	for (size_t i = 0; i < s->n_inputs; i++)
		free(s->input[i]);
	free(s->input);
	free(s->text);
	free(s->overrides);
	if (!s->borrows_plugs)
		plug_set_free(s->plugs);
	free(s->folder);
	sim_yaml_node_free(s->sweep);
	sim_yaml_free(&s->yaml);
	*s = (struct xp_spec){0};
}
