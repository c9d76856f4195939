/* topo/region.c -- several data centres, each a Clos, joined by long cables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/region.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/mesh.h"

#define EARTH_KM       6371.0
#define GLASS_KM_S     (299792.458 / 1.468) /* c over fibre's index */
#define RAD_PER_DEGREE (M_PI / 180)
#define MAX_DETOUR     10

/* Cloud regions of one operator near the paper's five places, with the
 * coordinates that it publishes. The paper names only US West, US Central, US
 * East, Europe and Asia. */
static const struct topo_site known_sites[] = {
    {37.783, -122.417},  /* West US, California */
    {41.5908, -93.6208}, /* Central US, Iowa */
    {37.3719, -79.8164}, /* East US, Virginia */
    {53.3478, -6.2597},  /* North Europe, Ireland */
    {1.283, 103.833},    /* Southeast Asia, Singapore */
};
enum { N_KNOWN_SITES = sizeof(known_sites) / sizeof(known_sites[0]) };

const struct sim_field topo_region_fields[] = {
    {"n_dcs", SIM_F_U32, offsetof(struct topo_region_params, n_dcs), .min = 1,
	.max = TOPO_REGION_MAX_DCS, .unit = "data centres", .def = "5",
	.doc = "data centres, each a Clos of the same shape"},
    {"n_borders", SIM_F_U32, offsetof(struct topo_region_params, n_borders),
	.min = 1, .max = TOPO_REGION_MAX_BORDERS, .unit = "switches",
	.def = "4", .doc = "border routers in each data centre"},
    {"detour", SIM_F_F64, offsetof(struct topo_region_params, detour), .min = 1,
	.max = MAX_DETOUR, .unit = "1", .def = "1.4",
	.doc = "length of a long cable over the great-circle distance"},
    {"sites", SIM_F_STR, offsetof(struct topo_region_params, sites),
	.size = sizeof(((struct topo_region_params *)0)->sites), .def = "",
	.doc = "where the data centres stand: \"lat,lon; lat,lon; ...\", "
	       "degrees; by default the paper's five places"},
    {0},
};

/* --- sites ---------------------------------------------------------------- */

double topo_site_km(struct topo_site a, struct topo_site b)
{
	const double lat_a = a.lat * RAD_PER_DEGREE;
	const double lat_b = b.lat * RAD_PER_DEGREE;
	const double lat = sin((lat_b - lat_a) / 2);
	const double lon = sin((b.lon - a.lon) * RAD_PER_DEGREE / 2);
	/* The haversine; rounding may lift it above 1 at antipodes. */
	const double h = lat * lat + cos(lat_a) * cos(lat_b) * lon * lon;
	return 2 * EARTH_KM * asin(sqrt(fmin(h, 1)));
}

/* Read N bytes of TEXT, without the blanks around them, as degrees from -MAX to
 * MAX. They are copied since a number to be parsed must end with a NUL. */
static int read_degrees(const char *text, size_t n, double max, double *out)
{
	char copy[32];
	/* Behind the N bytes stands no blank. */
	while (text[0] == ' ') {
		text++;
		n--;
	}
	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n >= sizeof(copy))
		return 0;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return sim_parse_f64(copy, out, NULL) == 0 && fabs(*out) <= max;
}

static int read_site(const char *text, size_t n, struct topo_site *out)
{
	const char *comma = memchr(text, ',', n);
	if (!comma)
		return 0;
	const size_t before = (size_t)(comma - text);
	return read_degrees(text, before, 90, &out->lat) &&
	    read_degrees(comma + 1, n - before - 1, 180, &out->lon);
}

/* All sites of the text are checked, also those that no data centre needs, so
 * that a mistake in them does not wait for a larger n_dcs. */
static int read_sites(struct topo_region *r, const char *text,
    struct sim_err *e)
{
	uint32_t n = 0;
	/* NEXT is the semicolon behind a site, NULL behind the last one. */
	for (const char *at = text, *next = text; next; at = next + 1, n++) {
		struct topo_site site;
		next = strchr(at, ';');
		const size_t length = next ? (size_t)(next - at) : strlen(at);
		if (!read_site(at, length, &site))
			return sim_fail(e, SIM_EINVAL,
			    "sites: \"%.*s\" is not a place: write "
			    "\"lat,lon; lat,lon; ...\" with degrees in "
			    "[-90, 90] and [-180, 180].",
			    length < 40 ? (int)length : 40, at);
		if (n < r->n_dcs)
			r->site[n] = site;
	}
	if (n < r->n_dcs)
		return sim_fail(e, SIM_EINVAL,
		    "sites names %u places, but n_dcs is %u.", n, r->n_dcs);
	return 0;
}

static int region_place(struct topo_region *r,
    const struct topo_region_params *p, struct sim_err *e)
{
	int rc = 0;
	/* Without a text the paper's places are used, of which there are
	 * five. */
	if (p->sites[0])
		rc = read_sites(r, p->sites, e);
	else if (r->n_dcs > N_KNOWN_SITES)
		rc = sim_fail(e, SIM_EINVAL,
		    "n_dcs %u: without `sites` there are places for %d data "
		    "centres.",
		    r->n_dcs, N_KNOWN_SITES);
	else
		memcpy(r->site, known_sites, r->n_dcs * sizeof(r->site[0]));
	for (uint32_t a = 0; rc == 0 && a < r->n_dcs; a++)
		for (uint32_t b = 0; b < a; b++) {
			/* The same both ways: a cable has one length. */
			const double km =
			    p->detour * topo_site_km(r->site[a], r->site[b]);
			r->cable_km[a][b] = r->cable_km[b][a] = km;
			r->delay_ns[a][b] = r->delay_ns[b][a] =
			    (sim_ns)llround(km / GLASS_KM_S * 1e9);
		}
	return rc;
}

/* --- sizes ---------------------------------------------------------------- */

/* The highest switches of a data centre, which have cables to its borders: how
 * many there are, and below, the first of them within the data centre. */
static uint32_t n_tops(const struct topo_clos *c)
{
	if (c->n_t2 > 0)
		return c->n_t2;
	return c->n_t1 > 0 ? c->all_t1 : c->all_tors;
}

static topo_switch first_top(const struct topo_clos *c)
{
	return topo_clos_n_switches(c) - n_tops(c);
}

static int region_check_sizes(const struct topo_clos *c,
    const struct topo_region_params *p, struct sim_err *e)
{
	if (p->n_dcs == 0 || p->n_borders == 0)
		return sim_fail(e, SIM_EINVAL,
		    "n_dcs %u and n_borders %u must each be at least 1.",
		    p->n_dcs, p->n_borders);
	if (!(p->detour >= 1 && p->detour <= MAX_DETOUR))
		return sim_fail(e, SIM_EINVAL, "detour %g is not in [1, %d].",
		    p->detour, MAX_DETOUR);
	if (p->n_dcs > TOPO_REGION_MAX_DCS)
		return sim_fail(e, SIM_ELIMIT,
		    "n_dcs %u is more than the limit of %d data centres.",
		    p->n_dcs, TOPO_REGION_MAX_DCS);
	if (p->n_borders > TOPO_REGION_MAX_BORDERS)
		return sim_fail(e, SIM_ELIMIT,
		    "n_borders %u is more than the limit of %d.", p->n_borders,
		    TOPO_REGION_MAX_BORDERS);
	/* Divided, not multiplied, so that the test itself cannot overflow. */
	if (p->n_dcs > TOPO_ADDR_MAX_HOSTS / c->all_hosts)
		return sim_fail(e, SIM_ELIMIT,
		    "n_dcs %u x %u hosts are more than the limit of %u hosts.",
		    p->n_dcs, c->all_hosts, TOPO_ADDR_MAX_HOSTS);
	const uint32_t each = topo_clos_n_switches(c) + p->n_borders;
	if (each > TOPO_MESH_MAX_SWITCHES / p->n_dcs)
		return sim_fail(e, SIM_ELIMIT,
		    "n_dcs %u x %u switches, borders among them, are more than "
		    "the limit of %d for a region.",
		    p->n_dcs, each, TOPO_MESH_MAX_SWITCHES);
	return 0;
}

/* Fill the tables of first ids, with the layout of region.h. The turn d ==
 * n_dcs makes the entries behind the last data centre: the first border and the
 * first long cable. */
static void region_number(struct topo_region *r, const struct topo_clos *c)
{
	const uint32_t trunks =
	    c->n_cables - c->all_hosts + n_tops(c) * r->n_borders;
	for (uint32_t d = 0; d <= r->n_dcs; d++) {
		if (d < r->n_dcs)
			r->shape[d] = *c;
		r->first_host[d] = d * c->all_hosts;
		r->first_switch[d] = d * topo_clos_n_switches(c);
		r->first_pod[d] = d * c->n_pods;
		r->first_cable[d] = r->n_dcs * c->all_hosts + d * trunks;
	}
	/* The entries behind the last data centre are the totals. */
	r->n_pods = r->first_pod[r->n_dcs];
	r->first_long = r->first_cable[r->n_dcs];
}

/* Borders are the last switches of the region, so that the switches of a data
 * centre keep the order of clos.h. */
static topo_switch border_of(const struct topo_region *r, uint32_t dc,
    uint32_t b)
{
	return r->first_switch[r->n_dcs] + dc * r->n_borders + b;
}

/* The link from the TOP-th of the top switches of a data centre to border B;
 * these cables stand behind all cables of the Clos itself. */
static topo_link border_link(const struct topo_region *r, uint32_t dc,
    uint32_t top, uint32_t b, enum topo_dir dir)
{
	const struct topo_clos *c = &r->shape[dc];
	return topo_link_of(r->first_cable[dc] + c->n_cables - c->all_hosts +
		top * r->n_borders + b,
	    dir);
}

static topo_link long_link(const struct topo_region *r, uint32_t from,
    uint32_t to, uint32_t b)
{
	const uint32_t low = from < to ? from : to, high = from ^ to ^ low;
	/* Pairs (low, high) are counted (0,1), (0,2), ..., (1,2), ...: the data
	 * centre 0 has n_dcs - 1 of them, 1 has n_dcs - 2, and so on. */
	const uint32_t pair =
	    low * (2 * r->n_dcs - low - 1) / 2 + high - low - 1;
	return topo_link_of(r->first_long + pair * r->n_borders + b,
	    from < to ? TOPO_UP : TOPO_DOWN);
}

/* --- building ------------------------------------------------------------- */

/* What topo_mesh_open() is given, and the memory behind it, which can go once
 * the mesh is open. */
struct plan {
	struct topo_mesh_input in;
	struct topo_cable *cable;
	uint32_t *tier;
	const char **name;
	char (*text)[TOPO_MESH_MAX_NAME + 1]; /* [n_switches] */
};

static void discard(struct plan *p)
{
	free(p->cable);
	free(p->tier);
	free(p->name);
	free(p->text);
}

static int region_allocate(struct plan *p, const struct topo_region *r,
    struct sim_err *e)
{
	struct topo_mesh_input *in = &p->in;
	int rc;
	in->n_hosts = r->first_host[r->n_dcs];
	/* The border behind the last one: borders have the highest numbers. */
	in->n_switches = border_of(r, r->n_dcs, 0);
	in->n_cables =
	    r->first_long + r->n_dcs * (r->n_dcs - 1) / 2 * r->n_borders;
	if ((rc = SIM_ZALLOC(&p->cable, in->n_cables, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->tier, in->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->name, in->n_hosts + in->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->text, in->n_switches, e)) < 0)
		return rc;
	in->cable = p->cable;
	in->tier = p->tier;
	in->name = p->name;
	return 0;
}

static void name_switch(struct plan *p, topo_switch s, uint32_t tier,
    uint32_t dc, uint32_t i)
{
	static const char *const kind[] = {"tor", "t1.", "t2.", "border"};
	p->tier[s] = tier;
	snprintf(p->text[s], sizeof(p->text[s]), "dc%u.%s%u", dc, kind[tier],
	    i);
	p->name[p->in.n_hosts + s] = p->text[s];
}

static void name_switches(struct plan *p, const struct topo_region *r,
    uint32_t dc)
{
	const struct topo_clos *c = &r->shape[dc];
	topo_switch s = r->first_switch[dc];
	for (uint32_t i = 0; i < c->all_tors; i++)
		name_switch(p, s++, 0, dc, i);
	for (uint32_t i = 0; i < c->all_t1; i++)
		name_switch(p, s++, 1, dc, i);
	for (uint32_t i = 0; i < c->n_t2; i++)
		name_switch(p, s++, 2, dc, i);
	for (uint32_t i = 0; i < r->n_borders; i++)
		name_switch(p, border_of(r, dc, i), 3, dc, i);
}

/* Lay the cables of one data centre in the order of region.h, on which the
 * arithmetic of link ids below relies. */
static void region_lay_cables(struct plan *p, const struct topo_region *r,
    uint32_t dc)
{
	const struct topo_clos *c = &r->shape[dc];
	const topo_node base = p->in.n_hosts + r->first_switch[dc];
	struct topo_cable *at = p->cable + r->first_cable[dc];
	for (uint32_t h = 0; h < c->all_hosts; h++) {
		const topo_host host = r->first_host[dc] + h;
		p->cable[host] =
		    (struct topo_cable){host, base + h / c->n_hosts};
	}
	for (uint32_t i = 0; i < c->all_tors; i++)
		for (uint32_t j = 0; j < c->n_t1; j++)
			*at++ = (struct topo_cable){base + i,
			    base + topo_clos_t1(c, i / c->n_tors, j)};
	for (uint32_t i = 0; i < c->all_t1; i++)
		for (uint32_t k = 0; k < c->n_t2; k++)
			*at++ = (struct topo_cable){base + c->all_tors + i,
			    base + topo_clos_t2(c, k)};
	for (uint32_t i = 0; i < n_tops(c); i++)
		for (uint32_t b = 0; b < r->n_borders; b++)
			*at++ = (struct topo_cable){base + first_top(c) + i,
			    p->in.n_hosts + border_of(r, dc, b)};
}

/* Only from the earlier data centre to the later one: long_link() counts each
 * pair once. */
static void lay_long_cables(struct plan *p, const struct topo_region *r)
{
	for (uint32_t from = 0; from < r->n_dcs; from++)
		for (uint32_t to = from + 1; to < r->n_dcs; to++)
			for (uint32_t b = 0; b < r->n_borders; b++)
				p->cable[long_link(r, from, to, b) >> 1] =
				    (struct topo_cable){p->in.n_hosts +
					    border_of(r, from, b),
					p->in.n_hosts + border_of(r, to, b)};
}

static int region_build(struct topo_mesh **m, const struct topo_region *r,
    struct sim_err *e)
{
	struct plan p = {0};
	int rc = region_allocate(&p, r, e);
	*m = NULL;
	if (rc < 0)
		goto out;
	for (uint32_t d = 0; d < r->n_dcs; d++) {
		name_switches(&p, r, d);
		region_lay_cables(&p, r, d);
	}
	lay_long_cables(&p, r);
	rc = topo_mesh_open(m, &p.in, e);
out:
	discard(&p);
	return rc;
}

int topo_open_region(struct topo *t, const struct topo_clos *shape,
    const struct topo_region_params *p, struct sim_err *e)
{
	struct topo_clos c = *shape;
	struct topo_region *r = NULL;
	struct topo_mesh *m;
	int rc;
	*t = (struct topo){0};
	if ((rc = topo_clos_init(&c, e)) < 0 ||
	    (rc = region_check_sizes(&c, p, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r, 1, e)) < 0)
		return rc;
	r->n_dcs = p->n_dcs;
	r->n_borders = p->n_borders;
	region_number(r, &c);
	/* The tables of the mesh answer most questions. Paths are computed
	 * below instead, and tests compare them with those of the tables. */
	if ((rc = region_place(r, p, e)) < 0 ||
	    (rc = region_build(&m, r, e)) < 0 ||
	    (rc = topo_open_mesh(t, m, e)) < 0) {
		free(r);
		return rc;
	}
	t->region = r;
	return 0;
}

/* --- looking up ----------------------------------------------------------- */

/* At most sixteen data centres: a search from the front costs less than a
 * clever one. */
uint32_t topo_region_dc_of(const struct topo_region *r, topo_host h)
{
	uint32_t d = 0;
	assert(h < r->first_host[r->n_dcs]);
	while (h >= r->first_host[d + 1])
		d++;
	return d;
}

/* Translate a link of a data centre's own Clos into the region's numbering:
 * cables of hosts move behind those of the hosts before, the others behind all
 * cables of earlier data centres. Link ids move by twice as much as cables. */
static topo_link from_clos(const struct topo_region *r, uint32_t dc,
    topo_link l)
{
	const uint32_t hosts = r->shape[dc].all_hosts;
	return l >> 1 < hosts ? l + 2 * r->first_host[dc]
			      : l + 2 * (r->first_cable[dc] - hosts);
}

/* The number of directed links between one data centre's switches and its
 * borders. All data centres have the same shape, so the first stands for
 * any. */
static uint32_t n_border_links(const struct topo_region *r)
{
	return 2 * n_tops(&r->shape[0]) * r->n_borders;
}

uint32_t topo_region_class_size(const struct topo_region *r,
    enum topo_link_class class)
{
	const uint32_t n = r->n_dcs;
	if (class == TOPO_FABRIC)
		return n * n_border_links(r) + n * (n - 1) * r->n_borders;
	return n * topo_clos_class_size(&r->shape[0], class);
}

topo_link topo_region_class_at(const struct topo_region *r,
    enum topo_link_class class, uint32_t i)
{
	assert(i < topo_region_class_size(r, class));
	if (class != TOPO_FABRIC) {
		const struct topo_clos *c = &r->shape[0];
		const uint32_t each = topo_clos_class_size(c, class);
		return from_clos(r, i / each,
		    topo_clos_class_at(c, class, i % each));
	}
	const uint32_t each = n_border_links(r);
	/* FABRIC links in the order of ids: the border links of each data
	 * centre, which are consecutive, then all long ones. */
	if (i >= r->n_dcs * each)
		return 2 * r->first_long + i - r->n_dcs * each;
	return border_link(r, i / each, 0, 0, TOPO_UP) + i % each;
}

/* --- paths ----------------------------------------------------------------
 *
 * Paths are computed, as in clos.c. The tables would give the same, but each of
 * up to eight switches would have to be searched for its next hops.
 */

/* topo_switch_seed() adds a multiple of the switch id to the seed before it
 * mixes. Adding the multiple of a data centre's first switch here lets the code
 * of the Clos use ids within the data centre and get the seeds of the region's
 * switches. */
static uint32_t shift_seed(const struct topo_region *r, uint32_t dc,
    uint32_t ecmp_seed)
{
	return ecmp_seed + r->first_switch[dc] * UINT32_C(0x9e3779b9);
}

/* A path as it grows. */
struct walk {
	const struct topo_region *r;
	uint32_t ecmp_seed, digest;
	topo_link *path;
	unsigned n;
};

static void go(struct walk *w, uint32_t dc, topo_link of_clos)
{
	w->path[w->n++] = from_clos(w->r, dc, of_clos);
}

/* Go from a ToR up to a border of its data centre and return which one. Tiers
 * that the shape lacks are skipped; `top` is the index, among the switches of
 * its tier in the data centre, of the highest one reached so far. */
static uint32_t region_climb(struct walk *w, uint32_t dc, uint32_t tor)
{
	const struct topo_clos *c = &w->r->shape[dc];
	const uint32_t seed = shift_seed(w->r, dc, w->ecmp_seed);
	uint32_t top = tor;
	if (c->n_t1 > 0) {
		const uint32_t up =
		    topo_switch_pick(seed, tor, w->digest, c->n_t1);
		go(w, dc, topo_clos_link_tor(c, tor, up, TOPO_UP));
		top = tor / c->n_tors * c->n_t1 + up;
	}
	if (c->n_t2 > 0) {
		const uint32_t t1 = top;
		top = topo_switch_pick(seed, c->all_tors + t1, w->digest,
		    c->n_t2);
		go(w, dc, topo_clos_link_t1(c, t1, top, TOPO_UP));
	}
	const uint32_t b = topo_switch_pick(seed, first_top(c) + top, w->digest,
	    w->r->n_borders);
	w->path[w->n++] = border_link(w->r, dc, top, b, TOPO_UP);
	return b;
}

/* Go from a border down to a ToR of its data centre. Every top switch is on a
 * shortest way there, so the border chooses among all of them. Borders are
 * hashed with their id in the region, so with the seed as it is. */
static void descend(struct walk *w, uint32_t dc, uint32_t b, uint32_t tor)
{
	const struct topo_clos *c = &w->r->shape[dc];
	const uint32_t seed = shift_seed(w->r, dc, w->ecmp_seed);
	const uint32_t top = topo_switch_pick(w->ecmp_seed,
	    border_of(w->r, dc, b), w->digest, n_tops(c));
	uint32_t down = top; /* in its pod: no T2s, one pod */
	w->path[w->n++] = border_link(w->r, dc, top, b, TOPO_DOWN);
	if (c->n_t2 > 0) {
		const uint32_t first = tor / c->n_tors * c->n_t1;
		down = topo_switch_pick(seed, topo_clos_t2(c, top), w->digest,
		    c->n_t1);
		go(w, dc, topo_clos_link_t1(c, first + down, top, TOPO_DOWN));
	}
	if (c->n_t1 > 0)
		go(w, dc, topo_clos_link_tor(c, tor, down, TOPO_DOWN));
}

unsigned topo_region_path(const struct topo_region *r, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[])
{
	const uint32_t from = topo_region_dc_of(r, src);
	const uint32_t to = topo_region_dc_of(r, dst);
	const topo_host first = r->first_host[from];
	struct walk w = {r, ecmp_seed, digest, path, 0};
	/* Within a data centre its Clos has the path; only seeds and link ids
	 * are moved to where the data centre's own begin. */
	if (from == to) {
		w.n = topo_clos_path(&r->shape[from],
		    shift_seed(r, from, ecmp_seed), src - first, dst - first,
		    digest, path);
		for (unsigned i = 0; i < w.n; i++)
			path[i] = from_clos(r, from, path[i]);
		return w.n;
	}
	/* Between data centres: up to a border, along one long cable, and
	 * down. */
	path[w.n++] = topo_link_of(src, TOPO_UP);
	const uint32_t b =
	    region_climb(&w, from, (src - first) / r->shape[from].n_hosts);
	/* Border b has a long cable only to border b of the other data centre,
	 * so which border is reached settles which long cable is taken. */
	path[w.n++] = long_link(r, from, to, b);
	descend(&w, to, b, (dst - r->first_host[to]) / r->shape[to].n_hosts);
	path[w.n++] = topo_link_of(dst, TOPO_DOWN);
	return w.n;
}

void topo_region_print(const struct topo_region *r, FILE *out)
{
	const struct topo_clos *c = &r->shape[0];
	fprintf(out,
	    "data centres  %u of %u podsets of %u ToRs and %u T1s, %u T2s, "
	    "%u borders\n",
	    r->n_dcs, c->n_pods, c->n_tors, c->n_t1, c->n_t2, r->n_borders);
	for (uint32_t d = 0; d < r->n_dcs; d++)
		fprintf(out, "  dc%-3u hosts %u-%u, podsets %u-%u, at %g,%g\n",
		    d, r->first_host[d], r->first_host[d + 1] - 1,
		    r->first_pod[d], r->first_pod[d + 1] - 1, r->site[d].lat,
		    r->site[d].lon);
	if (r->n_dcs < 2)
		return;
	fprintf(out, "long cables   %u between any two data centres; one way\n",
	    r->n_borders);
	for (uint32_t a = 0; a < r->n_dcs; a++)
		for (uint32_t b = a + 1; b < r->n_dcs; b++)
			fprintf(out, "  dc%u-dc%-3u %9.3f ms %9.1f km\n", a, b,
			    (double)r->delay_ns[a][b] / SIM_MS,
			    r->cable_km[a][b]);
}
