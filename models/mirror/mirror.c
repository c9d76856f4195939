/* models/mirror/mirror.c -- switches that mirror, and the way to the analyzer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/mirror/mirror.h"

#include <math.h>
#include <stdlib.h>

#include "sim/bucket.h"
#include "sim/evq.h"
#include "sim/rng.h"
#include "sim/vec.h"

static const char *const mirror_laws[] = {"constant", "uniform", "exponential",
    NULL};

#define AT(member) .offset = offsetof(struct mirror_params, member)
const struct sim_field mirror_fields[] = {
    {.name = "truncate",
	.type = SIM_F_U32,
	AT(truncate),
	.min = 64,
	.max = 9216,
	.unit = "bytes",
	.def = "128",
	.doc = "of a frame that a copy has"},
    {.name = "overhead",
	.type = SIM_F_U32,
	AT(overhead),
	.min = 0,
	.max = 256,
	.unit = "bytes",
	.def = "50",
	.doc = "that carry a copy: Ethernet, IP, GRE, ERSPAN"},
    {.name = "budget",
	.type = SIM_F_F64,
	AT(budget),
	.min = 0,
	.max = 1e11,
	.unit = "bytes/s",
	.def = "0",
	.doc = "of each switch for its copies; 0: no limit"},
    {.name = "burst",
	.type = SIM_F_U32,
	AT(burst),
	.min = 64,
	.max = 1e9,
	.unit = "bytes",
	.def = "65536",
	.doc = "of copies that a switch may send at once",
	.when = "budget!=0"},
    {.name = "policer",
	.type = SIM_F_F64,
	AT(policer),
	.min = 0,
	.max = 1e9,
	.unit = "copies/s",
	.def = "0",
	.doc = "of each switch; 0: no limit"},
    {.name = "police_burst",
	.type = SIM_F_U32,
	AT(police_burst),
	.min = 1,
	.max = 1e6,
	.unit = "copies",
	.def = "100",
	.doc = "that a switch may send at once",
	.when = "policer!=0"},
    {.name = "loss",
	.type = SIM_F_F64,
	AT(loss),
	.min = 0,
	.max = 1,
	.unit = "1",
	.def = "0",
	.doc = "probability that a copy is lost on its way"},
    {.name = "delay_us",
	.type = SIM_F_F64,
	AT(delay_us),
	.min = 0,
	.max = 1e7,
	.unit = "us",
	.def = "100",
	.doc = "mean time from the switch to the analyzer"},
    {.name = "delay_law",
	.type = SIM_F_ENUM,
	AT(delay_law),
	.names = mirror_laws,
	.unit = "1",
	.def = "exponential",
	.doc = "how that time varies",
	.when = "delay_us!=0"},
    {0},
};
#undef AT

/* A sighting that matched, and then a copy on its way. */
struct mirror_item {
	struct obs_copy copy;
	sim_ns delay;
	uint32_t next; /* of those that are free */
	uint8_t is_sent, is_lost, is_cut;
};

/* Of one switch. */
struct mirror_budgets {
	struct sim_rng rng;
	sim_ns budget_full_at, police_full_at;
	uint32_t n_sent; /* the next copy's number */
};

struct mirror {
	struct mirror_params params;
	struct mirror_clock clock; /* zeroed: none */
	uint32_t n_switches;
	struct obs_match_row *row;
	size_t n_rows;
	int draws; /* some row takes a share */
	double ns_per_byte;
	sim_ns budget_depth;
	struct sim_bucket policer;
	struct mirror_budgets *at;   /* [n_switches] */
	struct mirror_counts *count; /* [n_switches] */
	struct sim_evq *queue;       /* of items, by index */
	struct mirror_item *item;
	size_t cap;
	uint32_t n_items, free; /* free: TOPO_NONE = none */
	sim_ns taken;           /* up to here; 0 = nothing yet */
};

/* --- life ----------------------------------------------------------------- */

static int mirror_check(const struct mirror_params *p, struct sim_err *e)
{
	if (p->budget > 0 && p->burst < p->truncate + p->overhead)
		return sim_fail(e, SIM_EINVAL,
		    "burst %u is less than a copy of %u + %u bytes, so none "
		    "would ever be sent.",
		    p->burst, p->truncate, p->overhead);
	return 0;
}

static int mirror_fill(struct mirror *m, const struct obs_match_row table[],
    size_t n_rows, const struct sim_seed *where, struct sim_err *e)
{
	const uint32_t n = m->n_switches;
	int rc;
	if ((rc = SIM_ZALLOC(&m->row, n_rows, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->at, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->count, n, e)) < 0 ||
	    (rc = sim_evq_open(&m->queue, e)) < 0)
		return rc;
	for (size_t i = 0; i < n_rows; i++) {
		m->row[i] = table[i];
		m->draws |= table[i].one_in > 1;
	}
	for (uint32_t s = 0; s < n; s++)
		sim_rng_init(&m->at[s].rng, where, SIM_STREAM_MIRROR, s);
	return 0;
}

int mirror_open(struct mirror **out, uint32_t n_switches,
    const struct mirror_params *p, const struct obs_match_row table[],
    size_t n_rows, const struct mirror_clock *clock,
    const struct sim_seed *where, struct sim_err *e)
{
	struct mirror *m = NULL;
	int rc = mirror_check(p, e);
	*out = NULL;
	if (rc < 0 || (rc = SIM_ZALLOC(&m, 1, e)) < 0)
		return rc;
	m->params = *p;
	m->n_switches = n_switches;
	m->n_rows = n_rows;
	m->free = TOPO_NONE;
	if (clock)
		m->clock = *clock;
	m->ns_per_byte = p->budget > 0 ? 1e9 / p->budget : 0;
	m->budget_depth = (sim_ns)(p->burst * m->ns_per_byte);
	m->policer = sim_bucket_of(p->policer, p->police_burst);
	if ((rc = mirror_fill(m, table, n_rows, where, e)) < 0)
		mirror_free(m);
	else
		*out = m;
	return rc;
}

void mirror_free(struct mirror *m)
{
	if (!m)
		return;
	sim_evq_close(m->queue);
	free(m->row);
	free(m->at);
	free(m->count);
	free(m->item);
	free(m);
}

/* --- sightings ------------------------------------------------------------ */

uint32_t mirror_needs(const struct obs_packet *p)
{
	if (p->ethertype != OBS_ETH_IPV4)
		return p->n_bytes;
	const uint32_t ip = 14 + 20 * (1u + p->n_outer);
	uint32_t n = ip;
	/* TCP up to its flags. UDP up to the digest, or behind it the 12 bytes
	 * of RoCE's first header, and the syndrome of an acknowledgement. */
	if (p->ip.proto == TOPO_PROTO_TCP)
		n = ip + 14;
	else if (p->ip.proto == OBS_PROTO_UDP)
		n = ip + (p->dst_port == OBS_PORT_ROCE ? 20 : 12) +
		    (p->bth_opcode == OBS_BTH_ACK);
	return n < p->n_bytes ? n : p->n_bytes;
}

static sim_ns mirror_draw_delay(struct mirror *m, struct sim_rng *r)
{
	const double mean = m->params.delay_us * 1e-6;
	if (mean <= 0 || m->params.delay_law == MIRROR_DELAY_CONSTANT)
		return sim_ns_of(mean);
	if (m->params.delay_law == MIRROR_DELAY_UNIFORM)
		return sim_ns_of(2 * mean * sim_rng_u01(r));
	return sim_ns_of(-mean * log(sim_rng_u01_open(r)));
}

/* A place for an item: one that is free, or a new one. */
static int mirror_take_place(struct mirror *m, uint32_t *at, struct sim_err *e)
{
	if (m->free != TOPO_NONE) {
		*at = m->free;
		m->free = m->item[*at].next;
		return 0;
	}
	const int rc =
	    SIM_RESERVE(&m->item, &m->cap, (size_t)m->n_items + 1, e);
	if (rc == 0)
		*at = m->n_items++;
	return rc;
}

static void mirror_give_place(struct mirror *m, uint32_t at)
{
	m->item[at].next = m->free;
	m->free = at;
}

static int mirror_queue(struct mirror *m, uint32_t at, sim_ns t,
    struct sim_err *e)
{
	const struct sim_event ev = {.t = t, .aux = at};
	const int rc = sim_evq_put(m->queue, &ev, e);
	if (rc < 0)
		mirror_give_place(m, at);
	return rc;
}

/* Draws whatever comes of it, so that neither a budget nor a loss changes what
 * is drawn for others. */
static struct mirror_item mirror_make(struct mirror *m, topo_switch s,
    topo_link in, sim_ns t, const struct obs_packet *p, uint8_t kind)
{
	struct sim_rng *r = &m->at[s].rng;
	struct mirror_item item = {.copy = obs_copy_of(p)};
	item.copy.node = s;
	item.copy.in_link = in;
	item.copy.kind = kind;
	if (m->clock.read)
		item.copy.switch_ns = m->clock.read(m->clock.arg, s, t);
	if (m->params.loss > 0)
		item.is_lost = sim_rng_u01(r) < m->params.loss;
	item.delay = mirror_draw_delay(m, r);
	item.is_cut = mirror_needs(p) > m->params.truncate;
	return item;
}

static int mirror_see(void *arg, topo_switch s, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct mirror *m = arg;
	uint32_t at = 0, chance = 0;
	int rc;
	if (s >= m->n_switches)
		return sim_fail(e, SIM_EINVAL,
		    "switch %u mirrors, of %u switches.", s, m->n_switches);
	if (m->taken > 0 && t <= m->taken)
		return sim_fail(e, SIM_EINVAL,
		    "a packet is seen at %llu ns, but copies were taken up to "
		    "%llu ns.",
		    (unsigned long long)t, (unsigned long long)m->taken);
	m->count[s].n_seen++;
	if (m->draws)
		chance = sim_rng_u32(&m->at[s].rng);
	const int i = obs_match(m->row, m->n_rows, p, chance);
	if (i < 0 || m->row[i].kind == OBS_MATCH_NEVER)
		return 0;
	if ((rc = mirror_take_place(m, &at, e)) < 0)
		return rc;
	m->item[at] = mirror_make(m, s, in, t, p, m->row[i].kind);
	return mirror_queue(m, at, t, e);
}

struct packet_eye mirror_eye(struct mirror *m)
{
	return (struct packet_eye){.arg = m, .see = mirror_see};
}

/* --- copies --------------------------------------------------------------- */

/* Virtual scheduling as of sim/bucket.h, but a copy takes as many tokens as it
 * has bytes, and tokens come faster than one a nanosecond. What a copy takes is
 * rounded up, so the budget is never exceeded. */
static int mirror_spend(struct mirror *m, struct mirror_budgets *at, sim_ns t,
    uint32_t n_bytes)
{
	if (m->ns_per_byte <= 0)
		return 1;
	const sim_ns from = at->budget_full_at > t ? at->budget_full_at : t;
	const sim_ns full_at = from + (sim_ns)ceil(n_bytes * m->ns_per_byte);
	if (full_at > t + m->budget_depth)
		return 0;
	at->budget_full_at = full_at;
	return 1;
}

/* Returns 1 if the copy goes on to the analyzer. The policer comes first: what
 * it refuses costs no bytes. */
static int mirror_send(struct mirror *m, struct mirror_item *item, sim_ns t)
{
	struct mirror_budgets *at = &m->at[item->copy.node];
	struct mirror_counts *c = &m->count[item->copy.node];
	const uint32_t frame = item->copy.n_bytes;
	const uint32_t n_bytes = m->params.overhead +
	    (frame < m->params.truncate ? frame : m->params.truncate);
	c->n_matched++;
	if (!sim_bucket_take(&m->policer, &at->police_full_at, t) ||
	    !mirror_spend(m, at, t, n_bytes)) {
		c->n_policed++;
		return 0;
	}
	item->copy.mirror_seq = at->n_sent++;
	c->n_sent++;
	c->n_bytes += n_bytes;
	c->n_lost += item->is_lost;
	c->n_cut += item->is_cut && !item->is_lost;
	return !item->is_lost && !item->is_cut;
}

/* An item whose time has come: a sighting is sent, a copy has arrived. */
static int mirror_go_on(struct mirror *m, uint32_t i, sim_ns t,
    struct obs_mirror *out, struct sim_err *e)
{
	struct mirror_item *item = &m->item[i];
	if (item->is_sent) {
		mirror_give_place(m, i);
		return obs_mirror_add(out, &item->copy, e);
	}
	if (!mirror_send(m, item, t)) {
		mirror_give_place(m, i);
		return 0;
	}
	item->is_sent = 1;
	item->copy.t_ns = t + item->delay;
	return mirror_queue(m, i, item->copy.t_ns, e);
}

int mirror_take(struct mirror *m, sim_ns until, struct obs_mirror *out,
    struct sim_err *e)
{
	struct sim_event ev;
	int rc = 0;
	while (rc == 0 && sim_evq_pop(m->queue, until, &ev))
		rc = mirror_go_on(m, (uint32_t)ev.aux, ev.t, out, e);
	if (until > m->taken)
		m->taken = until;
	return rc;
}

const struct mirror_counts *mirror_counted(const struct mirror *m)
{
	return m->count;
}
