/* tests/results/epoch_test.c -- an epoch's file: there and back, and bad ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/epoch.h"

#include <hdf5.h>

#include "results/file.h"
#include "results/provenance.h"
#include "tests/rigs/epochs.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"
#include "topo/graph.h"
#include "topo/mesh.h"
#include "topo/region.h"

/* --- there and back --------------------------------------------------------*/

static void assert_truth(const struct truth *a, const struct truth *b)
{
	assert_int_equal(a->n_faults, b->n_faults);
	for (size_t i = 0; i < a->n_faults; i++) {
		const struct truth_fault *x = &a->fault[i], *y = &b->fault[i];
		assert_true(x->link == y->link && x->rate == y->rate &&
		    x->from_ns == y->from_ns && x->to_ns == y->to_ns &&
		    x->delay_us == y->delay_us && x->shape == y->shape &&
		    x->law == y->law && x->of_hole == y->of_hole);
	}
	assert_int_equal(a->n_holes, b->n_holes);
	for (size_t i = 0; i < a->n_holes; i++) {
		const struct truth_hole *x = &a->hole[i], *y = &b->hole[i];
		assert_true(x->at == y->at && x->rule.type == y->rule.type &&
		    x->rule.below == y->rule.below &&
		    x->rule.salt == y->rule.salt && x->to_ns == y->to_ns);
	}
	assert_int_equal(a->n_outages, b->n_outages);
	for (size_t i = 0; i < a->n_outages; i++) {
		const struct truth_outage *x = &a->outage[i],
					  *y = &b->outage[i];
		assert_true(x->kind == y->kind && x->mode == y->mode &&
		    x->id == y->id && x->from_ns == y->from_ns &&
		    x->delay_us == y->delay_us);
	}
	assert_int_equal(a->n_switches, b->n_switches);
	for (size_t i = 0; i < a->n_switches; i++)
		assert_int_equal(a->failed_switch[i], b->failed_switch[i]);
	assert_int_equal(a->n_parts, b->n_parts);
	for (size_t i = 0; i < a->n_parts; i++)
		assert_true(a->part[i].link == b->part[i].link &&
		    a->part[i].of == b->part[i].of);
}

static void assert_flow(const struct res_epoch *x, size_t row,
    const struct epochs_flow *want)
{
	const struct obs_flow f = obs_flows_at(&x->window.flows, row);
#define X(type, name, unit, doc) assert_true(f.name == want->row.seen.name);
	OBS_FLOW_COLUMNS(X)
#undef X
	assert_int_equal(obs_n_hops(&x->window, row), want->row.n_hops);
	const size_t at = x->window.hops.off[row];
	const size_t n = want->row.n_hops * sizeof(topo_link);
	assert_memory_equal(obs_path(&x->window, row), want->seen, n);
	if (!x->has_truth)
		return;
	assert_memory_equal(x->lost.path + at, want->link, n);
	assert_memory_equal(x->lost.drops + at, want->drops, n);
	assert_memory_equal(x->lost.buffer + at, want->buffer, n);
}

/* Rows of X that are to be in the window, against what was read. */
static void assert_window(const struct res_epoch *x, const struct epochs *want,
    int all)
{
	size_t n = 0;
	for (size_t i = 0; i < want->n; i++) {
		if (!all && !want->flow[i].row.in_window)
			continue;
		assert_true(n < x->window.flows.n);
		assert_true(x->row[n] == i);
		assert_flow(x, n++, &want->flow[i]);
	}
	assert_int_equal(x->window.flows.n, n);
	assert_true(x->window.n_flows == want->info.n_flows);
	assert_true(x->window.n_packets == want->info.n_packets);
	assert_int_equal(x->window.complete, all);
}

static void assert_names(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->n_hosts, b->n_hosts);
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->n_links, b->n_links);
	for (topo_link l = 0; l < a->n_links; l++) {
		char x[64], y[64];
		topo_link_name(a, l, x);
		topo_link_name(b, l, y);
		assert_string_equal(x, y);
		assert_int_equal(topo_class_of(a, l), topo_class_of(b, l));
	}
	for (topo_switch s = 0; s < a->n_switches; s++)
		assert_int_equal(topo_tier_of(a, s), topo_tier_of(b, s));
}

static void assert_round_trip(struct epochs *x, size_t n, uint32_t run)
{
	const char *path = test_path("a.h5");
	struct sim_rng r;
	test_rng(&r, run);
	epochs_draw(x, n, &r);
	for (int truth = 0; truth < 2; truth++)
		for (int all = 0; all < 2; all++) {
			struct res_epoch got;
			assert_ok(
			    epochs_write(x, path, NULL, truth, test_err()));
			assert_ok(res_epoch_open(&got, path, 0, test_err()));
			assert_ok(res_epoch_window(&got, all, test_err()));
			assert_int_equal(got.has_truth, truth);
			assert_window(&got, x, all);
			assert_names(&x->topo, &got.topo);
			if (truth)
				assert_truth(&x->truth, &got.truth);
			assert_string_equal(got.info.spec, x->info.spec);
			assert_string_equal(got.info.plane, "exact");
			assert_string_equal(got.info.culprit, res_version());
			assert_true(got.info.seed == 7 && got.info.point == 3 &&
			    got.info.run == 2 && got.info.tie_point == 1);
			res_epoch_free(&got);
		}
}

static void what_is_written_is_read_back(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 50, 400};
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct epochs x;
		epochs_open(&x);
		assert_round_trip(&x, sizes[i], i);
		epochs_free(&x);
	}
}

/* Names, tiers and the numbering of links come from the tables alone. */
static void any_graph_is_made_of_its_tables(void **state)
{
	const struct topo_clos clos = {2, 2, 2, 2, 2, .n_cables = 0};
	const struct topo_region_params two = {.n_dcs = 2,
	    .n_borders = 2,
	    .detour = 1.5};
	struct topo_mesh *tree;
	struct epochs x[3] = {{.n = 0}};
	(void)state;
	assert_ok(topo_graph_read(&x[0].topo, "tests/data/jellyfish.graphml",
	    test_err()));
	assert_ok(topo_mesh_fat_tree(&tree, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&x[1].topo, tree, test_err()));
	assert_ok(topo_open_region(&x[2].topo, &clos, &two, test_err()));
	for (uint32_t i = 0; i < 3; i++) {
		assert_round_trip(&x[i], 60, 10 + i);
		epochs_free(&x[i]);
	}
}

/* Blocks meet within this file, in the middle of nothing: rows and hops go on
 * over their borders. */
static void a_file_of_several_blocks_is_read_as_a_whole(void **state)
{
	const char *path = test_path("a.h5");
	struct epochs x;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 20);
	epochs_open(&x);
	epochs_draw(&x, RES_EPOCH_CHUNK + 17, &r);
	assert_ok(epochs_write(&x, path, NULL, 1, test_err()));
	for (int all = 0; all < 2; all++) {
		struct res_epoch got;
		assert_ok(res_epoch_open(&got, path, 0, test_err()));
		assert_ok(res_epoch_window(&got, all, test_err()));
		assert_window(&got, &x, all);
		res_epoch_free(&got);
	}
	epochs_free(&x);
}

static void equal_epochs_give_equal_bytes(void **state)
{
	struct epochs x;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 30);
	epochs_open(&x);
	epochs_draw(&x, 100, &r);
	assert_ok(epochs_write(&x, test_path("a.h5"), NULL, 1, test_err()));
	assert_ok(epochs_write(&x, test_path("b.h5"), NULL, 1, test_err()));
	test_assert_same_bytes(test_path("a.h5"), test_path("b.h5"));
	epochs_free(&x);
}

/* No table has them, and a truth without them would be another one. */
static void faults_without_a_table_are_refused(void **state)
{
	static const struct truth_route route = {.to_ns = SIM_NEVER};
	static const struct burst burst = {.duty = 1, .episode_ns = 1};
	static const struct truth_fault mark = {.link = 1, .of_route = 1};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct epochs x;
		struct sim_err e;
		epochs_open(&x);
		if (i == 0)
			assert_ok(
			    truth_add_route(&x.truth, &route, test_err()));
		else if (i == 1)
			assert_ok(truth_add_burst(&x.truth, 1, &burst, 0, 9,
			    test_err()));
		else
			assert_ok(truth_add_fault(&x.truth, &mark, test_err()));
		assert_int_equal(epochs_write(&x, test_path("a.h5"), NULL, 1,
				     &e),
		    SIM_EUNSUPPORTED);
		assert_non_null(strstr(e.msg, "has no tables for what"));
		epochs_free(&x);
	}
}

/* Of other planes, of which a file has no words. */
static void outages_of_other_planes_are_refused(void **state)
{
	(void)state;
	for (int kind = TRUTH_COLLECTOR; kind < TRUTH_N_OUTAGES; kind++) {
		const struct truth_outage o = {.kind =
						   (enum truth_outage_kind)kind,
		    .to_ns = SIM_NEVER};
		struct epochs x;
		struct sim_err e;
		epochs_open(&x);
		assert_ok(truth_add_outage(&x.truth, &o, test_err()));
		const int rc = epochs_write(&x, test_path("o.h5"), NULL, 1, &e);
		assert_int_equal(rc,
		    kind <= TRUTH_COLLECTOR ? 0 : SIM_EUNSUPPORTED);
		if (rc < 0)
			assert_string_equal(strstr(e.msg, "A file of"),
			    "A file of an epoch has no words for muxes that "
			    "loop, pause storms and BGP sessions that flap.");
		epochs_free(&x);
	}
}

/* --- files that are wrong --------------------------------------------------*/

static void write_plain(const char *path, size_t n)
{
	struct epochs x;
	struct sim_rng r;
	test_rng(&r, 40);
	epochs_open(&x);
	epochs_draw(&x, n, &r);
	assert_ok(epochs_write(&x, path, NULL, 1, test_err()));
	epochs_free(&x);
}

static int read_any(const char *path, struct sim_err *e)
{
	struct res_epoch x;
	int rc = res_epoch_open(&x, path, 1, e);
	if (rc < 0)
		return rc;
	rc = res_epoch_window(&x, 0, e);
	res_epoch_free(&x);
	return rc;
}

/* Change one value of a column, as another program may. */
static void edit(const char *path, const char *column, hsize_t row,
    double value)
{
	const hsize_t one = 1;
	hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	hid_t set = H5Dopen2(f, column, H5P_DEFAULT);
	hid_t space = H5Dget_space(set);
	hid_t memory = H5Screate_simple(1, &one, NULL);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, &row, NULL, &one, NULL);
	assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
			&value) >= 0);
	H5Sclose(memory);
	H5Sclose(space);
	H5Dclose(set);
	H5Fclose(f);
}

static void put_count(const char *path, const char *name, uint64_t value)
{
	hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	hid_t space = H5Screate(H5S_SCALAR);
	if (H5Aexists(f, name) > 0)
		H5Adelete(f, name);
	hid_t a =
	    H5Acreate2(f, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Awrite(a, H5T_NATIVE_UINT64, &value) >= 0);
	H5Aclose(a);
	H5Sclose(space);
	H5Fclose(f);
}

static void drop_column(const char *path, const char *name)
{
	hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(H5Ldelete(f, name, H5P_DEFAULT) >= 0);
	H5Fclose(f);
}

static void assert_refused(const char *path, const char *message)
{
	struct sim_err e = {0};
	const int rc = read_any(path, &e);
	if (rc != SIM_EPARSE && rc != SIM_EMISMATCH)
		fail_msg("%s: %d %s", message, rc, e.msg);
	if (!strstr(e.msg, message) || !strstr(e.msg, path) ||
	    e.msg[strlen(e.msg) - 1] != '.')
		fail_msg("\"%s\" is not told: %s", message, e.msg);
}

static void what_cannot_be_is_told_by_table_and_row(void **state)
{
	static const struct {
		const char *column;
		hsize_t row;
		double value;
		const char *message;
	} edits[] = {
	    {"nodes/kind", 2, 0, NULL}, /* of a Clos nobody asks */
	    {"links/from", 6, 99, "link 6 leads from node 99 to 17"},
	    {"flows/src_host", 5, 16, "row 5 is from host 16"},
	    {"flows/dst_host", 5, 1e6, "row 5 is from host"},
	    {"flows/n_retx", 4, 1e6, "flow 4: 1000000 of"},
	    {"flows/count_off", 4, -100, "flow 4: count_off -100"},
	    {"flows/failed", 3, 2, "row 3 has failed = 2"},
	    {"flows/in_window", 3, 2, "row 3 has in_window = 2"},
	    {"offsets/first_hop", 0, 1, "offsets: they go from 1 to"},
	    {"offsets/first_hop", 50, 1e9, "but hops from 0 to"},
	    {"offsets/first_hop", 20, 0, "not an ascending range"},
	    {"offsets/first_hop", 20, 1e15, "not an ascending range"},
	    {"offsets/first_hop", 20, -1, "not an ascending range"},
	    {"offsets/first_hop", 0, -1, "offsets: they go from"},
	    {"hops/link", 9, 1e6, "is link 1000000, but there are only"},
	    {"hop_truth/link", 9, 1e6, "said to cross link 1000000"},
	    {"hop_truth/drops", 9, 1000, "add up to 1"},
	    {"hop_truth/buffer", 9, 1000,
		"flow 1 lost 0 packets on a hop, and 1000 of them"},
	    {"flow_truth/n_drops", 7, 77, "row 7 has n_drops 77"},
	    {"flow_truth/culprit", 7, 1e6, "row 7 has culprits 1000000"},
	    {"flow_truth/culprit_released", 7, 1e6, "row 7 has culprits"},
	    {"faults/link", 1, 1e6, "faults: row 1 is of link 1000000"},
	    {"faults/rate", 1, 1.5, "row 1 has a rate of 1.5"},
	    {"faults/rate", 1, NAN, "row 1 has a rate of"},
	    {"faults/delay_us", 0, -1, "row 0 has a delay of -1"},
	    {"faults/shape", 0, INFINITY, "of shape inf"},
	    {"faults/kind", 0, 0, "do not go together"},
	    {"faults/kind", 1, 3, "do not go together"},
	    {"faults/law", 0, 4, "do not go together"},
	    {"holes/switch_id", 0, 1e6, "holes: row 0 is of switch 1000000"},
	    {"holes/type", 0, 3, "holes: row 0 has type 3"},
	    {"holes/below", 0, 1e12, "holes: row 0 has type 2"},
	    {"outages/kind", 0, 9, "outages: row 0 is of kind 9"},
	    {"outages/mode", 0, 9, "mode 9"},
	    {"outages/id", 0, 16, "id 16"},
	    {"outages/delay_us", 0, NAN, "outages: row 0"},
	    {"failed_switches/switch_id", 0, 99, "row 0 is of switch 99"},
	    {"failed_switches/switch_id", 0, 3, "not among failed_switches"},
	    {"failed_links/link", 0, 1e6, "failed_links: row 0 is of link"},
	    {"failed_links/switch_id", 1, 3, "not among failed_switches"},
	};
	const char *path = test_path("bad.h5");
	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		write_plain(path, 50);
		edit(path, edits[i].column, edits[i].row, edits[i].value);
		if (edits[i].message)
			assert_refused(path, edits[i].message);
		else
			assert_ok(read_any(path, test_err()));
	}
	write_plain(path, 50);
	edit(path, "failed_switches/switch_id", 0, 2);
	edit(path, "failed_switches/switch_id", 1, 2);
	assert_refused(path, "switch 2 stands there twice");
}

/* An epoch of flows as sums alone, on a fat-tree of 16 hosts and 20 switches. From
 * a ToR to itself is a set of one path without links, to others of two. */
static void write_sums(const char *path)
{
	struct telemetry_rig x;
	struct res_epoch_out *w;
	struct res_epoch_info info = {0};
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_INT, 0);
	x.p.flows = 5;
	telemetry_rig_draw(&x);
	info.n_flows = x.w.n_flows;
	info.n_packets = x.w.n_packets;
	for (size_t i = 0; i < x.t.rows.n; i++)
		x.t.rows.flow[i] = UINT32_MAX;
	assert_ok(
	    res_epoch_create(&w, path, &x.topo, &x.scene.truth, test_err()));
	assert_ok(res_epoch_add_tallies(w, &x.t.rows, test_err()));
	assert_ok(res_epoch_finish(w, &info, test_err()));
	telemetry_rig_close(&x);
}

static void sums_that_cannot_be_are_told_by_table_and_row(void **state)
{
	static const struct {
		const char *column;
		hsize_t row;
		double value;
		const char *message;
	} edits[] = {
	    {"sets/from_switch", 2, 20, "sets: row 2 is from switch 20 to"},
	    {"sets/to_switch", 2, 1e6, "to switch 1000000, but there are only"},
	    {"sets/to_switch", 2, 0, "sets: row 2 is the second from switch"},
	    {"sets/n_paths", 2, 0, "sets: row 2 has 0 paths, of "},
	    {"sets/n_paths", 2, 1e6, "sets: row 2 has 1000000 paths, of "},
	    {"sets/n_paths", 0, 2, "sets: row 63 has 1 paths, of 0 that are"},
	    {"paths/n_links", 1, 99, "paths: row 1 has 99 links between"},
	    {"paths/n_links", 1, 3, "path_links, which has"},
	    {"paths/n_links", 1, 1, "links of a path"},
	    {"path_links/link", 4, 96, "path 3 crosses link 96, but there are"},
	    {"tallies/up", 3, 96, "row 3: up is link 96, but there are only"},
	    {"tallies/down", 3, 1e6, "row 3: down is link 1000000, but"},
	    {"tallies/set", 3, 1e6, "row 3 is of set 1000000, but there are"},
	    {"tallies/path", 3, 1e6, "row 3 took path 1000000, but its set"},
	    {"tallies/n_sent", 3, 0, "row 3: 0 of 0 packets were lost; a flow"},
	    {"tallies/n_lost", 3, 4e9, "row 3: 4000000000 of "},
	    {"tallies/flow", 3, 7, "row 3 is of flow 7, but there are only 0."},
	};
	static const struct {
		const char *name, *message;
	} drops[] = {
	    {"tallies", "attribute telemetry needs /tallies"},
	    {"sets", "table sets is missing"},
	    {"paths", "table paths is missing"},
	    {"path_links", "table path_links is missing"},
	    {"tallies/n_lost", "column tallies/n_lost is missing"},
	    {"sets/n_paths", "column sets/n_paths is missing"},
	};
	const char *path = test_path("sums.h5");
	(void)state;
	write_sums(path);
	assert_ok(read_any(path, test_err()));
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		write_sums(path);
		edit(path, edits[i].column, edits[i].row, edits[i].value);
		assert_refused(path, edits[i].message);
	}
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		write_sums(path);
		drop_column(path, drops[i].name);
		assert_refused(path, drops[i].message);
	}
	write_sums(path);
	put_count(path, "telemetry", 16);
	assert_refused(path, "attribute telemetry is 16, which is not in");
	put_count(path, "telemetry", 0);
	assert_refused(path, "attribute telemetry is 0, which is not in");
}

static void counts_that_contradict_each_other_are_refused(void **state)
{
	const char *path = test_path("bad.h5");
	static const struct {
		const char *name;
		uint64_t value;
		const char *message;
	} counts[] = {
	    {"epoch_version", 3, "version 3; this culprit reads 1 to 2"},
	    {"epoch_version", 0, "version 0; this culprit reads 1 to 2"},
	    {"n_flows", 51, "51 flows ran and all are said to be there"},
	    {"all_flows", 0, "all_seen needs all_flows"},
	    {"all_flows", 2, "attribute all_flows is 2, above 1"},
	    {"has_buffer", 0, "in a buffer, which needs has_buffer"},
	    {"complete", 1, "is not in the window, which is said to be"},
	    {"run", UINT64_C(1) << 32, "attribute run is 4294967296"},
	    {"clos", 2, "attribute clos is of another type or size"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		write_plain(path, 50);
		put_count(path, counts[i].name, counts[i].value);
		assert_refused(path, counts[i].message);
	}
}

/* A graph of 16 hosts and 20 switches, all of which have tiers. */
static void write_tree(const char *path)
{
	struct epochs x = {.n = 0};
	struct topo_mesh *tree;
	struct sim_rng r;
	test_rng(&r, 41);
	assert_ok(topo_mesh_fat_tree(&tree, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&x.topo, tree, test_err()));
	epochs_draw(&x, 20, &r);
	assert_ok(epochs_write(&x, path, NULL, 1, test_err()));
	epochs_free(&x);
}

static void put_clos(const char *path, const uint64_t shape[5])
{
	const hsize_t n = 5;
	hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	hid_t space = H5Screate_simple(1, &n, NULL);
	H5Adelete(f, "clos");
	hid_t a = H5Acreate2(f, "clos", H5T_STD_U64LE, space, H5P_DEFAULT,
	    H5P_DEFAULT);
	assert_true(H5Awrite(a, H5T_NATIVE_UINT64, shape) >= 0);
	H5Aclose(a);
	H5Sclose(space);
	H5Fclose(f);
}

static void networks_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *column;
		hsize_t row;
		double value;
		const char *message;
	} edits[] = {
	    {"nodes/kind", 3, 1,
		"nodes: row 4 has kind 0; first come the hosts, of kind 0, "
		"then the switches, of kind 1."},
	    {"nodes/kind", 20, 2, "nodes: row 20 has kind 2; first come"},
	    {"nodes/tier", 20, 4294967295.,
		"nodes: 19 of 20 switches have a tier; all have one, or none."},
	};
	const uint64_t wide[] = {2, UINT64_C(1) << 32, 2, 2, 2},
		       other[] = {2, 2, 2, 2, 5};
	const char *path = test_path("net.h5");
	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		write_tree(path);
		edit(path, edits[i].column, edits[i].row, edits[i].value);
		assert_refused(path, edits[i].message);
	}
	write_plain(path, 50);
	put_clos(path, wide);
	assert_refused(path, "clos holds 4294967296, which is too large.");
	write_plain(path, 50);
	put_clos(path, other);
	assert_refused(path, "rows, but the network has ");
	write_plain(path, 50);
	put_count(path, "complete", 1);
	put_count(path, "all_flows", 0);
	assert_refused(path, "a complete window needs all_flows.");
}

static void what_is_missing_is_named_unless_it_may_be(void **state)
{
	static const struct {
		const char *name, *message;
	} drops[] = {
	    {"nodes", NULL},
	    {"links", NULL},
	    {"links/class", NULL},
	    {"flows/start_ns", NULL},
	    {"flows/src_port", NULL},
	    {"flows/dst_port", NULL},
	    {"flows/srtt_us", NULL},
	    {"flows/count_off", NULL},
	    {"flows/failed", NULL},
	    {"flows/in_window", NULL},
	    {"flow_truth/culprit_switch", NULL},
	    {"hop_truth/buffer", "has_buffer needs the column hop_truth"},
	    {"links/to", "column links/to is missing"},
	    {"flows", "table flows is missing"},
	    {"flows/n_retx", "column flows/n_retx is missing"},
	    {"flows/src_host", "column flows/src_host is missing"},
	    {"offsets", "table offsets is missing"},
	    {"hops", "table hops is missing"},
	    {"hop_truth", "table hop_truth is missing"},
	    {"flow_truth", "table flow_truth is missing"},
	    {"faults", "table faults is missing"},
	    {"holes", "table holes is missing"},
	    {"failed_links", "table failed_links is missing"},
	};
	const char *path = test_path("less.h5");
	(void)state;
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		write_plain(path, 50);
		drop_column(path, drops[i].name);
		if (drops[i].message)
			assert_refused(path, drops[i].message);
		else
			assert_ok(read_any(path, test_err()));
	}
}

/* As they were before buffers could be full. */
static void files_of_version_1_are_read(void **state)
{
	const char *path = test_path("old.h5");
	struct res_epoch x;
	(void)state;
	write_plain(path, 50);
	drop_column(path, "hop_truth/buffer");
	put_count(path, "has_buffer", 0);
	put_count(path, "epoch_version", 1);
	assert_ok(res_epoch_open(&x, path, 1, test_err()));
	assert_ok(res_epoch_window(&x, 0, test_err()));
	assert_false(x.lost.has_buffer);
	assert_int_equal(x.lost.n_buffer, 0);
	assert_int_equal(x.lost.n_drops, x.window.hops.n);
	assert_true(x.window.flows.n > 5);
	res_epoch_free(&x);
}

/* The seal finds what was cut, and every byte that changed. */
static void a_sealed_file_is_whole_or_refused(void **state)
{
	const char *path = test_path("seal.h5");
	unsigned char *bytes;
	struct res_epoch x;
	struct sim_err e;
	void *read;
	size_t n;
	(void)state;
	write_plain(path, 20);
	assert_ok(res_file_read(path, &read, &n, test_err()));
	bytes = read;
	for (size_t i = 0; i < 200; i++) {
		const size_t at = n / 200 * i;
		bytes[at] ^= 1;
		assert_ok(res_file_write(path, bytes, n, test_err()));
		assert_int_equal(res_epoch_open(&x, path, 0, &e), SIM_EPARSE);
		bytes[at] ^= 1;
		assert_ok(res_file_write(path, bytes, at, test_err()));
		assert_int_equal(res_epoch_open(&x, path, 0, &e), SIM_EPARSE);
	}
	/* A damaged seal is refused also where none is asked for. */
	bytes[n / 2] ^= 1;
	assert_ok(res_file_write(path, bytes, n, test_err()));
	assert_int_equal(res_epoch_open(&x, path, 1, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "checksum is wrong"));
	free(read);
}

static void other_files_are_refused(void **state)
{
	struct res_epoch x;
	struct sim_err e;
	(void)state;
	test_write("text", "no HDF5\n");
	assert_int_equal(res_epoch_open(&x, test_path("text"), 0, &e),
	    SIM_EPARSE);
	assert_int_equal(res_epoch_open(&x, test_path("text"), 1, &e),
	    SIM_EPARSE);
	assert_int_equal(res_epoch_open(&x, test_path("none"), 1, &e), SIM_EIO);
	hid_t f = H5Fcreate(test_path("empty.h5"), H5F_ACC_TRUNC, H5P_DEFAULT,
	    H5P_DEFAULT);
	H5Fclose(f);
	assert_int_equal(res_epoch_open(&x, test_path("empty.h5"), 1, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "it is no epoch"));
}

/* --- memory ----------------------------------------------------------------*/

static int write_and_read(void *arg, struct sim_err *e)
{
	const char *path = test_path("alloc.h5");
	struct res_epoch got;
	int rc = epochs_write(arg, path, NULL, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = res_epoch_open(&got, path, 0, e)) < 0)
		return rc;
	rc = res_epoch_window(&got, 1, e);
	res_epoch_free(&got);
	return rc;
}

#define NODE(id, kind)                                                         \
	"<node id=\"" id "\"><data key=\"k\">" kind "</data></node>"
#define EDGE(a, b) "<edge source=\"" a "\" target=\"" b "\"/>"
#define SWITCH(i, next)                                                        \
	NODE("s" i, "switch")                                                  \
	NODE("h" i, "host") EDGE("s" i, "h" i) EDGE("s" i, "s" next)
#define RING                                                                   \
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"            \
	"<key id=\"k\" for=\"node\" attr.name=\"kind\" "                       \
	"attr.type=\"string\"/><graph edgedefault=\"undirected\">" SWITCH("0", \
	    "1") SWITCH("1", "2") SWITCH("2", "3")                             \
	    SWITCH("3", "0") "</graph></graphml>"

static void each_failed_allocation_is_reported(void **state)
{
	struct epochs x = {.n = 0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 50);
	/* Of a larger graph there are more names, and no other calls. */
	test_write("ring.graphml", RING);
	assert_ok(
	    topo_graph_read(&x.topo, test_path("ring.graphml"), test_err()));
	epochs_draw(&x, 30, &r);
	test_each_alloc_fails(write_and_read, &x);
	epochs_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_back),
	    cmocka_unit_test(any_graph_is_made_of_its_tables),
	    cmocka_unit_test(a_file_of_several_blocks_is_read_as_a_whole),
	    cmocka_unit_test(equal_epochs_give_equal_bytes),
	    cmocka_unit_test(faults_without_a_table_are_refused),
	    cmocka_unit_test(what_cannot_be_is_told_by_table_and_row),
	    cmocka_unit_test(sums_that_cannot_be_are_told_by_table_and_row),
	    cmocka_unit_test(counts_that_contradict_each_other_are_refused),
	    cmocka_unit_test(outages_of_other_planes_are_refused),
	    cmocka_unit_test(networks_that_cannot_be_are_refused),
	    cmocka_unit_test(what_is_missing_is_named_unless_it_may_be),
	    cmocka_unit_test(files_of_version_1_are_read),
	    cmocka_unit_test(a_sealed_file_is_whole_or_refused),
	    cmocka_unit_test(other_files_are_refused),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/epoch", tests,
	    test_folder_make, test_folder_remove);
}
