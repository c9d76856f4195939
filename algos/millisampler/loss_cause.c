/* algos/millisampler/loss_cause.c -- a full buffer, or a bad link?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/loss_cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/millisampler/bursts.h"
#include "algos/millisampler/loss_out.h"
#include "algos/millisampler/samples_algo.h"
#include "sim/vec.h"

#define X(name, text) text,
const char *const algo_loss_cause_names[] = {ALGO_LOSS_CAUSES(X) NULL};
#undef X

#define AT(member) offsetof(struct algo_loss_cause_params, member)
const struct sim_field algo_loss_cause_fields[] = {
    {"width", SIM_F_F64, AT(width_ms), .min = 1e-3, .max = 1000, .unit = "ms",
	.def = "1", .doc = "of buckets; runs of others are not looked at"},
    {"segment", SIM_F_F64, AT(segment), .min = 64, .max = 65536,
	.unit = "bytes", .def = "1500",
	.doc = "of a packet; headers more or less do not matter"},
    {"least", SIM_F_F64, AT(least), .min = 0, .max = 65536, .unit = "bytes",
	.def = "0",
	.doc = "sent again that count as nothing: packets without data, which "
	       "wait for longer timers"},
    {"share", SIM_F_F64, AT(share), .min = 0, .max = 1, .unit = "1",
	.def = "0.5", .doc = "of the line; more is a burst"},
    {"ce_share", SIM_F_F64, AT(ce_share), .min = 0, .max = 1, .unit = "1",
	.def = "0.5",
	.doc = "of a burst's bytes marked, from which on a buffer may lose"},
    {"tail", SIM_F_F64, AT(tail_ms), .min = 0, .max = 1000, .unit = "ms",
	.def = "1",
	.doc = "behind a burst, in which its losses are sent again; at least "
	       "a bucket"},
    {"rto", SIM_F_F64, AT(rto_ms), .min = 0, .max = 10000, .unit = "ms",
	.def = "5",
	.doc = "behind a burst, when losses that a timer found are sent "
	       "again; 0: none are"},
    {"rto_to", SIM_F_F64, AT(rto_to_ms), .min = 0, .max = 100000, .unit = "ms",
	.def = "0",
	.doc = "and up to then, as timers double and wait for round trips, "
	       "too; less than `rto`: at `rto` alone"},
    {"cold", SIM_F_F64, AT(cold), .min = 1e-12, .max = 0.5, .unit = "1",
	.def = "2e-4",
	.doc = "share of other buckets in which a buffer's losses are sent "
	       "again"},
    {"geometric", SIM_F_F64, AT(geometric), .min = 0, .max = 0.999999,
	.unit = "1", .def = "0.95",
	.doc = "probability that behind a packet a buffer lost another one"},
    {"healthy", SIM_F_F64, AT(healthy), .min = 0, .max = 0.5, .unit = "1",
	.def = "0",
	.doc = "of packets, that are sent again over a good link, too, as when "
	       "acknowledgements are lost elsewhere"},
    {"margin", SIM_F_F64, AT(margin), .min = 0, .max = 1e6, .unit = "1",
	.def = "2", .doc = "by which a bad link must be likelier (ln)"},
    {"both", SIM_F_F64, AT(both), .min = 0, .max = 1e6, .unit = "1", .def = "0",
	.doc = "by which a bad link beside a full buffer must be likelier "
	       "still (ln)"},
    {0},
};

/* A bucket that is not hot, in which something was sent again. */
struct loss_bucket {
	double k, n;
};

/* Of one host. Most laws need sums only: p stands before all packets alike. */
struct loss_sums {
	/* [hot]; ways: of the packets to be those sent again. */
	double k[2], n[2], ways[2], buckets[2], lossy[2], geometric[2];
	/* For what needs each: those that are not hot and lossy, and packets of
	 * those that are not hot and quiet. */
	struct loss_bucket *bucket;
	size_t n_buckets, cap;
	double quiet;
	uint8_t seen;
};

static double loss_ln(double n, double p)
{
	return n > 0 ? n * log(p) : 0;
}

static double loss_ways(double n, double k)
{
	return k > 0 ? lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) : 0;
}

/* A bucket more behind the RTO, as a loss need not be at the begin of one. */
void algo_loss_mark_hot(const struct algo_series *s, size_t i,
    const struct algo_loss_cause_params *p, const uint8_t in[], uint8_t hot[])
{
	const double *bytes = algo_series_at(s, i, ALGO_SERIES_IN);
	const double *ce = algo_series_at(s, i, ALGO_SERIES_IN_CE);
	const double width_ms = 1e-6 * (double)s->width_ns;
	const size_t rto = (size_t)llrint(p->rto_ms / width_ms);
	const size_t rto_to =
	    (size_t)llrint(fmax(p->rto_ms, p->rto_to_ms) / width_ms);
	size_t tail = (size_t)llrint(p->tail_ms / width_ms);
	tail = tail > 0 ? tail : 1;
	memset(hot, 0, s->n);
	for (size_t k = 0, n; k < s->n; k += n + 1) {
		double all = 0, marked = 0;
		for (n = 0; k + n < s->n && in[k + n]; n++) {
			all += bytes[k + n];
			marked += ce[k + n];
		}
		if (n == 0 || marked < p->ce_share * all)
			continue;
		for (size_t j = k; j < k + n + tail && j < s->n; j++)
			hot[j] = 1;
		for (size_t j = k + rto;
		     rto_to > 0 && j < k + n + rto_to + 1 && j < s->n; j++)
			hot[j] = 1;
	}
}

/* Of K > 0 packets that a full buffer lost at once. */
static double loss_at_once(const struct algo_loss_cause_params *p, double k)
{
	return log1p(-p->geometric) + loss_ln(k - 1, p->geometric);
}

static int loss_add_run(struct loss_sums *sum, const struct algo_series *s,
    const struct algo_loss_cause_params *p, const uint8_t hot[],
    struct sim_err *e)
{
	const double *in = algo_series_at(s, 0, ALGO_SERIES_IN);
	const double *retx = algo_series_at(s, 0, ALGO_SERIES_IN_RETX);
	double before = 0;
	int rc = 0;
	sum->seen = 1;
	for (size_t m = 0; rc == 0 && m < s->n; m++) {
		const double here = ceil(in[m] / p->segment);
		const double k =
		    algo_loss_packets(retx[m] - p->least, p->segment);
		const double n = here > before ? here : before;
		const int h = hot[m];
		before = here;
		sum->k[h] += k;
		sum->n[h] += n;
		sum->ways[h] += loss_ways(n, k);
		sum->buckets[h]++;
		sum->lossy[h] += k > 0;
		if (k > 0)
			sum->geometric[h] += loss_at_once(p, k);
		if (h)
			continue;
		if (k == 0)
			sum->quiet += n;
		else if ((rc = SIM_RESERVE(&sum->bucket, &sum->cap,
			      sum->n_buckets + 1, e)) == 0)
			sum->bucket[sum->n_buckets++] =
			    (struct loss_bucket){k, n};
	}
	return rc;
}

/* N packets, of which K were sent again, each with probability RATE. */
static double loss_link(double k, double n, double ways, double rate)
{
	return ways + loss_ln(k, rate) + loss_ln(n - k, 1 - rate);
}

/* Buckets of one kind, something sent again in a share Q of them. */
static double loss_buffer(const struct loss_sums *s, int hot, double q)
{
	return s->geometric[hot] + loss_ln(s->lossy[hot], q) +
	    loss_ln(s->buckets[hot] - s->lossy[hot], 1 - q);
}

static double loss_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* By a link that loses RATE, and by a buffer whose losses are sent again late. */
static void loss_of_bucket(const struct loss_bucket *b,
    const struct algo_loss_cause_params *p, double rate, double *link,
    double *buffer)
{
	*link = rate > 0 ? log1p(-p->cold) +
		loss_link(b->k, b->n, loss_ways(b->n, b->k), rate)
			 : -INFINITY;
	*buffer = log(p->cold) + loss_at_once(p, b->k);
}

/* All buckets that are not hot, each by either. */
static double loss_mixed(const struct loss_sums *s,
    const struct algo_loss_cause_params *p, double rate)
{
	double sum = (s->buckets[0] - s->lossy[0]) * log1p(-p->cold) +
	    loss_ln(s->quiet, 1 - rate);
	for (size_t i = 0; i < s->n_buckets; i++) {
		double link, buffer;
		loss_of_bucket(&s->bucket[i], p, rate, &link, &buffer);
		const double most = fmax(link, buffer);
		sum += most + log(exp(link - most) + exp(buffer - most));
	}
	return sum;
}

/* The rate that makes them likeliest: a bucket counts by how likely it is the
 * link's (EM), all alike to begin with. */
static double loss_fit(const struct loss_sums *s,
    const struct algo_loss_cause_params *p)
{
	enum { ROUNDS = 200 };
	double rate = loss_share(s->k[0], s->n[0]);
	for (int i = 0; i < ROUNDS; i++) {
		double k = 0, n = s->quiet, link, buffer;
		for (size_t m = 0; m < s->n_buckets; m++) {
			const struct loss_bucket *b = &s->bucket[m];
			loss_of_bucket(b, p, rate, &link, &buffer);
			const double w = 1 / (1 + exp(buffer - link));
			k += w * b->k;
			n += w * b->n;
		}
		const double next = loss_share(k, n);
		if (fabs(next - rate) <= 1e-9 * rate)
			return next;
		rate = next;
	}
	return rate;
}

/* Full buffers at most beside a link that is not bad: P is at most `healthy`. */
static double loss_good(const struct loss_sums *s,
    const struct algo_loss_cause_params *p, double hot)
{
	const double k = s->k[0] + s->k[1], n = s->n[0] + s->n[1];
	const double all = fmin(loss_share(k, n), p->healthy);
	return p->healthy > 0
	    ? fmax(loss_link(k, n, s->ways[0] + s->ways[1], all),
		  hot + loss_mixed(s, p, fmin(loss_fit(s, p), p->healthy)))
	    : -INFINITY;
}

static struct algo_loss_cause loss_judge(const struct loss_sums *s,
    const struct algo_loss_cause_params *p, uint32_t host)
{
	const double k = s->k[0] + s->k[1], n = s->n[0] + s->n[1];
	const double hot =
	    loss_buffer(s, 1, loss_share(s->lossy[1], s->buckets[1]));
	struct algo_loss_cause c = {.host = host,
	    .n_retx = k,
	    .n_pkts = n,
	    .n_buckets = s->buckets[0] + s->buckets[1],
	    .n_hot = s->buckets[1],
	    .rate = loss_share(k, n),
	    .log_buffer = hot +
		loss_buffer(s, 0,
		    fmin(p->cold, loss_share(s->lossy[0], s->buckets[0])))};
	c.log_link = loss_link(k, n, s->ways[0] + s->ways[1], c.rate);
	const double cold =
	    p->healthy > 0 ? loss_fit(s, p) : loss_share(s->k[0], s->n[0]);
	c.log_both = hot +
	    (p->healthy > 0 ? loss_mixed(s, p, cold)
			    : loss_link(s->k[0], s->n[0], s->ways[0], cold));
	if (c.log_both - p->both > c.log_link)
		c.rate = cold;
	c.ahead = fmax(c.log_link, c.log_both - p->both) -
	    fmax(c.log_buffer, loss_good(s, p, hot));
	if (k > 0)
		c.cause =
		    c.ahead > p->margin ? ALGO_LOSS_LINK : ALGO_LOSS_BUFFER;
	return c;
}

static int loss_sum_up(const struct obs_runs *runs,
    const struct obs_samples *samples, const struct algo_loss_cause_params *p,
    struct loss_sums sum[], struct sim_err *e)
{
	const sim_ns width = sim_ns_of(p->width_ms * 1e-3 + 5e-10);
	struct algo_series s = {0};
	uint8_t *in = NULL; /* [2][buckets]: in a burst; hot */
	size_t cap = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < runs->n; i++) {
		if (runs->width_ns[i] != width)
			continue;
		if ((rc = algo_series_align(&s, runs, samples, &i, 1, NULL,
			 e)) < 0 ||
		    (rc = SIM_RESERVE(&in, &cap, 2 * s.n, e)) < 0)
			break;
		algo_burst_mark(&s, 0, p->share, in);
		algo_loss_mark_hot(&s, 0, p, in, in + s.n);
		rc = loss_add_run(&sum[runs->host[i]], &s, p, in + s.n, e);
	}
	algo_series_free(&s);
	free(in);
	return rc;
}

int algo_loss_causes_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_causes *out,
    struct sim_err *e)
{
	struct loss_sums *sum = NULL;
	int rc = SIM_ZALLOC(&sum, n_hosts, e);
	if (rc == 0)
		rc = loss_sum_up(runs, samples, p, sum, e);
	for (uint32_t h = 0; rc == 0 && h < n_hosts; h++)
		if (sum[h].seen) {
			const struct algo_loss_cause c =
			    loss_judge(&sum[h], p, h);
			rc = algo_loss_causes_add(out, &c, e);
		}
	for (uint32_t h = 0; sum && h < n_hosts; h++)
		free(sum[h].bucket);
	free(sum);
	return rc;
}

/* --- as a diagnoser -------------------------------------------------------- */
struct loss_work {
	struct algo_loss_cause_params params;
	const struct topo *topo;
	struct algo_loss_causes causes;
	struct algo_loss_ends ends; /* both directions */
};

static int loss_cause_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct loss_work *w = work;
	(void)e;
	w->topo = t;
	return 0;
}

static void loss_cause_free(void *work)
{
	algo_loss_causes_free(&((struct loss_work *)work)->causes);
	algo_loss_ends_free(&((struct loss_work *)work)->ends);
}

/* Above 0 and ascending with the difference, however far apart they are. */
static double loss_score(double difference)
{
	return difference > 30 ? difference : log1p(exp(difference));
}

static int loss_cause_list(const struct loss_work *w, int accused,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_loss_ends *x = &w->ends;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		const enum topo_dir dir = x->out[i] ? TOPO_UP : TOPO_DOWN;
		/* Those at the other end go below all that are in doubt. */
		const double score = loss_score(x->ahead[i]);
		if ((x->accused[i] && !x->other[i]) == accused)
			rc = algo_verdicts_add(out,
			    topo_link_of(x->host[i], dir),
			    x->other[i] ? score * 1e-9 : score, e);
	}
	return rc;
}

static int loss_cause_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct loss_work *w = work;
	struct algo_samples_in in;
	int rc = algo_samples_begin(window, w->topo, &in, out, e);
	(void)tie;
	algo_loss_causes_clear(&w->causes);
	if (rc == 0)
		rc = algo_loss_causes_find(in.runs, in.samples,
		    w->topo->n_hosts, &w->params, &w->causes, e);
	if (rc == 0)
		rc = algo_loss_ends_find(in.runs, in.samples, w->topo->n_hosts,
		    &w->params, &w->causes, &w->ends, e);
	if (rc == 0)
		rc = loss_cause_list(w, 1, out, e);
	if (rc == 0) {
		algo_samples_flag(out);
		rc = loss_cause_list(w, 0, out, e);
	}
	if (rc == 0)
		algo_samples_end(window, out);
	return rc;
}

const struct algo_ops algo_loss_cause_ops = {
    .name = "loss_cause",
    .paper = "ours, on counters of Millisampler (IMC'22)",
    .doc = "links of hosts whose losses no full buffer explains",
    .needs = OBS_SAMPLES,
    .params = algo_loss_cause_fields,
    .params_size = sizeof(struct algo_loss_cause_params),
    .work_size = sizeof(struct loss_work),
    .init = loss_cause_init,
    .diagnose = loss_cause_diagnose,
    .free = loss_cause_free,
};
