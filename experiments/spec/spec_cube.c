/* experiments/spec/spec_cube.c -- a spec's sweep as an empty cube.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/along.h"
#include "experiments/spec/config.h"
#include "experiments/spec/keys.h"
#include "sim/vec.h"

/* --- claims ------------------------------------------------------------- */

struct claim {
	char metric[64], text[192];
	double value;
	uint32_t confirmed;
};

const struct sim_field xp_claim_fields[] = {
    {"metric", SIM_F_STR, offsetof(struct claim, metric),
	.size = sizeof(((struct claim *)0)->metric),
	.doc = "the metric it is about, as in tables"},
    {"value", SIM_F_F64, offsetof(struct claim, value), .min = -1e300,
	.max = 1e300, .unit = "1", .doc = "what the paper states"},
    {"confirmed", SIM_F_BOOL, offsetof(struct claim, confirmed), .def = "false",
	.doc = "false: not read in the paper, drawn as unconfirmed"},
    {"text", SIM_F_STR, offsetof(struct claim, text),
	.size = sizeof(((struct claim *)0)->text), .def = "",
	.doc = "its wording in the figure"},
    {0},
};

static int put_claim(struct res_cube *c, const struct claim *from,
    struct sim_err *e)
{
	struct res_claim *to = &c->claim[c->n_claims++];
	int rc;
	to->value = from->value;
	to->confirmed = from->confirmed;
	if ((rc = sim_dup(&to->metric, from->metric, e)) == 0)
		rc = sim_dup(&to->text, from->text, e);
	return rc;
}

/* A claim is drawn beside the metric that it names, so there must be one. */
static int check_metric(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *name)
{
	const char *known[RES_N_NAMES];
	char quote[64];
	if (res_metric_find(name, NULL))
		return 0;
	res_metric_names(known);
	const char *near = sim_did_you_mean(name, known, RES_N_NAMES);
	sim_quote(quote, name);
	return near
	    ? sim_yaml_mistake(y, node,
		  "there is no metric %s; did you mean \"%s\"?", quote, near)
	    : sim_yaml_mistake(y, node, "there is no metric %s.", quote);
}

int xp_spec_claims(struct xp_spec *s, struct res_cube *c, struct sim_err *e)
{
	struct sim_yaml *y = &s->yaml;
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "claims");
	int rc = 0;
	if (!list)
		return 0;
	if (list->kind != SIM_YAML_SEQ)
		return sim_yaml_mistake(y, list,
		    "claims is a list of {metric: ..., value: ...}.");
	/* Loading a spec only checks the claims, and has
	 * no cube to put them in. */
	if (c && (rc = SIM_ZALLOC(&c->claim, list->n, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		const struct sim_yaml_node *item = list->child[i];
		struct claim claim = {.metric = ""};
		const size_t had = y->n_mistakes;
		rc = sim_yaml_read(y, item, item, xp_claim_fields, NULL, &claim,
		    e);
		if (rc == 0 && y->n_mistakes == had)
			rc = check_metric(y, sim_yaml_get(item, "metric"),
			    claim.metric);
		if (rc == 0 && c)
			rc = put_claim(c, &claim, e);
	}
	return rc;
}

/* Look KEY up in the tables of a section of the root. ALGO are the parameters
 * of the algorithm that the path has gone through, if it has. */
/* --- axes --------------------------------------------------------------- */

static const struct sim_field *find_key(const char *section, const char *key,
    const struct sim_field *algo)
{
	/* Also of traffic.tcp, which is within the section. */
	for (const struct xp_key_table *t = xp_key_tables; t->path; t++) {
		const struct sim_field *f;
		if (*t->path && xp_path_holds(section, t->path) &&
		    (f = sim_field_find(t->fields, key)))
			return f;
	}
	return algo && strcmp(section, "algorithms") == 0
	    ? sim_field_find(algo, key)
	    : NULL;
}

static const struct sim_field *field_within(const struct xp_section *s,
    const char *path)
{
	return s->field && path ? s->field(path) : NULL;
}

/* The descriptor of a swept key, for its unit and meaning, or NULL. Paths go
 * deeper than descriptors, as in faults.0.rate.uniform.1, so it is that of the
 * first part that is a key of the section. */
static const struct sim_field *field_of(const char *path,
    const struct xp_config *c)
{
	const struct sim_field *f = sim_field_find(xp_run_fields, path);
	const struct sim_field *algo = NULL;
	char copy[160], *rest;
	uint64_t n;
	snprintf(copy, sizeof(copy), "%s", path);
	const char *section = strtok_r(copy, ".", &rest), *part;
	/* A section that belongs to a plane or a fabric knows its own keys. */
	for (size_t i = 0; xp_section_at(i); i++)
		if (strcmp(xp_section_at(i)->name, section) == 0)
			return field_within(xp_section_at(i), rest);
	while (!f && (part = strtok_r(NULL, ".", &rest))) {
		f = find_key(section, part, algo);
		/* In algorithms.1.threshold the number tells
		 * whose parameters follow. */
		if (!algo && sim_parse_u64(part, &n, NULL) == 0 &&
		    n < c->n_algos)
			algo = c->algo[n].ops->params;
	}
	return f;
}

static int format(char **out, const struct sim_yaml_node *v, struct sim_err *e)
{
	/* As snprintf() does, the first call tells how
	 * long the text will be. */
	const size_t size = (size_t)sim_yaml_format(v, NULL, 0) + 1;
	int rc = SIM_ZALLOC(out, size, e);
	if (rc == 0)
		sim_yaml_format(v, *out, size);
	return rc;
}

/* An axis whose values are all numbers is one of numbers, else one of texts.
 * Quotes make a text of a number, for whoever wants that. */
static int put_values(struct res_coord *to, const struct sim_yaml_node *values,
    struct sim_err *e)
{
	const size_t n = values->n;
	size_t i;
	int rc = SIM_ZALLOC(&to->number, n, e);
	for (i = 0; rc == 0 && i < n; i++) {
		const struct sim_yaml_node *v = values->child[i];
		if (v->kind != SIM_YAML_SCALAR || v->quoted ||
		    sim_parse_f64(v->text, &to->number[i], NULL) < 0)
			break;
	}
	if (rc < 0 || i == n)
		return rc;
	free(to->number);
	to->number = NULL;
	rc = SIM_ZALLOC(&to->text, n, e);
	for (i = 0; rc == 0 && i < n; i++)
		rc = format(&to->text[i], values->child[i], e);
	return rc;
}

static int put_axis(struct res_axis *to, const struct xp_axis *from,
    const struct xp_config *c, struct sim_err *e)
{
	int rc;
	to->n = from->n;
	if ((rc = SIM_ZALLOC(&to->coord, from->n_keys, e)) < 0)
		return rc;
	to->n_coords = from->n_keys;
	for (size_t i = 0; rc == 0 && i < from->n_keys; i++) {
		const struct xp_sweep_key *key = &from->key[i];
		const struct sim_field *f = field_of(key->path, c);
		struct res_coord *coord = &to->coord[i];
		const char *unit = f && f->unit ? f->unit : "1";
		if ((rc = sim_dup(&coord->name, key->path, e)) == 0 &&
		    (rc = sim_dup(&coord->unit, unit, e)) == 0 &&
		    (rc = sim_dup(&coord->doc, f ? f->doc : "", e)) == 0)
			rc = put_values(coord, key->values, e);
	}
	return rc;
}

/* --- the whole ---------------------------------------------------------- */

/* n_algos counts what there is to free, should memory run out half way. */
static int put_labels(struct res_cube *cube, const struct xp_config *c,
    struct sim_err *e)
{
	int rc = SIM_ZALLOC(&cube->algo, c->n_algos, e);
	for (size_t i = 0; rc == 0 && i < c->n_algos; i++) {
		rc = sim_dup(&cube->algo[i], c->algo[i].label, e);
		cube->n_algos = i + 1;
	}
	return rc;
}

/* Put the axes of the sweep and behind them those that a trial is read along,
 * so that the points of one cell follow each other. */
static int put_axes(struct xp_spec *s, const struct xp_config *c,
    struct res_cube *cube, struct sim_err *e)
{
	struct xp_along_axes along;
	int rc = xp_along_init(&along, c, e);
	if (rc < 0)
		return rc;
	if ((rc = SIM_ZALLOC(&cube->axis, s->n_axes + along.n, e)) < 0)
		goto out;
	cube->n_along = along.n_points;
	cube->n_points = s->n_points * along.n_points;
	for (size_t i = 0; rc == 0 && i < s->n_axes; i++) {
		rc = put_axis(&cube->axis[i], &s->axis[i], c, e);
		cube->n_axes = i + 1;
	}
	/* The cube takes the axes over, and leaves empty
	 * ones behind to be freed. */
	for (size_t i = 0; rc == 0 && i < along.n; i++) {
		/* An axis that has moved is freed with the cube only. */
		cube->axis[cube->n_axes++] = along.axis[i];
		along.axis[i] = (struct res_axis){0};
	}
out:
	xp_along_free(&along);
	return rc;
}

static int fill_cube(struct xp_spec *s, const struct xp_config *c,
    struct res_cube *cube, struct sim_err *e)
{
	int rc;
	cube->seed = s->seed;
	cube->n_runs = s->runs;
	if ((rc = sim_dup(&cube->figure, s->figure, e)) < 0 ||
	    (rc = sim_dup(&cube->spec, s->text, e)) < 0 ||
	    (rc = sim_dup(&cube->overrides, s->overrides ? s->overrides : "",
		 e)) < 0 ||
	    (rc = sim_dup(&cube->title, s->title, e)) < 0 ||
	    (rc = sim_dup(&cube->paper, s->paper, e)) < 0 ||
	    (rc = put_labels(cube, c, e)) < 0 ||
	    (rc = xp_spec_claims(s, cube, e)) < 0 ||
	    (rc = put_axes(s, c, cube, e)) < 0)
		return rc;
	/* The text as it is in the file, byte for byte: it is part of the
	 * results' identity, and runs again what made them. */
	cube->spec_bytes = s->text_bytes;
	if ((rc = res_cube_check(cube, e)) < 0)
		return rc;
	return res_cube_alloc(cube, e);
}

int xp_spec_cube(struct xp_spec *s, uint32_t shard_i, uint32_t shard_n,
    struct res_cube *c, struct sim_err *e)
{
	struct xp_config config = {0};
	*c = (struct res_cube){.shard_i = shard_i, .shard_n = shard_n};
	/* All points have the same labels and axes, so
	 * the first one will do. */
	int rc = xp_spec_point(s, 0, &config, e);
	if (rc == 0)
		rc = fill_cube(s, &config, c, e);
	xp_config_free(&config);
	if (rc < 0)
		res_cube_free(c);
	return rc;
}

/* --- one cell --------------------------------------------------------------*/

/* One line for each key of the root. sim_yaml_format() without a buffer tells
 * how long a value is. */
int xp_spec_cell_text(const struct xp_spec *s, char **out, struct sim_err *e)
{
	const struct sim_yaml_node *root = s->yaml.root;
	char *text = NULL;
	size_t cap = 0, n = 0;
	int rc = SIM_RESERVE(&text, &cap, 1, e);
	for (size_t i = 0; rc == 0 && i < root->n; i++) {
		const struct sim_yaml_node *x = root->child[i];
		const size_t head = strlen(root->key[i]) + 2;
		const int len = sim_yaml_format(x, NULL, 0);
		if (xp_keys_is_of_sweep(root->key[i]))
			continue;
		rc = SIM_RESERVE(&text, &cap, n + head + (size_t)len + 2, e);
		if (rc < 0)
			break;
		n += (size_t)sprintf(text + n, "%s: ", root->key[i]);
		n += (size_t)sim_yaml_format(x, text + n, cap - n);
		text[n++] = '\n';
	}
	if (rc < 0) {
		free(text);
		return rc;
	}
	text[n] = '\0';
	*out = text;
	return 0;
}

/* --- and back -------------------------------------------------------------- */

int xp_spec_overrides(char *lines, const char *set[], size_t max, size_t *n,
    int *smoke, struct sim_err *e)
{
	*n = 0;
	*smoke = 0;
	for (char *at = lines, *line; (line = strsep(&at, "\n"));) {
		if (strcmp(line, "--smoke") == 0)
			*smoke = 1;
		else if (!*line || strncmp(line, "topology.file ", 14) == 0)
			continue;
		else if (strncmp(line, "algorithm ", 10) == 0)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "algorithm %.*s is a program or plug-in, which is "
			    "not started to look at results.",
			    (int)strcspn(line + 10, " "), line + 10);
		else if (*n == max)
			return sim_fail(e, SIM_ELIMIT,
			    "more than %zu overrides.", max);
		else
			set[(*n)++] = line;
	}
	return 0;
}

int xp_spec_load_again(struct xp_spec *s, const struct res_cube *c,
    const char *folder, struct sim_err *e)
{
	enum { MAX_SET = 256 };
	const char *set[MAX_SET];
	char *lines = NULL;
	size_t n;
	int smoke, rc;
	*s = (struct xp_spec){0};
	if ((rc = sim_dup(&lines, c->overrides, e)) == 0 &&
	    (rc = xp_spec_overrides(lines, set, MAX_SET, &n, &smoke, e)) == 0)
		rc = xp_spec_load_text(s, c->figure, c->spec, folder, smoke,
		    set, n, e);
	free(lines);
	if (rc == 0 && strcmp(s->overrides ? s->overrides : "", c->overrides))
		rc = sim_fail(e, SIM_EMISMATCH,
		    "a GraphML file of %s is another one now, or not found.",
		    c->figure);
	return rc;
}
