/* tests/fuzz/epoch_fuzz.c -- any tables as an epoch; what is read is diagnosed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 1.10 trusts its own metadata, and a seal keeps damaged files from it
 * (results/seal.h). What a file says by its tables is ours to doubt. So the
 * input is no file but a list of changes to a good epoch, which goes out to a
 * file in memory and comes back in. 12 bytes are a change:
 *
 *	what   0: value, 1: fewer rows, 2: a table left out, 3: an attribute
 *	table, column, row (3 bytes), value (6 bytes)
 *
 * Whatever is taken must be a window that every diagnoser of flows can be shown.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/epoch/replay.h"
#include "results/epoch_parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/h5_memory.h"

enum { ROWS = 64, CHANGE = 12 };

/* A table as it goes out: each value in room of its own. */
struct raw {
	size_t n, n_columns;
	int left_out;
	struct sim_column col[RES_MAX_COLUMNS];
	unsigned char value[ROWS][RES_MAX_COLUMNS][sizeof(struct sim_name)];
};
static struct raw raw[RES_EPOCH_N_TABLES];

static void set_value(unsigned table, const char *column, size_t row,
    uint64_t value)
{
	struct raw *t = &raw[table];
	for (size_t i = 0; i < t->n_columns; i++)
		if (strcmp(t->col[i].name, column) == 0)
			memcpy(t->value[row][i], &value, t->col[i].size);
	t->n = row >= t->n ? row + 1 : t->n;
}

static void set_real(unsigned table, const char *column, size_t row, double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	set_value(table, column, row, bits);
}

/* A leaf-spine as any graph: 4 hosts, 2 leaves, 2 spines, and eight flows. */
static void make_network(void)
{
	static const uint32_t cable[][2] = {{0, 4}, {1, 4}, {2, 5}, {3, 5},
	    {4, 6}, {4, 7}, {5, 6}, {5, 7}};
	for (size_t i = 0; i < 8; i++) {
		set_value(RES_EPOCH_NODES, "kind", i, i >= 4);
		set_value(RES_EPOCH_NODES, "tier", i,
		    i < 4 ? TOPO_NONE : i >= 6);
		for (size_t k = 0; k < 2; k++) {
			set_value(RES_EPOCH_LINKS, "from", 2 * i + k,
			    cable[i][k]);
			set_value(RES_EPOCH_LINKS, "to", 2 * i + k,
			    cable[i][!k]);
		}
	}
}

static void make_flows(void)
{
	static const uint32_t path[] = {0, 8, 13, 5};
	for (size_t i = 0; i < 8; i++) {
		const int failed = i % 3 == 0;
		set_value(RES_EPOCH_FLOWS, "dst_host", i, 2);
		set_value(RES_EPOCH_FLOWS, "n_pkts", i, 9);
		set_value(RES_EPOCH_FLOWS, "n_retx", i, failed);
		set_value(RES_EPOCH_FLOWS, "failed", i, failed);
		set_value(RES_EPOCH_FLOWS, "in_window", i, 1);
		set_value(RES_EPOCH_OFFSETS, "first_hop", i + 1, 4 * (i + 1));
		set_value(RES_EPOCH_FLOW_TRUTH, "n_drops", i, failed);
		set_value(RES_EPOCH_FLOW_TRUTH, "culprit", i,
		    failed ? 8 : TOPO_NONE);
		set_value(RES_EPOCH_FLOW_TRUTH, "culprit_released", i,
		    failed ? 8 : TOPO_NONE);
		for (size_t k = 0; k < 4; k++) {
			set_value(RES_EPOCH_HOPS, "link", 4 * i + k, path[k]);
			set_value(RES_EPOCH_HOP_TRUTH, "link", 4 * i + k,
			    path[k]);
			set_value(RES_EPOCH_HOP_TRUTH, "drops", 4 * i + k,
			    failed && k == 1);
		}
	}
}

static void make_truth(void)
{
	set_value(RES_EPOCH_FAULTS, "link", 0, 8);
	set_real(RES_EPOCH_FAULTS, "rate", 0, 0.5);
	set_value(RES_EPOCH_FAULTS, "to_ns", 0, UINT64_MAX);
	set_value(RES_EPOCH_HOLES, "type", 0, 2);
	set_value(RES_EPOCH_OUTAGES, "kind", 0, 2);
	set_value(RES_EPOCH_FAILED_SWITCHES, "switch_id", 0, 2);
	set_value(RES_EPOCH_FAILED_LINKS, "link", 0, 8);
	set_value(RES_EPOCH_FAILED_LINKS, "switch_id", 0, 2);
}

/* A row of known path, one of two that are equal. */
static void make_tallies(void)
{
	static const uint32_t link[] = {8, 13, 10, 15};
	set_value(RES_EPOCH_SETS, "to_switch", 0, 1);
	set_value(RES_EPOCH_SETS, "n_paths", 0, 2);
	for (size_t i = 0; i < 4; i++) {
		set_value(RES_EPOCH_PATHS, "n_links", i / 2, 2);
		set_value(RES_EPOCH_PATH_LINKS, "link", i, link[i]);
		set_value(RES_EPOCH_TALLIES, "down", i, 5);
		set_value(RES_EPOCH_TALLIES, "path", i, i ? TOPO_NONE : 1);
		set_value(RES_EPOCH_TALLIES, "n_sent", i, 9);
		set_value(RES_EPOCH_TALLIES, "n_lost", i, i == 0);
		set_value(RES_EPOCH_TALLIES, "flow", i, i ? TOPO_NONE : 0);
	}
}

/* --- changes ---------------------------------------------------------------*/

enum {
	VERSION,
	CLOS,
	N_FLOWS,
	ALL_FLOWS,
	ALL_SEEN,
	COMPLETE,
	OWN,
	BUFFER,
	TELEMETRY,
	N_ATTRS
};
static const char *const attr_name[] = {"epoch_version", "clos", "n_flows",
    "all_flows", "all_seen", "complete", "own_culprits", "has_buffer",
    "telemetry"};
struct attrs {
	uint64_t value[N_ATTRS];
	uint8_t is[N_ATTRS];
};

static void change(const uint8_t b[CHANGE], struct attrs *a)
{
	struct raw *t = &raw[b[1] % RES_EPOCH_N_TABLES];
	const size_t row = b[3] | (size_t)b[4] << 8 | (size_t)b[5] << 16;
	uint64_t value = 0;
	memcpy(&value, b + 6, 6);
	/* Numbers near 2^64 and negative ones too. */
	if (b[11] & 0x80)
		value |= UINT64_C(0xffff) << 48;
	switch (b[0] % 4) {
	case 0:
		memcpy(t->value[row % ROWS][b[2] % t->n_columns], &value, 8);
		break;
	case 1:
		t->n = row % (ROWS + 1);
		break;
	case 2:
		t->left_out = 1;
		break;
	default:
		a->is[b[2] % N_ATTRS] = (uint8_t)(row % 3);
		a->value[b[2] % N_ATTRS] = value;
	}
}

/* --- out and in ------------------------------------------------------------*/

static int put_table(struct res_h5_out *f, unsigned which)
{
	struct raw *t = &raw[which];
	struct res_h5_table_out *out;
	for (size_t i = 0; i < t->n_columns; i++)
		t->col[i].offset = i * sizeof(struct sim_name);
	if (t->left_out)
		return 0;
	if (res_h5_out_table(f, res_epoch_tables[which].name, t->col,
		t->n_columns, ROWS, &out, NULL) < 0)
		return -1;
	return res_h5_out_rows(out, t->value, sizeof(t->value[0]), t->n, NULL);
}

/* `clos` is five numbers, from the bytes of its value. */
static int put_attrs(struct res_h5_out *f, const struct attrs *a)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < N_ATTRS; i++) {
		uint64_t five[5];
		for (int k = 0; k < 5; k++)
			five[k] = a->value[i] >> 8 * k & 7;
		if (a->is[i])
			rc = res_h5_out_counts(f, attr_name[i],
			    i == CLOS ? 5 : 0, i == CLOS ? five : &a->value[i],
			    NULL);
	}
	return rc;
}

static int put_all(const char *path, const struct attrs *a)
{
	struct res_h5_out *f;
	int rc = res_h5_out_open(&f, path, NULL);
	if (rc < 0)
		return rc;
	rc = put_attrs(f, a);
	for (unsigned i = 0; rc == 0 && i < RES_EPOCH_N_TABLES; i++)
		rc = put_table(f, i);
	if (rc == 0)
		return res_h5_out_finish(f, NULL);
	res_h5_out_discard(f);
	return rc;
}

/* Programs of GLPK are left out: they are slow, and see what cover sees. */
static void replay(const char *path)
{
	static const char *const algorithm[] = {"vote", "vote_ecmp", "alg1",
	    "{name: alg1, label: e, adjust: expected}", "cover",
	    "{name: vote, label: s, on: switch}",
	    "{name: vote, label: r, tie: random}", "flock"};
	const struct xp_replay_asks asks = {.algorithm = algorithm,
	    .n_algorithms = 8};
	struct xp_replay r;
	struct sim_err e = {0};
	int rc = xp_replay_open(&r, path, &asks, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	rc = xp_replay_run(&r, &e);
	for (size_t i = 0; rc == 0 && i < r.n; i++) {
		const struct algo_verdicts *v = &r.one[i].verdicts;
		const uint32_t most = v->kind == ALGO_KIND_SWITCH
		    ? r.epoch.topo.n_switches
		    : r.epoch.topo.n_links +
			(v->kind == ALGO_KIND_BOTH ? r.epoch.topo.n_switches
						   : 0);
		for (size_t k = 0; k < v->n; k++)
			must(v->link[k] < most);
	}
	FILE *out = fopen("/dev/null", "w");
	must(out != NULL);
	if (rc == 0) {
		xp_replay_print(&r, out);
		xp_replay_print_json(&r, out);
		xp_replay_print_blame(&r, out);
	}
	fclose(out);
	xp_replay_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct attrs a = {.value = {[VERSION] = RES_EPOCH_VERSION,
			      [TELEMETRY] = OBS_TELE_A2 | OBS_TELE_P},
	    .is = {[VERSION] = 1, [TELEMETRY] = 1}};
	memset(raw, 0, sizeof(raw));
	for (unsigned i = 0; i < RES_EPOCH_N_TABLES; i++) {
		const struct sim_table *kind = res_epoch_tables[i].kind();
		res_epoch_columns(i, kind, raw[i].col);
		raw[i].n_columns = kind->n_columns;
	}
	make_network();
	make_flows();
	make_truth();
	make_tallies();
	for (size_t i = 0; i + CHANGE <= n && i < 32 * CHANGE; i += CHANGE)
		change(bytes + i, &a);
	must(put_all("epoch", &a) == 0);
	replay("epoch");
	h5_memory_drop(NULL);
	return 0;
}
