/* tests/fuzz/spec_input.c -- a spec and what is said beside it, as one input.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/fuzz/spec_input.h"

#include <string.h>

#include "experiments/spec/spec.h"
#include "sim/input.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_NETWORKS = 40, MOST_VALUES = 2 };

static const struct spec_input *now;
static unsigned n_networks;

int spec_input_take(struct spec_input *x, const uint8_t *bytes, size_t n)
{
	*x = (struct spec_input){0};
	if (n > SPEC_BYTES || memchr(bytes, 0, n))
		return 0;
	memcpy(x->text, bytes, n);
	char *at = x->text;
	for (char *end; strncmp(at, "--", 2) == 0 && strcmp(at, "---") != 0 &&
	     (end = strchr(at, '\n')) != NULL;
	     at = end + 1) {
		*end = '\0';
		if (strcmp(at, "--smoke") == 0)
			x->smoke = 1;
		else if (strncmp(at, "--set ", 6) == 0 && x->n_set < SPEC_SETS)
			x->set[x->n_set++] = at + 6;
	}
	x->file = at;
	now = x;
	n_networks = 0;
	return 1;
}

/* --- in place of what a spec makes one do (Makefile) -----------------------*/

static FILE *text_as_file(const char *text)
{
	/* What is empty can't be opened; a comment means as little. */
	FILE *f = fmemopen((void *)(uintptr_t)(*text ? text : "#"),
	    *text ? strlen(text) : 1, "r");
	must(f != NULL);
	return f;
}

__typeof__(sim_input_open) __wrap_sim_input_open;
FILE *__wrap_sim_input_open(const char *path, const char **why)
{
	static const char graph[] =
	    "<graphml><key id='k' for='node' attr.name='kind' "
	    "attr.type='string'/><graph edgedefault='undirected'>"
	    "<node id='a'><data key='k'>host</data></node>"
	    "<node id='b'><data key='k'>host</data></node>"
	    "<node id='s'><data key='k'>switch</data></node>"
	    "<edge source='a' target='s'/><edge source='b' target='s'/>"
	    "</graph></graphml>";
	(void)why;
	return text_as_file(strcmp(path, SPEC_NAME) == 0 ? now->file : graph);
}

static void at_most(uint32_t *n, uint32_t most)
{
	*n = *n < most ? *n : most;
}

/* Networks are of the kind that is asked for, and small: what is read of a spec
 * hardly depends on their size, and time does. */
__typeof__(xp_topology_open) __wrap_xp_topology_open, __real_xp_topology_open;
int __wrap_xp_topology_open(const struct xp_topology *x, const char *folder,
    struct topo *t, struct sim_err *e)
{
	struct xp_topology small = *x;
	*t = (struct topo){0};
	if (++n_networks > MOST_NETWORKS)
		return sim_fail(e, SIM_ELIMIT, "too many for a fuzzer.");
	at_most(&small.clos.n_pods, 3);
	at_most(&small.clos.n_tors, 3);
	at_most(&small.clos.n_t1, 3);
	at_most(&small.clos.n_t2, 4);
	at_most(&small.clos.n_hosts, 3);
	at_most(&small.region.n_borders, 2);
	at_most(&small.k, 4);
	at_most(&small.oversub, 3);
	return __real_xp_topology_open(&small, folder, t, e);
}

static void cut_values(struct sim_yaml_node *values)
{
	while (values->kind == SIM_YAML_SEQ && values->n > MOST_VALUES)
		sim_yaml_node_free(values->child[--values->n]);
}

/* What a sweep lists is cut, as each point is read alike: hundreds of points took
 * nearly all of the time. A zip of one and two values is still no zip. */
__typeof__(sim_yaml_copy) __wrap_sim_yaml_copy, __real_sim_yaml_copy;
int __wrap_sim_yaml_copy(struct sim_yaml_node **to,
    const struct sim_yaml_node *from, struct sim_err *e)
{
	const int rc = __real_sim_yaml_copy(to, from, e);
	if (rc < 0 || (*to)->kind != SIM_YAML_MAP)
		return rc;
	for (size_t i = 0; i < (*to)->n; i++) {
		struct sim_yaml_node *axes = (*to)->child[i];
		const int swept = strcmp((*to)->key[i], "grid") == 0 ||
		    strcmp((*to)->key[i], "zip") == 0;
		for (size_t k = 0; swept && k < axes->n; k++)
			cut_values(axes->child[k]);
	}
	return rc;
}

__typeof__(plug_set_find) __wrap_plug_set_find;
int __wrap_plug_set_find(struct plug_set *s, enum plug_kind kind,
    const char *text, size_t number, struct plug **out, struct sim_err *e)
{
	(void)s, (void)kind, (void)number;
	*out = NULL;
	return sim_fail(e, SIM_EDEP, "%s is not started.", text);
}
