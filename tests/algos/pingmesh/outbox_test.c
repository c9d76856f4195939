/* tests/algos/pingmesh/outbox_test.c -- uploads: when, what, and what is lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/outbox.h"

#include "tests/test.h"

static const struct algo_pingmesh_params params = {.batch = 4,
    .upload_interval_s = 10,
    .upload_timeout_s = 3,
    .upload_backoff_s = 2,
    .upload_tries = 3};

struct box {
	struct algo_pingmesh_outbox o;
	struct algo_pingmesh_counters count;
	struct sim_rng rng;
	struct agent_out out;
	uint32_t n_added;
};

static struct box *box_open(const struct algo_pingmesh_params *p)
{
	struct box *x = malloc(sizeof(*x));
	assert_non_null(x);
	memset(x, 0xee, sizeof(*x));
	memset(&x->count, 0, sizeof(x->count));
	x->out.n = x->n_added = 0;
	test_rng(&x->rng, 1);
	algo_pingmesh_outbox_init(&x->o, p, &x->count, 77);
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, 5), SIM_NEVER);
	return x;
}

/* Records are told apart by whom they name: 1, 2, ... */
static void add(struct box *x, sim_ns now, uint32_t n)
{
	for (; n > 0; n--) {
		const struct algo_pingmesh_record r = {.dst_ip = ++x->n_added};
		algo_pingmesh_outbox_add(&x->o, now, &r);
	}
}

static void assert_idle_until(struct box *x, sim_ns at)
{
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, at - 1), at);
	algo_pingmesh_outbox_due(&x->o, at - 1, &x->rng, &x->out);
	assert_int_equal(x->out.n, 0);
}

/* At NOW batch NUMBER goes out for the TRY-th time: N records from FIRST on. */
static void assert_sent(struct box *x, sim_ns now, uint64_t number,
    uint32_t try, uint32_t first, uint32_t n)
{
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, now), now);
	algo_pingmesh_outbox_due(&x->o, now, &x->rng, &x->out);
	assert_int_equal(x->out.n, 1);
	const struct agent_action *a = &x->out.action[0];
	const struct algo_pingmesh_batch *b = a->data;
	assert_int_equal(a->kind, AGENT_UPLOAD);
	assert_int_equal(a->token, number * 256 + try);
	assert_int_equal(a->n_bytes,
	    offsetof(struct algo_pingmesh_batch, record) +
		n * sizeof(struct algo_pingmesh_record));
	assert_int_equal(b->number, number);
	assert_int_equal(b->src_ip, 77);
	assert_int_equal(b->n_lost, x->count.n_discarded + x->count.n_overrun);
	assert_int_equal(b->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(b->record[i].dst_ip, first + i);
	x->out.n = 0;
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, now),
	    now + 3 * SIM_SEC);
}

static void answer(struct box *x, sim_ns now, uint64_t number, uint32_t try,
    int ok)
{
	const struct agent_event ev = {.kind = AGENT_UPLOAD_DONE,
	    .ok = (uint8_t)ok,
	    .token = number * 256 + try};
	algo_pingmesh_outbox_done(&x->o, now, &ev, &x->rng);
}

/* Of the first rest, doubled DOUBLED times, half is drawn. */
static sim_ns rest(const struct box *x, unsigned doubled)
{
	struct sim_rng r = x->rng;
	return sim_ns_of(2. * (1u << doubled) * (0.5 + sim_rng_u01(&r) / 2));
}

static void a_batch_waits_until_it_is_full_or_its_time_is_up(void **state)
{
	(void)state;
	struct box *x = box_open(&params);
	const sim_ns s = SIM_SEC;
	add(x, 100 * s, 1);
	add(x, 105 * s, 2);
	assert_idle_until(x, 110 * s); /* of the first one */
	assert_sent(x, 110 * s, 1, 1, 1, 3);
	add(x, 111 * s, 5);
	assert_idle_until(x, 113 * s);
	answer(x, 112 * s, 1, 1, 1);
	assert_int_equal(x->count.n_uploaded, 3);
	/* Full: at once, and what is left waits for its turn. */
	assert_sent(x, 112 * s, 2, 1, 4, 4);
	answer(x, 112 * s + 1, 2, 1, 1);
	assert_int_equal(x->count.n_uploaded, 7);
	assert_idle_until(x, 122 * s + 1);
	assert_sent(x, 122 * s + 1, 3, 1, 8, 1);
	answer(x, 123 * s, 3, 1, 1);
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, 123 * s), SIM_NEVER);
	algo_pingmesh_outbox_due(&x->o, 200 * s, &x->rng, &x->out);
	assert_int_equal(x->out.n, 0);
	/* What is empty begins anew in memory and in time. */
	assert_int_equal(x->o.first, 0);
	add(x, 200 * s, 1);
	assert_idle_until(x, 210 * s);
	algo_pingmesh_outbox_hurry(&x->o, 203 * s);
	assert_sent(x, 203 * s, 4, 1, 9, 1);
	assert_int_equal(x->count.n_stray, 0);
	assert_int_equal(x->count.n_upload_failed, 0);
	free(x);
}

/* Rests of 1, 2, 4, ... times the first, until it is given up. */
static void a_batch_that_fails_is_tried_again_and_then_discarded(void **state)
{
	(void)state;
	struct box *x = box_open(&params);
	sim_ns now = 50 * SIM_SEC;
	add(x, now, 4);
	assert_sent(x, now, 1, 1, 1, 4);
	add(x, now, 2);
	now += 1;
	sim_ns at = now + rest(x, 0);
	answer(x, now, 1, 1, 0);
	assert_int_equal(x->count.n_upload_failed, 1);
	assert_idle_until(x, at);
	/* A batch that rests does rest. */
	algo_pingmesh_outbox_hurry(&x->o, now);
	assert_idle_until(x, at);
	now = at;
	assert_sent(x, now, 1, 2, 1, 4);
	/* Nobody answered: that is a failure, too. */
	now += 3 * SIM_SEC;
	at = now + rest(x, 1);
	algo_pingmesh_outbox_due(&x->o, now, &x->rng, &x->out);
	assert_int_equal(x->out.n, 0);
	assert_int_equal(x->count.n_upload_failed, 2);
	assert_idle_until(x, at);
	now = at;
	assert_sent(x, now, 1, 3, 1, 4);
	answer(x, now + 1, 1, 3, 0);
	assert_int_equal(x->count.n_upload_failed, 3);
	assert_int_equal(x->count.n_discarded, 4);
	assert_int_equal(x->count.n_uploaded, 0);
	/* The next one says how many were lost before it. */
	now += 1 + 10 * SIM_SEC;
	assert_idle_until(x, now);
	assert_sent(x, now, 2, 1, 5, 2);
	assert_int_equal(x->o.batch.n_lost, 4);
	assert_int_equal(x->count.n_stray, 0);
	free(x);
}

static void rests_are_doubled_eight_times_at_most(void **state)
{
	(void)state;
	struct algo_pingmesh_params p = params;
	p.upload_tries = 12;
	struct box *x = box_open(&p);
	sim_ns now = SIM_SEC;
	add(x, now, 4);
	for (uint32_t try = 1; try < 12; try++) {
		assert_sent(x, now, 1, try, 1, 4);
		const sim_ns at = now + rest(x, try < 9 ? try - 1 : 8);
		answer(x, now, 1, try, 0);
		assert_idle_until(x, at);
		now = at;
	}
	free(x);
}

/* That the collector has it counts however late; a late failure says nothing. */
static void answers_that_nobody_waits_for_are_counted(void **state)
{
	(void)state;
	struct box *x = box_open(&params);
	const sim_ns now = SIM_SEC;
	answer(x, now, 0, 0, 1);
	answer(x, now, 1, 1, 1);
	assert_int_equal(x->count.n_stray, 2);
	add(x, now, 4);
	assert_sent(x, now, 1, 1, 1, 4);
	answer(x, now, 2, 1, 1);
	answer(x, now, 0, 1, 1);
	answer(x, now, 1, 2, 0);
	answer(x, now, 1, 0, 0);
	assert_int_equal(x->count.n_stray, 6);
	assert_int_equal(x->count.n_upload_failed, 0);
	answer(x, now, 1, 1, 0);
	assert_int_equal(x->count.n_upload_failed, 1);
	answer(x, now, 1, 1, 0); /* while it rests */
	assert_int_equal(x->count.n_stray, 7);
	assert_int_equal(x->count.n_upload_failed, 1);
	answer(x, now, 1, 1, 1);
	assert_int_equal(x->count.n_uploaded, 4);
	assert_int_equal(algo_pingmesh_outbox_next(&x->o, now), SIM_NEVER);
	answer(x, now, 1, 1, 1);
	assert_int_equal(x->count.n_stray, 8);
	assert_int_equal(x->count.n_uploaded, 4);
	free(x);
}

/* Numbers 1 to N of BOOK are addresses. */
static void note_addresses(struct topo_ip_book *book, uint32_t n)
{
	assert_ok(topo_ip_book_open(book, 2 * n, test_err()));
	for (uint32_t i = 1; i <= n; i++)
		assert_int_equal(topo_ip_book_note(book,
				     &(struct topo_ip){
					 .byte = {32, [13] = (uint8_t)(i >> 16),
					     [14] = (uint8_t)(i >> 8),
					     [15] = (uint8_t)i}}),
		    i);
}

/* Of numbers 1 to N just FIRST to LAST are kept as named by records. */
static void assert_kept(struct box *x, uint32_t n, uint32_t first,
    uint32_t last)
{
	struct topo_ip_book book = {0};
	note_addresses(&book, n);
	algo_pingmesh_outbox_keep(&x->o, &book);
	topo_ip_book_sweep(&book);
	assert_int_equal(book.n, last - first + 1);
	for (uint32_t i = 1; i <= n; i++)
		if ((topo_ip_book_look(&book, i).byte[0] == 32) !=
		    (i >= first && i <= last))
			fail_msg("record %u", i);
	topo_ip_book_close(&book);
}

static void whom_records_name_is_kept_while_they_are_held(void **state)
{
	(void)state;
	struct box *x = box_open(&params);
	add(x, 1, 10);
	assert_kept(x, 20, 1, 10);
	for (uint32_t k = 0; k < 2; k++) {
		assert_sent(x, 1, k + 1, 1, 1 + 4 * k, 4);
		assert_kept(x, 20, 1 + 4 * k, 10);
		answer(x, 1, k + 1, 1, 1);
		assert_kept(x, 20, 5 + 4 * k, 10);
	}
	free(x);
}

static void the_oldest_records_are_overrun(void **state)
{
	(void)state;
	enum { N = ALGO_PINGMESH_RECORDS };
	struct algo_pingmesh_params p = params;
	p.batch = ALGO_PINGMESH_BATCH;
	struct box *x = box_open(&p);
	add(x, 1, 7);
	algo_pingmesh_outbox_hurry(&x->o, 1);
	assert_sent(x, 1, 1, 1, 1, 7);
	add(x, 2, N);
	assert_int_equal(x->count.n_overrun, 0);
	add(x, 2, 1);
	assert_int_equal(x->count.n_overrun, 1);
	add(x, 2, 1);
	assert_int_equal(x->count.n_overrun, 2);
	for (uint32_t k = 0; k < N / ALGO_PINGMESH_BATCH; k++) {
		answer(x, 3 + k, k + 1, 1, 1);
		assert_sent(x, 3 + k, k + 2, 1, 10 + k * ALGO_PINGMESH_BATCH,
		    ALGO_PINGMESH_BATCH);
	}
	assert_int_equal(x->o.n, 0);
	assert_int_equal(x->count.n_overrun, 2);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_batch_waits_until_it_is_full_or_its_time_is_up),
	    cmocka_unit_test(
		a_batch_that_fails_is_tried_again_and_then_discarded),
	    cmocka_unit_test(rests_are_doubled_eight_times_at_most),
	    cmocka_unit_test(answers_that_nobody_waits_for_are_counted),
	    cmocka_unit_test(whom_records_name_is_kept_while_they_are_held),
	    cmocka_unit_test(the_oldest_records_are_overrun),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/outbox", tests, NULL,
	    NULL);
}
