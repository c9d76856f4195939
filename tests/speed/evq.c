/* tests/speed/evq.c -- event queue: instructions an event, and a binary heap.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hold model: N events pending; take the next, put one a random delay later.
 * Delays come from a table of 4096, so that drawing them costs nothing. The
 * queue and the heap run the same operations and must pop the same times in
 * the same order: a checksum is compared.
 */
#include "tests/speed/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/evq.h"
#include "sim/rng.h"

enum { TABLE = 4096, ROUNDS = 5 };

struct delays {
	sim_ns of[TABLE];
};

static void die(const char *what)
{
	fprintf(stderr, "bench evq: %s\n", what);
	exit(1);
}

static void exponential(struct delays *d, double mean_ns)
{
	struct sim_rng r;
	const struct sim_seed where = {.seed = 20180409};
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	for (int i = 0; i < TABLE; i++)
		d->of[i] = (sim_ns)(-log(sim_rng_u01_open(&r)) * mean_ns);
}

static void constant(struct delays *d, double mean_ns)
{
	for (int i = 0; i < TABLE; i++)
		d->of[i] = (sim_ns)mean_ns;
}

/* Nine in ten short, the tenth a thousand times as long. */
static void bimodal(struct delays *d, double mean_ns)
{
	exponential(d, mean_ns);
	for (int i = 0; i < TABLE; i += 10)
		d->of[i] *= 1000;
}

/* --- a plain binary heap, as std::priority_queue ---------------------------*/
struct item {
	sim_ns t;
	uint64_t seq;
	sim_event_fn *fn;
	void *arg;
};

struct heap {
	struct item *item;
	size_t n;
	uint64_t n_put;
};

static inline int before(const struct item *a, const struct item *b)
{
	return a->t < b->t || (a->t == b->t && a->seq < b->seq);
}

static void sift_up(struct heap *h, size_t i, struct item x)
{
	for (size_t up; i > 0 && before(&x, &h->item[up = (i - 1) / 2]); i = up)
		h->item[i] = h->item[up];
	h->item[i] = x;
}

static void heap_put(struct heap *h, sim_ns t)
{
	sift_up(h, h->n++, (struct item){.t = t, .seq = h->n_put++});
}

/* The hole goes down to a leaf, then the last item up from there: fewer
 * comparisons than stopping early, and what libstdc++ does. */
static struct item heap_pop(struct heap *h)
{
	struct item top = h->item[0];
	size_t n = --h->n, i = 0, c = 2;
	for (; c < n; i = c, c = 2 * c + 2) {
		if (before(&h->item[c - 1], &h->item[c]))
			c--;
		h->item[i] = h->item[c];
	}
	if (c == n) {
		h->item[i] = h->item[c - 1];
		i = c - 1;
	}
	sift_up(h, i, h->item[n]);
	return top;
}

/* --- hold, the queues alone ------------------------------------------------*/
struct subject {
	const struct delays *delays;
	uint64_t n_ops;
	uint32_t i;
	uint64_t checksum;
	struct sim_evq *q;
	struct heap heap;
};

static sim_ns next_delay(struct subject *s)
{
	return s->delays->of[s->i++ % TABLE];
}

static void queue_open(struct subject *s, const struct delays *delays,
    uint32_t n, uint32_t n_ops, sim_event_fn *fn)
{
	*s = (struct subject){.delays = delays, .n_ops = n_ops};
	if (sim_evq_open(&s->q, NULL) < 0)
		die("no memory");
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_event ev = {next_delay(s), fn, s, 0};
		if (sim_evq_put(s->q, &ev, NULL) < 0)
			die("cannot put an event");
	}
}

static void heap_open(struct subject *s, const struct delays *delays,
    uint32_t n, uint32_t n_ops)
{
	*s = (struct subject){.delays = delays, .n_ops = n_ops};
	s->heap.item = malloc((n + 1) * sizeof(s->heap.item[0]));
	if (!s->heap.item)
		die("no memory");
	for (uint32_t i = 0; i < n; i++)
		heap_put(&s->heap, next_delay(s));
}

static void subject_close(struct subject *s)
{
	sim_evq_close(s->q);
	free(s->heap.item);
}

static void queue_hold(void *arg)
{
	struct subject *s = arg;
	for (uint64_t i = 0; i < s->n_ops; i++) {
		struct sim_event ev;
		if (!sim_evq_pop(s->q, SIM_NEVER, &ev))
			die("the queue is empty");
		s->checksum = s->checksum * 31 + ev.t;
		ev.t += next_delay(s);
		if (sim_evq_put(s->q, &ev, NULL) < 0)
			die("cannot put an event");
	}
}

static void heap_hold(void *arg)
{
	struct subject *s = arg;
	for (uint64_t i = 0; i < s->n_ops; i++) {
		struct item it = heap_pop(&s->heap);
		s->checksum = s->checksum * 31 + it.t;
		heap_put(&s->heap, it.t + next_delay(s));
	}
}

static uint32_t ops_for(uint32_t n)
{
	return n < 500000 ? 500000 : n;
}

static void against_heap(uint32_t n, char cmp)
{
	static struct delays delays;
	exponential(&delays, 1e6);
	struct subject a, b;
	queue_open(&a, &delays, n, ops_for(n), NULL);
	heap_open(&b, &delays, n, ops_for(n));
	queue_hold(&a);
	heap_hold(&b);
	struct bench_pair pair =
	    bench_against(ROUNDS, heap_hold, &b, queue_hold, &a);
	if (a.checksum != b.checksum)
		die("queue and heap pop different sequences");
	char what[64];
	snprintf(what, sizeof(what), "evq against a binary heap, N = %g",
	    (double)n);
	bench_row(what, pair.ratio, "x", cmp, 4);
	snprintf(what, sizeof(what), "evq put and pop, N = %g", (double)n);
	bench_row(what, pair.b_s / a.n_ops * 1e9, "ns", '-', 0);
	subject_close(&a);
	subject_close(&b);
}

static void against_exponential(const char *name,
    void (*fill)(struct delays *, double), double mean_ns, char cmp)
{
	static struct delays exp_delays, other;
	const uint32_t n = 100000;
	exponential(&exp_delays, 1e6);
	fill(&other, mean_ns);
	struct subject a, b;
	queue_open(&a, &other, n, ops_for(n), NULL);
	queue_open(&b, &exp_delays, n, ops_for(n), NULL);
	queue_hold(&a);
	queue_hold(&b);
	struct bench_pair pair =
	    bench_against(ROUNDS, queue_hold, &a, queue_hold, &b);
	char what[64];
	snprintf(what, sizeof(what), "evq %s, N = 1e+05", name);
	bench_row(what, pair.ratio, "x exp 1ms", cmp, 1.5);
	bench_sink += a.checksum + b.checksum;
	subject_close(&a);
	subject_close(&b);
}

/* --- hold, with dispatch ---------------------------------------------------*/
/* What a model does at an event: put the next. Ends the run after n_ops. */
static int again(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct subject *s = ev->arg;
	if (s->n_ops-- == 0)
		return SIM_ELIMIT;
	struct sim_event next = *ev;
	next.t += next_delay(s);
	return sim_evq_put(q, &next, e);
}

static void dispatch_hold(void *arg)
{
	struct subject *s = arg;
	uint64_t n_ops = s->n_ops;
	if (sim_evq_run(s->q, SIM_NEVER, NULL) != SIM_ELIMIT)
		die("cannot put an event");
	s->n_ops = n_ops;
}

static double dispatch_ns(uint32_t n)
{
	static struct delays delays;
	exponential(&delays, 1e6);
	struct subject s;
	queue_open(&s, &delays, n, ops_for(n), again);
	dispatch_hold(&s);
	double ns = bench_best(ROUNDS, dispatch_hold, &s) / s.n_ops * 1e9;
	subject_close(&s);
	return ns;
}

static void dispatch(void)
{
	char what[64];
	double ns[3];
	const uint32_t n[3] = {1000, 100000, 1000000};
	for (int i = 0; i < 3; i++) {
		ns[i] = dispatch_ns(n[i]);
		snprintf(what, sizeof(what), "evq run with dispatch, N = %g",
		    (double)n[i]);
		bench_row(what, 1e3 / ns[i], "Mev/s", '-', 0);
	}
	bench_row("evq time an event, N = 1e6 to N = 1e3", ns[2] / ns[0], "x",
	    '<', 2.5);
}

void bench_evq_hold(uint32_t n_pending, uint64_t n_events)
{
	static struct delays delays;
	exponential(&delays, 1e6);
	struct subject s;
	queue_open(&s, &delays, n_pending, n_events, again);
	dispatch_hold(&s);
	bench_sink = sim_evq_now(s.q);
	subject_close(&s);
}

/* --- memory ----------------------------------------------------------------*/
static double resident_bytes(void)
{
	unsigned long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void memory(void)
{
	static struct delays delays;
	const uint32_t n = 1000000;
	exponential(&delays, 1e6);
	double before_bytes = resident_bytes();
	struct subject s;
	queue_open(&s, &delays, n, 2 * n, NULL);
	queue_hold(&s);
	bench_row("evq memory an event, N = 1e6",
	    (resident_bytes() - before_bytes) / n, "bytes", '<', 40);
	bench_sink = s.checksum;
	subject_close(&s);
}

/* --- instructions ----------------------------------------------------------*/
static void count_instructions(uint32_t n, double goal)
{
	const uint32_t k = 200000;
	char what[64];
	snprintf(what, sizeof(what), "evq instructions, N = %g", (double)n);
	double once = bench_instructions("evq-hold", n, k);
	double twice = once < 0 ? -1 : bench_instructions("evq-hold", n, 2 * k);
	if (twice < 0)
		printf("%-48s %10s\n", what, "skipped");
	else
		bench_row(what, (twice - once) / k, "Ir/event", '<', goal);
}

void bench_evq(void)
{
	memory(); /* first, while the heap is clean */
	count_instructions(1000, 300);
	count_instructions(100000, 350);
	against_heap(1000, '-');
	against_heap(100000, '>');
	against_heap(1000000, '-');
	against_exponential("constant delay", constant, 1e6, '<');
	against_exponential("bimodal delay", bimodal, 1e6, '<');
	against_exponential("exponential, mean 1 us", exponential, 1e3, '-');
	against_exponential("exponential, mean 32 us", exponential, 3.2e4, '-');
	against_exponential("exponential, mean 1 s", exponential, 1e9, '-');
	dispatch();
}
