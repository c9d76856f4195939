/* tests/fuzz/yaml_fuzz.c -- any bytes: parse, read, write, parse again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "sim/yaml.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rigs/field_format.h"

struct thing {
	uint32_t count, on, pattern, algorithms;
	uint64_t seed;
	double rate;
	char name[16];
	struct sim_dist delay;
};

static const char *const names[] = {"uniform", "skewed", "hot", NULL};

static const struct sim_field fields[] = {{"count", SIM_F_U32,
					      offsetof(struct thing, count),
					      .def = "1", .min = 1, .max = 9,
					      .unit = "pods"},
    {"seed", SIM_F_U64, offsetof(struct thing, seed), .def = "0"},
    {"rate", SIM_F_F64, offsetof(struct thing, rate), .max = 1},
    {"on", SIM_F_BOOL, offsetof(struct thing, on), .def = "true"},
    {"pattern", SIM_F_ENUM, offsetof(struct thing, pattern), .def = "hot",
	.names = names},
    {"algorithms", SIM_F_SET, offsetof(struct thing, algorithms), .def = "[]",
	.names = names},
    {"name", SIM_F_STR, offsetof(struct thing, name), .def = "", .size = 16},
    {"delay", SIM_F_DIST, offsetof(struct thing, delay), .def = "1"}, {0}};

static int same(const struct sim_yaml_node *a, const struct sim_yaml_node *b)
{
	if (a->kind != b->kind || a->n != b->n)
		return 0;
	if (a->kind == SIM_YAML_SCALAR)
		return strcmp(a->text, b->text) == 0 && b->quoted >= a->quoted;
	for (size_t i = 0; i < a->n; i++)
		if (!same(a->child[i], b->child[i]) ||
		    (a->kind == SIM_YAML_MAP &&
			strcmp(a->key[i], b->key[i]) != 0))
			return 0;
	return 1;
}

/* Read, write every field, and read what was written: it must be equal. */
static void read_back(struct sim_yaml *y)
{
	struct thing t = {0}, back = {0};
	struct sim_err e;
	must(sim_yaml_read(y, y->root, NULL, fields, NULL, &t, &e) == 0);
	for (const struct sim_field *f = fields; f->name; f++) {
		struct sim_yaml again;
		char text[512], twice[512];
		int n = field_format(f, &t, text, sizeof(text));
		must(sim_yaml_parse(&again, "f", text, (size_t)n, &e) == 0);
		must(
		    sim_yaml_read_value(&again, again.root, f, &back, &e) == 0);
		must(again.n_mistakes == 0);
		field_format(f, &back, twice, sizeof(twice));
		must(strcmp(text, twice) == 0);
		sim_yaml_free(&again);
	}
}

/* The input is also a --set: what stands before and after the first "=". */
static void set_once(const uint8_t *bytes, size_t n)
{
	static const char base[] = "a: 1\nl: [x, {k: v}]\n";
	struct sim_yaml y;
	struct sim_err e;
	char *text = malloc(n + 1);
	must(text != NULL);
	memcpy(text, bytes, n);
	text[n] = '\0';
	must(sim_yaml_parse(&y, "b", base, strlen(base), &e) == 0);
	if (sim_yaml_set(&y, text, &e) < 0)
		must(e.msg[0] != '\0');
	sim_yaml_free(&y);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sim_yaml y, again;
	struct sim_err e;
	set_once(bytes, n);
	if (sim_yaml_parse(&y, "f", (const char *)bytes, n, &e) < 0) {
		must(e.msg[0] != '\0');
		sim_yaml_free(&y);
		return 0;
	}
	size_t size = (size_t)sim_yaml_format(y.root, NULL, 0) + 1;
	char *text = malloc(size);
	must(text != NULL);
	sim_yaml_format(y.root, text, size);
	/* What is written may be longer than a file is allowed to be. */
	if (size - 1 <= 1 << 20) {
		must(sim_yaml_parse(&again, "g", text, size - 1, &e) == 0);
		must(same(y.root, again.root));
		must(again.n_mistakes == y.n_mistakes);
		sim_yaml_free(&again);
	}
	read_back(&y);
	must(!sim_yaml_verdict(&y, &e) == (y.n_mistakes == 0));
	free(text);
	sim_yaml_free(&y);
	return 0;
}
