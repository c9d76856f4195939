/* experiments/spec/plane.c -- all planes, their sections, what they lack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"

/* In the order of enum values in files. */
#define XP_PLANES(X)                                                           \
	X(auto)                                                                \
	X(exact)                                                               \
	X(skip)                                                                \
	X(agents)                                                              \
	X(vigil_matlab)                                                        \
	X(pingmesh)                                                            \
	X(pingmesh_bulk)                                                       \
	X(everflow)                                                            \
	X(rack)                                                                \
	X(telemetry)                                                           \
	X(planner)

#define X(name) extern const struct xp_plane xp_plane_##name;
XP_PLANES(X)
#undef X

const struct xp_plane *const xp_planes[] = {
#define X(name) &xp_plane_##name,
    XP_PLANES(X)
#undef X
	NULL};

const char *const xp_plane_names[] = {
#define X(name) #name,
    XP_PLANES(X)
#undef X
	NULL};

/* --- sections ------------------------------------------------------------- */

/* A plane before P has its section, too. */
static int has_told_section(const struct xp_plane *const *p)
{
	for (const struct xp_plane *const *q = xp_planes; q < p; q++)
		if ((*q)->section == (*p)->section)
			return 1;
	return 0;
}

/* The sections of planes, each once, and then those of fabrics. Both lists are fixed when
 * the program is built, so that an index stands for a section as long as it
 * runs, as in xp_config.section[]. */
const struct xp_section *xp_section_at(size_t i)
{
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->section && !has_told_section(p) && i-- == 0)
			return (*p)->section;
	for (const struct xp_fabric *const *f = xp_fabrics; *f; f++)
		if ((*f)->section && i-- == 0)
			return (*f)->section;
	return NULL;
}

const struct xp_section *xp_section_of_name(const char *name)
{
	const struct xp_section *s;
	for (size_t i = 0; (s = xp_section_at(i)); i++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

const void *xp_section_of(const struct xp_config *c, const struct xp_section *s)
{
	size_t i = 0;
	while (xp_section_at(i) != s)
		i++;
	return c->section[i];
}

double xp_plane_bytes(const struct topo *t, const struct xp_config *c)
{
	const struct xp_plane *p = xp_plane_of(c);
	const double each = c->needs & OBS_FLOWS ? sizeof(double) : 0;
	return each * t->n_links + (p->bytes ? p->bytes(t, c) : 0);
}

/* --- what algorithms need ------------------------------------------------- */

unsigned xp_plane_holds(const struct xp_plane *p, const struct xp_config *c)
{
	/* A plane may be able to tell more than this spec asks of it. */
	return p->holds ? p->holds(c) : p->provides;
}

/* An algorithm that lacks what it reads would find nothing and accuse nobody,
 * which looks like a good network. So it is refused, and where a key of the
 * spec would give it what it lacks, that key is named. */
int xp_plane_check_needs(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_config *c, const char *name, unsigned needs)
{
	const struct xp_plane *p = xp_plane_of(c);
	const unsigned lacks = needs & ~xp_plane_holds(p, c);
	if (lacks == 0)
		return 0;
	if (lacks & ~p->provides)
		return sim_yaml_mistake(y, node,
		    "%s reads %s; plane %s has none.", name,
		    obs_part_text(lacks & ~p->provides), p->name);
	return sim_yaml_mistake(y, node,
	    "%s reads %s; plane %s has none unless %s.", name,
	    obs_part_text(lacks), p->name, p->unless);
}
