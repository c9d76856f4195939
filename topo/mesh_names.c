/* topo/mesh_names.c -- what the nodes of a mesh are called, and by what id.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/mesh_tables.h"

const char *topo_mesh_describe(const struct topo_mesh_input *in, topo_node n,
    char buf[64])
{
	const char *name = in->name ? in->name[n] : NULL;
	int is_host = n < in->n_hosts;
	snprintf(buf, 64, "%s %u%s%.30s%s", is_host ? "host" : "switch",
	    is_host ? n : n - in->n_hosts, name ? " (" : "", name ? name : "",
	    name ? ")" : "");
	return buf;
}

/* --- checks --------------------------------------------------------------- */

/* Whether TEXT has the form of a default name, host17 or sw3, of a node other
 * than N. Where such names are in use it could not be told from the other
 * node's. */
static int is_default_of_another(const struct topo_mesh_input *in,
    const char *text, topo_node n)
{
	int is_host = n < in->n_hosts;
	char own[32];
	size_t skip = 0;
	if (strncmp(text, "host", 4) == 0)
		skip = 4;
	else if (strncmp(text, "sw", 2) == 0)
		skip = 2;
	if (skip == 0 || text[skip] == '\0' ||
	    text[skip + strspn(text + skip, "0123456789")] != '\0')
		return 0;
	snprintf(own, sizeof(own), "%s%u", is_host ? "host" : "sw",
	    is_host ? n : n - in->n_hosts);
	return strcmp(own, text) != 0;
}

static int has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return 1;
	return 0;
}

/* A name that is the node's id may not please, but then the file's owner can
 * give the node another one. */
static int check_name(const struct topo_mesh_input *in, topo_node n,
    struct sim_err *e)
{
	const char *name = in->name[n];
	const int is_id = in->id && strcmp(in->id[n], name) == 0;
	const char *what = is_id ? "id" : "name";
	const char *hint = is_id ? " Give the node a \"name\"." : "";
	const size_t length = strlen(name);
	char d[64];
	/* The name itself is kept out of this message, which is one line. */
	if (has_control(name))
		return sim_fail(e, SIM_EINVAL,
		    "The %s of %s %u holds a control character.%s", what,
		    n < in->n_hosts ? "host" : "switch",
		    n < in->n_hosts ? n : n - in->n_hosts, hint);
	if (length == 0 || length > TOPO_MESH_MAX_NAME)
		return sim_fail(e, SIM_EINVAL,
		    "The %s of %s has %zu bytes, which is not in [1, %d].%s",
		    what, topo_mesh_describe(in, n, d), length,
		    TOPO_MESH_MAX_NAME, hint);
	if (strstr(name, "->"))
		return sim_fail(e, SIM_EINVAL,
		    "The %s of %s would be mistaken for a link or another "
		    "node.%s",
		    what, topo_mesh_describe(in, n, d), hint);
	return 0;
}

/* The default names of nodes are in use where some node has no other one. Else
 * a file may count its hosts from 1, say, and then these names mean nothing but
 * what the file says. */
static int check_numbers(const struct topo_mesh_input *in, uint8_t *others,
    struct sim_err *e)
{
	const topo_node n_nodes = in->n_hosts + in->n_switches;
	topo_node first = TOPO_NONE, unnamed = TOPO_NONE;
	char d[64];
	for (topo_node n = 0; n < n_nodes; n++) {
		if (!in->name[n])
			unnamed = n;
		if (first == TOPO_NONE &&
		    ((in->name[n] &&
			 is_default_of_another(in, in->name[n], n)) ||
			(in->id && is_default_of_another(in, in->id[n], n))))
			first = n;
	}
	*others = first != TOPO_NONE;
	if (first == TOPO_NONE || unnamed == TOPO_NONE)
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    "The name of %s would be mistaken for a link or another node.",
	    topo_mesh_describe(in, first, d));
}

struct called {
	const char *text;
	topo_node node;
};

static int by_text(const void *a, const void *b)
{
	const struct called *x = a, *y = b;
	return strcmp(x->text, y->text);
}

/* Sorted, so that equal names stand side by side: a network may have millions
 * of hosts. */
static int check_names_differ(const struct topo_mesh_input *in,
    struct sim_err *e)
{
	const topo_node n_nodes = in->n_hosts + in->n_switches;
	struct called *all;
	char a[64], b[64];
	size_t n = 0;
	int rc = SIM_ZALLOC(&all, 2 * (size_t)n_nodes, e);
	if (rc < 0)
		return rc;
	for (topo_node i = 0; i < n_nodes; i++) {
		if (in->name[i])
			all[n++] = (struct called){in->name[i], i};
		if (in->id && (!in->name[i] || strcmp(in->name[i], in->id[i])))
			all[n++] = (struct called){in->id[i], i};
	}
	qsort(all, n, sizeof(*all), by_text);
	for (size_t i = 1; i < n && rc == 0; i++)
		if (strcmp(all[i - 1].text, all[i].text) == 0)
			rc = sim_fail(e, SIM_EINVAL,
			    "Two nodes are called \"%.60s\", by name or id: %s "
			    "and %s.",
			    all[i].text,
			    topo_mesh_describe(in, all[i - 1].node, a),
			    topo_mesh_describe(in, all[i].node, b));
	free(all);
	return rc;
}

/* --- keeping -------------------------------------------------------------- */

/* Ids are of any length, so they stand one behind the other. */
static int keep_ids(struct topo_mesh *m, const struct topo_mesh_input *in,
    struct sim_err *e)
{
	const topo_node n_nodes = in->n_hosts + in->n_switches;
	size_t size = 0;
	int rc;
	for (topo_node n = 0; n < n_nodes; n++)
		size += strlen(in->id[n]) + 1;
	if ((rc = SIM_ZALLOC(&m->id, n_nodes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->id_text, size, e)) < 0)
		return rc;
	char *at = m->id_text;
	for (topo_node n = 0; n < n_nodes; n++) {
		m->id[n] = at;
		at = stpcpy(at, in->id[n]) + 1;
	}
	return 0;
}

int topo_mesh_take_names(struct topo_mesh *m, const struct topo_mesh_input *in,
    struct sim_err *e)
{
	const topo_node n_nodes = in->n_hosts + in->n_switches;
	int rc = 0;
	if (!in->name)
		return 0;
	for (topo_node n = 0; n < n_nodes && rc == 0; n++)
		if (in->name[n])
			rc = check_name(in, n, e);
	if (rc < 0 || (rc = check_names_differ(in, e)) < 0 ||
	    (rc = check_numbers(in, &m->no_numbers, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->name, n_nodes, e)) < 0)
		return rc;
	for (topo_node n = 0; n < n_nodes; n++)
		if (in->name[n])
			snprintf(m->name[n], sizeof(m->name[n]), "%s",
			    in->name[n]);
	return in->id ? keep_ids(m, in, e) : 0;
}

/* --- questions ------------------------------------------------------------ */

const char *topo_mesh_name(const struct topo_mesh *m, topo_node n)
{
	assert(n < m->n_hosts + m->n_switches);
	return m->name && m->name[n][0] ? m->name[n] : NULL;
}

const char *topo_mesh_id(const struct topo_mesh *m, topo_node n)
{
	assert(n < m->n_hosts + m->n_switches);
	return m->id ? m->id[n] : NULL;
}

/* Names are looked up once for a spec's few links, so no index is kept. */
topo_node topo_mesh_find(const struct topo_mesh *m, const char *name)
{
	if (!m->name || !name[0])
		return TOPO_NONE;
	for (topo_node n = 0; n < m->n_hosts + m->n_switches; n++)
		if (strcmp(m->name[n], name) == 0 ||
		    (m->id && strcmp(m->id[n], name) == 0))
			return n;
	return TOPO_NONE;
}

int topo_mesh_has_numbers(const struct topo_mesh *m)
{
	return !m->no_numbers;
}
