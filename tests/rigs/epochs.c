/* tests/rigs/epochs.c -- epochs for tests of their files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/epochs.h"

#include "sim/vec.h"
#include "tests/test.h"

void epochs_open(struct epochs *x)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 3,
	    .n_t2 = 2,
	    .n_hosts = 2};
	*x = (struct epochs){0};
	assert_ok(topo_open_clos(&x->topo, &shape, test_err()));
}

void epochs_free(struct epochs *x)
{
	topo_close(&x->topo);
	truth_free(&x->truth);
	free(x->flow);
	*x = (struct epochs){0};
}

static void epochs_draw_flow(const struct epochs *x, struct epochs_flow *f,
    struct sim_rng *r)
{
	const uint32_t n = x->topo.n_hosts;
	struct obs_flow *o = &f->row.seen;
	*f = (struct epochs_flow){0};
	o->src_host = sim_rng_below(r, n);
	o->dst_host = (o->src_host + 1 + sim_rng_below(r, n - 1)) % n;
	o->start_ns = sim_rng_below(r, 1000000);
	o->src_port = (uint16_t)sim_rng_below(r, 65536);
	o->dst_port = (uint16_t)sim_rng_below(r, 65536);
	o->n_pkts = 10 + sim_rng_below(r, 90);
	o->srtt_us = sim_rng_below(r, 3);
	f->row.n_hops = topo_path(&x->topo, 7, o->src_host, o->dst_host,
	    sim_rng_u32(r), f->link);
	if (sim_rng_below(r, 3) == 0)
		f->drops[sim_rng_below(r, f->row.n_hops)] =
		    1 + sim_rng_below(r, 4);
	for (unsigned i = 0; i < f->row.n_hops; i++) {
		f->row.n_retx += f->drops[i];
		f->buffer[i] = f->drops[i] / 2;
		f->seen[i] = sim_rng_below(r, 8) ? f->link[i] : TOPO_NONE;
	}
	o->n_retx = f->row.n_retx;
	o->count_off = (int64_t)sim_rng_below(r, 3);
	f->row.in_window = o->n_retx > 0;
}

static void draw_truth(struct truth *t, const struct topo *topo)
{
	const topo_link l = topo->n_links - 3;
	topo_node from, to;
	topo_link_ends(topo, l, &from, &to);
	const struct truth_fault fault[] = {
	    {.link = l, .rate = 0.125, .to_ns = SIM_NEVER},
	    {.link = 5, .rate = 1e-3, .from_ns = 10, .to_ns = 20},
	    {.link = 3, .delay_us = 1500.5, .shape = 0.5, .law = TRUTH_LOAD},
	    {.link = 9, .rate = 0.5, .of_hole = 1, .to_ns = SIM_NEVER},
	};
	const struct truth_hole hole = {.at = 1, .to_ns = 9};
	const struct truth_outage outage = {.kind = TRUTH_COLLECTOR,
	    .mode = TRUTH_SLOW,
	    .from_ns = 7,
	    .to_ns = 8,
	    .delay_us = 2};
	truth_clear(t);
	for (int i = 0; i < 4; i++)
		assert_ok(truth_add_fault(t, &fault[i], test_err()));
	assert_ok(truth_add_hole(t, &hole, test_err()));
	assert_ok(blackhole_rule_init(&t->hole[0].rule, BLACKHOLE_RULE_TUPLE,
	    0.25, 77, test_err()));
	assert_ok(truth_add_outage(t, &outage, test_err()));
	assert_ok(truth_add_part(t, l, to - topo->n_hosts, test_err()));
	assert_ok(truth_add_part(t, l, from - topo->n_hosts, test_err()));
	truth_sort(t);
}

void epochs_draw(struct epochs *x, size_t n, struct sim_rng *r)
{
	assert_ok(SIM_RESERVE(&x->flow, &x->cap, n, test_err()));
	x->n = n;
	draw_truth(&x->truth, &x->topo);
	for (size_t i = 0; i < n; i++)
		epochs_draw_flow(x, &x->flow[i], r);
	x->info = (struct res_epoch_info){.spec = "algorithms: [vote]\n",
	    .plane = "exact",
	    .seed = 7,
	    .point = 3,
	    .run = 2,
	    .tie_point = 1,
	    .n_flows = n,
	    .n_packets = 12345,
	    .all_flows = 1,
	    .all_seen = 1,
	    .has_buffer = 1};
}

/* Culprits are looked up as for a plane's flows: of a window of one. */
static int add_row(struct res_epoch_out *w, const struct epochs *x,
    const struct epochs_flow *f, struct sim_err *e)
{
	const uint64_t off[] = {0, f->row.n_hops};
	struct obs one = {.flows = {.n = 1}};
	struct losses lost = {.n_drops = f->row.n_hops,
	    .n_buffer = f->row.n_hops,
	    .has_buffer = 1};
	struct res_epoch_row row = f->row;
	one.hops.off = (uint64_t *)(uintptr_t)off;
	one.hops.link = (topo_link *)(uintptr_t)f->link;
	one.hops.n = f->row.n_hops;
	lost.drops = (uint32_t *)(uintptr_t)f->drops;
	lost.buffer = (uint32_t *)(uintptr_t)f->buffer;
	res_score_culprits(&one, &x->truth, &lost, 0, &row.culprit);
	row.seen_link = f->seen;
	row.link = f->link;
	row.drops = f->drops;
	row.buffer = f->buffer;
	return res_epoch_add(w, &row, e);
}

int epochs_write(const struct epochs *x, const char *path,
    const uint32_t order[], int with_truth, struct sim_err *e)
{
	struct res_epoch_out *w;
	int rc = res_epoch_create(&w, path, &x->topo,
	    with_truth ? &x->truth : NULL, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < x->n; i++)
		rc = add_row(w, x, &x->flow[order ? order[i] : i], e);
	if (rc == 0)
		return res_epoch_finish(w, &x->info, e);
	res_epoch_discard(w);
	return rc;
}
