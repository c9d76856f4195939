/* algos/planner/orders.c -- messages between a survey and its scouts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/orders.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/bytes.h"

static_assert(16 + 4 * TOPO_MAX_HOPS == ALGO_SCOUT_ANSWER,
    "an answer has room for each hop");

/* A kind of message. */
struct orders_kind {
	const char *magic, *what;
	size_t item; /* bytes */
	unsigned flags;
};
static const struct orders_kind orders_jobs = {"CPSJ", "jobs", ALGO_SCOUT_JOB,
    ALGO_SCOUT_DONE};
static const struct orders_kind orders_answers = {"CPSA", "answers",
    ALGO_SCOUT_ANSWER, 0};

/* --- writing -------------------------------------------------------------- */

static void orders_put_head(const struct orders_kind *k,
    const struct algo_scout_head *h, unsigned char *out)
{
	assert(h->n <= ALGO_SCOUT_JOBS);
	memcpy(out, k->magic, 4);
	sim_store_16(out + 4, 1);
	sim_store_16(out + 6, (uint16_t)h->flags);
	sim_store_32(out + 8, h->round);
	sim_store_32(out + 12, (uint32_t)h->n);
}

static size_t orders_put_sum(const struct orders_kind *k, size_t n_items,
    unsigned char *out)
{
	const size_t n = ALGO_SCOUT_HEAD + n_items * k->item;
	sim_store_64(out + n, sim_fnv(SIM_FNV_START, out, n));
	return n + ALGO_SCOUT_CHECK;
}

size_t algo_scout_write_jobs(const struct algo_scout_head *h,
    const struct algo_scout_job job[], unsigned char *out)
{
	unsigned char *p = out + ALGO_SCOUT_HEAD;
	orders_put_head(&orders_jobs, h, out);
	for (size_t i = 0; i < h->n; i++, p += ALGO_SCOUT_JOB) {
		sim_store_32(p, job[i].id);
		sim_store_32(p + 4, job[i].dst_ip);
		sim_store_16(p + 8, job[i].src_port);
		sim_store_16(p + 10, job[i].dst_port);
		sim_store_32(p + 12, job[i].count);
	}
	return orders_put_sum(&orders_jobs, h->n, out);
}

size_t algo_scout_write_answers(const struct algo_scout_head *h,
    const struct algo_scout_answer answer[], unsigned char *out)
{
	unsigned char *p = out + ALGO_SCOUT_HEAD;
	orders_put_head(&orders_answers, h, out);
	for (size_t i = 0; i < h->n; i++, p += ALGO_SCOUT_ANSWER) {
		const struct algo_scout_answer *a = &answer[i];
		memset(p, 0, ALGO_SCOUT_ANSWER);
		sim_store_32(p, a->id);
		sim_store_32(p + 4, a->n_sent);
		sim_store_32(p + 8, a->n_lost);
		p[12] = a->n_hops;
		for (unsigned k = 0; k < a->n_hops; k++)
			sim_store_32(p + 16 + 4 * k, a->hop_ip[k]);
	}
	return orders_put_sum(&orders_answers, h->n, out);
}

/* --- reading -------------------------------------------------------------- */

static int orders_read_head(const struct orders_kind *k, const unsigned char *p,
    size_t n, struct algo_scout_head *h, struct sim_err *e)
{
	if (n < ALGO_SCOUT_HEAD + ALGO_SCOUT_CHECK ||
	    memcmp(p, k->magic, 4) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "%zu bytes are no message of %s: at least %d, which begin "
		    "with \"%s\".",
		    n, k->what, ALGO_SCOUT_HEAD + ALGO_SCOUT_CHECK, k->magic);
	if (sim_load_16(p + 4) != 1 || sim_load_16(p + 6) > k->flags)
		return sim_fail(e, SIM_EPARSE,
		    "A message of %s of version %u with flags %u is not known: "
		    "version 1 has flags up to %u.",
		    k->what, sim_load_16(p + 4), sim_load_16(p + 6), k->flags);
	const size_t said = sim_load_32(p + 12);
	if (said > ALGO_SCOUT_JOBS)
		return sim_fail(e, SIM_ELIMIT,
		    "A message of %zu %s: at most %d are allowed.", said,
		    k->what, ALGO_SCOUT_JOBS);
	const size_t summed = ALGO_SCOUT_HEAD + said * k->item;
	if (n != summed + ALGO_SCOUT_CHECK)
		return sim_fail(e, SIM_EPARSE,
		    "A message of %zu %s has %zu bytes, not %zu.", said,
		    k->what, n, summed + ALGO_SCOUT_CHECK);
	if (sim_load_64(p + summed) != sim_fnv(SIM_FNV_START, p, summed))
		return sim_fail(e, SIM_EPARSE,
		    "The checksum is not that of the %s.", k->what);
	*h = (struct algo_scout_head){sim_load_32(p + 8), sim_load_16(p + 6),
	    said};
	return 0;
}

int algo_scout_read_jobs(const void *bytes, size_t n, struct algo_scout_head *h,
    struct algo_scout_job job[], struct sim_err *e)
{
	const unsigned char *p = (const unsigned char *)bytes + ALGO_SCOUT_HEAD;
	struct algo_scout_head head;
	int rc = orders_read_head(&orders_jobs, bytes, n, &head, e);
	for (size_t i = 0; rc == 0 && i < head.n; i++)
		if (sim_load_32(p + i * ALGO_SCOUT_JOB + 12) > ALGO_SCOUT_MOST)
			rc = sim_fail(e, SIM_ERANGE,
			    "Job %zu is of %" PRIu32
			    " connects: at most %d are allowed.",
			    i, sim_load_32(p + i * ALGO_SCOUT_JOB + 12),
			    ALGO_SCOUT_MOST);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < head.n; i++, p += ALGO_SCOUT_JOB)
		job[i] = (struct algo_scout_job){sim_load_32(p),
		    sim_load_32(p + 4), sim_load_16(p + 8), sim_load_16(p + 10),
		    sim_load_32(p + 12)};
	*h = head;
	return 0;
}

/* No host connects more often than a job may say. */
static int orders_check_answer(const unsigned char *p, size_t i,
    struct sim_err *e)
{
	const uint32_t n_sent = sim_load_32(p + 4), n_lost = sim_load_32(p + 8);
	if (n_sent > ALGO_SCOUT_MOST || n_lost > n_sent)
		return sim_fail(e, SIM_ERANGE,
		    "Answer %zu: %" PRIu32 " of %" PRIu32
		    " connects were lost; of at most %d no more can be than "
		    "there were.",
		    i, n_lost, n_sent, ALGO_SCOUT_MOST);
	if (p[12] > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_ERANGE,
		    "Answer %zu has %u hops: at most %d are allowed.", i, p[12],
		    TOPO_MAX_HOPS);
	return 0;
}

int algo_scout_read_answers(const void *bytes, size_t n,
    struct algo_scout_head *h, struct algo_scout_answer answer[],
    struct sim_err *e)
{
	const unsigned char *p = (const unsigned char *)bytes + ALGO_SCOUT_HEAD;
	struct algo_scout_head head;
	int rc = orders_read_head(&orders_answers, bytes, n, &head, e);
	for (size_t i = 0; rc == 0 && i < head.n; i++)
		rc = orders_check_answer(p + i * ALGO_SCOUT_ANSWER, i, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < head.n; i++, p += ALGO_SCOUT_ANSWER) {
		struct algo_scout_answer *a = &answer[i];
		*a = (struct algo_scout_answer){sim_load_32(p),
		    sim_load_32(p + 4), sim_load_32(p + 8), .n_hops = p[12]};
		for (unsigned k = 0; k < a->n_hops; k++)
			a->hop_ip[k] = sim_load_32(p + 16 + 4 * k);
	}
	*h = head;
	return 0;
}
