/* algos/pingmesh/outbox.c -- results of probes on their way to the collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/outbox.h"

#include <string.h>

enum { MAX_DOUBLINGS = 8 };

void algo_pingmesh_outbox_init(struct algo_pingmesh_outbox *o,
    const struct algo_pingmesh_params *params,
    struct algo_pingmesh_counters *count, uint32_t self)
{
	/* A record is written before it is read. */
	memset(o, 0, offsetof(struct algo_pingmesh_outbox, batch));
	o->params = params;
	o->count = count;
	o->batch.number = 0;
	o->batch.src_ip = self;
	o->batch.n = 0;
}

void algo_pingmesh_outbox_add(struct algo_pingmesh_outbox *o, sim_ns now,
    const struct algo_pingmesh_record *r)
{
	/* The oldest record goes, since the newest say what is wrong now; it is
	 * counted, so nothing is lost unseen. */
	if (o->n == ALGO_PINGMESH_RECORDS) {
		o->first = (o->first + 1) % ALGO_PINGMESH_RECORDS;
		o->n--;
		o->count->n_overrun++;
	}
	/* The first record of a batch starts its wait. While a batch is under
	 * way, `at` is that batch's. */
	if (o->n == 0 && o->phase == ALGO_PINGMESH_IDLE)
		o->at = now + sim_ns_of(o->params->upload_interval_s);
	o->record[(o->first + o->n++) % ALGO_PINGMESH_RECORDS] = *r;
}

void algo_pingmesh_outbox_keep(const struct algo_pingmesh_outbox *o,
    struct topo_ip_book *b)
{
	for (uint32_t i = 0; i < o->batch.n; i++)
		topo_ip_book_keep(b, o->batch.record[i].dst_ip);
	for (uint32_t i = 0; i < o->n; i++)
		topo_ip_book_keep(b,
		    o->record[(o->first + i) % ALGO_PINGMESH_RECORDS].dst_ip);
}

/* The batch is done with: taken, or given up after the last try. *COUNTER says
 * which. */
static void drop_batch(struct algo_pingmesh_outbox *o, sim_ns now,
    uint64_t *counter)
{
	*counter += o->batch.n;
	o->batch.n = 0;
	o->phase = ALGO_PINGMESH_IDLE;
	o->at = now + sim_ns_of(o->params->upload_interval_s);
}

/* Copied out of the ring, so that a batch tried again is the same batch and the
 * collector can tell by its number. */
static void fill_batch(struct algo_pingmesh_outbox *o)
{
	struct algo_pingmesh_batch *b = &o->batch;
	b->number++;
	b->n_lost = o->count->n_discarded + o->count->n_overrun;
	for (; o->n > 0 && b->n < o->params->batch; o->n--) {
		b->record[b->n++] = o->record[o->first];
		o->first = (o->first + 1) % ALGO_PINGMESH_RECORDS;
	}
	o->tries = 0;
	/* An empty ring begins anew, so that the memory which a host touches is
	 * that of the records which ever waited at a time, and not all of it. */
	if (o->n == 0)
		o->first = 0;
}

/* Rest for 1, 2, 4, ... times the first rest, of which half is random: a
 * collector that was down is not met by all servers in step. Section 3.4: after
 * the last try the batch is discarded, as memory is bounded. */
static void fail(struct algo_pingmesh_outbox *o, sim_ns now,
    struct sim_rng *rng)
{
	const uint32_t doubled =
	    o->tries <= MAX_DOUBLINGS ? o->tries - 1 : MAX_DOUBLINGS;
	o->count->n_upload_failed++;
	if (o->tries >= o->params->upload_tries) {
		drop_batch(o, now, &o->count->n_discarded);
		return;
	}
	o->phase = ALGO_PINGMESH_RESTING;
	o->at = now +
	    sim_ns_of(o->params->upload_backoff_s * (1u << doubled) *
		(1 + sim_rng_u01(rng)) / 2);
}

/* Batch and try. A late answer to an earlier try of this batch is told from one
 * to the last. */
static uint64_t outbox_token_of(const struct algo_pingmesh_outbox *o)
{
	return o->batch.number << 8 | o->tries;
}

void algo_pingmesh_outbox_done(struct algo_pingmesh_outbox *o, sim_ns now,
    const struct agent_event *ev, struct sim_rng *rng)
{
	/* A late success still means that the collector has the batch; a late
	 * failure says nothing about the try under way. */
	if (o->batch.n == 0 || ev->token >> 8 != o->batch.number)
		o->count->n_stray++;
	else if (ev->ok)
		drop_batch(o, now, &o->count->n_uploaded);
	else if (o->phase == ALGO_PINGMESH_SENDING &&
	    ev->token == outbox_token_of(o))
		fail(o, now, rng);
	else
		o->count->n_stray++;
}

/* A full batch need not wait for the interval. */
static int is_full(const struct algo_pingmesh_outbox *o)
{
	return o->phase == ALGO_PINGMESH_IDLE && o->n >= o->params->batch;
}

void algo_pingmesh_outbox_due(struct algo_pingmesh_outbox *o, sim_ns now,
    struct sim_rng *rng, struct agent_out *out)
{
	if (algo_pingmesh_outbox_next(o, now) > now)
		return;
	/* Its time is up and nobody answered. */
	if (o->phase == ALGO_PINGMESH_SENDING) {
		fail(o, now, rng);
		return;
	}
	if (o->phase == ALGO_PINGMESH_IDLE)
		fill_batch(o);
	o->tries++;
	o->phase = ALGO_PINGMESH_SENDING;
	o->at = now + sim_ns_of(o->params->upload_timeout_s);
	struct agent_action *a = agent_act(out, AGENT_UPLOAD);
	a->token = outbox_token_of(o);
	a->data = &o->batch;
	a->n_bytes = (uint32_t)(offsetof(struct algo_pingmesh_batch, record) +
	    o->batch.n * sizeof(o->batch.record[0]));
}

void algo_pingmesh_outbox_hurry(struct algo_pingmesh_outbox *o, sim_ns now)
{
	if (o->phase == ALGO_PINGMESH_IDLE)
		o->at = now;
}

sim_ns algo_pingmesh_outbox_next(const struct algo_pingmesh_outbox *o,
    sim_ns now)
{
	if (is_full(o))
		return now;
	return o->phase == ALGO_PINGMESH_IDLE && o->n == 0 ? SIM_NEVER : o->at;
}
