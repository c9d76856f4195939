/* tests/rigs/live_world_collect.c -- the collector of a world, and what its folder keeps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whoever has a store for years lives by what goes from it: a file goes only for
 * its age or for room, never the newest, and then all that is too old. The folder is
 * looked at whenever the store says that a file came or went, and after whatever it
 * refused.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/segments.h"
#include "tests/rigs/live_world.h"
#include "tests/test.h"

enum { DAY_S = 86400 };

/* --- its folder ----------------------------------------------------------- */
static void look(struct world_files *all)
{
	struct dirent **found;
	struct stat st;
	const int fd = open(world_path("store"), O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	const int n = xp_batch_files(fd, &found);
	assert_in_range(n, 0, WORLD_FILES);
	all->n = (size_t)n;
	all->n_bytes = 0;
	for (size_t i = 0; i < all->n; i++) {
		struct world_file *f = &all->at[i];
		unsigned day;
		snprintf(f->name, sizeof(f->name), "%.63s", found[i]->d_name);
		assert_int_equal(sscanf(f->name, "batches-%8u-%9u", &day,
				     &f->number),
		    2);
		assert_in_range(f->number, 1, WORLD_FILES - 1);
		assert_int_equal(fstatat(fd, f->name, &st, 0), 0);
		f->day = res_segments_day(f->name);
		f->n_bytes = (uint64_t)st.st_size;
		all->n_bytes += f->n_bytes;
		free(found[i]);
	}
	free(found);
	close(fd);
}

static int has(const struct world_files *all, uint32_t number)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].number == number)
			return 1;
	return 0;
}

static int64_t now_s(const struct world *w)
{
	return (int64_t)(world_wall(w, 0) / SIM_SEC) + w->collector.off_s;
}

/* By the calendar, and by other days that there are files of behind it: those that
 * were, and NEWEST. */
static int is_too_old(const struct world *w, const struct world_files *was,
    const struct world_file *newest, const struct world_file *f)
{
	const int64_t keep = w->collector.params.keep_days,
		      age = now_s(w) / DAY_S - f->day;
	int64_t n = newest->day != f->day;
	for (size_t i = 0; i < was->n; i++) {
		size_t k = i + 1;
		while (k < was->n && was->at[k].day != was->at[i].day)
			k++;
		/* The last of its day counts for it. */
		n += was->at[i].number > f->number && k == was->n &&
		    was->at[i].day != f->day && was->at[i].day != newest->day;
	}
	return keep > 0 && n > keep && (age > keep || age < -1);
}

/* From WAS to NOW, when there were N more bytes to keep; IS_BEGUN: in a new file. */
static void check_gone(struct world *w, const struct world_files *was,
    const struct world_files *now, size_t n, int is_begun)
{
	const struct xp_batch_store_params *p = &w->collector.params;
	uint64_t left = was->n_bytes;
	for (size_t i = 0; i < was->n; i++) {
		const struct world_file *f = &was->at[i];
		const int is_newest =
		    now->n == 0 || f->number >= now->at[now->n - 1].number;
		const int is_old =
		    now->n > 0 && is_too_old(w, was, &now->at[now->n - 1], f);
		const int is_full = left + n > p->total_bytes;
		if (has(now, f->number)) {
			world_must(w, !is_begun || !is_old || is_newest,
			    "with a new file, files that are too old go");
			continue;
		}
		world_must(w, !is_newest, "the newest file does not go");
		world_must(w, is_old || (p->make_room && is_full),
		    "a file goes only for its age, or for room");
		world_saw(w, is_old ? WORLD_TOO_OLD : WORLD_MADE_ROOM, 1);
		w->collector.is_gone[f->number] = 1;
		left -= f->n_bytes;
	}
}

/* After a batch of N bytes, which was taken unless RC < 0. */
static void check_files(struct world *w, size_t n, int rc)
{
	struct world_collector *c = &w->collector;
	static struct world_files now;
	const struct xp_batch_held held = xp_batch_store_held(c->store);
	if (rc == 0 && !c->is_by_hand && held.n_files == c->held.n_files &&
	    held.n_gone == c->held.n_gone) {
		c->files.at[c->files.n - 1].n_bytes += n;
		c->files.n_bytes += n;
	} else {
		look(&now);
		const int is_begun =
		    now.n > 0 && !has(&c->files, now.at[now.n - 1].number);
		check_gone(w, &c->files, &now, n, rc == 0 && is_begun);
		c->files = now;
	}
	world_must(w, rc < 0 || held.n_bytes <= c->params.total_bytes,
	    "no more is kept than may be");
	world_must(w,
	    rc != SIM_ELIMIT || c->is_by_hand ||
		c->files.n_bytes + n > c->params.total_bytes,
	    "a batch is refused only when there is no room for it");
	world_must(w,
	    rc != SIM_ELIMIT || !c->params.make_room || c->files.n <= 1,
	    "nothing is refused while an older file could go");
	world_must(w,
	    c->is_by_hand ||
		(held.n_bytes == c->files.n_bytes &&
		    held.n_files == c->files.n),
	    "the store knows what its folder holds");
	c->held = held;
}

/* --- its process ---------------------------------------------------------- */
void world_collector_start(struct world *w, uint64_t room)
{
	struct world_collector *c = &w->collector;
	if (c->is_on)
		return;
	assert_ok(xp_batch_store_open(&c->store, world_path("store"),
	    &c->params, test_err()));
	c->is_on = 1;
	c->is_by_hand = 0;
	c->held = xp_batch_store_held(c->store);
	look(&c->files);
	world_must(w,
	    c->held.n_bytes == c->files.n_bytes &&
		c->held.n_files == c->files.n,
	    "a store that is opened knows what its folder holds");
	if (room > 0) {
		c->params.total_bytes = c->held.n_bytes + room;
		c->params.make_room = 0;
		xp_batch_store_change(c->store, &c->params);
	}
}

/* What a kill leaves in the midst of a write: TORN bytes of a batch. */
void world_collector_stop(struct world *w, uint32_t torn)
{
	struct world_collector *c = &w->collector;
	char path[512];
	if (!c->is_on)
		return;
	c->is_on = 0;
	assert_ok(xp_batch_store_close(c->store, test_err()));
	c->store = NULL;
	if (torn == 0 || c->n_last == 0 || c->files.n == 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", world_path("store"),
	    c->files.at[c->files.n - 1].name);
	const int fd = open(path, O_WRONLY | O_APPEND);
	const size_t n = torn % c->n_last;
	assert_true(fd >= 0 && write(fd, c->last, n) == (ssize_t)n);
	close(fd);
	world_saw(w, WORLD_TORN, n > 0);
}

void world_collector_keep_so(struct world *w, uint32_t days, uint64_t total,
    int make_room)
{
	struct xp_batch_store_params *p = &w->collector.params;
	p->keep_days = days;
	p->total_bytes = total;
	p->make_room = make_room;
	if (w->collector.is_on)
		xp_batch_store_change(w->collector.store, p);
}

void world_collector_lose(struct world *w)
{
	struct world_collector *c = &w->collector;
	char path[512];
	if (!c->is_on || c->files.n < 2)
		return;
	snprintf(path, sizeof(path), "%s/%s", world_path("store"),
	    c->files.at[0].name);
	assert_int_equal(unlink(path), 0);
	c->is_gone[c->files.at[0].number] = c->is_by_hand = 1;
	look(&c->files);
}

/* --- what it is sent ------------------------------------------------------ */
/* Files may grow by ROOM bytes and no more. */
static void limit_disk(const struct world_files *all, uint64_t room)
{
	struct rlimit l;
	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = room + (all->n > 0 ? all->at[all->n - 1].n_bytes : 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void unlimit_disk(void)
{
	struct rlimit l;
	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

void world_collector_keep(struct world *w, struct world_message *m,
    struct xp_http_answer *a)
{
	struct world_collector *c = &w->collector;
	struct sim_err e = {0};
	int is_new = 0;
	if (c->is_full)
		limit_disk(&c->files,
		    world_below(w, (uint32_t)m->n + 1) % m->n);
	const int rc = xp_batch_store_put(c->store, &a->batch, m->body, m->n,
	    now_s(w), &is_new, &e);
	if (c->is_full)
		unlimit_disk();
	memcpy(c->last, m->body, m->n);
	c->n_last = m->n;
	xp_http_kept(a, rc, is_new, &e);
	if (rc < 0 || is_new)
		check_files(w, m->n, rc);
	if (rc == 0 && is_new && !w->broken)
		world_book_kept(w, &a->batch,
		    c->files.at[c->files.n - 1].number);
	world_saw(w,
	    rc == SIM_ELIMIT ? WORLD_NO_ROOM
		: rc < 0     ? WORLD_NOT_STORED
		: is_new     ? WORLD_TAKEN
			     : WORLD_KNOWN,
	    1);
}
