/* experiments/sweep/memory.c -- what memory a sweep takes at least, and what there is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MIB 1048576.0

/* Of the program itself, before it has read anything; a worker shares it. */
#define MEMORY_PROGRAM (12 * MIB)

/* Of a cell: its status, and its number in the list of those to do. */
enum { MEMORY_CELL = 1 + sizeof(uint64_t) };

/* --- what it takes -------------------------------------------------------- */

void xp_memory_of(struct xp_memory *m, const struct xp_spec *s,
    unsigned n_workers, unsigned shard_n)
{
	const double cells =
	    ceil((double)s->n_points * s->runs / (shard_n ? shard_n : 1));
	*m = (struct xp_memory){
	    .parent = MEMORY_PROGRAM + MEMORY_CELL * cells,
	    .worker = s->bytes,
	    .n_workers = cells < n_workers ? (unsigned)cells : n_workers,
	};
}

double xp_memory_all(const struct xp_memory *m)
{
	return m->parent + m->n_workers * m->worker;
}

const char *xp_memory_text(char buf[32], double bytes)
{
	if (bytes < 1024 * MIB)
		snprintf(buf, 32, "%.0f MiB", bytes / MIB);
	else
		snprintf(buf, 32, "%.1f GiB", bytes / MIB / 1024);
	return buf;
}

/* --- what there is -------------------------------------------------------- */

/* The number in the file ROOT/FOLDER/NAME. "max", and what version 1 has in its
 * place, is none. */
static double room_number(const char *root, const char *folder,
    const char *name, double otherwise)
{
	char path[4096];
	double n;
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/%s", root, folder,
	    name);
	FILE *f = fopen(path, "re");
	if (!f)
		return otherwise;
	const int read = fscanf(f, "%lf", &n);
	fclose(f);
	return read == 1 && n < 0x1p62 ? n : otherwise;
}

static void room_take(struct xp_room *r, double all, double used)
{
	const double now = all > used ? all - used : 0;
	r->all = all < r->all ? all : r->all;
	r->now = now < r->now ? now : r->now;
}

/* A cgroup and all that it lies in. In a container the path may be one of the host,
 * of which only the root is there to be read. */
static void room_cgroups(struct xp_room *r, const char *root,
    const char *controller, char *path)
{
	const int is_new = *controller == '\0';
	const char *const name[] = {is_new ? "memory.max"
					   : "memory.limit_in_bytes",
	    is_new ? "memory.current" : "memory.usage_in_bytes"};
	char folder[2048];
	for (;;) {
		snprintf(folder, sizeof(folder), "%s%s", controller, path);
		const double limit =
		    room_number(root, folder, name[0], INFINITY);
		/* With version 1 swap is limited together with memory, and what
		 * is limited alone may be swapped. */
		const double swap = is_new
		    ? room_number(root, folder, "memory.swap.max", INFINITY)
		    : INFINITY;
		if (limit < INFINITY)
			room_take(r, limit + (swap < r->swap ? swap : r->swap),
			    room_number(root, folder, name[1], 0));
		char *slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* Lines "4:memory:/a/b" of version 1, "0::/a/b" of version 2. */
static void room_all_cgroups(struct xp_room *r, const char *root)
{
	char path[4096], line[2048];
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, ':');
		char *at = name ? strchr(name + 1, ':') : NULL;
		if (!at)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (strcmp(name, ":memory") == 0)
			room_cgroups(r, root, "/memory", at);
		else if (strcmp(name, ":") == 0)
			room_cgroups(r, root, "", at);
	}
	if (f)
		fclose(f);
}

static void room_machine(struct xp_room *r, const char *root)
{
	static const char *const key[] = {"MemTotal:", "MemAvailable:",
	    "SwapTotal:", "SwapFree:"};
	double kib[4] = {INFINITY, INFINITY, 0, 0}, n;
	char path[4096], line[256], word[64];
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < 4; i++)
			if (sscanf(line, "%63s %lf", word, &n) == 2 &&
			    strcmp(word, key[i]) == 0)
				kib[i] = n;
	if (f)
		fclose(f);
	r->all = 1024 * (kib[0] + kib[2]);
	r->now = 1024 * (kib[1] + kib[3]);
	r->swap = 1024 * kib[2];
}

static double room_of_process(void)
{
	static const int what[] = {RLIMIT_AS, RLIMIT_DATA};
	double least = INFINITY;
	struct rlimit l;
	for (size_t i = 0; i < 2; i++)
		if (getrlimit(what[i], &l) == 0 && l.rlim_cur != RLIM_INFINITY)
			least = fmin(least, (double)l.rlim_cur);
	return least;
}

void xp_room_read(struct xp_room *r, const char *root)
{
	room_machine(r, root);
	room_all_cgroups(r, root);
	r->process = room_of_process();
}

/* --- both ----------------------------------------------------------------- */

int xp_memory_fits(const struct xp_memory *m, const struct xp_room *r,
    struct sim_err *e)
{
	char all[32], each[32], has[32], fewer[64] = "";
	const double most = m->parent > m->worker ? m->parent : m->worker;
	const double may =
	    m->worker > 0 ? floor((r->all - m->parent) / m->worker) : 0;
	xp_memory_text(all, xp_memory_all(m));
	xp_memory_text(each, m->worker);
	if (most > r->process)
		return sim_fail(e, SIM_ELIMIT,
		    "a process of this sweep takes %s of memory at least, and "
		    "may have %s (ulimit -v, ulimit -d); --yes tries it.",
		    xp_memory_text(each, most),
		    xp_memory_text(has, r->process));
	if (may >= 1 && may < m->n_workers)
		snprintf(fewer, sizeof(fewer), " No more than -j %.0f fit.",
		    may);
	if (xp_memory_all(m) > r->all)
		return sim_fail(e, SIM_ELIMIT,
		    "this sweep takes %s of memory at least, %s in each of %u "
		    "workers, and there are %s.%s --yes tries it.",
		    all, each, m->n_workers, xp_memory_text(has, r->all),
		    fewer);
	if (xp_memory_all(m) > r->now)
		return sim_fail(e, 1,
		    "this sweep takes %s of memory at least, %s in each of %u "
		    "workers, and %s are free now.",
		    all, each, m->n_workers, xp_memory_text(has, r->now));
	return 0;
}
