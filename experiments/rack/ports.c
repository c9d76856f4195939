/* experiments/rack/ports.c -- full ports of racks, as `congestion` would have them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A port is full in a bucket in which the rack's buffer dropped something for its
 * host. By the law of models/scene/congestion.h, with all racks hot and c cells of
 * n ports, of which a share p is full,
 *
 *	busy    two ports are full together in c n (n - 1) / 2 p^2 / busy cells
 *	        in the mean: by chance, over busy
 *	ports   a byte meets a full port with probability busy ports
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/rack/world.h"
#include "sim/vec.h"

struct rack_ports {
	const struct xp_rack_world *w;
	sim_ns width; /* of a bucket */
	double n_buckets;
	sim_ns *end; /* [n_hosts] of the last that was full, or 0 */

	/* Of the rack and the bucket that rows are of just now. */
	double n_rack, n_now;
	sim_ns now;

	/* Sums; bytes. */
	double n_full, n_runs, pairs, chance, met, dropped, queue;
};

static void rack_ports_row(struct rack_ports *x, size_t i)
{
	const struct rack_losses *l = &x->w->lost;
	const sim_ns at = l->start_ns[i];
	if (l->buffer[i] == 0)
		return;
	x->n_runs += x->end[l->host[i]] != at || at == 0;
	x->end[l->host[i]] = at + x->width;
	x->n_now = at == x->now && x->n_rack > 0 ? x->n_now + 1 : 1;
	x->now = at;
	x->pairs += x->n_now - 1;
	x->n_rack++;
	x->met += (double)(l->in[i] + l->buffer[i]);
	x->dropped += (double)l->buffer[i];
	x->queue += (double)l->queue_max[i];
}

static void rack_ports_next(struct rack_ports *x)
{
	const double n = x->w->n_servers, p = x->n_rack / (n * x->n_buckets);
	x->chance += x->n_buckets * n * (n - 1) / 2 * p * p;
	x->n_full += x->n_rack;
	x->n_rack = 0;
}

/* All that was sent to servers, as far as runs of the first width count it. */
static double rack_ports_offered(const struct xp_rack_world *w, sim_ns width)
{
	double sum = (double)w->buffer;
	for (size_t i = 0; i < w->samples.n; i++)
		if (w->runs.width_ns[w->samples.run[i]] == width)
			sum += w->samples.in_bytes[i];
	return sum;
}

static void rack_ports_tell(const struct rack_ports *x, double line_gbps,
    double offered, struct res_trial_metrics *row)
{
	const double busy = x->pairs > x->chance ? x->chance / x->pairs : 1;
	const double met = offered > 0 ? x->met / offered : 0;
	row->congestion_busy = busy;
	row->congestion_ports = fmin(met / busy, 1);
	if (x->n_full == 0)
		return;
	row->congestion_burst = x->n_full / x->n_runs * (double)x->width / 1e6;
	row->congestion_loss = x->dropped / x->met;
	row->congestion_wait = x->queue / x->n_full * 8e-3 / line_gbps;
}

int xp_rack_ports_score(const struct xp_rack_world *w, const struct xp_rack *p,
    struct res_trial_metrics *row, struct sim_err *e)
{
	sim_ns width[XP_RACK_N_WIDTHS] = {0};
	struct rack_ports x = {.w = w};
	size_t i = 0;
	if (!p->as_congestion)
		return 0;
	int rc = SIM_ZALLOC(&x.end, (size_t)w->n_racks * w->n_servers, e);
	if (rc < 0)
		return rc;
	xp_rack_widths(p, width);
	x.width = p->sample.truth ? RACK_TRUTH_NS : width[0];
	x.n_buckets = p->length_s * 1e9 / (double)x.width;
	/* Rows of a rack stand together, by time. */
	for (uint32_t k = 0; k < w->n_racks; k++) {
		for (; i < w->lost.n && w->lost.host[i] / w->n_servers == k;
		     i++)
			rack_ports_row(&x, i);
		rack_ports_next(&x);
	}
	rack_ports_tell(&x, p->rack.line_gbps, rack_ports_offered(w, width[0]),
	    row);
	free(x.end);
	return 0;
}
