/* experiments/millisampler/public_read.c -- published runs, read by jansson.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <zlib.h>

#include "experiments/millisampler/public.h"
#include "sim/input.h"

enum { PUBLIC_MAX_BYTES = 64 << 20 };

int xp_public_is_built_in(void)
{
	return 1;
}

/* --- bytes ------------------------------------------------------------------*/

struct public_source {
	gzFile file;
	size_t n;
	int failed; /* zlib's code */
	int too_long;
};

/* Files that unpack to more than any run can be are not read to their end. */
static size_t public_bytes(void *buffer, size_t n, void *arg)
{
	struct public_source *s = arg;
	const int got = gzread(s->file, buffer, (unsigned)n);
	if (got < 0) {
		gzerror(s->file, &s->failed);
		return (size_t)-1;
	}
	s->n += (size_t)got;
	if (s->n > PUBLIC_MAX_BYTES) {
		s->too_long = 1;
		return (size_t)-1;
	}
	return (size_t)got;
}

/* jansson drops the digit of a number that it has no memory for, and goes on: what
 * it asks for in vain is noted here. */
static _Thread_local int public_no_memory;

static void *public_alloc(size_t n)
{
	void *p = malloc(n);
	if (!p)
		public_no_memory = 1;
	return p;
}

static json_t *public_load(struct public_source *s, json_error_t *why)
{
	json_malloc_t was;
	json_free_t was_free;
	json_get_alloc_funcs(&was, &was_free);
	json_set_alloc_funcs(public_alloc, free);
	public_no_memory = 0;
	json_t *root =
	    json_load_callback(public_bytes, s, JSON_REJECT_DUPLICATES, why);
	json_set_alloc_funcs(was, was_free);
	return root;
}

/* Why PATH could not be read, if it is not for what is in it. Of a file that is
 * wrong jansson has a word; it has none where its own first bytes are missing. */
static int public_failed(const struct public_source *s, const char *path,
    const json_error_t *why, struct sim_err *e)
{
	if (s->failed == Z_MEM_ERROR || public_no_memory ||
	    json_error_code(why) == json_error_out_of_memory ||
	    (!s->failed && !s->too_long && !*why->text))
		return sim_fail(e, SIM_ENOMEM, "there is no memory for %s.",
		    path);
	return s->failed == Z_ERRNO
	    ? sim_fail(e, SIM_EIO, "cannot read %s: %s.", path,
		  sim_input_said(gzerror(s->file, &(int){0})))
	    : 0;
}

/* What is in it, in words. */
static void public_say(struct xp_public *p, const struct public_source *s,
    const json_error_t *why)
{
	if (s->failed)
		snprintf(p->said, sizeof(p->said), "%s",
		    sim_input_said(gzerror(s->file, &(int){0})));
	else if (s->too_long)
		snprintf(p->said, sizeof(p->said), "it goes on behind 64 MiB");
	else
		snprintf(p->said, sizeof(p->said), "line %d: %s", why->line,
		    why->text);
}

/* jansson takes what fails for the end, so it may find all whole. */
static json_t *public_json(struct xp_public *p, const char *path,
    struct sim_err *e, int *rc)
{
	struct public_source s = {0};
	json_error_t why = {0};
	const char *not_read;
	const int fd = sim_input_fd(path, &not_read);
	*rc = 0;
	if (fd < 0) {
		*rc =
		    sim_fail(e, SIM_EIO, "cannot read %s: %s.", path, not_read);
		return NULL;
	}
	if (!(s.file = gzdopen(fd, "rb"))) {
		close(fd);
		*rc = sim_fail(e, errno == ENOMEM ? SIM_ENOMEM : SIM_EIO,
		    "cannot read %s: %s.", path, strerror(errno));
		return NULL;
	}
	json_t *root = public_load(&s, &why);
	if (s.failed || s.too_long || public_no_memory) {
		json_decref(root);
		root = NULL;
	}
	if (!root) {
		*rc = public_failed(&s, path, &why, e);
		public_say(p, &s, &why);
	}
	gzclose(s.file);
	return root;
}

/* --- what it says -----------------------------------------------------------*/

/* A text, or a number as a text. One that is too long is none: cut, it could be
 * another's. */
static int public_name(const json_t *root, const char *key,
    struct sim_name *name)
{
	const json_t *v = json_object_get(root, key);
	const size_t n = json_string_length(v);
	if (json_is_string(v) && n > 0 && n < sizeof(name->text))
		memcpy(name->text, json_string_value(v), n + 1);
	else if (json_is_integer(v))
		snprintf(name->text, sizeof(name->text),
		    "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		return 0;
	return 1;
}

/* A count of up to 32 bits; some are given as reals. */
static int public_count(const json_t *v, uint32_t *n)
{
	if (!json_is_number(v))
		return 0;
	const double x = json_number_value(v);
	if (!(x >= 0) || x > UINT32_MAX)
		return 0;
	*n = (uint32_t)lround(x);
	return 1;
}

static uint64_t public_u64(const json_t *root, const char *key, uint64_t none)
{
	const json_t *v = json_object_get(root, key);
	return json_is_integer(v) && json_integer_value(v) > 0
	    ? (uint64_t)json_integer_value(v)
	    : none;
}

/* The series, in the order of the struct below. */
static const char *const public_keys[] = {"ingressBytes", "egressBytes",
    "inCongestionExperiencedBytes", "inRxmitBytes", "outRxmitBytes",
    "connections"};
enum { PUBLIC_SERIES = sizeof(public_keys) / sizeof(public_keys[0]) };

/* Counts cannot be parts of less; what a file has beyond is cut and told. */
static uint32_t public_cut(uint32_t *part, uint32_t whole)
{
	if (*part <= whole)
		return 0;
	*part = whole;
	return 1;
}

static int public_bucket(struct xp_public *p, const json_t *const series[],
    size_t i, int *is_odd, struct sim_err *e)
{
	uint32_t v[PUBLIC_SERIES] = {0};
	for (unsigned k = 0; k < PUBLIC_SERIES; k++)
		if (series[k] &&
		    !public_count(json_array_get(series[k], i), &v[k])) {
			*is_odd = 1;
			return 0;
		}
	struct obs_sample s = {.bucket = (uint32_t)i,
	    .in_bytes = v[0],
	    .out_bytes = v[1],
	    .in_ce = v[2],
	    .in_retx = v[3],
	    .out_retx = v[4],
	    .conns = v[5]};
	p->n_cut += public_cut(&s.in_ce, s.in_bytes) |
	    public_cut(&s.in_retx, s.in_bytes) |
	    public_cut(&s.out_retx, s.out_bytes);
	return s.in_bytes | s.out_bytes | s.conns
	    ? obs_samples_add(&p->samples, &s, e)
	    : 0;
}

static int public_series(struct xp_public *p, const json_t *root, int *is_odd,
    struct sim_err *e)
{
	const json_t *series[PUBLIC_SERIES];
	for (unsigned k = 0; k < PUBLIC_SERIES; k++)
		series[k] = json_object_get(root, public_keys[k]);
	const size_t n = json_array_size(series[0]);
	*is_odd = n == 0 || n > XP_PUBLIC_MAX_BUCKETS;
	for (unsigned k = 0; k < PUBLIC_SERIES; k++)
		*is_odd |= series[k] &&
		    (!json_is_array(series[k]) ||
			json_array_size(series[k]) != n);
	p->run.n_buckets = (uint32_t)n;
	int rc = 0;
	for (size_t i = 0; rc == 0 && !*is_odd && i < n; i++)
		rc = public_bucket(p, series, i, is_odd, e);
	return rc;
}

static int public_burst(struct xp_public *p, const json_t *entry,
    struct sim_err *e)
{
	struct xp_public_burst b;
	if (!public_count(json_object_get(entry, "Position"), &b.first) ||
	    !public_count(json_object_get(entry, "Length"), &b.n_buckets)) {
		p->n_odd++;
		return 0;
	}
	return xp_public_bursts_add(&p->bursts, &b, e);
}

/* A key is the time in us at which the run began. */
static void public_start(struct xp_public *p, const char *key)
{
	char *end;
	errno = 0;
	const uint64_t us = strtoull(key, &end, 10);
	if (errno == 0 && end != key && !*end &&
	    us < (UINT64_C(1) << 62) / 1000)
		p->run.start_ns = us * 1000;
}

static int public_burst_list(struct xp_public *p, json_t *root,
    struct sim_err *e)
{
	json_t *ingress =
	    json_object_get(json_object_get(root, "burst_result"), "ingress");
	const char *key;
	json_t *list, *entry;
	size_t i;
	int rc = 0;
	p->has_bursts = json_is_object(ingress);
	json_object_foreach(ingress, key, list)
	{
		public_start(p, key);
		json_array_foreach(list, i, entry)
		{
			if (rc == 0)
				rc = public_burst(p, entry, e);
		}
	}
	return rc;
}

int xp_public_read(struct xp_public *p, const char *path, uint64_t width_ns,
    uint64_t line_bps, enum xp_public_end *end, struct sim_err *e)
{
	int rc, is_odd = 0;
	obs_samples_clear(&p->samples);
	xp_public_bursts_clear(&p->bursts);
	*p = (struct xp_public){.samples = p->samples, .bursts = p->bursts};
	json_t *root = public_json(p, path, e, &rc);
	*end = XP_PUBLIC_NO_JSON;
	if (!root)
		return rc;
	p->run.width_ns = public_u64(root, "width_ns", width_ns);
	p->run.line_bps = public_u64(root, "line_bps", line_bps);
	p->freq = json_number_value(json_object_get(root, "sampling_freq"));
	if (!public_name(root, "rack_id", &p->rack) ||
	    !public_name(root, "server_hostname", &p->host))
		*end = XP_PUBLIC_NO_HOST;
	else if (!json_object_get(root, "ingressBytes"))
		*end = XP_PUBLIC_NO_INGRESS;
	else if ((rc = public_series(p, root, &is_odd, e)) == 0 &&
	    (rc = public_burst_list(p, root, e)) == 0)
		*end = is_odd ? XP_PUBLIC_ODD_SERIES : XP_PUBLIC_TAKEN;
	/* Ours say it to the nanosecond. */
	p->run.start_ns = public_u64(root, "start_ns", p->run.start_ns);
	/* Times that no clock tells, of which no end could be told either. */
	if (*end == XP_PUBLIC_TAKEN &&
	    (p->run.width_ns >> 40 || p->run.start_ns >> 62))
		*end = XP_PUBLIC_ODD_TIME;
	json_decref(root);
	return rc;
}
