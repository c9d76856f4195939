/* experiments/telemetry/flock_topo.c -- networks as lists of edges.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/telemetry/flock_text.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "topo/mesh.h"

/* --- ids -------------------------------------------------------------------*/

void xp_flock_ids_free(struct xp_flock_ids *x)
{
	free(x->id);
	free(x->node);
	*x = (struct xp_flock_ids){0};
}

static int ftext_name_fits(const struct topo *t, topo_node n, uint32_t *id)
{
	char name[64];
	uint64_t v;
	topo_node_name(t, n, name);
	if (sim_parse_u64(name, &v, NULL) < 0)
		return 0;
	*id = (uint32_t)v;
	return n < t->n_hosts ? v >= XP_FLOCK_FIRST_HOST &&
		v < XP_FLOCK_FIRST_HOST + XP_FLOCK_HOSTS
			      : v < XP_FLOCK_FIRST_HOST;
}

int xp_flock_ids_init(struct xp_flock_ids *x, const struct topo *t,
    struct sim_err *e)
{
	const size_t n = (size_t)t->n_hosts + t->n_switches;
	int fit = 1, rc = SIM_RESERVE(&x->id, &x->cap_id, n, e);
	if (rc == 0 && t->n_switches > XP_FLOCK_FIRST_HOST)
		rc = sim_fail(e, SIM_ELIMIT,
		    "%u switches are too many: Flock's numbers have room for "
		    "%d.",
		    t->n_switches, XP_FLOCK_FIRST_HOST);
	for (size_t i = 0; rc == 0 && fit && i < n; i++)
		fit = ftext_name_fits(t, (topo_node)i, &x->id[i]);
	for (uint32_t i = 0; rc == 0 && !fit && i < n; i++)
		x->id[i] =
		    i < t->n_hosts ? XP_FLOCK_FIRST_HOST + i : i - t->n_hosts;
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (x->id[i] >= x->n_ids)
			x->n_ids = x->id[i] + 1;
	if (rc == 0)
		rc = SIM_ZALLOC(&x->node, x->n_ids ? x->n_ids : 1, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		x->node[x->id[i]] = i + 1;
	if (rc < 0)
		xp_flock_ids_free(x);
	return rc;
}

/* --- reading ---------------------------------------------------------------*/

struct ftext_edge {
	uint32_t a, b; /* ids; of a host, first it */
};

struct ftext_edges {
	struct xp_flock_lines l;
	size_t n_hosts, cap_hosts, n_cables, cap_cables;
	struct ftext_edge *host, *cable;
	uint32_t n_switches, at[XP_FLOCK_FIRST_HOST]; /* by id: 1 + switch */
	uint32_t tier[XP_FLOCK_FIRST_HOST];
};

static void ftext_edges_free(struct ftext_edges *x)
{
	if (!x)
		return;
	free(x->host);
	free(x->cable);
	free(x);
}

/* `H->T` in one word or three. */
static int ftext_edge_host(struct ftext_edges *x, struct sim_err *e)
{
	struct xp_flock_lines *l = &x->l;
	struct ftext_edge h;
	int rc;
	char *arrow = strstr(l->word[0], "->");
	if (l->n == 3 && strcmp(l->word[1], "->") == 0) {
		l->word[1] = l->word[2];
	} else if (l->n == 1 && arrow) {
		*arrow = '\0';
		l->word[1] = arrow + 2;
	} else {
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": a line is A B, two switches, or H->T, a host and its "
		    "ToR.",
		    l->path, l->number);
	}
	if ((rc = xp_flock_u32(l, 0, "a host", 0,
		 XP_FLOCK_FIRST_HOST + XP_FLOCK_HOSTS - 1, &h.a, e)) < 0 ||
	    (rc = xp_flock_u32(l, 1, "a switch", 0, XP_FLOCK_FIRST_HOST - 1,
		 &h.b, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->host, &x->cap_hosts, x->n_hosts + 1, e)) < 0)
		return rc;
	x->host[x->n_hosts++] = h;
	x->at[h.b] = 1;
	return 0;
}

static int ftext_edge(struct ftext_edges *x, struct sim_err *e)
{
	struct ftext_edge c;
	int rc;
	if (x->l.n != 2 || strchr(x->l.word[0], '>') ||
	    strchr(x->l.word[1], '>'))
		return ftext_edge_host(x, e);
	if ((rc = xp_flock_u32(&x->l, 0, "a switch", 0, XP_FLOCK_FIRST_HOST - 1,
		 &c.a, e)) < 0 ||
	    (rc = xp_flock_u32(&x->l, 1, "a switch", 0, XP_FLOCK_FIRST_HOST - 1,
		 &c.b, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->cable, &x->cap_cables, x->n_cables + 1, e)) <
		0)
		return rc;
	x->cable[x->n_cables++] = c;
	x->at[c.a] = x->at[c.b] = 1;
	return 0;
}

/* Old files number hosts from 0 on: all of them or none. */
static int ftext_edges_offset(struct ftext_edges *x, struct sim_err *e)
{
	size_t n_old = 0;
	for (size_t i = 0; i < x->n_hosts; i++)
		n_old += x->host[i].a < XP_FLOCK_FIRST_HOST;
	if (n_old > 0 && n_old < x->n_hosts)
		return sim_fail(e, SIM_EPARSE,
		    "%s: %zu of %zu hosts are below %d; all are, as in old "
		    "files, or none.",
		    x->l.path, n_old, x->n_hosts, XP_FLOCK_FIRST_HOST);
	for (size_t i = 0; n_old > 0 && i < x->n_hosts; i++)
		x->host[i].a += XP_FLOCK_FIRST_HOST;
	return 0;
}

/* Distances from hosts, by rounds; 0 if one is above 2. */
static int ftext_edges_tiers(struct ftext_edges *x)
{
	memset(x->tier, 0xff, sizeof(x->tier));
	for (size_t i = 0; i < x->n_hosts; i++)
		x->tier[x->at[x->host[i].b] - 1] = 0;
	for (uint32_t d = 0; d < 2; d++)
		for (size_t i = 0; i < x->n_cables; i++) {
			uint32_t *a = &x->tier[x->at[x->cable[i].a] - 1];
			uint32_t *b = &x->tier[x->at[x->cable[i].b] - 1];
			if (*a == d && *b == UINT32_MAX)
				*b = d + 1;
			if (*b == d && *a == UINT32_MAX)
				*a = d + 1;
		}
	for (uint32_t s = 0; s < x->n_switches; s++)
		if (x->tier[s] == UINT32_MAX)
			return 0;
	return 1;
}

struct ftext_name {
	char text[12];
};

static int ftext_edges_mesh(struct ftext_edges *x, struct topo *t,
    struct sim_err *e)
{
	const uint32_t n_hosts = (uint32_t)x->n_hosts;
	const size_t n = x->n_hosts + x->n_switches,
		     n_cables = x->n_hosts + x->n_cables;
	struct topo_cable *cable = NULL;
	struct ftext_name *text = NULL;
	const char **name = NULL;
	struct topo_mesh *m;
	int rc;
	if ((rc = SIM_ZALLOC(&cable, n_cables + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&text, n + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&name, n + 1, e)) < 0)
		goto out;
	for (uint32_t i = 0; i < n_hosts; i++) {
		cable[i] =
		    (struct topo_cable){i, n_hosts + x->at[x->host[i].b] - 1};
		snprintf(text[i].text, sizeof(text[i].text), "%u",
		    x->host[i].a);
	}
	for (size_t i = 0; i < x->n_cables; i++)
		cable[n_hosts + i] =
		    (struct topo_cable){n_hosts + x->at[x->cable[i].a] - 1,
			n_hosts + x->at[x->cable[i].b] - 1};
	for (uint32_t s = 0; s < XP_FLOCK_FIRST_HOST; s++)
		if (x->at[s])
			snprintf(text[n_hosts + x->at[s] - 1].text,
			    sizeof(text[0].text), "%u", s);
	for (size_t i = 0; i < n; i++)
		name[i] = text[i].text;
	const struct topo_mesh_input in = {.n_hosts = n_hosts,
	    .n_switches = x->n_switches,
	    .n_cables = n_cables,
	    .cable = cable,
	    .tier = ftext_edges_tiers(x) ? x->tier : NULL,
	    .name = name};
	rc = topo_mesh_open(&m, &in, e);
	rc =
	    rc < 0 ? sim_wrap(e, rc, "%s", x->l.path) : topo_open_mesh(t, m, e);
out:
	free(cable);
	free(text);
	free(name);
	return rc;
}

static int ftext_edges_take(struct ftext_edges *x, struct topo *t,
    struct sim_err *e)
{
	int rc;
	while ((rc = xp_flock_next(&x->l, e)) == 0 && x->l.n > 0)
		if ((rc = ftext_edge(x, e)) < 0)
			return rc;
	if (rc == 0 && x->n_hosts == 0)
		rc = sim_fail(e, SIM_EPARSE, "%s has no host.", x->l.path);
	if (rc == 0)
		rc = ftext_edges_offset(x, e);
	for (uint32_t s = 0; s < XP_FLOCK_FIRST_HOST; s++)
		if (x->at[s])
			x->at[s] = ++x->n_switches;
	return rc < 0 ? rc : ftext_edges_mesh(x, t, e);
}

int xp_flock_topo_read(struct topo *t, const char *path, struct sim_err *e)
{
	struct ftext_edges *x;
	int rc = SIM_ZALLOC(&x, 1, e);
	*t = (struct topo){0};
	if (rc < 0)
		return rc;
	x->l.path = path;
	rc = xp_flock_open(&x->l.file, path, 0, e);
	if (rc == 0)
		rc = ftext_edges_take(x, t, e);
	rc = xp_flock_close(x->l.file, rc, e);
	ftext_edges_free(x);
	return rc;
}

/* --- writing ---------------------------------------------------------------*/

static int ftext_topo_put(const struct topo *t, const struct xp_flock_ids *ids,
    struct xp_flock_file *f, struct sim_err *e)
{
	char line[64];
	int rc = 0;
	/* Hosts have the first cables. */
	for (uint32_t c = t->n_hosts; rc == 0 && c < t->n_links / 2; c++) {
		topo_node a, b;
		topo_link_ends(t, topo_link_of(c, TOPO_UP), &a, &b);
		const int n = snprintf(line, sizeof(line), "%u %u\n",
		    ids->id[a], ids->id[b]);
		rc = xp_flock_put(f, line, (size_t)n, e);
	}
	for (topo_host h = 0; rc == 0 && h < t->n_hosts; h++) {
		const int n = snprintf(line, sizeof(line), "%u->%u\n",
		    ids->id[h], ids->id[t->n_hosts + topo_tor_of(t, h)]);
		rc = xp_flock_put(f, line, (size_t)n, e);
	}
	return rc;
}

int xp_flock_topo_write(const struct topo *t, const char *path,
    struct sim_err *e)
{
	struct xp_flock_ids ids = {0};
	struct xp_flock_file *f = NULL;
	int rc = xp_flock_ids_init(&ids, t, e);
	if (rc == 0 && (rc = xp_flock_open(&f, path, 1, e)) == 0)
		rc = ftext_topo_put(t, &ids, f, e);
	rc = xp_flock_close(f, rc, e);
	xp_flock_ids_free(&ids);
	return rc;
}
