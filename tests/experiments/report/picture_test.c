/* tests/experiments/report/picture_test.c -- cells as pictures, and drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a picture counts is held against the plane's own windows; what it says
 * of algorithms, against their scores.
 */
#include "experiments/report/picture.h"

#include <unistd.h>

#include "experiments/report/draw.h"
#include "experiments/report/markup.h"
#include "sim/text.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define HEAD "figure: f\ntitle: \"<script>alert(1)</script> & 'it'\"\n"
#define CLOS                                                                   \
	HEAD "topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, "             \
	     "n_hosts: 3}\ntraffic: {conns: 40, packets: 40}\n"
#define ALGOS "algorithms: [vote, alg1, {name: cover, label: \"<b>'c\"}]\n"

static const char *const specs[] = {
    CLOS ALGOS "noise: {rate: 1e-5}\nfaults: {count: 2, rate: 0.02}\n",
    /* More that is broken or accused than there are names for. */
    CLOS ALGOS "noise: {rate: 1e-3}\nfaults: {count: 30, rate: 0.01}\n",
    CLOS ALGOS "plane: agents\nfaults: {count: 2, rate: 0.02}\n",
    CLOS "faults: {count: 1, rate: 0.02}\nplane: exact\n" ALGOS,
    CLOS ALGOS,
    HEAD "topology: {kind: fat_tree, k: 4}\nfaults: {rate: 0.05}\n" ALGOS,
    HEAD
    "topology: {kind: region, n_dcs: 2, n_borders: 1, n_pods: 2, "
    "n_tors: 2, n_t1: 2, n_t2: 1, n_hosts: 2}\nfaults: {rate: 0.05}\n" ALGOS,
    HEAD "topology: {n_pods: 1, n_tors: 3, n_t1: 2, n_hosts: 2}\n"
	 "faults: {rate: 0.05, classes: [host-tor, tor-host]}\n" ALGOS,
    CLOS "algorithms: [{name: alg1, on: switch, adjust: removal}, vote]\n"
	 "faults: {switches: 1, tiers: [t1], share: 0.5, rate: 0.05}\n",
};
enum { N_SPECS = sizeof(specs) / sizeof(specs[0]), N_RUNS = 3 };

struct rig {
	struct xp_spec spec;
	struct xp_trial *trial;
	struct xp_picture p;
	double *row;
};

static void open_rig(struct rig *g, const char *text)
{
	struct res_cube c;
	*g = (struct rig){0};
	spec_open(&g->spec, text);
	assert_ok(xp_spec_cube(&g->spec, 0, 1, &c, test_err()));
	g->row = calloc(c.cell_doubles, sizeof(double));
	res_cube_free(&c);
	assert_ok(xp_trial_open(&g->trial, &g->spec, test_err()));
}

static void close_rig(struct rig *g)
{
	xp_picture_free(&g->p);
	xp_trial_close(g->trial);
	xp_spec_free(&g->spec);
	free(g->row);
}

static void take(struct rig *g, uint32_t run)
{
	assert_ok(xp_picture_take(&g->p, g->trial, 0, run, g->row, test_err()));
}

/* --- what is counted ------------------------------------------------------ */

struct counted {
	uint64_t flows[4096], drops[4096], n_failed, n_lost;
};

static int begin_nothing(void *arg, const struct xp_cell *cell,
    struct sim_err *e)
{
	(void)arg;
	(void)e;
	assert_true(cell->topo->n_links <= 4096);
	assert_null(cell->verdicts);
	return 0;
}

static int count_window(void *arg, const struct xp_window *w, struct sim_err *e)
{
	struct counted *c = arg;
	(void)e;
	*c = (struct counted){0};
	for (size_t i = 0; i < w->seen->flows.n; i++) {
		if (w->seen->flows.n_retx[i] == 0)
			continue;
		c->n_failed++;
		for (uint64_t k = w->seen->hops.off[i];
		     k < w->seen->hops.off[i + 1]; k++) {
			const topo_link l = w->lost->n_path
			    ? w->lost->path[k]
			    : w->seen->hops.link[k];
			c->n_lost += w->lost->drops[k];
			if (l == TOPO_NONE)
				continue;
			c->flows[l]++;
			c->drops[l] += w->lost->drops[k];
		}
	}
	return 0;
}

static void a_picture_counts_what_its_window_has(void **state)
{
	static struct counted c;
	const struct xp_audience to = {&c, begin_nothing, count_window};
	(void)state;
	for (size_t i = 0; i < N_SPECS; i++)
		for (uint32_t run = 0; run < N_RUNS; run++) {
			struct rig g;
			open_rig(&g, specs[i]);
			take(&g, run);
			assert_ok(
			    xp_trial_show(g.trial, 0, run, &to, test_err()));
			assert_int_equal(g.p.n_failed, c.n_failed);
			assert_int_equal(g.p.n_lost, c.n_lost);
			for (size_t l = 0; l < g.p.n_links; l++) {
				assert_int_equal(g.p.flows[l], c.flows[l]);
				assert_int_equal(g.p.drops[l], c.drops[l]);
			}
			close_rig(&g);
		}
}

static void a_picture_leaves_the_cell_as_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SPECS; i++) {
		struct rig a, b;
		open_rig(&a, specs[i]);
		open_rig(&b, specs[i]);
		const size_t n = res_row_doubles(i == 8 ? 2 : 3);
		for (uint32_t run = 0; run < N_RUNS; run++) {
			take(&a, run);
			assert_ok(
			    xp_trial_run(b.trial, 0, run, b.row, test_err()));
			assert_memory_equal(a.row, b.row, n * sizeof(double));
		}
		close_rig(&a);
		close_rig(&b);
	}
}

/* --- what is said --------------------------------------------------------- */

static size_t count_words(const struct xp_picture *p, size_t algo,
    enum xp_word word, int is_switch)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_parts; i++)
		n += p->part[i].is_switch == is_switch &&
		    xp_picture_said(p, algo, p->part[i]).word == word;
	return n;
}

static void check_words(const struct xp_picture *p, size_t algo)
{
	const struct res_algo_metrics *m = &p->cell.scores[algo];
	const struct algo_verdicts *v = &p->cell.verdicts[algo];
	const int s = v->kind == ALGO_KIND_SWITCH;
	if (!v->flags) {
		assert_int_equal(count_words(p, algo, XP_WORD_HIT, s), 0);
		assert_int_equal(count_words(p, algo, XP_WORD_FALSE, s), 0);
		return;
	}
	assert_near(count_words(p, algo, XP_WORD_HIT, s), m->n_flagged_true, 0);
	assert_near(count_words(p, algo, XP_WORD_FALSE, s),
	    m->n_flagged - m->n_flagged_true, 0);
	assert_near(count_words(p, algo, XP_WORD_MISSED, s),
	    m->n_links_true - m->n_flagged_true, 0);
}

static void words_are_those_of_the_scores(void **state)
{
	size_t n_checked = 0;
	(void)state;
	for (size_t i = 0; i < N_SPECS; i++)
		for (uint32_t run = 0; run < N_RUNS; run++) {
			struct rig g;
			open_rig(&g, specs[i]);
			take(&g, run);
			const size_t n = g.p.cell.config->n_algos;
			const size_t more = g.p.more_broken + g.p.more_accused;
			assert_true(more == 0 || g.p.n_parts == XP_MAX_PARTS);
			for (size_t a = 0; more == 0 && a < n; a++, n_checked++)
				check_words(&g.p, a);
			close_rig(&g);
		}
	assert_true(n_checked > 20);
}

static void names_that_do_not_fit_are_counted(void **state)
{
	struct rig g;
	size_t n_broken = 0;
	(void)state;
	open_rig(&g, specs[1]);
	take(&g, 0);
	for (size_t i = 0; i < g.p.n_parts; i++)
		n_broken += (size_t)xp_part_is_broken(&g.p, g.p.part[i]);
	assert_int_equal(n_broken + g.p.more_broken,
	    truth_n_faulty(&g.p.cell.scene->truth));
	assert_true(g.p.more_broken > 0);
	/* Some of what is accused wrongly has a name nevertheless. */
	assert_true(n_broken < XP_MAX_PARTS);
	close_rig(&g);
}

static void a_fault_is_told_as_it_is(void **state)
{
	static const struct {
		const char *faults, *want;
	} cases[] = {
	    {"{links: [\"tor0->t1.0\"], rate: 0.02}", "drop rate 0.02"},
	    {"{links: [\"tor0->t1.0\"], rate: 0.02, from: 5}",
		"drop rate 0.02, from 5 s"},
	    {"{links: [\"tor0->t1.0\"], rate: 0.02, from: 5, to: 10}",
		"drop rate 0.02, from 5 s, to 10 s"},
	    {"[{links: [\"tor0->t1.0\"], rate: 0.02}, "
	     "{links: [\"tor0->t1.0\"], rate: 0.01}]",
		"drop rate 0.02; drop rate 0.01"},
	    {"{kind: black_hole_1, at: [tor1], entries: 0.5}",
		"black hole 1, 0.5 of entries"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512], fault[128];
		struct rig g;
		snprintf(text, sizeof(text),
		    CLOS "plane: exact\nalgorithms: [vote]\nfaults: %s\n",
		    cases[i].faults);
		open_rig(&g, text);
		take(&g, 0);
		assert_true(g.p.n_parts > 0);
		xp_part_fault(&g.p, g.p.part[0], fault, sizeof(fault));
		assert_string_equal(fault, cases[i].want);
		close_rig(&g);
	}
}

static void each_kind_of_fault_has_its_words(void **state)
{
	static const struct {
		struct truth_fault fault;
		const char *want;
	} cases[] = {
	    {{.rate = .25, .to_ns = SIM_NEVER}, "drop rate 0.25"},
	    {{.rate = .25, .to_ns = 1500 * SIM_MS}, "drop rate 0.25, to 1.5 s"},
	    {{.rate = .5, .of_hole = 1, .to_ns = SIM_NEVER},
		"into a black hole, share 0.5"},
	    {{.of_route = 1, .from_ns = SIM_SEC, .to_ns = SIM_NEVER},
		"chosen wrongly, from 1 s"},
	    {{.delay_us = 12.5, .to_ns = SIM_NEVER}, "delay 12.5 us"},
	    {{.to_ns = SIM_NEVER}, ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = {0};
		const struct xp_picture p = {.cell = {.scene = &scene}};
		struct truth_fault f = cases[i].fault;
		const struct xp_part good = {0, 4}, bad = {0, 5};
		char text[128];
		f.link = 5;
		assert_ok(truth_add_fault(&scene.truth, &f, test_err()));
		truth_sort(&scene.truth);
		xp_part_fault(&p, bad, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
		assert_int_equal(xp_part_is_broken(&p, bad),
		    *cases[i].want != '\0');
		xp_part_fault(&p, good, text, sizeof(text));
		assert_string_equal(text, "");
		assert_int_equal(xp_part_is_broken(&p, good), 0);
		truth_free(&scene.truth);
	}
}

/* --- lines about a cell ---------------------------------------------------- */

static void a_summary_counts_what_there_was(void **state)
{
	const struct topo t = {.n_hosts = 1000, .n_switches = 20, .n_links = 6};
	struct xp_picture p = {.cell = {.topo = &t}};
	char text[256];
	(void)state;
	xp_draw_summary(&p, text, sizeof(text));
	assert_string_equal(text, "1,000 hosts, 20 switches, 6 directed links");
	p.n_ran = 96000;
	p.n_failed = 12;
	p.n_lost = 1234;
	p.n_windows = 1;
	xp_draw_summary(&p, text, sizeof(text));
	assert_string_equal(text,
	    "1,000 hosts, 20 switches, 6 directed links; 96,000 flows, of "
	    "which 12 failed, with 1,234 packets lost");
	p.n_ran = 0;
	p.n_windows = 2;
	xp_draw_summary(&p, text, sizeof(text));
	assert_string_equal(text,
	    "1,000 hosts, 20 switches, 6 directed links; the last of 2 "
	    "windows");
}

/* Each alone, and all in their order. */
static void what_is_left_out_is_counted(void **state)
{
	static const char *const says[] =
	    {"3 switches of the fewest failed flows",
		"3 links with failed flows to or between them",
		"3 links without failed flows",
		"the names of 3 more broken parts",
		"the names of 3 more accused parts"};
	(void)state;
	for (unsigned of = 0; of < 32; of++) {
		const struct xp_picture p = {.more_broken = of & 8 ? 3 : 0,
		    .more_accused = of & 16 ? 3 : 0};
		const struct xp_layout l = {.left_switches = of & 1 ? 3 : 0,
		    .left_flows = of & 2 ? 3 : 0,
		    .left_quiet = of & 4 ? 3 : 0};
		char want[512] = "", text[512];
		for (unsigned i = 0; i < 5; i++)
			if (of & 1u << i) {
				strcat(want, *want ? ", " : "");
				strcat(want, says[i]);
			}
		strcat(want, of ? "." : "");
		xp_draw_left_out(&p, &l, text, sizeof(text));
		assert_string_equal(text, want);
	}
}

/* --- where it stands ------------------------------------------------------ */

static void check_inside(const struct xp_layout *l, topo_link k)
{
	struct xp_line line;
	if (!xp_layout_link(l, k, &line))
		return;
	const double x[] = {line.x1, line.x2}, y[] = {line.y1, line.y2};
	for (int i = 0; i < 2; i++) {
		assert_true(x[i] > 0 && x[i] < l->width);
		assert_true(y[i] > 0 && y[i] < l->height);
	}
}

/* Switches of a row, from left to right, are those of ascending ids. */
static void check_rows(const struct xp_layout *l)
{
	const struct topo *t = l->topo;
	double last[4] = {0, 0, 0, 0};
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const uint32_t tier = topo_tier_of(t, s);
		assert_true(l->spot[s].shown);
		assert_true(l->spot[s].x > last[tier]);
		assert_near(l->spot[s].y, l->row[tier].y, 0);
		last[tier] = l->spot[s].x;
	}
}

static void a_small_network_is_there_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SPECS; i++) {
		struct xp_layout l;
		struct xp_line line;
		struct rig g;
		open_rig(&g, specs[i]);
		take(&g, 0);
		assert_ok(xp_layout_make(&l, &g.p, 1000, test_err()));
		assert_true(xp_layout_is_whole(&l));
		assert_int_equal(l.left_flows, 0);
		check_rows(&l);
		const struct topo *t = l.topo;
		for (topo_link k = 0; k < t->n_links; k++) {
			check_inside(&l, k);
			if (k >= 2 * t->n_hosts)
				assert_true(xp_layout_link(&l, k, &line));
		}
		assert_int_equal(l.n_pods,
		    i == 5       ? 4
			: i == 6 ? 4
			: i == 7 ? 1
				 : 2);
		xp_layout_free(&l);
		close_rig(&g);
	}
}

/* Places of all switches, in px of 1000: 74 on the left are for names, 14 on the
 * right are free, as are 14 between pods; rows are 128 apart. Ids of a tier go
 * from pod to pod. */
static void places_in_a_clos_follow_from_its_sizes(void **state)
{
	static const char *const names[] = {"ToR", "T1", "T2"};
	enum { PODS = 2, TORS = 4, T1S = 3, T2S = 2 };
	const double pod = (1000 - 74 - 14 - 14) / 2.;
	const size_t n[] = {PODS * TORS, PODS * T1S, T2S};
	struct xp_layout l;
	struct rig g;
	size_t i[3] = {0};
	(void)state;
	open_rig(&g, CLOS ALGOS "faults: {count: 0}\n");
	take(&g, 0);
	assert_ok(xp_layout_make(&l, &g.p, 1000, test_err()));
	assert_int_equal(l.n_rows, 3);
	assert_int_equal(l.n_pods, PODS);
	assert_int_equal(l.is_ring, 0);
	for (uint32_t p = 0; p < PODS; p++) {
		assert_near(l.pod[p].x, 74 + p * (pod + 14), 1e-9);
		assert_near(l.pod[p].width, pod, 1e-9);
		assert_int_equal(l.pod[p].number, p);
	}
	for (unsigned row = 0; row < 3; row++) {
		assert_string_equal(l.row[row].name, names[row]);
		assert_near(l.row[row].y, 26 + 128 * (2 - row), 1e-9);
		assert_int_equal(l.row[row].n, n[row]);
		assert_int_equal(l.row[row].n_shown, n[row]);
	}
	assert_near(l.row[0].step, pod / TORS, 1e-9);
	assert_near(l.row[1].step, pod / T1S, 1e-9);
	assert_near(l.row[2].step, (1000 - 74 - 14) / (double)T2S, 1e-9);
	for (uint32_t s = 0; s < l.topo->n_switches; s++) {
		const uint32_t tier = topo_tier_of(l.topo, s);
		const size_t in_pod = tier == 0 ? TORS : T1S, k = i[tier]++;
		const double x = tier == 2
		    ? 74 + ((double)k + 0.5) * l.row[2].step
		    : l.pod[k / in_pod].x +
			((double)(k % in_pod) + 0.5) * l.row[tier].step;
		assert_near(l.spot[s].x, x, 1e-9);
		assert_near(l.spot[s].hosts_x, x, 1e-9);
		assert_near(l.spot[s].hosts_y, l.hosts_y, 1e-9);
		assert_int_equal(l.spot[s].n_hosts, tier == 0 ? 3 : 0);
	}
	assert_near(l.hosts_y, l.row[0].y + 52, 1e-9);
	assert_near(l.height, l.hosts_y + 40, 1e-9);
	assert_int_equal(l.n_lone, 0);

	/* Both directions of a cable are on their right, 4.2 px apart. */
	for (topo_link k = 2 * l.topo->n_hosts; k < l.topo->n_links; k += 2) {
		struct xp_line up, down;
		assert_true(xp_layout_link(&l, k, &up));
		assert_true(xp_layout_link(&l, k + 1, &down));
		const double dx = up.x2 - up.x1, dy = up.y2 - up.y1;
		assert_near(down.x2 - down.x1, -dx, 1e-9);
		assert_near(down.y2 - down.y1, -dy, 1e-9);
		assert_near(hypot(down.x1 - up.x2, down.y1 - up.y2), 4.2, 1e-9);
		/* The cross product: down is to the left of up. */
		assert_near((dx * (down.y2 - up.y1) - dy * (down.x2 - up.x1)) /
			hypot(dx, dy),
		    -4.2, 1e-9);
	}
	xp_layout_free(&l);
	assert_null(l.spot);
	assert_null(l.pod);
	close_rig(&g);
}

/* A network without tiers stands on an ellipse, in the order of ids, clockwise from
 * the top; hosts 34 px further out. */
static void a_mesh_stands_on_a_ring(void **state)
{
	char text[512], *path = realpath("tests/data/jellyfish.graphml", NULL);
	struct xp_layout l;
	struct rig g;
	(void)state;
	assert_non_null(path);
	snprintf(text, sizeof(text),
	    HEAD "topology: {kind: graphml, file: %s}\n"
		 "faults: {count: 0}\n" ALGOS,
	    path);
	free(path);
	open_rig(&g, text);
	take(&g, 0);
	assert_ok(xp_layout_make(&l, &g.p, 1000, test_err()));
	assert_true(l.is_ring);
	assert_int_equal(l.n_rows, 1);
	assert_int_equal(l.n_pods, 0);
	assert_near(l.height, 620, 0);
	const uint32_t n = l.topo->n_switches;
	const double rx = 500 - 84, ry = 310 - 84;
	assert_int_equal(l.row[0].n_shown, n);
	for (uint32_t s = 0; s < n; s++) {
		const double turn = 2 * M_PI * s / n;
		assert_near(l.spot[s].x, 500 + rx * sin(turn), 1e-6);
		assert_near(l.spot[s].y, 310 - ry * cos(turn), 1e-6);
		assert_near(l.spot[s].hosts_x, 500 + (rx + 34) * sin(turn),
		    1e-6);
		assert_near(l.spot[s].hosts_y, 310 - (ry + 34) * cos(turn),
		    1e-6);
	}
	xp_layout_free(&l);
	close_rig(&g);
}

/* Hosts with a part of their own stand below their ToRs, in their order, 22 px
 * apart at least. */
static void hosts_with_a_part_stand_below_their_tors(void **state)
{
	struct xp_layout l;
	struct rig g;
	size_t n = 0;
	(void)state;
	open_rig(&g,
	    CLOS ALGOS "faults: {links: [\"host4->tor1\", \"tor1->host4\", "
		       "\"tor1->host3\", \"host5->tor1\", \"tor5->host17\"], "
		       "rate: 0.02}\nnoise: {rate: 0}\n");
	take(&g, 0);
	assert_ok(xp_layout_make(&l, &g.p, 1000, test_err()));
	assert_near(l.height, l.hosts_y + 40 + 54, 1e-9);
	static const topo_host want[] = {3, 4, 5, 17};
	for (size_t i = 0; i < l.n_lone; i++) {
		const struct xp_lone_host *h = &l.lone[i];
		n += h->id == 3 || h->id == 4 || h->id == 5 || h->id == 17;
		assert_near(h->y, l.hosts_y + 54, 1e-9);
		if (i > 0) {
			assert_true(h->id > h[-1].id);
			assert_true(h->x - h[-1].x >= 22 - 1e-9);
		}
		if (l.n_lone == 4)
			assert_int_equal(h->id, want[i]);
	}
	assert_int_equal(n, 4);
	assert_near(l.lone[0].x, l.spot[topo_tor_of(l.topo, 3)].x, 1e-9);
	assert_near(l.lone[1].x, l.lone[0].x + 22, 1e-9);
	assert_near(l.lone[2].x, l.lone[0].x + 44, 1e-9);
	xp_layout_free(&l);
	close_rig(&g);
}

/* All that fails or is named is there first; the rest is counted. */
static void of_a_large_network_what_matters_is_there(void **state)
{
	struct xp_layout l;
	struct xp_line line;
	struct rig g;
	size_t n_shown = 0, n_flows = 0, n_quiet = 0;
	(void)state;
	open_rig(&g,
	    HEAD "topology: {n_pods: 8, n_tors: 30, n_t1: 4, n_t2: 4, "
		 "n_hosts: 2}\ntraffic: {conns: 60}\n"
		 "faults: {count: 30, rate: 0.05}\n" ALGOS);
	take(&g, 0);
	assert_ok(xp_layout_make(&l, &g.p, 1000, test_err()));
	assert_false(xp_layout_is_whole(&l));
	for (size_t i = 0; i < g.p.n_parts; i++)
		assert_true(xp_layout_link(&l, g.p.part[i].id, &line));
	for (uint32_t s = 0; s < l.topo->n_switches; s++)
		n_shown += l.spot[s].shown;
	assert_int_equal(n_shown + l.left_switches, l.topo->n_switches);
	assert_int_equal(l.row[0].n, 240);
	assert_true(l.row[0].n_shown <= XP_MAX_ROW);
	for (topo_link k = 2 * l.topo->n_hosts; k < l.topo->n_links; k++) {
		check_inside(&l, k);
		if (g.p.flows[k] == 0)
			n_quiet++;
		else if (!xp_layout_link(&l, k, &line))
			n_flows++;
	}
	/* Nobody who is left out has more than one of its row who is not. */
	double *weight = calloc(l.topo->n_switches, sizeof(*weight));
	assert_non_null(weight);
	for (topo_link k = 0; k < l.topo->n_links; k++) {
		double w = (double)g.p.flows[k];
		topo_node end[2];
		for (size_t i = 0; i < g.p.n_parts; i++)
			w += g.p.part[i].id == k && !g.p.part[i].is_switch ? 1e9
									   : 0;
		topo_link_ends(l.topo, k, &end[0], &end[1]);
		for (int i = 0; i < 2; i++)
			if (end[i] >= l.topo->n_hosts)
				weight[end[i] - l.topo->n_hosts] += w;
	}
	for (uint32_t s = 0; s < l.topo->n_switches; s++)
		for (uint32_t r = 0; r < l.topo->n_switches; r++)
			if (topo_tier_of(l.topo, s) ==
				topo_tier_of(l.topo, r) &&
			    l.spot[s].shown && !l.spot[r].shown)
				assert_true(
				    weight[s] >= weight[r] && weight[s] > 0);
	free(weight);
	assert_true(n_flows > 0 && n_quiet > 0);
	assert_int_equal(l.left_flows, n_flows);
	assert_int_equal(l.left_quiet, n_quiet);
	xp_layout_free(&l);
	close_rig(&g);
}

/* --- drawn ---------------------------------------------------------------- */

static char *drawn(const struct xp_picture *p, int within)
{
	struct xp_drawing d = {.where = "a < b", .within = within};
	struct mark_buffer b;
	struct xp_layout l;
	for (size_t i = 0; i < p->cell.config->n_algos; i++)
		d.algo[d.n_algos++] = i;
	assert_ok(xp_layout_make(&l, p, 1000, test_err()));
	assert_ok(mark_open(&b, test_err()));
	xp_draw_cell(b.out, p, &l, &d);
	assert_ok(mark_close(&b, 0, test_err()));
	xp_layout_free(&l);
	return b.text;
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;
	while ((text = strstr(text, word))) {
		n++;
		text += strlen(word);
	}
	return n;
}

/* What is inlined has passed mark_inline_svg(), which refuses a tag that is not
 * well formed; so it reads ours here. */
static void check_well_formed(const char *svg)
{
	struct mark_buffer b;
	const char *rest = strstr(svg, "</style>");
	char *copy;
	assert_ok(sim_dup(&copy, rest ? rest + 8 : svg, test_err()));
	assert_ok(mark_open(&b, test_err()));
	const int rc = mark_inline_svg(b.out, copy, "p-", test_err());
	assert_ok(mark_close(&b, rc, test_err()));
	assert_null(strstr(svg, "<script"));
	assert_null(strstr(svg, "<b>"));
	assert_null(strstr(svg, "nan"));
	assert_int_equal(count_of(svg, "<g") - count_of(svg, "</g>"), 0);
	assert_int_equal(count_of(svg, "<text") - count_of(svg, "</text>"), 0);
	free(copy);
	free(b.text);
}

static void drawings_are_the_same_twice_and_well_formed(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SPECS; i++)
		for (int within = 0; within < 2; within++) {
			struct rig g, again;
			open_rig(&g, specs[i]);
			open_rig(&again, specs[i]);
			take(&g, 1);
			take(&again, 0);
			take(&again, 1);
			char *a = drawn(&g.p, within);
			char *b = drawn(&again.p, within);
			assert_string_equal(a, b);
			check_well_formed(a);
			assert_int_equal(count_of(a, "role=\"img\""), 1);
			/* As many badges as parts, and one in the legend. */
			assert_true(
			    count_of(a, "class=\"c-key\"") >= g.p.n_parts);
			free(a);
			free(b);
			close_rig(&g);
			close_rig(&again);
		}
}

static void each_link_and_switch_has_a_title(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, specs[0]);
	take(&g, 0);
	char *svg = drawn(&g.p, 0);
	const struct topo *t = g.p.cell.topo;
	for (topo_link k = 2 * t->n_hosts; k < t->n_links; k++) {
		char name[64], title[96];
		topo_link_name(t, g.p.flows[k] ? k : k & ~1u, name);
		char *gt = strchr(name, '>');
		snprintf(title, sizeof(title), "<title>%.*s&gt;%s",
		    (int)(gt - name), name, gt + 1);
		if (!strstr(svg, title))
			fail_msg("no %s", title);
	}
	for (uint32_t s = 0; s < t->n_switches; s++) {
		char name[64], title[96];
		topo_node_name(t, t->n_hosts + s, name);
		snprintf(title, sizeof(title), "<title>%s</title>", name);
		assert_non_null(strstr(svg, title));
	}
	free(svg);
	close_rig(&g);
}

/* 95 characters, of which the last are dots where there are more. */
static void a_long_title_ends_in_dots(void **state)
{
	(void)state;
	for (size_t n = 91; n <= 94; n++) {
		char title[256] = "", text[1024], want[512];
		struct rig g;
		/* "f: " and N characters, each of two bytes. */
		for (size_t i = 0; i < n; i++)
			strcat(title, "\xc3\xa9");
		snprintf(text, sizeof(text),
		    "figure: f\ntitle: \"%s\"\nalgorithms: [vote]\ntopology: "
		    "{n_pods: 1, n_tors: 2, n_t1: 1, n_hosts: 1}\n",
		    title);
		open_rig(&g, text);
		take(&g, 0);
		char *svg = drawn(&g.p, 0);
		if (n > 92)
			strcpy(title + 2 * 91, "\xe2\x80\xa6");
		snprintf(want, sizeof(want), ">f: %s</text>", title);
		assert_non_null(strstr(svg, want));
		free(svg);
		close_rig(&g);
	}
}

/* Two faults of a link are one line, and what begins to do nothing is none. */
static void a_broken_link_is_drawn_once(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g,
	    CLOS "plane: exact\nalgorithms: [vote]\nfaults: [{links: "
		 "[\"tor0->t1.0\"], rate: 0.02}, {links: [\"tor0->t1.0\"], "
		 "rate: 0.01}, {links: [\"tor1->t1.0\"], rate: 0}]\n");
	take(&g, 0);
	assert_int_equal(g.p.cell.scene->truth.n_faults, 3);
	char *svg = drawn(&g.p, 1);
	/* One is the legend's. */
	assert_int_equal(count_of(svg, "<path class=\"c-broken\""), 1 + 1);
	free(svg);
	close_rig(&g);
}

/* --- memory --------------------------------------------------------------- */

static int take_and_place(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct xp_layout l = {0};
	int rc = xp_picture_take(&g->p, g->trial, 0, 0, g->row, e);
	if (rc == 0)
		rc = xp_layout_make(&l, &g->p, 1000, e);
	xp_layout_free(&l);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, specs[0]);
	take(&g, 0); /* what the trial keeps is there */
	test_each_alloc_fails(take_and_place, &g);
	close_rig(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_picture_counts_what_its_window_has),
	    cmocka_unit_test(a_picture_leaves_the_cell_as_it_is),
	    cmocka_unit_test(words_are_those_of_the_scores),
	    cmocka_unit_test(names_that_do_not_fit_are_counted),
	    cmocka_unit_test(a_fault_is_told_as_it_is),
	    cmocka_unit_test(each_kind_of_fault_has_its_words),
	    cmocka_unit_test(a_summary_counts_what_there_was),
	    cmocka_unit_test(what_is_left_out_is_counted),
	    cmocka_unit_test(a_small_network_is_there_whole),
	    cmocka_unit_test(places_in_a_clos_follow_from_its_sizes),
	    cmocka_unit_test(a_mesh_stands_on_a_ring),
	    cmocka_unit_test(hosts_with_a_part_stand_below_their_tors),
	    cmocka_unit_test(of_a_large_network_what_matters_is_there),
	    cmocka_unit_test(drawings_are_the_same_twice_and_well_formed),
	    cmocka_unit_test(each_link_and_switch_has_a_title),
	    cmocka_unit_test(a_long_title_ends_in_dots),
	    cmocka_unit_test(a_broken_link_is_drawn_once),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/report/picture", tests,
	    spec_folder_make, spec_folder_remove);
}
