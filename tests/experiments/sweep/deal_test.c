/* tests/experiments/sweep/deal_test.c -- who gets which cells, in any order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pool's parent and its workers in one process: each step of either side is
 * an event, and a seeded schedule says which one is next. Whatever it says, each
 * cell comes out once. No clock is read: cells take the time that the schedule
 * gives them.
 */
#include "experiments/sweep/deal.h"

#include "experiments/sweep/lane.h"
#include "tests/test.h"

enum { MAX_CELLS = 400, MAX_HANDS = 5, ROW = 3 };

struct actor {
	int is_alive, in_cell;
	int has_spoilt; /* its block, so that nothing in it is to be believed */
	uint32_t index;
	uint64_t cell;
	sim_ns until;
};

struct play {
	struct xp_pool_job job;
	struct xp_deal deal;
	struct actor actor[MAX_HANDS];
	uint64_t cell[MAX_CELLS];
	unsigned char begun[MAX_CELLS], out[MAX_CELLS], lost[MAX_CELLS];
	size_t n_crashed, n_deaths_in_cells, n_spoilt;
	struct sim_rng rng;
};

static double value(uint64_t cell, size_t i)
{
	return (double)cell * 8 + (double)i + 0.5;
}

static void open_play(struct play *p, unsigned n_workers, size_t n_cells)
{
	for (size_t i = 0; i < n_cells; i++)
		p->cell[i] = 7 * n_cells - 7 * i;
	p->job = (struct xp_pool_job){.n_workers = n_workers,
	    .n_cells = n_cells,
	    .cell = p->cell,
	    .row_doubles = ROW};
	assert_ok(xp_deal_open(&p->deal, &p->job, test_err()));
}

static size_t number_of(const struct play *p, uint64_t cell)
{
	assert_true(cell > 0 && cell % 7 == 0);
	assert_true(cell / 7 <= p->job.n_cells);
	return p->job.n_cells - cell / 7;
}

/* --- a worker's steps ---------------------------------------------------- */

static int begin_cell(struct play *p, size_t w, sim_ns now, sim_ns takes)
{
	struct actor *a = &p->actor[w];
	struct xp_lane *l = &p->deal.hand[w].lane;
	if (!xp_lane_begin(l, &a->index))
		return 0;
	a->cell = l->slot[a->index % l->n_slots].cell;
	a->in_cell = 1;
	a->until = now + takes;
	p->begun[number_of(p, a->cell)]++;
	return 1;
}

static void end_cell(struct play *p, size_t w, sim_ns spent)
{
	struct actor *a = &p->actor[w];
	struct xp_lane *l = &p->deal.hand[w].lane;
	struct sim_err e;
	for (size_t i = 0; i < ROW; i++)
		l->row[a->index % l->n_slots * ROW + i] = value(a->cell, i);
	const int rc =
	    a->cell % 5 == 0 ? sim_fail(&e, SIM_EDEP, "%d", (int)a->cell) : 0;
	xp_lane_answer(l, a->index, rc, &e, spent);
	a->in_cell = 0;
}

/* --- the parent's -------------------------------------------------------- */

static void expect_answer(struct play *p, const struct xp_answer *a)
{
	const size_t i = number_of(p, a->cell);
	assert_int_equal(p->out[i]++, 0);
	assert_int_equal(a->status, a->cell % 5 == 0 ? RES_FAILED : RES_DONE);
	for (size_t k = 0; k < ROW; k++)
		assert_true(a->row[k] == value(a->cell, k));
	if (a->cell % 5 != 0)
		assert_null(a->message);
	else
		assert_int_equal(atol(a->message), a->cell);
}

/* Of a spoilt block nothing is taken. */
static void collect(struct play *p, size_t w)
{
	struct xp_hand *h = &p->deal.hand[w];
	int64_t n = xp_deal_n_ready(h);
	if (p->actor[w].has_spoilt)
		assert_int_equal(n, -1);
	else
		assert_in_range(n, 0, h->given - h->taken);
	for (; n > 0; n--) {
		const struct xp_answer a = xp_deal_take(&p->deal, h);
		expect_answer(p, &a);
	}
}

/* Cells that its worker has not begun. */
static uint32_t waiting_in(const struct xp_hand *h)
{
	uint32_t begun, done;
	return xp_lane_look(&h->lane, h->taken, h->given, &begun, &done)
	    ? h->given - begun
	    : 0;
}

/* Who is fed has something to do, unless nobody has anything to give away; and
 * with one cell in hand there is a next one, while there are any. */
static void feed(struct play *p, size_t w)
{
	struct xp_hand *h = &p->deal.hand[w];
	xp_deal_feed(&p->deal, h);
	const uint32_t held = h->given - h->taken;
	assert_true(held <= p->deal.n_slots);
	if (xp_deal_is_left(&p->deal))
		assert_true(held >= 2);
	if (held > 0)
		return;
	for (size_t i = 0; i < p->deal.n_hands; i++) {
		const struct xp_hand *other = &p->deal.hand[i];
		if (other->given - other->taken >= 2)
			assert_int_equal(waiting_in(other), 0);
	}
}

/* Dead, with what it finished first taken out of its block. */
static void bury(struct play *p, size_t w)
{
	struct actor *a = &p->actor[w];
	uint64_t cell = 0;
	collect(p, w);
	const int in_one = a->in_cell || a->has_spoilt;
	const uint64_t first =
	    p->deal.hand[w].cell[p->deal.hand[w].taken % p->deal.n_slots];
	const uint32_t held = p->deal.hand[w].given - p->deal.hand[w].taken;
	const int is_told = xp_deal_bury(&p->deal, &p->deal.hand[w], &cell);
	assert_int_equal(is_told, in_one && held > 0);
	if (is_told) {
		assert_int_equal(cell, a->has_spoilt ? first : a->cell);
		assert_int_equal(p->out[number_of(p, cell)]++, 0);
		p->lost[number_of(p, cell)] = 1;
		p->n_crashed++;
	}
	*a = (struct actor){0};
}

static void seat(struct play *p, size_t w)
{
	xp_deal_seat(&p->deal.hand[w]);
	p->actor[w] = (struct actor){.is_alive = 1};
}

/* --- schedules ----------------------------------------------------------- */

/* A worker gone wild writes where the counters are. What it may write and be
 * taken for sound are the counters of a worker that is as far: not drawn. */
static void spoil(struct play *p, size_t w)
{
	struct xp_hand *h = &p->deal.hand[w];
	uint32_t begun, done;
	do {
		const uint64_t wild =
		    (uint64_t)sim_rng_u32(&p->rng) << 32 | sim_rng_u32(&p->rng);
		switch (sim_rng_u32(&p->rng) % 4) {
		case 0:
			h->lane.head->claim = wild;
			break;
		case 1:
			h->lane.head->done = (uint32_t)wild;
			break;
		case 2: /* a few too many */
			h->lane.head->done += (uint32_t)wild % 16;
			break;
		default: /* begun too little, or given too much */
			h->lane.head->claim -= wild % 2 ? 1 : 1ULL << 32;
		}
	} while (xp_lane_look(&h->lane, h->taken, h->given, &begun, &done));
	p->actor[w].has_spoilt = 1;
	p->n_spoilt++;
}

static void worker_step(struct play *p, size_t w, int wild)
{
	struct actor *a = &p->actor[w];
	const uint32_t what = sim_rng_u32(&p->rng) % 64;
	if (!a->is_alive || a->has_spoilt)
		return;
	if (what == 0) {
		a->is_alive = 0;
		p->n_deaths_in_cells += (size_t)a->in_cell;
	} else if (what == 1 && wild && a->in_cell) {
		spoil(p, w);
	} else if (a->in_cell) {
		end_cell(p, w, SIM_MS * (1 + sim_rng_u32(&p->rng) % 40));
	} else {
		begin_cell(p, w, 0, 0);
	}
}

static void parent_step(struct play *p, size_t w)
{
	struct actor *a = &p->actor[w];
	if (a->has_spoilt && sim_rng_u32(&p->rng) % 2)
		a->is_alive = 0;
	if (!a->is_alive && p->deal.hand[w].given != p->deal.hand[w].taken)
		bury(p, w);
	if (!a->is_alive && xp_deal_is_left(&p->deal))
		seat(p, w);
	if (a->is_alive) {
		collect(p, w);
		feed(p, w);
	}
}

/* No cell is begun by two workers but one that came back out of a spoilt
 * block, where nobody knows what was served. */
static void expect_all_out(const struct play *p, int wild)
{
	assert_int_equal(p->deal.n_taken, p->job.n_cells);
	assert_false(xp_deal_is_left(&p->deal));
	for (size_t i = 0; i < p->job.n_cells; i++) {
		assert_int_equal(p->out[i], 1);
		if (!wild)
			assert_int_equal(p->begun[i], 1);
	}
	if (!wild)
		assert_int_equal(p->n_crashed, p->n_deaths_in_cells);
}

static void play_schedule(uint32_t run, int wild, size_t *n_crashed,
    size_t *n_spoilt)
{
	struct play *p = calloc(1, sizeof(*p));
	assert_non_null(p);
	print_message("seed %llu run %u\n", (unsigned long long)test_seed(),
	    run);
	test_rng(&p->rng, run);
	open_play(p, 1 + sim_rng_u32(&p->rng) % MAX_HANDS,
	    1 + sim_rng_u32(&p->rng) % MAX_CELLS);
	/* Who is slow gets few of the steps. */
	const uint32_t slow = sim_rng_u32(&p->rng) % MAX_HANDS;
	for (size_t i = 0; p->deal.n_taken < p->job.n_cells; i++) {
		if (i > 1000000)
			fail_msg("run %u: %zu of %zu cells after %zu steps",
			    run, p->deal.n_taken, p->job.n_cells, i);
		const size_t w =
		    sim_rng_u32(&p->rng) % (uint32_t)p->deal.n_hands;
		if (sim_rng_u32(&p->rng) % 4 == 0)
			parent_step(p, w);
		else if (w != slow || sim_rng_u32(&p->rng) % 16 == 0)
			worker_step(p, w, wild);
	}
	expect_all_out(p, wild);
	*n_crashed += p->n_crashed;
	*n_spoilt += p->n_spoilt;
	xp_deal_close(&p->deal);
	free(p);
}

static void each_cell_comes_out_once_whoever_dies(void **state)
{
	size_t n_crashed = 0, n_spoilt = 0;
	(void)state;
	for (uint32_t run = 0; run < 1000; run++)
		play_schedule(run, 0, &n_crashed, &n_spoilt);
	assert_true(n_crashed > 1000);
}

static void a_spoilt_block_costs_one_cell_and_none_of_it_is_believed(
    void **state)
{
	size_t n_crashed = 0, n_spoilt = 0;
	(void)state;
	for (uint32_t run = 0; run < 1000; run++)
		play_schedule(run, 1, &n_crashed, &n_spoilt);
	assert_true(n_spoilt > 1000);
}

/* --- with time ----------------------------------------------------------- */

/* All that is due at NOW, until nobody has anything to do. The parent is
 * awake whenever a worker tells, which here is always. */
static void settle(struct play *p, sim_ns now, const sim_ns takes[])
{
	for (int again = 1; again;) {
		again = 0;
		for (size_t w = 0; w < p->deal.n_hands; w++) {
			struct actor *a = &p->actor[w];
			if (a->in_cell && a->until <= now)
				end_cell(p, w, takes[number_of(p, a->cell)]);
			collect(p, w);
			feed(p, w);
			if (!a->in_cell && begin_cell(p, w, now, 0)) {
				a->until = now + takes[number_of(p, a->cell)];
				again = 1;
			}
		}
	}
}

/* When the last cell ends, if TAKES says how long each one is. */
static sim_ns end_of(struct play *p, const sim_ns takes[])
{
	sim_ns now = 0;
	for (size_t w = 0; w < p->deal.n_hands; w++)
		seat(p, w);
	for (;;) {
		sim_ns next = SIM_NEVER;
		settle(p, now, takes);
		for (size_t w = 0; w < p->deal.n_hands; w++)
			if (p->actor[w].in_cell && p->actor[w].until < next)
				next = p->actor[w].until;
		if (next == SIM_NEVER)
			return now;
		now = next;
	}
}

/* 60 cells of 5 ms, ten of which are given ahead, and one of them of 500 ms:
 * the other worker serves all the rest. */
static void an_idle_worker_takes_over_cells_given_to_another(void **state)
{
	struct play p = {0};
	sim_ns takes[60];
	(void)state;
	open_play(&p, 2, 60);
	for (size_t i = 0; i < 60; i++)
		takes[i] = 5 * SIM_MS;
	takes[20] = 500 * SIM_MS;
	/* The long one is begun after ten rounds of two. */
	assert_int_equal(end_of(&p, takes), 550 * SIM_MS);
	expect_all_out(&p, 0);
	xp_deal_close(&p.deal);
}

/* Graham's bound for list scheduling, 1969: without an idle worker while cells
 * wait, all end within total / m + (1 - 1 / m) longest. */
static void no_worker_is_idle_while_cells_wait(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct play p = {0};
		sim_ns takes[MAX_CELLS], total = 0, longest = 0;
		test_rng(&p.rng, run);
		const unsigned m = 1 + sim_rng_u32(&p.rng) % MAX_HANDS;
		const uint32_t n = 1 + sim_rng_u32(&p.rng) % MAX_CELLS;
		open_play(&p, m, n);
		for (size_t i = 0; i < n; i++) {
			takes[i] = 1 + sim_rng_u32(&p.rng) % (20 * SIM_MS);
			if (sim_rng_u32(&p.rng) % 16 == 0)
				takes[i] *= 50;
			total += takes[i];
			longest = takes[i] > longest ? takes[i] : longest;
		}
		const sim_ns end = end_of(&p, takes);
		expect_all_out(&p, 0);
		if (end > total / m + 1 + longest - longest / m)
			fail_msg("run %u: %u workers need %g ms for %g ms, the "
				 "longest cell %g ms",
			    run, m, (double)end / 1e6, (double)total / 1e6,
			    (double)longest / 1e6);
		xp_deal_close(&p.deal);
	}
}

/* --- how much is given --------------------------------------------------- */

/* 50 ms ahead, in cells of what the average is, in which the second one counts
 * for an eighth; but at least two. */
static void work_for_50_ms_is_given_ahead(void **state)
{
	const struct {
		sim_ns first, second;
		uint32_t held;
	} t[] = {{SIM_MS, SIM_MS, 50}, {5 * SIM_MS, 5 * SIM_MS, 10},
	    {25 * SIM_MS, 25 * SIM_MS, 2}, {SIM_SEC, SIM_SEC, 2},
	    {100 * SIM_US, 100 * SIM_US, MAX_CELLS - 2},
	    {8, 8, MAX_CELLS - 2},         /* no time at all */
	    {8 * SIM_MS, 16 * SIM_MS, 5},  /* 9 ms */
	    {9 * SIM_MS, 17 * SIM_MS, 5},  /* 10 ms */
	    {10 * SIM_MS, 18 * SIM_MS, 4}, /* 11 ms */
	    {16 * SIM_MS, 8 * SIM_MS, 3}}; /* 15 ms */
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct play p = {0};
		open_play(&p, 1, MAX_CELLS);
		seat(&p, 0);
		/* Before any is served, two: nobody knows how long they are. */
		assert_int_equal(xp_deal_feed(&p.deal, p.deal.hand), 2);
		assert_int_equal(xp_deal_feed(&p.deal, p.deal.hand), 0);
		for (size_t k = 0; k < 2; k++) {
			assert_true(begin_cell(&p, 0, 0, 0));
			end_cell(&p, 0, (k ? t[i].second : t[i].first) - 8);
		}
		collect(&p, 0);
		assert_int_equal(xp_deal_feed(&p.deal, p.deal.hand), t[i].held);
		xp_deal_close(&p.deal);
	}
}

/* --- what belongs together ----------------------------------------------- */

/* The first is a family by itself, then come families of five. */
static int are_family(const void *ctx, uint64_t a, uint64_t b)
{
	const struct play *p = ctx;
	return (number_of(p, a) + 4) / 5 == (number_of(p, b) + 4) / 5;
}

/* Hand W is given the N cells from FIRST on, and no more. */
static void expect_given(struct play *p, size_t w, size_t first, uint32_t n)
{
	struct xp_hand *h = &p->deal.hand[w];
	const uint32_t at = h->given;
	assert_int_equal(xp_deal_feed(&p->deal, h), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(number_of(p,
				     h->cell[(at + i) % p->deal.n_slots]),
		    first + i);
}

/* Two cells are given to a hand at first, and with them the rest of the second's
 * family: whether its cells are new, or came back with those of another. */
static void a_family_of_cells_goes_to_one_worker(void **state)
{
	struct play p = {0};
	uint64_t cell;
	(void)state;
	open_play(&p, 3, 21);
	p.job.together = are_family;
	p.job.ctx = &p;
	for (size_t w = 0; w < 3; w++)
		seat(&p, w);
	expect_given(&p, 0, 0, 6);
	expect_given(&p, 1, 6, 5);
	expect_given(&p, 2, 11, 5);
	for (size_t w = 0; w < 2; w++) {
		assert_int_equal(xp_deal_bury(&p.deal, &p.deal.hand[w], &cell),
		    0);
		seat(&p, w);
	}
	expect_given(&p, 0, 6, 5);
	expect_given(&p, 1, 0, 6);
	xp_deal_close(&p.deal);
}

/* --- room ----------------------------------------------------------------- */

/* Each hand's cells, and those that came back, are written to their end. */
static void hands_hold_their_cells_side_by_side(void **state)
{
	struct play p = {0};
	(void)state;
	open_play(&p, MAX_HANDS, MAX_CELLS);
	const struct xp_deal *d = &p.deal;
	for (size_t i = 0; i < MAX_HANDS * d->n_slots; i++)
		d->back[i] = i;
	for (size_t i = 0; i < MAX_HANDS; i++)
		for (uint32_t k = 0; k < d->n_slots; k++)
			d->hand[i].cell[k] = i << 32 | k;
	for (size_t i = 0; i < MAX_HANDS * d->n_slots; i++)
		assert_int_equal(d->back[i], i);
	for (size_t i = 0; i < MAX_HANDS; i++)
		for (uint32_t k = 0; k < d->n_slots; k++)
			assert_int_equal(d->hand[i].cell[k], i << 32 | k);
	xp_deal_close(&p.deal);
}

static void slots_are_as_many_as_rows_of_1_mib(void **state)
{
	const struct {
		size_t row;
		uint32_t n_slots;
	} t[] = {{0, 1024}, {1, 1024}, {128, 1024}, {129, 512}, {256, 512},
	    {16384, 8}, {16385, 4}, {1000000, 4}};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const uint64_t cell[2] = {1, 2};
		const struct xp_pool_job job = {.n_workers = 1,
		    .n_cells = 2,
		    .cell = cell,
		    .row_doubles = t[i].row};
		struct xp_deal d;
		assert_ok(xp_deal_open(&d, &job, test_err()));
		assert_int_equal(d.n_slots, t[i].n_slots);
		xp_deal_close(&d);
	}
}

/* Each array of a block is written to its end; sanitizers and the guard behind
 * the block tell if two of them overlap. */
static void a_block_holds_its_rows_and_texts_side_by_side(void **state)
{
	(void)state;
	for (uint32_t n = 4; n <= 1024; n *= 2)
		for (size_t row = 0; row < 20; row++) {
			const size_t bytes = xp_lane_bytes(n, row);
			assert_int_equal(bytes % 64, 0);
			char *at = aligned_alloc(64, bytes);
			assert_non_null(at);
			struct xp_lane l = xp_lane_at(at, n, row);
			memset(at, 0, bytes);
			memset(l.head, 1, sizeof(*l.head));
			memset(l.slot, 2, n * sizeof(*l.slot));
			memset(l.row, 3, n * row * sizeof(double));
			memset(l.text, 4, n * sizeof(*l.text));
			size_t count[5] = {0};
			for (size_t i = 0; i < bytes; i++)
				count[(int)at[i]]++;
			assert_int_equal(count[1], sizeof(*l.head));
			assert_int_equal(count[2], n * sizeof(*l.slot));
			assert_int_equal(count[3], n * row * sizeof(double));
			assert_int_equal(count[4], n * sizeof(*l.text));
			assert_true(count[0] < 128);
			assert_true(at + bytes - (char *)(l.text + n) < 64);
			free(at);
		}
}

/* By all ways in which the counters may lie, also where they wrap. */
static void counters_that_no_worker_reaches_are_told(void **state)
{
	enum { N = 6 };
	struct xp_lane_head head;
	struct xp_lane l = {.head = &head, .n_slots = 4};
	(void)state;
	for (uint32_t i = 0; i < N * N * N * N * N; i++) {
		const uint32_t from = UINT32_MAX - 2, taken = i % N,
			       done = i / N % N, begun = i / N / N % N,
			       given = i / N / N / N % N,
			       said = i / N / N / N / N;
		const int is_sound = taken <= done && done <= begun &&
		    begun <= given && given == said;
		uint32_t b, d;
		if (given < taken)
			continue;
		head.claim =
		    (uint64_t)(from + begun) << 32 | (uint32_t)(from + said);
		head.done = from + done;
		assert_int_equal(xp_lane_look(&l, from + taken, from + given,
				     &b, &d),
		    is_sound);
		if (!is_sound && taken <= begun && begun < given)
			continue;
		/* Half of what is not begun, of sound ones. */
		const uint64_t was = head.claim;
		const uint32_t n = is_sound ? (given - begun + 1) / 2 : 0;
		assert_int_equal(xp_lane_take_back(&l, from + taken,
				     from + given),
		    n);
		if (n == 0)
			assert_true(head.claim == was);
		else
			assert_int_equal((uint32_t)head.claim,
			    (uint32_t)(from + given - n));
	}
}

static void a_row_may_come_with_something_to_tell(void **state)
{
	struct play p = {0};
	struct sim_err e;
	(void)state;
	open_play(&p, 1, 1);
	seat(&p, 0);
	feed(&p, 0);
	assert_true(begin_cell(&p, 0, 0, 0));
	sim_fail(&e, SIM_EDEP, "all is well but the weather.");
	xp_lane_answer(&p.deal.hand[0].lane, 0, 1, &e, 1);
	const struct xp_answer a = xp_deal_take(&p.deal, p.deal.hand);
	assert_int_equal(a.status, RES_DONE);
	assert_string_equal(a.message, e.msg);
	xp_deal_close(&p.deal);
}

static void a_text_that_a_wild_worker_never_ends_is_ended(void **state)
{
	struct play p = {0};
	(void)state;
	open_play(&p, 1, 1);
	seat(&p, 0);
	feed(&p, 0);
	assert_true(begin_cell(&p, 0, 0, 0));
	end_cell(&p, 0, 1);
	memset(p.deal.hand[0].lane.text[0].text, 'x',
	    sizeof(struct xp_slot_text));
	p.deal.hand[0].lane.slot[0].has_message = 77;
	p.deal.hand[0].lane.slot[0].cell = 12345;
	const struct xp_answer a = xp_deal_take(&p.deal, p.deal.hand);
	assert_int_equal(strlen(a.message), sizeof(struct xp_slot_text) - 1);
	/* Nor can it pass one cell off as another. */
	assert_int_equal(a.cell, p.cell[0]);
	xp_deal_close(&p.deal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_cell_comes_out_once_whoever_dies),
	    cmocka_unit_test(
		a_spoilt_block_costs_one_cell_and_none_of_it_is_believed),
	    cmocka_unit_test(an_idle_worker_takes_over_cells_given_to_another),
	    cmocka_unit_test(no_worker_is_idle_while_cells_wait),
	    cmocka_unit_test(work_for_50_ms_is_given_ahead),
	    cmocka_unit_test(a_family_of_cells_goes_to_one_worker),
	    cmocka_unit_test(hands_hold_their_cells_side_by_side),
	    cmocka_unit_test(slots_are_as_many_as_rows_of_1_mib),
	    cmocka_unit_test(a_block_holds_its_rows_and_texts_side_by_side),
	    cmocka_unit_test(counters_that_no_worker_reaches_are_told),
	    cmocka_unit_test(a_row_may_come_with_something_to_tell),
	    cmocka_unit_test(a_text_that_a_wild_worker_never_ends_is_ended),
	};
	return cmocka_run_group_tests_name("experiments/sweep/deal", tests,
	    NULL, NULL);
}
