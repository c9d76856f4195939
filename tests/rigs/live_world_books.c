/* tests/rigs/live_world_books.c -- what everybody did in a world, and what must hold of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sim/bytes.h"
#include "sim/vec.h"
#include "tests/rigs/live_world.h"
#include "tests/test.h"
#include "topo/addr.h"

uint32_t world_life_begin(struct world *w, uint32_t agent, sim_ns born)
{
	assert_ok(
	    SIM_RESERVE(&w->life, &w->cap_lives, w->n_lives + 1, test_err()));
	w->life[w->n_lives] = (struct world_life){.agent = agent, .born = born};
	return (uint32_t)w->n_lives++;
}

void world_books_free(struct world *w)
{
	for (size_t i = 0; i < w->n_lives; i++) {
		free(w->life[i].batches.at);
		free(w->life[i].windows.at);
		free(w->life[i].probe);
	}
	free(w->life);
	w->life = NULL;
	w->n_lives = w->cap_lives = 0;
}

/* --- what is done --------------------------------------------------------- */
void world_book_probe(struct world *w, struct world_life *l, sim_ns clock,
    const struct topo_tuple *t)
{
	(void)w;
	assert_ok(SIM_RESERVE(&l->probe, &l->cap_probes, l->n_probes + 1,
	    test_err()));
	l->probe[l->n_probes++] = (struct world_probe){.clock = clock,
	    .dst_ip = t->dst_ip,
	    .src_port = t->src_port,
	    .dst_port = t->dst_port,
	    .outcome = AGENT_TIMEOUT};
}

void world_book_outcome(struct world *w, struct world_life *l, size_t probe,
    uint8_t outcome, sim_ns rtt_ns)
{
	struct world_probe *p = &l->probe[probe];
	(void)w;
	p->outcome = outcome;
	p->rtt_ns = outcome == AGENT_CONNECTED ? rtt_ns : 0;
	p->told = 1;
}

static struct world_batch *batch_of(struct world_batches *b, uint64_t number)
{
	assert_true(number < 1 << 24);
	const size_t was = b->n;
	if (number >= was) {
		assert_ok(SIM_RESERVE(&b->at, &b->cap, number + 1, test_err()));
		memset(b->at + was, 0, (number + 1 - was) * sizeof(b->at[0]));
		b->n = number + 1;
	}
	return &b->at[number];
}

/* Each record is of a probe of this life, says what became of it, and is in no
 * other batch. Those of a batch are young: looked for from the end. */
static void book_record(struct world *w, struct world_life *l,
    const struct algo_pingmesh_record *r)
{
	size_t i = l->n_probes;
	while (i > 0 &&
	    !(l->probe[i - 1].clock == r->sent_ns &&
		l->probe[i - 1].dst_ip == r->dst_ip &&
		l->probe[i - 1].src_port == r->src_port))
		i--;
	world_must(w, i > 0, "a record is of a probe that was sent");
	if (i == 0)
		return;
	struct world_probe *p = &l->probe[i - 1];
	world_must(w, !p->taken, "a record is in one batch");
	world_must(w,
	    r->outcome == AGENT_TIMEOUT ||
		(p->told && r->outcome == p->outcome && r->rtt_ns == p->rtt_ns),
	    "a record says what became of its probe");
	p->taken = 1;
}

void world_book_batch(struct world *w, struct world_life *l,
    const struct algo_pingmesh_batch *b, const unsigned char *wire, size_t n)
{
	struct world_batch *x = batch_of(&l->batches, b->number);
	const uint64_t sum = sim_fnv(SIM_FNV_START, wire, n) | 1;
	world_saw(w, WORLD_POSTED, 1);
	world_must(w, x->sum == 0 || x->sum == sum,
	    "a batch that is tried again is the same bytes");
	if (x->sum == 0)
		for (uint32_t i = 0; i < b->n && !w->broken; i++)
			book_record(w, l, &b->record[i]);
	x->sum = sum;
	x->n = b->n;
}

void world_book_window(struct world *w, struct world_life *l, uint64_t number,
    const unsigned char *wire, size_t n)
{
	struct world_batch *x = batch_of(&l->windows, number);
	world_must(w, x->sum == 0, "counters of a window are posted once");
	x->sum = sim_fnv(SIM_FNV_START, wire, n) | 1;
}

static struct world_life *life_of(struct world *w,
    const struct algo_pingmesh_wire_id *id)
{
	for (size_t i = 0; i < w->n_lives; i++)
		if (w->life[i].born == id->born_ns &&
		    algo_pingmesh_wire_short(NULL, &id->src) ==
			topo_addr_of_host(w->life[i].agent))
			return &w->life[i];
	return NULL;
}

void world_book_kept(struct world *w, const struct algo_pingmesh_wire_id *id,
    uint32_t file)
{
	struct world_life *l = life_of(w, id);
	world_must(w, l, "what is kept is of an agent that lived");
	if (l)
		batch_of(id->kind == ALGO_PINGMESH_OF_COUNTERS ? &l->windows
							       : &l->batches,
		    id->number)
		    ->file = file;
}

void world_book_acked(struct world *w, struct world_life *l, uint64_t number)
{
	(void)w;
	batch_of(&l->batches, number)->acked = 1;
}

/* --- the store ------------------------------------------------------------ */
static void check_batch(struct world *w, const struct algo_pingmesh_wire_id *id,
    const unsigned char *bytes, size_t n)
{
	struct world_life *l = life_of(w, id);
	world_must(w, l, "what is stored is of an agent that lived");
	if (!l)
		return;
	struct world_batches *all =
	    id->kind == ALGO_PINGMESH_OF_COUNTERS ? &l->windows : &l->batches;
	world_must(w, id->number < all->n && all->at[id->number].sum != 0,
	    "what is stored was posted");
	if (w->broken)
		return;
	struct world_batch *x = &all->at[id->number];
	world_must(w, x->sum == (sim_fnv(SIM_FNV_START, bytes, n) | 1),
	    "what is stored is what was posted");
	world_must(w, ++x->n_stored == 1, "nothing is stored twice");
	world_saw(w, WORLD_RECORDS, id->n);
}

static void check_file(struct world *w, const char *name)
{
	static unsigned char buf[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id id;
	char path[512];
	size_t n;
	int end;
	snprintf(path, sizeof(path), "%s/%s", world_path("store"), name);
	FILE *in = fopen(path, "rb");
	assert_non_null(in);
	while ((end = xp_batch_next(in, buf, &n, &id, test_err())) ==
		XP_BATCH_MORE &&
	    !w->broken)
		check_batch(w, &id, buf, n);
	world_must(w, w->broken || end == XP_BATCH_END,
	    "a store has whole batches and nothing else");
	fclose(in);
}

static int is_gone(const struct world *w, const struct world_batch *x)
{
	return w->collector.is_gone[x->file];
}

static void check_life(struct world *w, const struct world_life *l)
{
	uint64_t n_acked = 0, n_kept = 0;
	for (size_t i = 0; i < l->batches.n; i++) {
		const struct world_batch *x = &l->batches.at[i];
		world_must(w, !x->acked || x->file > 0,
		    "nothing is acknowledged that was not taken");
		world_must(w, x->file == 0 || x->n_stored == 1 || is_gone(w, x),
		    "nothing that was taken is lost before its file goes");
		n_acked += x->acked ? x->n : 0;
		n_kept += x->file > 0 ? x->n : 0;
		world_saw(w, WORLD_GONE,
		    x->n_stored       ? 0
			: x->file > 0 ? x->n
				      : 0);
	}
	/* An answer that came when the agent had given the batch up. */
	world_must(w, l->count.n_uploaded <= n_acked,
	    "what an agent takes for uploaded was acknowledged");
	world_must(w, n_kept <= l->n_probes && n_acked <= n_kept,
	    "no more is stored than was probed");
}

void world_check_store(struct world *w)
{
	struct dirent **found;
	const int fd = open(world_path("store"), O_RDONLY | O_DIRECTORY);
	const int n = xp_batch_files(fd, &found);
	assert_true(fd >= 0 && n >= 0);
	for (int i = 0; i < n; i++) {
		if (!w->broken)
			check_file(w, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	close(fd);
	for (size_t i = 0; i < w->n_lives && !w->broken; i++)
		check_life(w, &w->life[i]);
}
