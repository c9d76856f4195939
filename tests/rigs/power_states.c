/* tests/rigs/power_states.c -- what a disk may hold after each deed of a log.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <ftw.h>
#include <limits.h>

#include "sim/bytes.h"
#include "tests/rigs/power.h"
#include "tests/rigs/power_parts.h"
#include "tests/test.h"

enum { SECTOR = 512 };

/* What lost parts may hold. */
static struct {
	const unsigned char *bytes;
	size_t n;
} stale;

void power_stale(const unsigned char *bytes, size_t n)
{
	stale.bytes = bytes;
	stale.n = n;
}

/* What one loss of power keeps, of the first N_OPS deeds. */
struct loss {
	size_t n_ops;
	size_t n_names; /* the deeds of names before this one are kept */
	unsigned char kept[MAX_OPS]; /* of writes and cuts */
	int is_stale;                /* what is lost holds old bytes */
};

enum kept { LOST, KEPT, TORN, LENGTH_ALONE, N_KEPT };

static int is_of_names(const struct op *o)
{
	return o->deed >= DEED_FOLDER && o->deed <= DEED_REMOVE;
}

static int is_of_bytes(const struct op *o)
{
	return o->deed == DEED_WRITE || o->deed == DEED_CUT;
}

/* Is the folder of NAME the one called FOLDER? */
static int is_in(const char *name, const char *folder)
{
	const char *slash = strrchr(name, '/');
	const size_t n = slash ? (size_t)(slash - name) : 0;
	return strlen(folder) == n && strncmp(name, folder, n) == 0;
}

/* The deeds of names before the one returned are on disk by an fsync. */
static size_t names_are_kept(size_t n_ops)
{
	size_t kept = 0;
	for (size_t s = 0; s < n_ops; s++)
		for (size_t i = kept;
		     power_log->op[s].deed == DEED_SYNC_NAMES && i < s; i++)
			if (is_of_names(&power_log->op[i]) &&
			    is_in(power_log->op[i].name, power_log->op[s].name))
				kept = i + 1;
	return kept;
}

/* The deeds that an fsync before N_OPS has not yet put on disk -> AT; how many. */
static size_t deeds_at_risk(size_t n_ops, size_t at[])
{
	size_t n = 0;
	for (size_t i = 0; i < n_ops; i++) {
		size_t s = i + 1;
		if (!is_of_bytes(&power_log->op[i]))
			continue;
		while (s < n_ops &&
		    !(power_log->op[s].deed == DEED_SYNC &&
			power_log->op[s].file == power_log->op[i].file))
			s++;
		if (s >= n_ops)
			at[n++] = i;
	}
	return n;
}

struct content {
	unsigned char *bytes;
	uint64_t n;
};

static void content_grow(struct content *c, uint64_t n, int is_stale)
{
	if (n <= c->n)
		return;
	c->bytes = realloc(c->bytes, n);
	for (uint64_t i = c->n; i < n; i++)
		c->bytes[i] = is_stale && i < stale.n ? stale.bytes[i] : 0;
	c->n = n;
}

/* Of a torn write every other sector is lost, from the first or the second on,
 * by where it stands in the log. */
static void content_apply(struct content *c, const struct op *o, size_t index,
    enum kept kept, int is_stale)
{
	if (kept == LOST)
		return;
	if (o->deed == DEED_CUT && o->at <= c->n) {
		c->n = o->at;
		return;
	}
	content_grow(c, o->at + (o->deed == DEED_CUT ? 0 : o->n), is_stale);
	for (uint64_t i = 0; kept != LENGTH_ALONE && i < o->n; i++)
		if (kept == KEPT || ((o->at + i) / SECTOR + index) % 2)
			c->bytes[o->at + i] = o->bytes[i];
}

/* What is left: of each name its file, FOLDER, or none. */
enum { NONE = -1, FOLDER = -2 };
struct left {
	struct content content[MAX_FILES];
	const char *name[MAX_FILES];
	int file[MAX_FILES];
	size_t n_names;
};

static int *left_find(struct left *left, const char *name)
{
	for (size_t i = 0; i < left->n_names; i++)
		if (strcmp(left->name[i], name) == 0)
			return &left->file[i];
	assert(left->n_names < MAX_FILES);
	left->name[left->n_names] = name;
	left->file[left->n_names] = NONE;
	return &left->file[left->n_names++];
}

static void left_rename(struct left *left, const struct op *o)
{
	int file = o->deed == DEED_FOLDER ? FOLDER
	    : o->deed == DEED_LINK        ? o->file
					  : NONE;
	if (o->old) {
		int *old = left_find(left, o->old);
		file = *old;
		*old = NONE;
	}
	*left_find(left, o->name) = file;
}

static void left_free(struct left *left)
{
	for (int i = 0; i < power_log->n_files; i++)
		free(left->content[i].bytes);
}

/* To be freed. */
static void left_after(struct left *left, const struct loss *l)
{
	memset(left, 0, sizeof(*left));
	for (size_t i = 0; i < l->n_ops; i++) {
		const struct op *o = &power_log->op[i];
		if (is_of_bytes(o))
			content_apply(&left->content[o->file], o, i, l->kept[i],
			    l->is_stale);
		else if (is_of_names(o) && i < l->n_names)
			left_rename(left, o);
	}
}

static uint64_t left_hash(const struct left *left)
{
	uint64_t h = SIM_FNV_START;
	for (size_t i = 0; i < left->n_names; i++) {
		const int file = left->file[i];
		h = sim_fnv(h, left->name[i], strlen(left->name[i]) + 1);
		h = sim_fnv(h, &file, sizeof(file));
		if (file >= 0)
			h = sim_fnv(h, left->content[file].bytes,
			    left->content[file].n);
	}
	return h;
}

/* A folder comes before what is in it, as its name is older. */
static void left_make(const struct left *left, const char *at)
{
	for (size_t i = 0; i < left->n_names; i++) {
		char path[PATH_MAX];
		const int file = left->file[i];
		snprintf(path, sizeof(path), "%s/%s", at, left->name[i]);
		if (file == FOLDER)
			assert_int_equal(__real_mkdir(path, 0777), 0);
		if (file < 0)
			continue;
		const struct content *c = &left->content[file];
		const int fd =
		    __real_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
		assert_true(fd >= 0);
		if (c->n > 0)
			assert_int_equal(__real_write(fd, c->bytes, c->n),
			    c->n);
		__real_close(fd);
	}
}

/* What the number TRY keeps of the deeds at risk: all of them first, none, each
 * alone lost, each alone torn, each alone by its length; then by chance. */
static void loss_choose(struct loss *l, const size_t risk[], size_t n,
    unsigned try, struct sim_rng *r)
{
	memset(l->kept, KEPT, sizeof(l->kept));
	l->is_stale = stale.bytes && try % 2;
	const unsigned k = stale.bytes ? try / 2 : try;
	if (k == 0 || n == 0)
		return;
	for (size_t i = 0; k == 1 && i < n; i++)
		l->kept[risk[i]] = LOST;
	if (k == 1)
		return;
	if (k < 2 + 3 * n) {
		const enum kept how[3] = {LOST, TORN, LENGTH_ALONE};
		l->kept[risk[(k - 2) / 3]] = (unsigned char)how[(k - 2) % 3];
		return;
	}
	for (size_t i = 0; i < n; i++)
		l->kept[risk[i]] = (unsigned char)sim_rng_below(r, N_KEPT);
}

/* Without deeds at risk there is one state, but for the names. */
static unsigned loss_tries(size_t n, unsigned max)
{
	const unsigned sides = stale.bytes ? 2 : 1;
	if (n == 0)
		return 1;
	const size_t all =
	    sides * (2 + 3 * n + (n > 1 ? (size_t)1 << (n < 6 ? n : 6) : 0));
	return all < max ? (unsigned)all : max;
}

static int remove_one(const char *path, const struct stat *st, int type,
    struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level == 0 ? 0 : remove(path);
}

/* States that were looked at, by their hash; one that looks like another is not
 * looked at, which two in 2^64 / TRIED do for no reason. */
enum { TRIED = 1 << 18 };
static uint64_t tried[TRIED];

static int is_new(uint64_t hash)
{
	size_t at = hash % TRIED;
	hash |= hash == 0;
	while (tried[at] != 0 && tried[at] != hash)
		at = (at + 1) % TRIED;
	if (tried[at] == hash)
		return 0;
	tried[at] = hash;
	return 1;
}

static uint64_t promised_at(size_t n_ops)
{
	for (size_t i = n_ops; i-- > 0;)
		if (power_log->op[i].deed == DEED_PROMISE)
			return power_log->op[i].at;
	return 0;
}

/* Returns 1 if the state was not looked at before. */
static unsigned look_at(const struct loss *l, const char *at, power_look *look,
    void *arg)
{
	static struct left left;
	const uint64_t n = promised_at(l->n_ops);
	left_after(&left, l);
	const int new = is_new(sim_fnv(left_hash(&left), &n, sizeof(n)));
	if (new) {
		left_make(&left, at);
		look(at, n, arg);
		assert_int_equal(nftw(at, remove_one, 8, FTW_DEPTH | FTW_PHYS),
		    0);
	}
	left_free(&left);
	return (unsigned)new;
}

/* The end of the next deed of names from deed I on, or N_OPS. */
static size_t names_next(size_t i, size_t n_ops)
{
	while (i < n_ops && !is_of_names(&power_log->op[i]))
		i++;
	return i < n_ops ? i + 1 : n_ops;
}

/* All states of one moment, but for the names. */
static unsigned replay_bytes(struct loss *l, const char *at, unsigned max,
    power_look *look, void *arg)
{
	static size_t risk[MAX_OPS];
	const size_t n = deeds_at_risk(l->n_ops, risk);
	const unsigned tries = loss_tries(n, max);
	unsigned n_new = 0;
	struct sim_rng r;
	test_rng(&r, (uint32_t)l->n_ops);
	for (unsigned i = 0; i < tries; i++) {
		loss_choose(l, risk, n, i, &r);
		n_new += look_at(l, at, look, arg);
	}
	return n_new;
}

static struct {
	unsigned k, from;
} every = {1, 0};

void power_every(unsigned k, uint32_t seed)
{
	every.k = k;
	every.from = seed % k;
}

uint64_t power_replay(const char *at, unsigned max, power_look *look, void *arg)
{
	static struct loss l;
	uint64_t n = 0;
	memset(tried, 0, sizeof(tried));
	for (l.n_ops = every.from; l.n_ops <= power_log->n;
	     l.n_ops += every.k) {
		l.n_names = names_are_kept(l.n_ops);
		n += replay_bytes(&l, at, max, look, arg);
		while (names_next(l.n_names, l.n_ops) > l.n_names) {
			l.n_names = names_next(l.n_names, l.n_ops);
			n += replay_bytes(&l, at, max, look, arg);
		}
	}
	return n;
}
