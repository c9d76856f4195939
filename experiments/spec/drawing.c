/* experiments/spec/drawing.c -- what points of a sweep have in common when they are drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "experiments/spec/keys.h"

/* A parameter of an algorithm, as algorithms.1.threshold: not which one it is,
 * by which it is decided what windows hold. */
static int is_parameter(const char *path)
{
	static const char *const which[] = {"name", "exec", "plugin", NULL};
	const char *number = strchr(path, '.');
	const char *key = number ? strchr(number + 1, '.') : NULL;
	return xp_path_holds("algorithms", path) && key &&
	    !which[sim_word_find(which, key + 1)];
}

/* Whatever is not known to be read after an epoch only counts as what it is drawn
 * by, so that a key that is new here can't be forgotten. */
static int is_drawn_by(const struct xp_axis *a)
{
	int is = 0;
	for (size_t i = 0; i < a->n_keys; i++)
		is |= !is_parameter(a->key[i].path) &&
		    strcmp(a->key[i].path, "label") != 0;
	return is;
}

size_t xp_spec_drawing(const struct xp_spec *s, size_t point)
{
	size_t drawing = 0, step = 1;
	assert(point < s->n_points);
	if (s->is_outside)
		return point;
	for (size_t i = s->n_axes; i-- > 0;) {
		const struct xp_axis *a = &s->axis[i];
		if (is_drawn_by(a))
			drawing += step * (point % a->n);
		point /= a->n;
		step *= a->n;
	}
	return drawing;
}

/* Two planes draw other flows of the same random numbers, so points that are to
 * be compared pair by pair are drawn by one wherever both can: by that which is
 * faster for all of them together. */
void xp_bulk_choose(const struct xp_spec *s, struct xp_config *c)
{
	c->looks = (c->common ? s->skip_excess : c->skip_excess) > 0;
}
