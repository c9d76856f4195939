/* tests/experiments/epoch/replay_test.c -- a cell, its file, and the cell again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/epoch/replay.h"

#include <glob.h>

#include <hdf5.h>

#include "experiments/epoch/dump.h"
#include "experiments/sweep/trial.h"
#include "models/telemetry/telemetry.h"
#include "tests/rigs/epochs.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/spec_file.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

static const struct xp_replay_asks of_spec;

static void open_replay(struct xp_replay *r, const char *path,
    const struct xp_replay_asks *asks)
{
	assert_ok(xp_replay_open(r, path, asks, test_err()));
	assert_ok(xp_replay_run(r, test_err()));
}

/* --- bit for bit -----------------------------------------------------------*/

/* A file is the whole of an epoch: how early an answer was right is asked of
 * parts, which a plane alone can draw. */
static int is_of_parts(unsigned metric)
{
	return strcmp(res_algo_metrics[metric].name, "right_share") == 0;
}

/* Scores are doubles of which those that are not measured are NaN, so bits are
 * compared and not values. */
static void assert_cell(struct xp_trial *t, const struct xp_spec *s,
    size_t point, uint32_t run, double row[], const char *path)
{
	struct xp_replay r;
	assert_ok(xp_trial_run(t, point, run, row, test_err()));
	open_replay(&r, path, &of_spec);
	for (size_t i = 0; i < r.n; i++) {
		const double *want =
		    row + RES_N_TRIAL_METRICS + i * RES_N_ALGO_METRICS;
		const double *got = (const double *)&r.one[i].metrics;
		for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++)
			if (!is_of_parts(m) &&
			    memcmp(&want[m], &got[m], sizeof(want[m])) != 0 &&
			    !(isnan(want[m]) && isnan(got[m])))
				fail_msg("%s, point %zu, run %u, %s: %s is "
					 "%.17g, was %.17g",
				    s->figure, point, run, r.one[i].algo.label,
				    res_algo_metrics[m].name, got[m], want[m]);
	}
	/* And of the epoch itself, what its flows tell. */
	struct res_trial_metrics m;
	res_score_trial(&r.epoch.window, &r.epoch.truth, &r.epoch.lost, &m);
	const struct res_trial_metrics *was =
	    (const struct res_trial_metrics *)row;
	assert_true(m.n_faults == was->n_faults);
	if (strcmp(r.epoch.info.plane, "agents") != 0) {
		assert_true(m.n_flows == was->n_flows);
		assert_true(m.n_failed_flows == was->n_failed_flows);
		assert_true(m.n_drops == was->n_drops);
		assert_true(m.n_fault_flows == was->n_fault_flows);
		assert_true(
		    r.epoch.lost.has_buffer == !isnan(was->n_buffer_drops));
		if (r.epoch.lost.has_buffer) {
			assert_true(m.n_buffer_drops == was->n_buffer_drops);
			assert_true(m.n_buffer_flows == was->n_buffer_flows);
			assert_true(m.n_noise_flows == was->n_noise_flows);
		}
	}
	xp_replay_free(&r);
}

/* One cell of each point of a spec whose plane has flows, another run each time;
 * returns how many. */
static size_t replay_spec(const char *path)
{
	const char *file = test_path("cell.h5");
	struct xp_trial *t;
	struct xp_spec s;
	struct xp_config c = {0};
	struct xp_dumped d;
	size_t n = 0;
	assert_ok(xp_spec_load(&s, path, 0, NULL, 0, test_err()));
	assert_ok(xp_spec_point(&s, 0, &c, test_err()));
	/* Files of epochs have flows, their hops and sums alone. */
	if (!xp_plane_of(&c)->flows ||
	    c.needs &
		~(OBS_ALL_FLOWS | telemetry_holds(~0u) |
		    telemetry_holds(OBS_TELE_A1))) {
		xp_config_free(&c);
		xp_spec_free(&s);
		return 0;
	}
	double *row =
	    calloc(s.n_along * res_row_doubles(c.n_algos), sizeof(row[0]));
	assert_non_null(row);
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (; n < s.n_points; n++) {
		const uint32_t run = (uint32_t)(n % s.runs);
		assert_ok(xp_dump_cell(&s, n, run, file, 0, &d, test_err()));
		assert_cell(t, &s, n, run, row, file);
	}
	xp_trial_close(t);
	xp_config_free(&c);
	xp_spec_free(&s);
	free(row);
	return n;
}

/* Planes exact, skip, auto, vigil_matlab and agents; a Clos, a fat-tree, a graph
 * and a region; black holes, slow links, failed switches, full buffers; ties at
 * random. */
static void golden_cells_are_replayed_to_the_last_bit(void **state)
{
	glob_t specs;
	size_t n = 0;
	(void)state;
	assert_int_equal(glob("tests/golden/*.yaml", 0, NULL, &specs), 0);
	for (size_t i = 0; i < specs.gl_pathc; i++)
		n += replay_spec(specs.gl_pathv[i]);
	globfree(&specs);
	assert_true(n >= 30);
}

/* --- the file alone --------------------------------------------------------*/

#define SHAPE                                                                  \
	"figure: small\nseed: 3\nruns: 2\n"                                    \
	"topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 3 }\n"   \
	"traffic: { conns: 20 }\nnoise: { rate: 1e-4 }\n"
#define SMALL SHAPE "faults: { count: 2, rate: 0.05 }\n"

static void dump_text(const char *text, const char *path, int all,
    struct xp_dumped *d)
{
	struct xp_spec s;
	spec_open(&s, text);
	assert_ok(xp_dump_cell(&s, 0, 1, path, all, d, test_err()));
	xp_spec_free(&s);
}

static void dump_small(const char *more, const char *path, int all,
    struct xp_dumped *d)
{
	char text[1024];
	snprintf(text, sizeof(text), SMALL "%s", more);
	dump_text(text, path, all, d);
}

/* A column by HDF5's own calls, to be freed. */
static void *read_column(hid_t f, const char *name, hid_t type, size_t size,
    size_t *n)
{
	hid_t set = H5Dopen2(f, name, H5P_DEFAULT);
	assert_true(set >= 0);
	hid_t space = H5Dget_space(set);
	*n = (size_t)H5Sget_simple_extent_npoints(space);
	void *to = calloc(*n + 1, size);
	assert_non_null(to);
	assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0);
	H5Sclose(space);
	H5Dclose(set);
	return to;
}

/* 007's votes (section 5.1) of what algorithms were shown, by nothing of ours
 * but this: each flow that failed gives 1/h to each of its h known links. */
static double *votes_by_hdf5(const char *path)
{
	size_t n, n_off, n_hops, n_links;
	hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	uint32_t *retx =
	    read_column(f, "flows/n_retx", H5T_NATIVE_UINT32, 4, &n);
	uint8_t *in =
	    read_column(f, "flows/in_window", H5T_NATIVE_UINT8, 1, &n);
	uint64_t *off =
	    read_column(f, "offsets/first_hop", H5T_NATIVE_UINT64, 8, &n_off);
	uint32_t *link =
	    read_column(f, "hops/link", H5T_NATIVE_UINT32, 4, &n_hops);
	uint32_t *from =
	    read_column(f, "links/from", H5T_NATIVE_UINT32, 4, &n_links);
	double *votes = calloc(n_links, sizeof(votes[0]));
	assert_non_null(votes);
	assert_int_equal(n_off, n + 1);
	assert_int_equal(off[n], n_hops);
	for (size_t i = 0; i < n; i++) {
		unsigned h = 0;
		for (uint64_t k = off[i]; k < off[i + 1]; k++)
			h += link[k] != UINT32_MAX;
		for (uint64_t k = off[i]; k < off[i + 1]; k++)
			if (retx[i] > 0 && in[i] && link[k] != UINT32_MAX)
				votes[link[k]] += 1.0 / h;
	}
	free(retx);
	free(in);
	free(off);
	free(link);
	free(from);
	H5Fclose(f);
	return votes;
}

/* Sums of 1/h in doubles differ from exact ones by less than 1e-9 here. */
static void votes_of_the_file_are_those_of_vote(void **state)
{
	static const char *const planes[] = {"plane: exact", "plane: skip",
	    "plane: vigil_matlab",
	    "plane: agents\nagents: { c_t: 5, icmp: { t_max: 20 } }"};
	const char *path = test_path("votes.h5");
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char more[256];
		struct xp_dumped d;
		struct xp_replay r;
		snprintf(more, sizeof(more), "%s\nalgorithms: [vote]\n",
		    planes[i]);
		dump_small(more, path, 0, &d);
		double *votes = votes_by_hdf5(path);
		open_replay(&r, path, &of_spec);
		assert_true(r.one[0].verdicts.n > 10);
		for (topo_link l = 0; l < r.epoch.topo.n_links; l++)
			assert_near(votes[l],
			    algo_verdicts_score(&r.one[0].verdicts, l), 1e-9);
		xp_replay_free(&r);
		free(votes);
	}
}

/* Culprits as columns of the file, held against what scores count: 007's, those
 * of its released code, and for switches the one that they belong to. */
static void culprits_of_the_file_are_those_that_scores_count(void **state)
{
	static const char *const column[2][2] =
	    {{"flow_truth/culprit", "flow_truth/culprit_released"},
		{"flow_truth/culprit_switch",
		    "flow_truth/culprit_released_switch"}};
	const char *path = test_path("culprits.h5");
	struct xp_dumped d;
	struct xp_replay r;
	size_t n;
	(void)state;
	dump_text(SHAPE
	    "plane: exact\nalgorithms: [vote, {name: vote, label: s, "
	    "on: switch}]\n"
	    "faults: {switches: 1, share: 0.5, rate: 0.02}\n",
	    path, 0, &d);
	open_replay(&r, path, &of_spec);
	hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	for (int s = 0; s < 2; s++) {
		const struct algo_verdicts *v = &r.one[s].verdicts;
		const struct res_algo_metrics *m = &r.one[s].metrics;
		const double want[] = {m->hits_all, m->hits_released};
		for (int k = 0; k < 2; k++) {
			uint32_t *culprit = read_column(f, column[s][k],
			    H5T_NATIVE_UINT32, 4, &n);
			double hits = 0;
			for (size_t i = 0; i < v->n_flows; i++)
				hits += v->blame[i] != TOPO_NONE &&
				    v->blame[i] == culprit[r.epoch.row[i]];
			assert_true(want[k] > 0 && hits == want[k]);
			free(culprit);
		}
	}
	H5Fclose(f);
	xp_replay_free(&r);
}

/* Hops of flows that are not in the window are as nobody saw them. */
static void assert_untraced(const char *path)
{
	size_t n, n_hops, n_untraced = 0;
	hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	uint8_t *in =
	    read_column(f, "flows/in_window", H5T_NATIVE_UINT8, 1, &n);
	uint64_t *off =
	    read_column(f, "offsets/first_hop", H5T_NATIVE_UINT64, 8, &n_hops);
	uint32_t *link =
	    read_column(f, "hops/link", H5T_NATIVE_UINT32, 4, &n_hops);
	for (size_t i = 0; i < n; i++)
		for (uint64_t k = off[i]; !in[i] && k < off[i + 1]; k++) {
			assert_true(link[k] == UINT32_MAX);
			n_untraced++;
		}
	assert_true(n_untraced > 0);
	free(in);
	free(off);
	free(link);
	H5Fclose(f);
}

/* What agents saw and what was: hops of the window are the true ones or not
 * known, and flows that nobody traced are in the file too. */
static void of_agents_the_file_has_what_they_saw_and_the_truth(void **state)
{
	const char *path = test_path("agents.h5");
	struct xp_dumped d;
	struct xp_replay r;
	size_t n_unknown = 0;
	(void)state;
	dump_small("plane: agents\nalgorithms: [vote]\n"
		   "agents: { c_t: 1, icmp: { t_max: 3 }, partial: known }\n",
	    path, 0, &d);
	assert_true(d.n_seen < d.n_failed && d.n_failed == d.n && !d.all);
	open_replay(&r, path, &of_spec);
	const struct obs *w = &r.epoch.window;
	assert_int_equal(w->flows.n, d.n_seen);
	assert_true(w->hops.n == r.epoch.lost.n_path && w->hops.n > 0);
	for (size_t i = 0; i < w->hops.n; i++) {
		assert_true(r.epoch.lost.path[i] != TOPO_NONE);
		n_unknown += w->hops.link[i] == TOPO_NONE;
		assert_true(w->hops.link[i] == TOPO_NONE ||
		    w->hops.link[i] == r.epoch.lost.path[i]);
	}
	assert_true(n_unknown > 0);
	xp_replay_free(&r);
	assert_untraced(path);
}

/* --- a file of somebody else's ----------------------------------------------*/

static void write_column(hid_t group, const char *name, hid_t type, hsize_t n,
    const void *values)
{
	hid_t space = H5Screate_simple(1, &n, NULL);
	hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT,
	    H5P_DEFAULT, H5P_DEFAULT);
	assert_true(
	    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Dclose(set);
	H5Sclose(space);
}

static void write_attr(hid_t f, const char *name, hid_t type, hsize_t n,
    const void *values)
{
	hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
	hid_t a = H5Acreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Awrite(a, type, values) >= 0);
	H5Aclose(a);
	H5Sclose(space);
}

/* As little as a file may hold: a leaf-spine of two ToRs and two T1s with one
 * host each, and three flows from host 0 to host 1. Two failed; their paths go
 * up by T1 0, and part of the second one's is not known. */
static void write_own(const char *path)
{
	const int64_t version = 1, clos[] = {1, 2, 2, 0, 1};
	const uint32_t src[] = {0, 0, 0}, dst[] = {1, 1, 1};
	const uint32_t pkts[] = {9, 9, 9}, retx[] = {2, 0, 1};
	const int64_t off[] = {0, 4, 8, 12};
	const uint32_t link[] = {0, 4, 9, 3, 0, 6, 11, 3, 0, 4, UINT32_MAX,
	    UINT32_MAX};
	hid_t f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	static const char *const groups[] = {"flows", "offsets", "hops"};
	for (int i = 0; i < 3; i++)
		H5Gclose(H5Gcreate2(f, groups[i], H5P_DEFAULT, H5P_DEFAULT,
		    H5P_DEFAULT));
	write_attr(f, "epoch_version", H5T_NATIVE_INT64, 0, &version);
	write_attr(f, "clos", H5T_NATIVE_INT64, 5, clos);
	write_column(f, "flows/src_host", H5T_STD_U32LE, 3, src);
	write_column(f, "flows/dst_host", H5T_STD_U32LE, 3, dst);
	write_column(f, "flows/n_pkts", H5T_STD_U32LE, 3, pkts);
	write_column(f, "flows/n_retx", H5T_STD_U32LE, 3, retx);
	write_column(f, "offsets/first_hop", H5T_STD_I64LE, 4, off);
	write_column(f, "hops/link", H5T_STD_U32LE, 12, link);
	H5Fclose(f);
}

static void a_file_of_ones_own_is_diagnosed_without_scores(void **state)
{
	const char *const vote[] = {"vote"};
	struct xp_replay_asks asks = {.algorithm = vote, .n_algorithms = 1};
	const char *path = test_path("own.h5");
	struct xp_replay r;
	struct sim_err e;
	(void)state;
	write_own(path);
	assert_int_equal(xp_replay_open(&r, path, &asks, &e), SIM_EPARSE);
	asks.any = 1;
	open_replay(&r, path, &asks);
	assert_false(r.epoch.has_truth);
	assert_int_equal(r.epoch.window.flows.n, 3);
	/* The first flow gives 1/4 to each of its links, the third 1/2. */
	const struct algo_verdicts *v = &r.one[0].verdicts;
	assert_near(algo_verdicts_score(v, 0), 0.75, 0);
	assert_near(algo_verdicts_score(v, 4), 0.75, 0);
	assert_near(algo_verdicts_score(v, 9), 0.25, 0);
	assert_near(algo_verdicts_score(v, 6), 0, 0);
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	xp_replay_print(&r, out);
	fclose(out);
	assert_non_null(strstr(text, "without the truth"));
	assert_null(strstr(text, "accuracy"));
	assert_null(strstr(text, "FAULTY"));
	xp_replay_free(&r);
}

/* As in its sweep, unless nobody is left. */
static void who_is_unable_is_left_out_of_a_replay(void **state)
{
	static const char spec[] =
	    "figure: u\nplane: telemetry\nunable: skip\nseed: 3\nruns: 2\n"
	    "topology: {kind: fat_tree, k: 4}\n"
	    "faults: {count: 1, rate: 0.05}\n"
	    "telemetry: {flows: 40, kinds: [int]}\n";
	const char *const detector[] = {"detector"};
	const struct xp_replay_asks asks = {.algorithm = detector,
	    .n_algorithms = 1};
	const char *path = test_path("unable.h5");
	char text[512];
	struct xp_dumped d;
	struct xp_replay r;
	struct sim_err e;
	(void)state;
	snprintf(text, sizeof(text),
	    "%ssweep: {grid: {telemetry.kinds: [[int], [a1]]}}\n"
	    "algorithms: [detector, flock]\n",
	    spec);
	dump_text(text, path, 0, &d);
	open_replay(&r, path, &of_spec);
	assert_int_equal(r.n, 1);
	assert_string_equal(r.one[0].algo.label, "flock");
	assert_true(r.one[0].metrics.n_flagged_true == 1);
	xp_replay_free(&r);
	assert_int_equal(xp_replay_open(&r, path, &asks, &e), SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "detector reads probes"));
}

/* A culprit of nobody is an empty name, and one who says how a link behaves is told. */
static void what_is_printed_of_an_epoch_names_all(void **state)
{
	const char *path = test_path("print.h5");
	const char *const mine[] = {"{name: vote, label: v}"};
	struct xp_replay_asks asks = {.algorithm = mine,
	    .n_algorithms = 1,
	    .any = 1};
	struct xp_replay r;
	char text[4096] = "";
	(void)state;
	write_own(path);
	open_replay(&r, path, &asks);
	FILE *out = fmemopen(text, sizeof(text), "w");
	xp_replay_print_blame(&r, out);
	fclose(out);
	/* Two of three flows failed; without a truth there are no culprits. */
	assert_non_null(strstr(text,
	    "algorithm\tflow\tsrc_host\tdst_host\tn_retx\tblamed\tblamed_id\t"
	    "culprit\tculprit_id\nv\t0\t0\t1\t2\thost0->tor0\t0\t\t\n"
	    "v\t2\t0\t1\t1\thost0->tor0\t0\t\t\n"));
	r.one[0].verdicts.blame[2] = TOPO_NONE;
	r.one[0].verdicts.way[0] = ALGO_WAY_LAPSES;
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	xp_replay_print_blame(&r, out);
	fclose(out);
	assert_non_null(strstr(text, "\nv\t2\t0\t1\t1\t\t\t\t\n"));
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	xp_replay_print_json(&r, out);
	fclose(out);
	assert_non_null(strstr(text, ", \"way\": \"loses for a while\""));
	const char *way = strstr(text, "\"way\"");
	assert_null(strstr(way + 1, "\"way\""));
	xp_replay_free(&r);
}

/* --- metamorphic -----------------------------------------------------------*/

/* Links and scores alone; ties of blame are the algorithm's own matter. */
static void assert_same_scores(struct xp_replay *a, struct xp_replay *b)
{
	struct algo_verdicts *x = &a->one[0].verdicts, *y = &b->one[0].verdicts;
	assert_int_equal(x->n, y->n);
	assert_int_equal(x->n_flagged, y->n_flagged);
	for (size_t i = 0; i < x->n; i++)
		assert_true(x->score[i] == algo_verdicts_score(y, x->link[i]));
}

/* Votes are sums, so no order of flows changes them, and a flow that lost
 * nothing gives none. */
static void votes_do_not_depend_on_the_order_of_flows(void **state)
{
	const char *path = test_path("a.h5"), *other = test_path("b.h5");
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct epochs x;
		struct sim_rng r;
		struct xp_replay a, b;
		test_rng(&r, 100 + run);
		epochs_open(&x);
		epochs_draw(&x, 200, &r);
		uint32_t *order = window_shuffled(200, &r);
		assert_ok(epochs_write(&x, path, NULL, 1, test_err()));
		assert_ok(epochs_write(&x, other, order, 1, test_err()));
		open_replay(&a, path, &of_spec);
		open_replay(&b, other, &of_spec);
		assert_same_scores(&a, &b);
		assert_true(
		    a.one[0].metrics.hits_all == b.one[0].metrics.hits_all);
		xp_replay_free(&a);
		xp_replay_free(&b);
		for (size_t i = 0; i < x.n; i++)
			x.flow[i].row.in_window = 1;
		assert_ok(epochs_write(&x, other, NULL, 0, test_err()));
		open_replay(&a, path, &of_spec);
		open_replay(&b, other, &of_spec);
		assert_true(b.epoch.window.flows.n > a.epoch.window.flows.n);
		assert_same_scores(&a, &b);
		xp_replay_free(&a);
		xp_replay_free(&b);
		free(order);
		epochs_free(&x);
	}
}

/* The exact plane's file has every flow, and its window is a part of them. */
static void all_flows_are_there_or_refused(void **state)
{
	const char *path = test_path("all.h5");
	struct xp_dumped d;
	struct xp_spec s;
	struct sim_err e;
	struct xp_replay r;
	(void)state;
	dump_small("plane: exact\nalgorithms: [vote]\n", path, 1, &d);
	assert_true(d.all && d.n == 480 && d.n_ran == 480);
	assert_true(d.n_failed > 0 && d.n_seen == d.n_failed);
	open_replay(&r, path, &of_spec);
	const size_t n = r.one[0].verdicts.n;
	assert_ok(res_epoch_window(&r.epoch, 1, test_err()));
	assert_int_equal(r.epoch.window.flows.n, 480);
	assert_ok(xp_replay_run(&r, test_err()));
	assert_int_equal(r.one[0].verdicts.n, n);
	xp_replay_free(&r);

	spec_open(&s, SMALL "plane: skip\nalgorithms: [vote]\n");
	assert_int_equal(xp_dump_cell(&s, 0, 0, test_path("no.h5"), 1, &d, &e),
	    SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "plane exact draws all"));
	assert_ok(xp_dump_cell(&s, 0, 0, path, 0, &d, test_err()));
	assert_true(!d.all && d.n == d.n_seen && d.n_ran == 480);
	xp_spec_free(&s);
	assert_ok(xp_replay_open(&r, path, &of_spec, test_err()));
	assert_int_equal(res_epoch_window(&r.epoch, 1, &e), SIM_EUNSUPPORTED);
	xp_replay_free(&r);
}

static void planes_without_flows_are_refused(void **state)
{
	struct xp_dumped d;
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	spec_open(&s,
	    SMALL
	    "plane: pingmesh\npingmesh: { duration: 100, window: 100 }\n");
	assert_int_equal(xp_dump_cell(&s, 0, 0, test_path("no.h5"), 0, &d, &e),
	    SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "`culprit record`"));
	xp_spec_free(&s);
}

/* --- which algorithms ------------------------------------------------------*/

static void assert_asked(const char *path, const char *a, const char *b,
    const char *set, const char *complaint)
{
	const char *const algorithm[] = {a, b};
	const struct xp_replay_asks asks = {.algorithm = algorithm,
	    .n_algorithms = b ? 2 : a != NULL,
	    .set = &set,
	    .n_set = set != NULL};
	struct xp_replay r;
	struct sim_err e;
	assert_true(xp_replay_open(&r, path, &asks, &e) < 0);
	if (!strstr(e.msg, complaint))
		fail_msg("\"%s\" is not told: %s", complaint, e.msg);
	assert_int_equal(r.n, 0);
}

static void algorithms_are_asked_by_label_or_written_out(void **state)
{
	const char *path = test_path("asks.h5");
	const char *set[] = {"algorithms.2.tie=lowest"};
	const char *const labels[] = {"r2", "{name: vote, label: mine}",
	    "alg1"};
	const struct xp_replay_asks some = {.algorithm = labels,
	    .n_algorithms = 3};
	const struct xp_replay_asks other = {.set = set, .n_set = 1};
	struct xp_dumped d;
	struct xp_replay all, r;
	(void)state;
	dump_small("plane: exact\nalgorithms: [vote, {name: vote, label: r1, "
		   "tie: random}, {name: vote, label: r2, tie: random}]\n",
	    path, 0, &d);
	open_replay(&all, path, &of_spec);
	open_replay(&r, path, &some);
	/* By its label, with its parameters and its own random ties. */
	assert_int_equal(r.n, 3);
	assert_string_equal(r.one[0].algo.label, "r2");
	assert_int_equal(r.one[0].number, 2);
	assert_same_verdicts(&r.one[0].verdicts, &all.one[2].verdicts);
	assert_string_equal(r.one[1].algo.label, "mine");
	assert_int_equal(r.one[1].number, 1);
	assert_string_equal(r.one[2].algo.ops->name, "alg1");
	xp_replay_free(&r);
	open_replay(&r, path, &other);
	assert_int_equal(r.n, 3);
	xp_replay_free(&r);
	xp_replay_free(&all);

	assert_asked(path, "votes", NULL, NULL, "did you mean \"vote\"");
	assert_asked(path, "{name: vote, tie: none}", NULL, NULL, "tie");
	assert_asked(path, "[vote]", NULL, NULL, "an algorithm is its name");
	assert_asked(path, "vote", "vote", NULL, "labelled \"vote\"");
	assert_asked(path, "blackhole", NULL, NULL, "Pingmesh's probes");
	assert_asked(path, NULL, NULL, "seed=3", "only algorithms can be set");
	assert_asked(path, NULL, NULL, "algorithms.9.tie=random", "9");
	assert_asked(path, NULL, NULL, "algorithms=[]", "which --algorithm");
}

/* --- memory ----------------------------------------------------------------*/

static int dump_it(void *arg, struct sim_err *e)
{
	struct xp_dumped d;
	return xp_dump_cell(arg, 0, 0, test_path("alloc.h5"), 0, &d, e);
}

static int replay_it(void *arg, struct sim_err *e)
{
	const char *const algorithm[] = {"vote", "{name: cover}"};
	const struct xp_replay_asks asks = {.algorithm = algorithm,
	    .n_algorithms = 2};
	struct xp_replay r;
	int rc = xp_replay_open(&r, arg, &asks, e);
	if (rc < 0)
		return rc;
	rc = xp_replay_run(&r, e);
	xp_replay_free(&r);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	struct xp_spec s;
	(void)state;
	spec_open(&s, SMALL "plane: exact\nalgorithms: [vote]\n");
	test_each_alloc_fails(dump_it, &s);
	xp_spec_free(&s);
	char path[256];
	snprintf(path, sizeof(path), "%s", test_path("alloc.h5"));
	test_each_alloc_fails(replay_it, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(golden_cells_are_replayed_to_the_last_bit),
	    cmocka_unit_test(votes_of_the_file_are_those_of_vote),
	    cmocka_unit_test(culprits_of_the_file_are_those_that_scores_count),
	    cmocka_unit_test(
		of_agents_the_file_has_what_they_saw_and_the_truth),
	    cmocka_unit_test(what_is_printed_of_an_epoch_names_all),
	    cmocka_unit_test(who_is_unable_is_left_out_of_a_replay),
	    cmocka_unit_test(a_file_of_ones_own_is_diagnosed_without_scores),
	    cmocka_unit_test(votes_do_not_depend_on_the_order_of_flows),
	    cmocka_unit_test(all_flows_are_there_or_refused),
	    cmocka_unit_test(planes_without_flows_are_refused),
	    cmocka_unit_test(algorithms_are_asked_by_label_or_written_out),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("experiments/epoch/replay", tests,
	    spec_folder_make, spec_folder_remove);
}
