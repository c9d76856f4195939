/* results/sample_stores.c -- folders of hosts' samples, read as one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sample_stores.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/sample_store.h"
#include "sim/sort.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { SAID = 512 };

struct stores_file {
	char *dir; /* NULL: that of the file before */
	char name[RES_SEGMENT_NAME];
};

struct stores_place {
	struct obs_run run;
	uint64_t at;
	uint32_t file, n_bytes; /* of the record, with its head */
};

struct res_stores {
	struct stores_file *file;
	struct stores_place *place; /* [runs], by time */
	size_t n_files, cap_files, n_places, cap_places;
	size_t n_damaged, n_torn; /* places; bytes */
	char first_damage[SAID / 2], said[SAID];
	unsigned char record[RES_RECORD_MAX], scratch[RES_RECORD_RAW_MAX];
};

/* --- one file ------------------------------------------------------------- */

/* The first is named, the others are counted. */
static void stores_damaged(struct res_stores *s, const char *dir,
    const char *name, size_t at)
{
	if (s->n_damaged++ == 0)
		snprintf(s->first_damage, sizeof(s->first_damage),
		    "%.120s/%.64s at byte %zu", dir, name, at);
}

static int stores_add_run(struct res_stores *s, uint32_t host,
    const struct res_record *r, size_t at, struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&s->place, &s->cap_places, s->n_places + 1, e);
	if (rc < 0)
		return rc;
	struct stores_place *p = &s->place[s->n_places++];
	*p = (struct stores_place){.run = r->run,
	    .at = at,
	    .file = (uint32_t)(s->n_files - 1),
	    .n_bytes = RES_RECORD_HEAD_BYTES + r->n_bytes};
	p->run.host = host;
	return 0;
}

static int stores_scan(struct res_stores *s, const char *dir, const char *name,
    uint32_t host, const unsigned char *bytes, size_t n, struct sim_err *e)
{
	size_t at = RES_RECORD_FILE_BYTES, began;
	struct res_record r;
	int rc = 0;
	for (;;) {
		switch (res_record_next(bytes, n, &at, &began, &r)) {
		case RES_RECORD_END:
			return 0;
		case RES_RECORD_TORN:
			s->n_torn += n - began;
			return 0;
		case RES_RECORD_DAMAGED:
			stores_damaged(s, dir, name, began);
			break;
		case RES_RECORD_MORE:
			if ((rc = stores_add_run(s, host, &r, began, e)) < 0)
				return rc;
		}
	}
}

static int stores_add_file(struct res_stores *s, const char *dir, int is_first,
    const char *name, struct sim_err *e)
{
	int rc = SIM_RESERVE(&s->file, &s->cap_files, s->n_files + 1, e);
	if (rc < 0)
		return rc;
	struct stores_file *f = &s->file[s->n_files++];
	*f = (struct stores_file){0};
	memcpy(f->name, name, strlen(name) + 1);
	return is_first ? sim_dup(&f->dir, dir, e) : 0;
}

/* A file that was taken away since it was listed was too old, and so were those
 * before it, from place FIRST on: between what is left there are no gaps. WHO is as
 * of the newest file, the last one that is read. */
static int stores_file(struct res_stores *s, int dir_fd, const char *dir,
    const char *name, uint32_t host, size_t first, struct res_record_host *who,
    struct sim_err *e)
{
	unsigned char *bytes = NULL;
	size_t n;
	int rc = res_store_read(dir_fd, dir, name, &bytes, &n, e);
	if (rc == SIM_EIO && faccessat(dir_fd, name, F_OK, 0) < 0) {
		s->n_places = first;
		return 0;
	}
	if (rc == 0 && n < RES_RECORD_FILE_BYTES)
		s->n_torn += n;
	else if (rc == 0 && (rc = res_record_get_file(bytes, n, who, e)) == 0)
		rc = stores_scan(s, dir, name, host, bytes, n, e);
	else if (rc == SIM_EPARSE) {
		stores_damaged(s, dir, name, 0);
		rc = 0;
	} else
		sim_wrap(e, rc, "cannot read %s/%s", dir, name);
	free(bytes);
	return rc;
}

/* --- folders -------------------------------------------------------------- */

/* Two folders may have files of one name, as of two interfaces of a host. */
static void stores_name(const struct res_hosts *hosts, const char *dir,
    struct sim_name *name)
{
	const char *slash = strrchr(dir, '/');
	const char *folder = slash && slash[1] ? slash + 1 : dir;
	char plain[sizeof(name->text)];
	memcpy(plain, name->text, sizeof(plain));
	for (size_t i = 0; i < hosts->n; i++)
		if (strcmp(hosts->name[i].text, plain) == 0)
			snprintf(name->text, sizeof(name->text), "%.31s@%.31s",
			    plain, folder);
}

static int stores_read_files(struct res_stores *s, int fd, const char *dir,
    struct dirent *const found[], int n, struct res_hosts *hosts,
    struct sim_err *e)
{
	struct res_record_host who = {.name = "?", .rack = UINT32_MAX};
	struct res_host h = {.host = (uint32_t)hosts->n};
	const size_t first = s->n_places;
	int rc = 0;
	for (int i = 0; rc == 0 && i < n; i++)
		if ((rc = stores_add_file(s, dir, i == 0, found[i]->d_name,
			 e)) == 0)
			rc = stores_file(s, fd, dir, found[i]->d_name, h.host,
			    first, &who, e);
	if (rc < 0)
		return rc;
	memcpy(h.name.text, who.name, sizeof(h.name.text));
	h.rack = who.rack;
	stores_name(hosts, dir, &h.name);
	return res_hosts_add(hosts, &h, e);
}

static int stores_folder(struct res_stores *s, int fd, const char *dir,
    struct res_hosts *hosts, struct sim_err *e)
{
	struct dirent **found;
	const int n = res_segments_list(fd, &res_store_kind, &found);
	int rc = n >= 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot read %s: %s.", dir, strerror(errno));
	if (n > 0)
		rc = stores_read_files(s, fd, dir, found, n, hosts, e);
	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	return rc;
}

static int stores_within(struct res_stores *s, int at, const char *path,
    const char *name, struct res_hosts *hosts, struct sim_err *e)
{
	char *dir;
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ENOENT))
		return 0;
	const size_t n = strlen(path) + strlen(name) + 2;
	int rc = sim_zalloc(&dir, n, 1, e);
	if (rc == 0) {
		snprintf(dir, n, "%s/%s", path, name);
		rc = fd < 0 ? sim_fail(e, SIM_EIO, "cannot read %s: %s.", dir,
				  strerror(errno))
			    : stores_folder(s, fd, dir, hosts, e);
	}
	free(dir);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int stores_read(struct res_stores *s, const char *path,
    struct res_hosts *hosts, struct sim_err *e)
{
	struct dirent **found = NULL;
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int n = fd < 0 ? -1 : scandirat(fd, ".", &found, NULL, alphasort);
	int rc = n >= 0 ? stores_folder(s, fd, path, hosts, e)
			: sim_fail(e, SIM_EIO, "cannot read %s: %s.", path,
			      strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0 && found[i]->d_name[0] != '.')
			rc = stores_within(s, fd, path, found[i]->d_name, hosts,
			    e);
		free(found[i]);
	}
	free(found);
	if (fd >= 0)
		close(fd);
	return rc < 0 || hosts->n > 0
	    ? rc
	    : sim_fail(e, SIM_EPARSE,
		  "%s has no samples: neither files such as "
		  "samples-20260203-0001.cpms nor folders of them.",
		  path);
}

/* --- opening -------------------------------------------------------------- */

static int stores_by_time(const void *a, const void *b)
{
	const struct stores_place *x = a, *y = b;
	if (x->run.start_ns != y->run.start_ns)
		return SIM_ORDER(x->run.start_ns, y->run.start_ns);
	if (x->file != y->file)
		return SIM_ORDER(x->file, y->file);
	return (x->at > y->at) - (x->at < y->at);
}

static int stores_order(struct res_stores *s, struct obs_runs *runs,
    struct sim_err *e)
{
	int rc = obs_runs_reserve(runs, s->n_places, e);
	if (s->n_places > 0)
		qsort(s->place, s->n_places, sizeof(*s->place), stores_by_time);
	for (size_t i = 0; rc == 0 && i < s->n_places; i++)
		rc = obs_runs_add(runs, &s->place[i].run, e);
	return rc;
}

static void stores_rack(struct res_hosts *hosts)
{
	uint32_t next = 0;
	for (size_t i = 0; i < hosts->n; i++)
		if (hosts->rack[i] != UINT32_MAX && hosts->rack[i] >= next)
			next = hosts->rack[i] + 1;
	for (size_t i = 0; i < hosts->n; i++)
		if (hosts->rack[i] == UINT32_MAX)
			hosts->rack[i] = next;
}

static void stores_say(struct res_stores *s)
{
	struct sim_text t = {.buf = s->said, .size = sizeof(s->said)};
	if (s->n_damaged > 0)
		sim_put(&t, "%zu damaged place%s left out, the first in %s",
		    s->n_damaged, s->n_damaged == 1 ? " is" : "s are",
		    s->first_damage);
	if (s->n_torn > 0)
		sim_put(&t,
		    "%s%zu bytes at ends of files are of runs not whole",
		    t.n > 0 ? "; " : "", s->n_torn);
}

int res_stores_open(struct res_stores **out, const char *path,
    struct obs_runs *runs, struct res_hosts *hosts, struct sim_err *e)
{
	struct res_stores *s = NULL;
	int rc = SIM_ZALLOC(&s, 1, e);
	*out = s;
	if (rc < 0 || (rc = stores_read(s, path, hosts, e)) < 0 ||
	    (rc = stores_order(s, runs, e)) < 0)
		return rc;
	stores_rack(hosts);
	stores_say(s);
	return 0;
}

void res_stores_close(struct res_stores *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++)
		free(s->file[i].dir);
	free(s->file);
	free(s->place);
	free(s);
}

const char *res_stores_said(const struct res_stores *s)
{
	return *s->said ? s->said : NULL;
}

/* --- loading -------------------------------------------------------------- */

/* The record's bytes, which must be as they were. */
static int stores_fetch(struct res_stores *s, const struct stores_place *p,
    const char *dir, const char *name, struct sim_err *e)
{
	char *path;
	const size_t n = strlen(dir) + strlen(name) + 2;
	int rc = sim_zalloc(&path, n, 1, e);
	if (rc < 0)
		return rc;
	snprintf(path, n, "%s/%s", dir, name);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		rc = sim_fail(e, SIM_EIO,
		    "%s has become too old and was taken away while it was "
		    "read; try again.",
		    path);
	else if (fd < 0 ||
	    pread(fd, s->record, p->n_bytes, (off_t)p->at) != p->n_bytes)
		rc = sim_fail(e, SIM_EIO, "cannot read %s: %s.", path,
		    fd < 0 ? strerror(errno) : "it has changed");
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

int res_stores_load(struct res_stores *s, size_t i, struct obs_samples *t,
    struct sim_err *e)
{
	const struct stores_place *p = &s->place[i];
	const struct stores_file *f = &s->file[p->file];
	size_t at = 0, began, of = p->file;
	struct res_record r;
	while (!s->file[of].dir)
		of--;
	const char *dir = s->file[of].dir;
	int rc = stores_fetch(s, p, dir, f->name, e);
	if (rc < 0)
		return rc;
	if (res_record_next(s->record, p->n_bytes, &at, &began, &r) !=
	    RES_RECORD_MORE)
		return sim_fail(e, SIM_EPARSE,
		    "%s/%s has changed at byte %" PRIu64 ".", dir, f->name,
		    p->at);
	rc = res_record_get(s->record + RES_RECORD_HEAD_BYTES, &r, (uint32_t)i,
	    t, s->scratch, e);
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s/%s, byte %" PRIu64, dir,
			    f->name, p->at)
		      : 0;
}
