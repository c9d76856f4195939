/* tests/speed/skip.c -- skipping against looking at every flow, and who chooses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Over a grid of what loses and how much, plane auto should take the faster of
 * the two, or one about as fast. With SKIP_GRID set in the environment each cell
 * is a row, too, and only networks of which the name has what it is set to are
 * tried: SKIP_GRID=fat-tree, or SKIP_GRID= for all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/speed/bench.h"
#include "topo/mesh.h"
#include "topo/region.h"

enum { MAX_GROUPS = 3, ROUNDS = 3 };

struct grid {
	struct topo topo;
	struct fault_params group[MAX_GROUPS];
	struct scene_params params;
	struct scene scene;
	struct bulk *bulk;
	struct bulk_skip *skip;
	struct obs window;
	struct losses lost;
	uint32_t epochs;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_skip: %s\n", e->msg);
		exit(1);
	}
}

static struct fault_params *add_group(struct grid *g, enum fault_kind kind,
    uint32_t count)
{
	struct sim_err e;
	struct fault_params *f = &g->group[g->params.n_groups++];
	must(sim_field_defaults(fault_fields, f, &e), &e);
	f->kind = kind;
	f->count = f->switches = count;
	if (kind == FAULT_DROP)
		f->switches = 0;
	return f;
}

/* All but the first are meshes: their ways are drawn by tables. */
enum kind { CLOS, FAT_TREE, LEAF_SPINE, REGION };

struct size {
	const char *name;
	struct topo_clos shape; /* of a fat-tree hosts a ToR alone */
	uint32_t epochs;
	enum kind kind;
	uint32_t k; /* of a fat-tree its ports, of a region its data centres */
};

static void open_topo(struct topo *t, const struct size *size)
{
	struct sim_err e;
	struct topo_mesh *mesh;
	struct topo_region_params region;
	switch (size->kind) {
	case CLOS:
		must(topo_open_clos(t, &size->shape, &e), &e);
		return;
	case REGION:
		must(sim_field_defaults(topo_region_fields, &region, &e), &e);
		region.n_dcs = size->k;
		must(topo_open_region(t, &size->shape, &region, &e), &e);
		return;
	case FAT_TREE:
		must(topo_mesh_fat_tree(&mesh, size->k, size->shape.n_hosts,
			 &e),
		    &e);
		break;
	default:
		must(topo_mesh_from_clos(&mesh, &size->shape, &e), &e);
	}
	must(topo_open_mesh(t, mesh, &e), &e);
}

static void grid_open(struct grid *g, const struct size *size,
    uint32_t n_faults, double noise)
{
	struct sim_err e;
	*g = (struct grid){.epochs = size->epochs};
	open_topo(&g->topo, size);
	must(sim_field_defaults(scene_traffic_fields, &g->params.traffic, &e),
	    &e);
	g->params.noise.rate = (struct sim_dist){SIM_UNIFORM, 0, noise};
	g->params.noise.scale = 1;
	g->params.group = g->group;
	add_group(g, FAULT_DROP, n_faults);
	must(bulk_open(&g->bulk, NULL, &e), &e);
	must(bulk_skip_open(&g->skip, &e), &e);
}

static void grid_close(struct grid *g)
{
	scene_free(&g->scene);
	bulk_close(g->bulk);
	bulk_skip_close(g->skip);
	obs_free(&g->window);
	losses_free(&g->lost);
	topo_close(&g->topo);
}

static void grid_scene(struct grid *g, uint32_t run)
{
	struct sim_err e;
	const struct sim_seed where = {.seed = 1, .run = run};
	must(scene_draw(&g->scene, &g->topo, &g->params, &where, &e), &e);
}

static void grid_skip(void *arg)
{
	struct grid *g = arg;
	struct sim_err e;
	for (uint32_t i = 0; i < g->epochs; i++) {
		grid_scene(g, i);
		must(bulk_skip_epoch(g->skip, &g->scene, &g->window, &g->lost,
			 &e),
		    &e);
	}
}

static void grid_exact(void *arg)
{
	struct grid *g = arg;
	struct sim_err e;
	for (uint32_t i = 0; i < g->epochs; i++) {
		grid_scene(g, i);
		must(bulk_epoch(g->bulk, &g->scene, 0, &g->window, &g->lost,
			 &e),
		    &e);
	}
}

static void skew(struct grid *g, uint32_t n_hot, double hot_share)
{
	g->params.traffic.dst = SCENE_DST_SKEWED;
	g->params.traffic.n_hot = n_hot;
	g->params.traffic.hot_share = hot_share;
}

static void uniform(struct grid *g)
{
	(void)g;
}
static void one_hot(struct grid *g)
{
	skew(g, 1, 0.5);
}
static void ten_hot(struct grid *g)
{
	skew(g, 10, 0.8);
}
static void hole(struct grid *g, enum fault_kind kind, uint32_t n,
    enum fault_tier tier, double entries)
{
	struct fault_params *f = add_group(g, kind, n);
	f->tiers = 1u << tier;
	f->entries = (struct sim_dist){SIM_FIXED, entries, 0};
}
static void tor_hole(struct grid *g)
{
	hole(g, FAULT_BLACK_HOLE_1, 1, FAULT_TIER_TOR, 0.01);
}
static void t1_hole(struct grid *g)
{
	hole(g, FAULT_BLACK_HOLE_2, 1, FAULT_TIER_T1, 0.01);
}
static void t2_hole(struct grid *g)
{
	hole(g, FAULT_BLACK_HOLE_2, 1, FAULT_TIER_T2, 0.01);
}
static void tor_holes(struct grid *g)
{
	hole(g, FAULT_BLACK_HOLE_1, 10, FAULT_TIER_TOR, 0.05);
}
static void host_off(struct grid *g)
{
	add_group(g, FAULT_HOST_OFF, 10);
}
static void pod_off(struct grid *g)
{
	add_group(g, FAULT_POD_OFF, 1);
}
static void uplinks(struct grid *g)
{
	add_group(g, FAULT_DROP, 20)->classes = 1u << TOPO_HOST_TOR;
}

static const struct {
	const char *name;
	void (*set)(struct grid *g);
} cases[] = {{"uniform", uniform}, {"one hot ToR", one_hot},
    {"ten hot ToRs", ten_hot}, {"hole at a ToR", tor_hole},
    {"hole at a T1", t1_hole}, {"hole at a T2", t2_hole},
    {"holes at 10 ToRs", tor_holes}, {"10 hosts off", host_off},
    {"a pod off", pod_off}, {"20 uplinks", uplinks}};

static const struct size sizes[] = {{"96k", {2, 20, 8, 10, 40, .n_cables = 0},
					20, CLOS, 0},
    {"960k", {10, 40, 8, 10, 40, .n_cables = 0}, 2, CLOS, 0},
    {"fat-tree of 4k", {.n_hosts = 2}, 20, FAT_TREE, 8},
    {"fat-tree of 154k", {.n_hosts = 20}, 1, FAT_TREE, 16},
    {"leaf-spine of 77k", {1, 64, 8, 0, 20, .n_cables = 0}, 2, LEAF_SPINE, 0},
    {"region of 58k", {2, 8, 4, 4, 20, .n_cables = 0}, 2, REGION, 3}};

/* What a cell of the grid comes to. */
struct cell {
	double gain; /* of skipping: time of the exact plane through its own */
	double over; /* time of the chosen plane through that of the better */
};

static struct cell grid_cell(size_t size, size_t i, uint32_t n_faults,
    double noise)
{
	struct grid g;
	grid_open(&g, &sizes[size], n_faults, noise);
	cases[i].set(&g);
	grid_scene(&g, 0);
	const int pays = bulk_skip_excess(&g.scene) <= 0;
	grid_skip(&g);
	const double gain =
	    bench_against(ROUNDS, grid_exact, &g, grid_skip, &g).ratio;
	const double over = pays ? 1 / gain : gain;
	grid_close(&g);
	if (getenv("SKIP_GRID"))
		printf("  %s flows, %s, %u faults, noise %g: x%.2f, %s\n",
		    sizes[size].name, cases[i].name, n_faults, noise, gain,
		    pays ? "skip" : "exact");
	return (struct cell){gain, over > 1 ? over : 1};
}

/* All cells of one case: the least gain is told where noise is 007's. The others
 * lie on both sides of where the two are equal, for which a mesh takes more
 * noise: so what auto believes of their costs is held against what they are. */
static void bench_case(size_t size, size_t i)
{
	static const double both[2][5] = {{1e-6, 1e-4, 2e-4, 3e-4, 5e-4},
	    {1e-6, 2e-4, 1e-3, 5e-3, 3e-2}};
	const double *noises = both[sizes[size].kind != CLOS];
	static const uint32_t faults[] = {1, 10, 100};
	double worst = 1, least = INFINITY;
	char what[80];
	for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++)
		for (size_t n = 0; n < 5; n++) {
			const struct cell x =
			    grid_cell(size, i, faults[f], noises[n]);
			worst = fmax(worst, x.over);
			if (noises[n] == 1e-6 && faults[f] <= 10)
				least = fmin(least, x.gain);
		}
	snprintf(what, sizeof(what), "skipping against exact, %s, %s",
	    sizes[size].name, cases[i].name);
	bench_row(what, least, "x", '-', 0);
	snprintf(what, sizeof(what), "  auto against the better, worst of 15");
	bench_row(what, worst, "x", '<', 1.2);
}

/* Pods without power are tried in a Clos; leaf-spines have no T2. */
static int is_there(enum kind kind, void (*set)(struct grid *g))
{
	return (kind == CLOS || set != pod_off) &&
	    (kind != LEAF_SPINE || set != t2_hole);
}

void bench_skip(void)
{
	const char *wanted = getenv("SKIP_GRID");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			if (is_there(sizes[s].kind, cases[i].set) &&
			    (!wanted || strstr(sizes[s].name, wanted)))
				bench_case(s, i);
}
