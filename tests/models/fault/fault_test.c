/* tests/models/fault/fault_test.c -- places, rates and times of drawn faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, about nine of them.
 */
#include <unistd.h>

#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"
#include "topo/region.h"

#define LEVEL      1e-6
#define BIT(class) (UINT32_C(1) << (class))

static const struct topo_clos shape = {2, 4, 3, 5, 2, .n_cables = 0};

static void defaults_are_those_of_007(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &shape);
	const struct fault_params *g = scenes_add_group(&s);
	assert_int_equal(g->count, 1);
	assert_int_equal(g->classes,
	    BIT(TOPO_TOR_T1) | BIT(TOPO_T1_T2) | BIT(TOPO_T2_T1) |
		BIT(TOPO_T1_TOR));
	assert_int_equal(g->pick, FAULT_PICK_CLASS);
	assert_true(g->same_switch == 0);
	assert_true(g->rate.kind == SIM_UNIFORM && g->rate.a == 1e-4 &&
	    g->rate.b == 1e-2);
	scenes_close(&s);
}

/* Sorted, as many as asked, and no link twice: also when all links of the
 * classes fail. */
static void the_links_of_a_group_are_distinct(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	uint32_t all = 2 * (s.topo.clos.n_cables - s.topo.clos.cable_tor);
	for (uint32_t run = 0; run < 300; run++) {
		g->count = run < 100 ? all : run % all;
		g->pick = run % 2;
		g->same_switch = run % 3 / 2.0;
		scenes_draw_faults(&s, &truth, run);
		assert_int_equal(truth.n_faults, g->count);
		for (size_t i = 0; i < truth.n_faults; i++) {
			const topo_link l = truth.fault[i].link;
			assert_true(l < s.topo.n_links);
			assert_true(
			    g->classes >> topo_class_of(&s.topo, l) & 1);
			assert_true(i == 0 || truth.fault[i - 1].link < l);
		}
	}
	truth_free(&truth);
	scenes_close(&s);
}

static void one_class_can_fail_as_a_whole(void **state)
{
	(void)state;
	struct truth truth = {0};
	for (unsigned class = 0; class < TOPO_FABRIC; class ++) {
		struct scenes s;
		scenes_open(&s, &shape);
		struct fault_params *g = scenes_add_group(&s);
		const uint32_t n = topo_clos_class_size(&s.topo.clos, class);
		g->classes = BIT(class);
		g->count = n;
		scenes_draw_faults(&s, &truth, 1);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(truth.fault[i].link,
			    topo_clos_class_at(&s.topo.clos, class, i));
		scenes_close(&s);
	}
	truth_free(&truth);
}

static void more_faults_than_links_are_refused(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->classes = BIT(TOPO_TOR_T1);
	g->count = 25;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 25 links are to fail, but "
	    "the classes named have 24.");
	g->classes = BIT(TOPO_FABRIC);
	g->count = 1;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_ELIMIT);
	g->count = 0;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), 0);
	scenes_close(&s);
}

/* Counts where the single fault of 20,000 runs falls. */
static void count_places(struct scenes *s, uint64_t count[])
{
	struct truth truth = {0};
	for (uint32_t run = 0; run < 20000; run++) {
		scenes_draw_faults(s, &truth, run);
		count[truth.fault[0].link]++;
	}
	truth_free(&truth);
}

static void places_are_drawn_by_class_or_by_link(void **state)
{
	(void)state;
	for (uint32_t pick = 0; pick < 2; pick++) {
		struct scenes s;
		uint64_t count[256] = {0};
		double want[256] = {0};
		scenes_open(&s, &shape);
		struct fault_params *g = scenes_add_group(&s);
		g->pick = pick;
		count_places(&s, count);
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			unsigned class = topo_class_of(&s.topo, l);
			if (!(g->classes >> class & 1))
				continue;
			want[l] = pick == FAULT_PICK_LINK
			    ? 1
			    : 1.0 / topo_clos_class_size(&s.topo.clos, class);
		}
		double p = law_chi2(count, want, s.topo.n_links);
		if (p < LEVEL)
			fail_msg("pick %u, seed %ju: p = %g", pick,
			    (uintmax_t)test_seed(), p);
		scenes_close(&s);
	}
}

/* A leaf-spine has no tier 2, so two of the default classes have no links. */
static void empty_classes_get_no_share(void **state)
{
	(void)state;
	const struct topo_clos leaf_spine = {1, 4, 3, 0, 2, .n_cables = 0};
	struct scenes s;
	uint64_t count[64] = {0};
	scenes_open(&s, &leaf_spine);
	scenes_add_group(&s);
	count_places(&s, count);
	assert_true(law_chi2_uniform(count + 16, 24) >= LEVEL);
	scenes_close(&s);
}

/* The next place is another link out of the same switch, all alike: given the
 * pair's switch, the unordered pair is uniform. */
static void same_switch_keeps_to_the_switch_while_it_has_links(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0};
	uint64_t pair[9] = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->same_switch = 1;
	g->count = 2;
	for (uint32_t run = 0; run < 5000; run++) {
		scenes_draw_faults(&s, &truth, run);
		const topo_link a = truth.fault[0].link;
		const topo_link b = truth.fault[1].link;
		const topo_node at = scenes_node_left(&s.topo, a);
		assert_int_equal(at, scenes_node_left(&s.topo, b));
		if (topo_class_of(&s.topo, a) != TOPO_TOR_T1)
			continue;
		struct topo_clos_place pa = topo_clos_place(&s.topo.clos, a);
		struct topo_clos_place pb = topo_clos_place(&s.topo.clos, b);
		pair[pa.high % 3 * 3 + pb.high % 3]++;
	}
	const uint64_t pairs[] = {pair[1], pair[2], pair[5]};
	assert_true(law_chi2_uniform(pairs, 3) >= LEVEL);

	/* A ToR has three uplinks, so of four faults that want to be at one
	 * switch the last must go elsewhere. */
	g->classes = BIT(TOPO_TOR_T1);
	g->count = 4;
	for (uint32_t run = 0; run < 200; run++) {
		unsigned most = 0;
		scenes_draw_faults(&s, &truth, run);
		for (size_t i = 0; i < 4; i++) {
			unsigned n = 0;
			for (size_t j = 0; j < 4; j++)
				n += scenes_node_left(&s.topo,
					 truth.fault[i].link) ==
				    scenes_node_left(&s.topo,
					truth.fault[j].link);
			most = n > most ? n : most;
		}
		assert_int_equal(most, 3);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* Two distinct of 24 uplinks, 3 a ToR: 2/23 by chance. At same_switch = s the
 * share is s + (1 - s) 2/23, within 5 standard errors (false alarm 6e-7). */
static void without_same_switch_places_meet_by_chance_only(void **state)
{
	(void)state;
	static const double chance[] = {0, 0.3};
	enum { RUNS = 20000 };
	struct truth truth = {0};
	for (int i = 0; i < 2; i++) {
		struct scenes s;
		unsigned met = 0;
		scenes_open(&s, &shape);
		struct fault_params *g = scenes_add_group(&s);
		g->classes = BIT(TOPO_TOR_T1);
		g->count = 2;
		g->same_switch = chance[i];
		for (uint32_t run = 0; run < RUNS; run++) {
			scenes_draw_faults(&s, &truth, run);
			met += scenes_node_left(&s.topo, truth.fault[0].link) ==
			    scenes_node_left(&s.topo, truth.fault[1].link);
		}
		double want = chance[i] + (1 - chance[i]) * 2 / 23;
		assert_near((double)met / RUNS, want,
		    5 * sqrt(want * (1 - want) / RUNS));
		scenes_close(&s);
	}
	truth_free(&truth);
}

static void rates_follow_their_law_and_stay_in_range(void **state)
{
	(void)state;
	static const struct sim_dist laws[] = {
	    {SIM_UNIFORM, 1e-4, 1e-2},
	    {SIM_LOG_UNIFORM, 1e-5, 1},
	};
	enum { BINS = 25 };
	struct truth truth = {0};
	for (int i = 0; i < 2; i++) {
		struct scenes s;
		uint64_t count[BINS] = {0};
		const struct sim_dist *d = &laws[i];
		scenes_open(&s, &shape);
		struct fault_params *g = scenes_add_group(&s);
		g->count = 20;
		g->rate = *d;
		for (uint32_t run = 0; run < 1000; run++) {
			scenes_draw_faults(&s, &truth, run);
			for (size_t j = 0; j < truth.n_faults; j++) {
				double x = truth.fault[j].rate;
				assert_true(x >= d->a && x <= d->b);
				x = i == 0 ? (x - d->a) / (d->b - d->a)
					   : log(x / d->a) / log(d->b / d->a);
				count[(int)(x * BINS)]++;
			}
		}
		assert_true(law_chi2_uniform(count, BINS) >= LEVEL);
		scenes_close(&s);
	}
	truth_free(&truth);
}

static void named_links_fail_as_told(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0};
	struct sim_err e;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_fault(&s, 100, 0.25);
	g->links[g->n_links++] = 7; /* a host link, outside g->classes */
	g->count = 50;
	scenes_draw_faults(&s, &truth, 0);
	assert_int_equal(truth.n_faults, 2);
	assert_int_equal(truth.fault[0].link, 7);
	assert_int_equal(truth.fault[1].link, 100);
	assert_true(truth.fault[0].rate == 0.25 && truth.fault[1].rate == 0.25);

	g->links[0] = s.topo.n_links;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: link 140 is not in [0, 139].");
	g->links[0] = 7;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: link 7 is named twice.");
	truth_free(&truth);
	scenes_close(&s);
}

static void faults_begin_and_end_when_told(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0};
	struct sim_err e;
	scenes_open(&s, &shape);
	scenes_add_fault(&s, 20, 0.1);
	scenes_add_fault(&s, 22, 0.1)->from_s = 1.5;
	struct fault_params *g = scenes_add_fault(&s, 24, 0.1);
	g->from_s = 2;
	g->to_s = 7.25;
	scenes_add_fault(&s, 26, 0.1)->to_s = 3;
	scenes_add_fault(&s, 28, 0.1)->to_s = 0.5;
	g = scenes_add_fault(&s, 30, 0.1);
	g->to_s = 3;
	g->lasts_s = 0.25;
	g = &s.group[2];
	scenes_draw_faults(&s, &truth, 0);
	assert_int_equal(truth.fault[0].from_ns, 0);
	assert_true(truth.fault[0].to_ns == SIM_NEVER);
	assert_int_equal(truth.fault[1].from_ns, 1500000000);
	assert_true(truth.fault[1].to_ns == SIM_NEVER);
	assert_int_equal(truth.fault[2].from_ns, 2000000000);
	assert_int_equal(truth.fault[2].to_ns, 7250000000);
	assert_int_equal(truth.fault[3].from_ns, 0);
	assert_int_equal(truth.fault[3].to_ns, 3000000000);
	assert_int_equal(truth.fault[4].to_ns, 500000000);
	assert_int_equal(truth.fault[5].to_ns, 250000000);

	g->to_s = 1;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 2: a fault ends at 1 s, before "
	    "it begins at 2 s.");
	truth_free(&truth);
	scenes_close(&s);
}

/* Each link begins within the spread and ends as long after; places and rates
 * are those without. Chi-square at LEVEL. */
static void links_may_fail_one_after_another(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0}, plain = {0};
	uint64_t by_second[10] = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->count = 20;
	for (uint32_t run = 0; run < 200; run++) {
		g->spread_s = g->lasts_s = g->from_s = g->to_s = 0;
		scenes_draw_faults(&s, &plain, run);
		g->from_s = 5;
		g->spread_s = 10;
		g->lasts_s = run % 2 ? 2.5 : 0;
		g->to_s = run % 4 ? 15 : 0; /* `lasts` overrides it */
		scenes_draw_faults(&s, &truth, run);
		assert_int_equal(truth.n_faults, plain.n_faults);
		for (size_t i = 0; i < truth.n_faults; i++) {
			const struct truth_fault *f = &truth.fault[i];
			assert_int_equal(f->link, plain.fault[i].link);
			assert_true(f->rate == plain.fault[i].rate);
			assert_true(f->from_ns >= 5 * SIM_SEC &&
			    f->from_ns < 15 * SIM_SEC);
			by_second[f->from_ns / SIM_SEC - 5]++;
			if (run % 2)
				assert_int_equal(f->to_ns,
				    f->from_ns + 2500 * SIM_SEC / 1000);
			else
				assert_true(f->to_ns ==
				    (run % 4 ? 15 * SIM_SEC : SIM_NEVER));
		}
	}
	assert_true(law_chi2_uniform(by_second, 10) >= LEVEL);
	truth_free(&truth);
	truth_free(&plain);
	scenes_close(&s);
}

static void none_may_end_before_it_begins(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->from_s = 5;
	g->spread_s = 10;
	g->to_s = 14;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: a fault ends at 14 s, but may begin as late as 15 "
	    "s (from + spread).");
	g->to_s = 15;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), 0);
	g->to_s = 1;
	g->lasts_s = 1;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), 0);
	scenes_close(&s);
}

/* A link that flaps fails again and again at one rate, with its first failure that
 * of one that does not come back. */
static void what_flaps_comes_back_as_it_was(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	struct truth once = {0}, flaps = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->count = 3;
	g->rate = (struct sim_dist){SIM_UNIFORM, 0.1, 0.9};
	g->spread_s = 10;
	g->lasts_s = 1;
	scenes_draw_faults(&s, &once, 3);
	g->again = 2;
	g->every_s = 5;
	scenes_draw_faults(&s, &flaps, 3);
	assert_int_equal(flaps.n_faults, 9);
	assert_int_equal(truth_n_faulty(&flaps), 3);
	for (size_t i = 0; i < 9; i++) {
		const struct truth_fault *f = &flaps.fault[i],
					 *want = &once.fault[i / 3];
		const sim_ns late = i % 3 * 5 * SIM_SEC;
		assert_int_equal(f->link, want->link);
		assert_true(f->rate == want->rate);
		assert_int_equal(f->from_ns, want->from_ns + late);
		assert_int_equal(f->to_ns, want->to_ns + late);
	}
	g->every_s = 0.5;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: a fault lasts 1 s, but comes back every 0.5 s.");
	g->lasts_s = 0;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: a fault comes back 2 times (again), but does not "
	    "end: it needs `lasts`.");
	truth_free(&once);
	truth_free(&flaps);
	scenes_close(&s);
}

/* Streams are named by group: another group moves no earlier one. */
static void a_group_does_not_disturb_another(void **state)
{
	(void)state;
	struct scenes s;
	struct truth one = {0}, two = {0};
	scenes_open(&s, &shape);
	scenes_add_group(&s)->count = 5;
	scenes_draw_faults(&s, &one, 3);
	scenes_add_group(&s)->count = 5;
	scenes_draw_faults(&s, &two, 3);
	assert_int_equal(two.n_faults, 10);
	size_t found = 0;
	for (size_t i = 0; i < two.n_faults; i++)
		for (size_t j = 0; j < one.n_faults; j++)
			found += two.fault[i].link == one.fault[j].link &&
			    two.fault[i].rate == one.fault[j].rate;
	assert_int_equal(found, 5);
	truth_free(&one);
	truth_free(&two);
	scenes_close(&s);
}

/* A k = 4 fat-tree: 16 hosts, 32 switch cables. */
static void in_a_mesh_the_classes_between_switches_are_one(void **state)
{
	(void)state;
	struct topo_mesh *mesh;
	struct scenes s;
	uint64_t count[96] = {0};
	double want[96] = {0};
	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	scenes_open_mesh(&s, mesh);
	assert_int_equal(s.topo.n_links, 96);
	struct fault_params *g = scenes_add_group(&s);
	count_places(&s, count);
	assert_true(law_chi2_uniform(count + 32, 64) >= LEVEL);

	g->classes = BIT(TOPO_TOR_HOST) | BIT(TOPO_FABRIC);
	memset(count, 0, sizeof(count));
	count_places(&s, count);
	for (topo_link l = 0; l < 96; l++)
		want[l] = l >= 32        ? 1.0 / 64
		    : l % 2 == TOPO_DOWN ? 1.0 / 16
					 : 0;
	assert_true(law_chi2(count, want, 96) >= LEVEL);

	struct truth truth = {0};
	g->count = 80;
	scenes_draw_faults(&s, &truth, 0);
	for (size_t i = 0; i < 80; i++)
		assert_int_equal(truth.fault[i].link,
		    i < 16 ? 2 * i + 1 : i + 16);
	truth_free(&truth);
	scenes_close(&s);
}

/* Where a mesh knows tiers, a class of them is what it says: those links alone,
 * all alike, and no more of them than there are. */
static void in_a_fat_tree_a_class_of_tiers_is_what_it_says(void **state)
{
	(void)state;
	struct topo_mesh *mesh;
	struct scenes s;
	struct sim_err e;
	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	scenes_open_mesh(&s, mesh);
	struct fault_params *g = scenes_add_group(&s);
	for (unsigned c = 0; c < TOPO_FABRIC; c++) {
		uint64_t count[96] = {0};
		double want[96] = {0};
		uint32_t n = 0;
		for (topo_link l = 0; l < 96; l++)
			n += topo_class_of(&s.topo, l) == c;
		assert_int_equal(n, 16);
		assert_int_equal(fault_class_size(&s.topo, c), n);
		for (topo_link l = 0; l < 96; l++)
			want[l] = (topo_class_of(&s.topo, l) == c) / 16.0;
		g->classes = BIT(c);
		g->count = 1;
		count_places(&s, count);
		assert_true(law_chi2(count, want, 96) >= LEVEL);
		g->count = 17;
		assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_ELIMIT);
	}
	scenes_close(&s);
}

/* A fat-tree has tiers, so its links have classes though the places are one.
 * What is not counted as taken would be looked for without end. */
static void links_that_another_group_took_are_not_free_in_a_mesh(void **state)
{
	(void)state;
	struct topo_mesh *mesh;
	struct scenes s;
	struct sim_err e;
	struct truth truth = {0};
	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	scenes_open_mesh(&s, mesh);
	scenes_add_group(&s)->count = 40;
	scenes_add_group(&s)->count = 20;
	struct fault_params *last = scenes_add_group(&s);
	alarm(60);
	last->count = 4; /* all of the 64 between switches */
	scenes_draw_faults(&s, &truth, 0);
	assert_int_equal(truth.n_faults, 64);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(truth.fault[i].link, 32 + i);
	last->count = 5;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 2: 5 links are to fail, but the classes named have 4 "
	    "left by earlier groups.");
	alarm(0);
	truth_free(&truth);
	scenes_close(&s);
}

/* Each link of the classes as likely as another; no other fails. */
static void in_a_region_classes_are_those_of_its_closs(void **state)
{
	(void)state;
	const struct topo_region_params region = {.n_dcs = 3,
	    .n_borders = 2,
	    .detour = 1};
	const uint32_t classes = BIT(TOPO_T1_T2) | BIT(TOPO_FABRIC);
	struct scenes s;
	struct topo t;
	assert_ok(topo_open_region(&t, &shape, &region, test_err()));
	scenes_open(&s, &shape);
	topo_close(&s.topo);
	s.topo = t;
	struct fault_params *g = scenes_add_group(&s);
	uint64_t *count = calloc(t.n_links, sizeof(*count));
	double *want = calloc(t.n_links, sizeof(*want));
	assert_true(count && want);
	g->classes = classes;
	g->pick = FAULT_PICK_LINK;
	count_places(&s, count);
	for (topo_link l = 0; l < t.n_links; l++)
		want[l] = classes >> topo_class_of(&t, l) & 1;
	assert_true(law_chi2(count, want, t.n_links) >= LEVEL);
	free(count);
	free(want);
	scenes_close(&s);
}

/* Each key by a kind that has a use for it and one that has none, if any. */
static void keys_are_of_their_kinds(void **state)
{
	enum { NONE = FAULT_N_KINDS };
	static const struct {
		const char *key;
		uint32_t has, has_not;
	} known[] = {
	    {"kind", FAULT_BGP_FLAP, NONE},
	    {"count", FAULT_DROP, FAULT_BLACK_HOLE_2},
	    {"classes", FAULT_LATENCY, FAULT_POD_OFF},
	    {"entries", FAULT_BLACK_HOLE_1, FAULT_DROP},
	    {"sigma", FAULT_LATENCY, FAULT_DROP},
	    {"mode", FAULT_COLLECTOR, FAULT_HOST_OFF},
	    {"turn", FAULT_REROUTE, FAULT_NARROW},
	    {"bits", FAULT_HASH, FAULT_WEIGHTS},
	    {"mark", FAULT_ECN, FAULT_STORM},
	    {"again", FAULT_DROP, FAULT_ECN},
	    {"links", FAULT_BGP_FLAP, FAULT_BLACK_HOLE_1},
	    {"at", FAULT_HOST_OFF, FAULT_POD_OFF},
	    {"pods", FAULT_POD_OFF, FAULT_HOST_OFF},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(fault_uses(known[i].has, known[i].key), 1);
		if (known[i].has_not != NONE)
			assert_int_equal(fault_uses(known[i].has_not,
					     known[i].key),
			    0);
	}
	/* Of what is no key nobody has a use. */
	for (uint32_t kind = 0; kind < FAULT_N_KINDS; kind++)
		assert_int_equal(fault_uses(kind, "pod"), 0);
}

/* Each kind, by where it is: nothing of more than one place. */
static void a_kind_is_of_switches_of_hosts_or_of_neither(void **state)
{
	static const char of[] = {
	    [FAULT_DROP] = 'l',
	    [FAULT_LATENCY] = 'l',
	    [FAULT_BLACK_HOLE_1] = 's',
	    [FAULT_BLACK_HOLE_2] = 's',
	    [FAULT_HOST_OFF] = 'h',
	    [FAULT_POD_OFF] = 'p',
	    [FAULT_CONTROLLER] = '-',
	    [FAULT_COLLECTOR] = '-',
	    [FAULT_REROUTE] = 's',
	    [FAULT_NARROW] = 's',
	    [FAULT_WEIGHTS] = 's',
	    [FAULT_HASH] = 's',
	    [FAULT_ECN] = 'l',
	    [FAULT_MUX_LOOP] = 'h',
	    [FAULT_STORM] = 'h',
	    [FAULT_BGP_FLAP] = 'l',
	};
	(void)state;
	_Static_assert(sizeof(of) == FAULT_N_KINDS, "each kind is listed");
	for (uint32_t kind = 0; kind < FAULT_N_KINDS; kind++) {
		if (fault_is_of_switches(kind) != (of[kind] == 's') ||
		    fault_is_of_hosts(kind) != (of[kind] == 'h'))
			fail_msg("%s", fault_kind_names[kind]);
		assert_int_equal(fault_uses(kind, "pods"), of[kind] == 'p');
	}
}

/* What a spec says of a delay, and the mean and shape that it comes to. */
static void a_delay_has_its_laws_mean(void **state)
{
	(void)state;
	static const struct {
		enum truth_law law;
		double mean, shape;
	} all[] = {{TRUTH_CONSTANT, 800, 0}, {TRUTH_EXPONENTIAL, 800, 0},
	    {TRUTH_LOGNORMAL, 906.5187624534611, 0.5}, /* 800 e^(1/8) */
	    {TRUTH_LOAD, 3200, 0.8}};
	struct scenes s;
	struct truth truth = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_LATENCY;
	g->delay = scenes_fixed(800);
	g->sigma = 0.5;
	g->load = 0.8;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		g->law = all[i].law;
		scenes_draw_faults(&s, &truth, 0);
		assert_int_equal(truth.n_faults, 1);
		assert_int_equal(truth.fault[0].law, all[i].law);
		assert_near(truth.fault[0].delay_us, all[i].mean, 1e-9);
		assert_true(truth.fault[0].shape == all[i].shape);
		assert_true(truth.fault[0].rate == 0);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* Of groups that there are so many are drawn as are asked for. */
static void groups_are_those_that_are_counted(void **state)
{
	(void)state;
	const struct sim_seed where = {.seed = test_seed()};
	struct scenes s;
	struct truth truth = {0};
	struct fault_params group[3];
	scenes_open(&s, &shape);
	for (size_t i = 0; i < 3; i++) {
		group[i] = *scenes_add_group(&s);
		group[i].count = 1 + (uint32_t)i;
	}
	for (size_t n = 0; n <= 3; n++) {
		truth_clear(&truth);
		assert_ok(
		    fault_draw(&s.topo, group, n, &where, &truth, test_err()));
		assert_int_equal(truth.n_faults, n * (n + 1) / 2);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* What comes back once has to end before; at that very moment it may begin anew. */
static void what_comes_back_has_ended(void **state)
{
	(void)state;
	static const struct {
		double lasts, every, from, to;
		const char *msg;
	} all[] = {
	    {0, 5, 0, 0,
		"fault group 0: a fault comes back 1 times (again), but does "
		"not end: it needs `lasts`."},
	    {5, 4.5, 0, 0,
		"fault group 0: a fault lasts 5 s, but comes back every 4.5 "
		"s."},
	    {5, 5, 0, 0, ""},
	    {5, 5, 9, 1, ""},
	};
	struct scenes s;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->again = 1;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct sim_err e = {0};
		g->lasts_s = all[i].lasts;
		g->every_s = all[i].every;
		g->from_s = all[i].from;
		g->to_s = all[i].to;
		assert_int_equal(scenes_draw_faults_fails(&s, &e),
		    all[i].msg[0] ? SIM_EINVAL : 0);
		assert_string_equal(e.msg, all[i].msg);
	}
	/* One that ends as it begins is one. */
	g->again = 0;
	g->lasts_s = g->spread_s = 0;
	g->from_s = g->to_s = 3;
	assert_int_equal(scenes_draw_faults_fails(&s, NULL), 0);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults_are_those_of_007),
	    cmocka_unit_test(keys_are_of_their_kinds),
	    cmocka_unit_test(a_kind_is_of_switches_of_hosts_or_of_neither),
	    cmocka_unit_test(named_links_fail_as_told),
	    cmocka_unit_test(faults_begin_and_end_when_told),
	    cmocka_unit_test(links_may_fail_one_after_another),
	    cmocka_unit_test(none_may_end_before_it_begins),
	    cmocka_unit_test(what_flaps_comes_back_as_it_was),
	    cmocka_unit_test(the_links_of_a_group_are_distinct),
	    cmocka_unit_test(one_class_can_fail_as_a_whole),
	    cmocka_unit_test(more_faults_than_links_are_refused),
	    cmocka_unit_test(places_are_drawn_by_class_or_by_link),
	    cmocka_unit_test(empty_classes_get_no_share),
	    cmocka_unit_test(
		same_switch_keeps_to_the_switch_while_it_has_links),
	    cmocka_unit_test(without_same_switch_places_meet_by_chance_only),
	    cmocka_unit_test(rates_follow_their_law_and_stay_in_range),
	    cmocka_unit_test(a_group_does_not_disturb_another),
	    cmocka_unit_test(in_a_mesh_the_classes_between_switches_are_one),
	    cmocka_unit_test(in_a_fat_tree_a_class_of_tiers_is_what_it_says),
	    cmocka_unit_test(
		links_that_another_group_took_are_not_free_in_a_mesh),
	    cmocka_unit_test(in_a_region_classes_are_those_of_its_closs),
	    cmocka_unit_test(a_delay_has_its_laws_mean),
	    cmocka_unit_test(groups_are_those_that_are_counted),
	    cmocka_unit_test(what_comes_back_has_ended),
	};
	return cmocka_run_group_tests_name("models/fault/fault", tests, NULL,
	    NULL);
}
