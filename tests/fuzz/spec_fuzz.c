/* tests/fuzz/spec_fuzz.c -- any text as a spec, with any --set.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is refused is refused by a message that names the file or the argument,
 * each mistake once. What is taken can be written cell by cell, and what was
 * written is read as the same cell.
 */
#include <string.h>

#include "experiments/spec/spec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/spec_input.h"

/* It says where the mistake is. */
static void check_message(const struct sim_err *e)
{
	const int told = strstr(e->msg, SPEC_NAME) || strstr(e->msg, "--set");
	if (!told)
		fprintf(stderr, "%s\n", e->msg);
	must(told);
}

static void check_same(const struct xp_config *a, const struct xp_config *b)
{
	must(a->plane == b->plane && a->fabric == b->fabric);
	must(a->common == b->common && a->unable == b->unable);
	must(a->n_algos == b->n_algos && a->needs == b->needs);
	for (size_t i = 0; i < a->n_algos; i++) {
		must(a->algo[i].ops == b->algo[i].ops);
		must(strcmp(a->algo[i].label, b->algo[i].label) == 0);
	}
	must(memcmp(&a->topology, &b->topology, sizeof(a->topology)) == 0);
	must(a->scene.n_groups == b->scene.n_groups);
}

static int asks_all(const struct xp_config *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_algos; i++)
		n += !c->algo[i].unable;
	return n == c->n_algos;
}

/* The cell of POINT as a text, which is a spec of that cell again. */
static void check_cell(struct xp_spec *s, size_t point)
{
	struct xp_config was = {0}, is = {0};
	struct xp_spec again;
	struct sim_err e = {0};
	char *text = NULL, *same = NULL;
	must(xp_spec_point(s, point, &was, NULL) == 0);
	must(xp_spec_cell_text(s, &text, NULL) == 0);
	int rc = xp_spec_load_text(&again, SPEC_NAME, text, "", 0, NULL, 0, &e);
	if (rc < 0)
		fprintf(stderr, "%s%s\n", text, e.msg);
	must(rc == 0 || !asks_all(&was));
	if (rc < 0)
		goto out;
	must(again.n_points == 1 && again.seed == s->seed);
	must(xp_spec_point(&again, 0, &is, NULL) == 0);
	check_same(&was, &is);
	must(xp_spec_cell_text(&again, &same, NULL) == 0);
	must(strcmp(text, same) == 0);
out:
	free(text);
	free(same);
	xp_config_free(&was);
	xp_config_free(&is);
	xp_spec_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct spec_input x;
	struct xp_spec s;
	struct sim_err e = {0};
	if (!spec_input_take(&x, bytes, n))
		return 0;
	const int rc =
	    xp_spec_load_still(&s, SPEC_NAME, x.smoke, x.set, x.n_set, &e);
	if (rc < 0)
		check_message(&e);
	else
		for (size_t p = 0; p < s.n_points; p += s.n_points / 3 + 1)
			check_cell(&s, p);
	xp_spec_free(&s);
	return 0;
}
