/* models/scene/tcp.c -- what TCP adds to a flow: acknowledgements, repeats.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/tcp.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "models/scene/loss.h"

#define AT(member) offsetof(struct scene_tcp_params, member)
const struct sim_field scene_tcp_fields[] = {
    {"resend", SIM_F_U32, AT(resend), .min = 0, .max = 15, .unit = "times",
	.def = "0",
	.doc = "how often at most a packet is sent again, to be lost again; 0: "
	       "what is sent again arrives"},
    {"syn", SIM_F_BOOL, AT(syn), .def = "false",
	.doc = "handshakes may be lost: SYNs and their answers"},
    {"acks", SIM_F_BOOL, AT(acks), .def = "false",
	.doc = "acknowledgements may be lost, on the way back"},
    {"fin", SIM_F_BOOL, AT(fin), .def = "false",
	.doc = "the receiver's FIN may be lost, or its answer: then the way "
	       "back is a flow that failed"},
    {"window", SIM_F_U32, AT(window), .min = 1, .max = 1e9, .unit = "packets",
	.def = "47",
	.doc = "packets after which all waits for one acknowledgement",
	.when = "acks=true"},
    {"quick", SIM_F_U32, AT(quick), .min = 0, .max = 1e9, .unit = "packets",
	.def = "21", .doc = "packets that are first answered one by one",
	.when = "acks=true"},
    {0},
};
#undef AT

int scene_tcp_check(const struct scene_tcp_params *p, double most,
    struct sim_err *e)
{
	if (p->resend == 0 && (p->syn || p->acks || p->fin))
		return sim_fail(e, SIM_EINVAL,
		    "tcp: what syn, acks and fin lose is sent again, so resend "
		    "must be at least 1.");
	/* Counts of packets have 32 bits. */
	if ((p->resend + 1.0) * (most + SCENE_TCP_MORE) * 2 > UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "tcp: %g packets that are each sent again %u times are "
		    "more than can be counted.",
		    most, p->resend);
	return 0;
}

/* Packets that every connection sends, by what becomes of it when one is lost.
 * The first AT_BACK kinds go there, the others come back. */
enum kind {
	SYN,
	ACK,
	DATA,
	RST,
	AT_BACK,
	SYN_ACK = AT_BACK,
	ANSWER,
	FIN,
	N_KINDS
};

static void count_first(const struct scene_tcp_params *p, uint32_t n,
    uint32_t count[N_KINDS])
{
	count[SYN] = count[ACK] = count[SYN_ACK] = p->syn;
	count[DATA] = n;
	count[RST] = count[FIN] = p->fin;
	/* Behind the last window there is the FIN. */
	count[ANSWER] = p->acks ? (n - 1) / p->window : 0;
}

/* A way that loses everything has an infinite hazard, of which no packets are
 * still none. */
static double weight_of(uint32_t n, double hazard)
{
	return n > 0 ? n * hazard : 0;
}

double scene_tcp_weight(const struct scene_tcp_params *p, uint32_t n,
    double there, double back)
{
	uint32_t count[N_KINDS];
	double sum = 0;
	count_first(p, n, count);
	for (unsigned k = 0; k < N_KINDS; k++)
		sum += weight_of(count[k], k < AT_BACK ? there : back);
	return sum;
}

/* --- packets -------------------------------------------------------------- */

/* A connection under way. Each kind's first packet has its fate already: the
 * number that are lost of them. */
struct talk {
	struct sim_rng *r;
	struct scene_tcp_way *way[2]; /* there, back */
	double sum[2], rate[2];       /* hazard; chance to be lost */
	uint32_t lost[N_KINDS];
};
enum { THERE, BACK };

/* K packets are lost on a way: each at a link of its own, given that it is lost
 * there or behind. */
static void put_losses(struct talk *t, unsigned to, uint32_t k)
{
	struct scene_tcp_way *w = t->way[to];
	double rest[TOPO_MAX_HOPS + 1] = {0};
	/* From the end, so that the last link with a hazard has all of the rest
	 * to the last bit, and takes whatever is left. */
	for (unsigned i = w->h; i > 0; i--)
		rest[i - 1] = rest[i] + w->hazard[i - 1];
	for (unsigned i = 0; i < w->h && k > 0; i++) {
		const double here = -expm1(-w->hazard[i]) / -expm1(-rest[i]);
		uint32_t m = k;
		if (w->hazard[i] == 0)
			continue;
		if (here < 1)
			m = gsl_ran_binomial(&t->r->gsl, here, k);
		w->drops[i] += m;
		k -= m;
	}
}

/* K packets that are sent again; returns how many are lost. */
static uint32_t send_again(struct talk *t, unsigned to, uint32_t k)
{
	uint32_t lost = 0;
	if (k == 1)
		lost = sim_rng_u01(t->r) < t->rate[to];
	else if (k > 0)
		lost = gsl_ran_binomial(&t->r->gsl, t->rate[to], k);
	put_losses(t, to, lost);
	return lost;
}

/* Whether a packet arrives. FIRST is the kind that it is the first of, whose
 * fate is known, and N_KINDS from then on. */
static int arrives(struct talk *t, unsigned to, unsigned *first)
{
	const unsigned kind = *first;
	*first = N_KINDS;
	if (kind == N_KINDS)
		return send_again(t, to, 1) == 0;
	put_losses(t, to, t->lost[kind]);
	return t->lost[kind] == 0;
}

/* Send a packet and have its answer, again and again up to MOST times. Returns
 * how often it was sent again; *DONE tells whether the answer came. */
static uint32_t ask(struct talk *t, unsigned to, unsigned asks,
    unsigned answers, uint32_t most, int *done)
{
	for (uint32_t n = 0;; n++) {
		*done = arrives(t, to, &asks) && arrives(t, !to, &answers);
		if (*done || n == most)
			return n;
	}
}

/* --- a connection --------------------------------------------------------- */

/* How many of each kind are lost when first sent, given that one is. Kinds are
 * independent, so: which is the first that loses some, how many that loses, and
 * then what those behind it lose. */
static void draw_first(struct talk *t, const struct scene_tcp_params *p,
    uint32_t n)
{
	uint32_t count[N_KINDS];
	double weight[N_KINDS], sum = 0, before = 0;
	unsigned first = N_KINDS;
	count_first(p, n, count);
	for (unsigned k = 0; k < N_KINDS; k++)
		sum += weight[k] = weight_of(count[k], t->sum[k >= AT_BACK]);
	const double u = sim_rng_u01(t->r) * -expm1(-sum);
	for (unsigned k = 0; k < N_KINDS; k++) {
		t->lost[k] = 0;
		if (weight[k] == 0)
			continue;
		/* Where rounding leaves U above all, it is the last. */
		if (u >= -expm1(-before))
			first = k;
		before += weight[k];
	}
	assert(first < N_KINDS);
	t->lost[first] =
	    scene_loss_some(t->r, count[first], t->sum[first >= AT_BACK]);
	for (unsigned k = first + 1; k < N_KINDS; k++)
		if (weight[k] > 0)
			t->lost[k] = gsl_ran_binomial(&t->r->gsl,
			    t->rate[k >= AT_BACK], count[k]);
}

/* Packets that are lost are sent again, and of these those that are lost again,
 * and so on. Returns how many never arrive. */
static uint32_t send_data(struct talk *t, uint32_t most,
    struct scene_tcp_end *end)
{
	uint32_t k = t->lost[DATA];
	put_losses(t, THERE, k);
	for (uint32_t i = 0; i < most && k > 0; i++) {
		end->n_retx += k;
		k = send_again(t, THERE, k);
	}
	return k;
}

static void converse(struct talk *t, const struct scene_tcp_params *p,
    uint32_t n, struct scene_tcp_end *end)
{
	int done = 1;
	if (p->syn) {
		end->n_retx = end->n_early =
		    ask(t, THERE, SYN, SYN_ACK, p->resend, &done);
		if (!done)
			return;
		put_losses(t, THERE, t->lost[ACK]);
	}
	/* Of what never arrives nobody knows, and nothing comes back. */
	if (send_data(t, p->resend, end) == n) {
		end->n_early = end->n_retx;
		return;
	}
	put_losses(t, BACK, t->lost[ANSWER]);
	for (uint32_t k = 0; k < t->lost[ANSWER]; k++)
		end->n_retx +=
		    1 + ask(t, THERE, N_KINDS, N_KINDS, p->resend - 1, &done);
	if (p->fin)
		end->n_back = ask(t, BACK, FIN, RST, p->resend, &done);
	/* All other acknowledgements; the last packet's is one of them. */
	if (p->acks && end->n_back > 0)
		send_again(t, BACK, (n < p->quick ? n : p->quick) + 1);
}

static void begin_way(struct talk *t, unsigned to, struct scene_tcp_way *w)
{
	t->way[to] = w;
	for (unsigned i = 0; i < w->h; i++) {
		t->sum[to] += w->hazard[i];
		w->drops[i] = 0;
	}
	t->rate[to] = -expm1(-t->sum[to]);
}

void scene_tcp_draw(struct sim_rng *r, const struct scene_tcp_params *p,
    uint32_t n, struct scene_tcp_way *there, struct scene_tcp_way *back,
    struct scene_tcp_end *end)
{
	struct talk t = {.r = r};
	begin_way(&t, THERE, there);
	begin_way(&t, BACK, back);
	*end = (struct scene_tcp_end){0};
	draw_first(&t, p, n);
	converse(&t, p, n, end);
}
