/* algos/everflow/queue_pairs.c -- queue pairs that lose, and NICs that restart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "algos/everflow/debug_rdma.h"
#include "sim/sort.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* A packet of a queue pair: data, or a NAK about them. */
struct qp_row {
	uint32_t sender, receiver; /* of the data */
	uint16_t port, id;
	uint8_t is_nak, opcode;
	uint32_t psn;
	topo_link lost; /* data that were dropped: where; else TOPO_NONE */
	sim_ns t;
	int64_t at;    /* PSN, counted on beyond 2^24 */
	int64_t least; /* `at` of this NAK and all behind it */
	size_t next;   /* behind the last row of this connection */
};

/* What a queue pair's NAKs say. FEW and MANY: packets that came to the next
 * loss or got by, at least and at most. */
struct qp_verdict {
	enum algo_cause cause;
	topo_node sender;
	topo_link link;
	struct topo_tuple tuple;
	uint64_t n_losses;
	double few, many;
	sim_ns from, to;
	uint32_t n_pairs, n_restarts;
};

struct qp_work {
	const struct algo_debug_rdma_params *p;
	const struct algo_debug_in *in;
	struct qp_row *row;
	uint32_t *psn; /* of the NAKs of a queue pair, sorted */
	struct qp_verdict *verdict;
	size_t n_verdicts, cap_verdicts;
};

/* Behind any opcode of data of a reliable connection; its first packets of
 * sends and of writes [InfiniBand specification, 9.2.1; from memory]. */
enum { BTH_DATA_END = 0x0c, BTH_SEND_FIRST = 0x00, BTH_WRITE_FIRST = 0x06 };

/* --- rows ----------------------------------------------------------------- */

static int qp_row_of(const struct algo_debug_in *in, size_t i, struct qp_row *r)
{
	const struct algo_traces *t = &in->traces->traces;
	const int is_nak = obs_roce_is_nak(t->bth_opcode[i], t->aeth[i]);
	if (t->proto[i] != OBS_PROTO_UDP || t->dst_port[i] != OBS_PORT_ROCE ||
	    (!is_nak && t->bth_opcode[i] >= BTH_DATA_END))
		return 0;
	*r = (struct qp_row){
	    .sender = is_nak ? t->dst_ip[i] : t->src_ip[i],
	    .receiver = is_nak ? t->src_ip[i] : t->dst_ip[i],
	    .port = t->src_port[i],
	    .id = t->ip_id[i],
	    .is_nak = (uint8_t)is_nak,
	    .opcode = t->bth_opcode[i],
	    .psn = t->seq[i] & 0xffffff,
	    .lost = TOPO_NONE,
	    .t = t->t_ns[i],
	};
	if (t->marks[i] & ALGO_TRACE_DROPS &&
	    t->lost_link[i] < in->routing.topo->n_links)
		r->lost = t->lost_link[i];
	return 1;
}

#define QP_ORDER(x, y, member)                                                 \
	if ((x)->member != (y)->member)                                        \
	return (x)->member < (y)->member ? -1 : 1

static int qp_same(const struct qp_row *a, const struct qp_row *b)
{
	return a->sender == b->sender && a->receiver == b->receiver &&
	    a->port == b->port;
}

/* By queue pair, and of each the data first; by time. */
static int qp_by_time(const void *a, const void *b)
{
	const struct qp_row *x = a, *y = b;
	QP_ORDER(x, y, sender);
	QP_ORDER(x, y, receiver);
	QP_ORDER(x, y, port);
	QP_ORDER(x, y, is_nak);
	QP_ORDER(x, y, t);
	QP_ORDER(x, y, id);
	QP_ORDER(x, y, psn);
	return 0;
}

static int qp_are_close(const struct qp_row *a, const struct qp_row *b,
    double skew_us)
{
	const sim_ns apart = a->t > b->t ? a->t - b->t : b->t - a->t;
	return (double)apart <= skew_us * 1e3;
}

/* Put N rows of one sender, which are in the order of time, in that of their IP
 * IDs where times are too close to tell, and drop copies. Returns how many are
 * left. None goes far back, so the cost is bounded whatever the rows are. */
static size_t qp_put_in_order(struct qp_row row[], size_t n, double skew_us)
{
	enum { FAR = 64 };
	size_t left = 0;
	for (size_t i = 0; i < n; i++) {
		struct qp_row now = row[i];
		size_t at = left;
		while (at > 0 && left - at < FAR &&
		    (int16_t)(uint16_t)(row[at - 1].id - now.id) > 0 &&
		    qp_are_close(&row[at - 1], &now, skew_us))
			at--;
		if (at > 0 && row[at - 1].id == now.id &&
		    row[at - 1].psn == now.psn &&
		    qp_are_close(&row[at - 1], &now, skew_us))
			continue;
		for (size_t k = left++; k > at; k--)
			row[k] = row[k - 1];
		row[at] = now;
	}
	return left;
}

/* --- what NAKs say -------------------------------------------------------- */

/* How far PSN TO is ahead of FROM, in [-2^23, 2^23). */
static int32_t qp_ahead(uint32_t to, uint32_t from)
{
	return (int32_t)(((to - from) & 0xffffff) << 8) >> 8;
}

/* Count PSNs on; where one goes back by more than a message can be long,
 * another connection begins. */
static void qp_count_on(const struct qp_work *w, struct qp_row nak[], size_t n)
{
	size_t next = n;
	nak[0].at = nak[0].psn;
	for (size_t i = 1; i < n; i++)
		nak[i].at =
		    nak[i - 1].at + qp_ahead(nak[i].psn, nak[i - 1].psn);
	for (size_t i = n; i-- > 0;) {
		nak[i].next = next;
		nak[i].least = nak[i].at;
		if (i + 1 < next && nak[i + 1].least < nak[i].least)
			nak[i].least = nak[i + 1].least;
		if (i > 0 &&
		    nak[i - 1].at - nak[i].at > (int64_t)w->p->max_message)
			next = i;
	}
}

static uint32_t qp_times_back(const struct qp_row nak[], size_t n)
{
	uint32_t times = 0;
	for (size_t i = 1; i < n; i++)
		times += nak[i - 1].next != i && nak[i].at < nak[i - 1].at;
	return times;
}

/* Each NAK but a connection's last is followed by packets that arrive, up to
 * that of the next NAK. They begin where the NIC went back to: at the NAK's
 * own PSN, which is sent again until it arrives and so tells nothing; or at a
 * message's first, which is no later than all PSNs that still come, and no
 * earlier than the longest way back that was seen. So there are at least as many
 * packets as losses. */
static void qp_count_losses(const struct qp_row nak[], size_t n,
    struct qp_verdict *v)
{
	for (size_t i = 0, end; i < n; i = end) {
		int64_t longest = 0;
		end = nak[i].next;
		for (size_t k = i; k < end; k++)
			if (nak[k].at - nak[k].least > longest)
				longest = nak[k].at - nak[k].least;
		for (size_t k = i; k + 1 < end; k++) {
			int64_t few = nak[k + 1].at - nak[k].at, many = few;
			if (v->cause == ALGO_CAUSE_NIC_RESTART) {
				int64_t first = nak[k].least - longest;
				if (first < nak[i].least)
					first = nak[i].least;
				few = nak[k + 1].at - nak[k].least + 1;
				many = nak[k + 1].at - first + 1;
			}
			if (few <= 0)
				continue;
			v->n_losses++;
			v->few += (double)few;
			v->many += (double)many;
		}
	}
}

static int qp_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Whether the receiver said that it misses this packet. */
static int qp_is_missed(const struct qp_work *w, uint32_t psn, size_t n_naks)
{
	return bsearch(&psn, w->psn, n_naks, sizeof(w->psn[0]), qp_by_number) !=
	    NULL;
}

/* How often data begin anew with the first packet of a message, of which no NAK
 * said that it was missing. */
static uint32_t qp_times_anew(const struct qp_work *w,
    const struct qp_row data[], size_t n, size_t n_naks)
{
	uint32_t times = 0;
	for (size_t i = 1; i < n; i++) {
		const int32_t ahead = qp_ahead(data[i].psn, data[i - 1].psn);
		if (ahead <= 0 && -ahead <= (int64_t)w->p->max_message &&
		    (data[i].opcode == BTH_SEND_FIRST ||
			data[i].opcode == BTH_WRITE_FIRST))
			times += !qp_is_missed(w, data[i].psn, n_naks);
	}
	return times;
}

/* The link that more than half of the data were lost on that were last seen
 * before their receiver and were missed there. A NAK is the proof that a trace
 * ends with its packet, and not with a mirror that was lost. */
static topo_link qp_lost_on(const struct qp_work *w, const struct qp_row data[],
    size_t n, size_t n_naks)
{
	topo_link most = TOPO_NONE;
	size_t lead = 0, of = 0, votes = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			if (data[i].lost == TOPO_NONE ||
			    !qp_is_missed(w, data[i].psn, n_naks))
				continue;
			const int same = most == data[i].lost;
			if (pass == 1) {
				of++;
				votes += (size_t)same;
			} else if (lead == 0) {
				most = data[i].lost;
				lead = 1;
			} else {
				lead = same ? lead + 1 : lead - 1;
			}
		}
	return 2 * votes > of ? most : TOPO_NONE;
}

/* Judge the queue pair of N_DATA rows of data and N_NAKS NAKs behind them. */
static int qp_judge(struct qp_work *w, struct qp_row *data, size_t n_data,
    size_t n_naks, struct sim_err *e)
{
	struct qp_row *nak = data + n_data;
	n_data = qp_put_in_order(data, n_data, w->p->skew_us);
	n_naks = qp_put_in_order(nak, n_naks, w->p->skew_us);
	if (n_naks < w->p->min_naks)
		return 0;
	for (size_t i = 0; i < n_naks; i++)
		w->psn[i] = nak[i].psn;
	qsort(w->psn, n_naks, sizeof(w->psn[0]), qp_by_number);
	struct qp_verdict v = {.cause = ALGO_CAUSE_RDMA_LOSS,
	    .sender = algo_routing_node(&w->in->routing, nak[0].sender),
	    .link = qp_lost_on(w, data, n_data, n_naks),
	    .tuple = {nak[0].sender, nak[0].receiver, nak[0].port,
		OBS_PORT_ROCE, OBS_PROTO_UDP},
	    .from = nak[0].t,
	    .to = nak[n_naks - 1].t,
	    .n_pairs = 1};
	qp_count_on(w, nak, n_naks);
	const uint32_t back = qp_times_back(nak, n_naks);
	const uint32_t anew = qp_times_anew(w, data, n_data, n_naks);
	v.n_restarts = back > anew ? back : anew;
	if (v.n_restarts >= w->p->min_restarts)
		v.cause = ALGO_CAUSE_NIC_RESTART;
	qp_count_losses(nak, n_naks, &v);
	double lo, hi;
	const int rc = sim_binomial_interval(v.n_losses, (uint64_t)v.many, 0.95,
	    &lo, &hi, e);
	if (rc < 0 || lo <= w->p->min_rate || v.n_losses == 0)
		return rc;
	const int got =
	    SIM_RESERVE(&w->verdict, &w->cap_verdicts, w->n_verdicts + 1, e);
	if (got == 0)
		w->verdict[w->n_verdicts++] = v;
	return got;
}

/* --- findings ------------------------------------------------------------- */

/* What makes two queue pairs one finding: a NIC, or a link, known or not. */
static uint64_t qp_topic(const struct qp_verdict *v)
{
	const int is_nic = v->cause == ALGO_CAUSE_NIC_RESTART;
	return (uint64_t)v->cause << 32 | (is_nic ? v->sender : v->link);
}

static int qp_by_topic(const void *a, const void *b)
{
	const struct qp_verdict *x = a, *y = b;
	const uint64_t p = qp_topic(x), q = qp_topic(y);
	return SIM_ORDER(p, q);
}

/* Of two sets of packets of one topic what they have in common; of one queue pair
 * all. */
static void qp_join(struct qp_verdict *v, const struct qp_verdict *x)
{
	v->n_losses += x->n_losses;
	v->few += x->few;
	v->many += x->many;
	v->from = x->from < v->from ? x->from : v->from;
	v->to = x->to > v->to ? x->to : v->to;
	v->n_pairs += x->n_pairs;
	v->n_restarts += x->n_restarts;
	if (v->sender != x->sender)
		v->sender = TOPO_NONE;
}

static int qp_tell(const struct algo_debug_in *in, const struct qp_verdict *v,
    struct algo_debug_out *out, struct sim_err *e)
{
	struct algo_finding f = {.cause = v->cause,
	    .link = v->cause == ALGO_CAUSE_NIC_RESTART ? TOPO_NONE : v->link,
	    .node = v->sender,
	    .score = (double)v->n_losses,
	    .rate = (double)v->n_losses / sqrt(v->few * v->many),
	    .from_ns = v->from,
	    .to_ns = v->to};
	double unused;
	int rc;
	if ((rc = sim_binomial_interval(v->n_losses, (uint64_t)v->many, 0.95,
		 &f.lo, &unused, e)) < 0 ||
	    (rc = sim_binomial_interval(v->n_losses, (uint64_t)v->few, 0.95,
		 &unused, &f.hi, e)) < 0)
		return rc;
	f.value.proto = OBS_PROTO_UDP;
	f.value.dst_port = OBS_PORT_ROCE;
	f.mask.proto = UINT8_MAX;
	f.mask.dst_port = UINT16_MAX;
	if (v->sender != TOPO_NONE) {
		f.value.src_ip = v->tuple.src_ip;
		f.mask.src_ip = UINT32_MAX;
	}
	if (v->n_pairs == 1) {
		f.value = v->tuple;
		f.mask = (struct topo_tuple){UINT32_MAX, UINT32_MAX, UINT16_MAX,
		    UINT16_MAX, UINT8_MAX};
	}
	f.persistent = v->to >= in->now;
	return algo_debug_find(out, &f, e);
}

static int qp_tell_all(struct qp_work *w, struct algo_debug_out *out,
    struct sim_err *e)
{
	int rc = 0;
	if (w->n_verdicts > 1)
		qsort(w->verdict, w->n_verdicts, sizeof(w->verdict[0]),
		    qp_by_topic);
	for (size_t i = 0, end; rc == 0 && i < w->n_verdicts; i = end) {
		struct qp_verdict *v = &w->verdict[i];
		const uint64_t topic = qp_topic(v);
		for (end = i + 1;
		     end < w->n_verdicts && qp_topic(&w->verdict[end]) == topic;
		     end++)
			qp_join(v, &w->verdict[end]);
		rc = qp_tell(w->in, v, out, e);
	}
	return rc;
}

static int qp_judge_all(struct qp_work *w, size_t n, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0, naks, end; rc == 0 && i < n; i = end) {
		for (naks = i; naks < n && !w->row[naks].is_nak &&
		     qp_same(&w->row[i], &w->row[naks]);)
			naks++;
		for (end = naks; end < n && w->row[end].is_nak &&
		     qp_same(&w->row[i], &w->row[end]);)
			end++;
		rc = qp_judge(w, &w->row[i], naks - i, end - naks, e);
	}
	return rc;
}

int algo_debug_queue_pairs(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	const struct algo_traces *t = &in->traces->traces;
	struct qp_work w = {.p = p, .in = in};
	struct qp_row next;
	size_t n = 0, cap = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		if (qp_row_of(in, i, &next) &&
		    (rc = SIM_RESERVE(&w.row, &cap, n + 1, e)) == 0)
			w.row[n++] = next;
	if (n > 1)
		qsort(w.row, n, sizeof(w.row[0]), qp_by_time);
	if (rc == 0 && n > 0 && (rc = SIM_ZALLOC(&w.psn, n, e)) == 0)
		rc = qp_judge_all(&w, n, e);
	if (rc == 0)
		rc = qp_tell_all(&w, out, e);
	free(w.row);
	free(w.psn);
	free(w.verdict);
	return rc;
}
