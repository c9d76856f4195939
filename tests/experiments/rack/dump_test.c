/* tests/experiments/rack/dump_test.c -- experiments/rack/dump: cells as files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is held against the metrics that `culprit run` has of the same cell.
 */
#include "experiments/rack/dump.h"

#include "experiments/sweep/trial.h"
#include "results/rows.h"
#include "results/samples.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define SPEC                                                                   \
	"figure: f\nplane: rack\nalgorithms: [loss_cause]\n"                   \
	"topology: {n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 8}\n"     \
	"rack: {length: 0.2, shared: 6e5, ecn: 1e5, widths: [1ms, 10ms], "     \
	"traffic: {gap: 10, few: 500, ml_racks: 0.5, ml_share: 0.5}, stall: "  \
	"{count: 1, busy: true}}\n"                                            \
	"faults: {count: 3, rate: 0.05, classes: [tor-host, host-tor]}\n"      \
	"sweep: {grid: {rack.alpha: [1, 0.5]}}\n"

struct dumped {
	struct res_samples *file;
	struct res_samples_truth truth;
	struct obs_samples samples;
	struct res_trial_metrics row; /* of the same cell */
	struct xp_rack_dumped count;
};

static void dumped_open(struct dumped *d, const char *text, size_t point,
    uint32_t run)
{
	struct xp_spec s;
	struct xp_trial *t;
	double row[4096];
	*d = (struct dumped){0};
	spec_open(&s, text);
	assert_ok(xp_rack_dump(&s, point, run, test_path("x.h5"), &d->count,
	    test_err()));
	assert_ok(xp_trial_open(&t, &s, test_err()));
	assert_ok(xp_trial_run(t, point, run, row, test_err()));
	memcpy(&d->row, row, sizeof(d->row));
	xp_trial_close(t);
	xp_spec_free(&s);
	assert_ok(res_samples_open(&d->file, test_path("x.h5"), test_err()));
	assert_int_equal(res_samples_has_truth(d->file, test_err()), 1);
	assert_ok(res_samples_load_truth(d->file, &d->truth, test_err()));
	assert_ok(res_samples_load(d->file, 0, res_samples_runs(d->file)->n,
	    &d->samples, test_err()));
}

static void dumped_close(struct dumped *d)
{
	obs_samples_free(&d->samples);
	res_samples_truth_free(&d->truth);
	res_samples_close(d->file);
}

static void a_file_says_what_its_cell_measures(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct dumped d;
		uint64_t buffer = 0, link = 0, in = 0;
		dumped_open(&d, SPEC, i / 2, i % 2);
		for (size_t k = 0; k < d.truth.losses.n; k++) {
			buffer += d.truth.losses.buffer[k];
			link += d.truth.losses.link_in[k] +
			    d.truth.losses.link_out[k];
		}
		assert_true(d.row.buffer_bytes == (double)buffer);
		assert_true(d.row.link_bytes == (double)link && link > 0);
		assert_true(d.count.buffer == buffer && d.count.link == link);
		assert_true(d.row.n_faults == (double)d.truth.faults.n);
		assert_int_equal(d.count.n_faults, d.truth.faults.n);
		assert_true(d.count.n_racks == 2 && d.count.n_hosts == 16);
		assert_int_equal(d.count.n_runs, res_samples_runs(d.file)->n);
		assert_int_equal(d.count.n_bursts, d.truth.bursts.n);
		for (size_t k = 0; k < d.samples.n; k++)
			in += d.samples.in_bytes[k];
		assert_true(in > 0 && d.count.n_samples == d.samples.n);
		const struct res_samples_info *info = res_samples_info(d.file);
		assert_true(info->point == i / 2 && info->trial == i % 2);
		assert_non_null(strstr(info->spec, "plane: rack"));
		dumped_close(&d);
	}
}

/* Three links lose, one NIC stalls. */
static void faults_are_of_hosts_links(void **state)
{
	struct dumped d;
	unsigned n_slow = 0, is_bad[2][16] = {{0}};
	(void)state;
	dumped_open(&d, SPEC, 0, 0);
	const struct res_true_faults *f = &d.truth.faults;
	assert_int_equal(f->n, 4);
	for (size_t i = 0; i < f->n; i++) {
		n_slow += f->delay_us[i] > 0;
		assert_true(
		    f->delay_us[i] > 0 ? f->rate[i] == 0 : f->rate[i] == 0.05);
		is_bad[f->out[i]][f->host[i]] |= f->rate[i] > 0;
	}
	assert_int_equal(n_slow, 1);
	for (size_t i = 0; i < d.truth.losses.n; i++) {
		const struct res_true_loss l =
		    res_true_losses_at(&d.truth.losses, i);
		assert_true(l.link_in == 0 || is_bad[0][l.host]);
		assert_true(l.link_out == 0 || is_bad[1][l.host]);
	}
	const struct res_hosts *h = res_samples_hosts(d.file);
	assert_int_equal(h->n, 16);
	assert_int_equal(h->rack[8], 1);
	assert_string_equal(h->name[8].text, "host8");
	dumped_close(&d);
}

/* What has come to hosts was sent to them by bursts, and most of what was sent
 * has come: both sum up data, each segment once, but that buckets count what
 * was sent again twice, and acknowledgements, too. */
static void bursts_are_what_was_sent(void **state)
{
	struct dumped d;
	double sent = 0;
	uint32_t most = 0;
	(void)state;
	dumped_open(&d, SPEC, 0, 0);
	const struct res_true_bursts *b = &d.truth.bursts;
	assert_int_equal(b->n, d.count.n_bursts);
	for (size_t i = 0; i < b->n; i++) {
		sent += (double)b->bytes[i];
		assert_true(b->host[i] < 16 && b->bytes[i] > 0);
		assert_true(b->conns[i] > 0 && b->n_new[i] <= b->conns[i]);
		assert_true(b->start_ns[i] < 200 * SIM_MS);
		most = b->conns[i] > most ? b->conns[i] : most;
		/* In order, and none twice. */
		if (i > 0 && b->host[i] / 8 == b->host[i - 1] / 8)
			assert_true(b->start_ns[i] >= b->start_ns[i - 1]);
	}
	assert_true(most > 50);
	const double came = d.row.goodput * 16 * 0.2;
	assert_true(came <= sent && came > 0.8 * sent);
	dumped_close(&d);
}

static void another_plane_is_refused(void **state)
{
	struct xp_spec s;
	struct xp_rack_dumped count;
	struct sim_err e;
	(void)state;
	spec_open(&s, "figure: f\nalgorithms: [vote]\nplane: skip\n");
	assert_int_equal(xp_rack_dump(&s, 0, 0, test_path("no.h5"), &count, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "hosts of plane skip do not count in buckets; those of plane rack "
	    "do.");
	xp_spec_free(&s);
}

static int dump_life(void *arg, struct sim_err *e)
{
	struct xp_rack_dumped count;
	return xp_rack_dump(arg, 0, 0, test_path("a.h5"), &count, e);
}

static void every_allocation_may_fail(void **state)
{
	struct xp_spec s;
	(void)state;
	spec_open(&s,
	    "figure: f\nplane: rack\nalgorithms: [loss_cause]\n"
	    "topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_t2: 1, n_hosts: 4}\n"
	    "rack: {length: 0.01, traffic: {gap: 2}}\n");
	test_each_alloc_fails(dump_life, &s);
	xp_spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_says_what_its_cell_measures),
	    cmocka_unit_test(faults_are_of_hosts_links),
	    cmocka_unit_test(bursts_are_what_was_sent),
	    cmocka_unit_test(another_plane_is_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/rack/dump", tests,
	    test_folder_make, test_folder_remove);
}
