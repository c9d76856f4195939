/* tests/rigs/field_format.c -- a field's value as text, to be read back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/field_format.h"

#include <inttypes.h>

int field_format(const struct sim_field *f, const void *obj, char *buf,
    size_t size)
{
	const void *at = (const char *)obj + f->offset;
	const struct sim_dist *d = at;
	struct sim_text t = {buf, size, 0};
	char a[32], b[32];
	switch (f->type) {
	case SIM_F_U32:
		sim_put(&t, "%" PRIu32, *(const uint32_t *)at);
		break;
	case SIM_F_U64:
		sim_put(&t, "%" PRIu64, *(const uint64_t *)at);
		break;
	case SIM_F_F64:
		sim_put(&t, "%s", sim_format_f64(a, *(const double *)at));
		break;
	case SIM_F_BOOL:
		sim_put(&t, "%s", *(const uint32_t *)at ? "true" : "false");
		break;
	case SIM_F_ENUM:
		sim_put(&t, "%s", f->names[*(const uint32_t *)at]);
		break;
	case SIM_F_SET:
		sim_put(&t, "[");
		for (size_t i = 0; f->names[i]; i++)
			if (*(const uint32_t *)at & 1u << i)
				/* More than the bracket is there once a name
				 * was written. */
				sim_put(&t, "%s%s", t.n > 1 ? ", " : "",
				    f->names[i]);
		sim_put(&t, "]");
		break;
	case SIM_F_STR:
		/* The only type whose text may need quotes; all others are
		 * plain words, numbers, or brackets around them. */
		sim_put_scalar(&t, at, 0);
		break;
	case SIM_F_DIST:
		sim_format_f64(a, d->a);
		sim_format_f64(b, d->b);
		if (d->kind == SIM_FIXED)
			sim_put(&t, "%s", a);
		else
			sim_put(&t, "{%s: [%s, %s]}",
			    d->kind == SIM_UNIFORM ? "uniform" : "log_uniform",
			    a, b);
		break;
	}
	return (int)t.n;
}
