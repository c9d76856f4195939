/* experiments/millisampler/public_write.c -- runs in the published form, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <zlib.h>

#include "experiments/millisampler/public.h"
#include "results/file.h"

static uint32_t public_in(const struct obs_sample *s)
{
	return s->in_bytes;
}
static uint32_t public_out(const struct obs_sample *s)
{
	return s->out_bytes;
}
static uint32_t public_ce(const struct obs_sample *s)
{
	return s->in_ce;
}
static uint32_t public_in_retx(const struct obs_sample *s)
{
	return s->in_retx;
}
static uint32_t public_out_retx(const struct obs_sample *s)
{
	return s->out_retx;
}
static uint32_t public_conns(const struct obs_sample *s)
{
	return s->conns;
}

static const struct {
	const char *key;
	uint32_t (*of)(const struct obs_sample *s);
} public_out_keys[] = {
    {"ingressBytes", public_in},
    {"egressBytes", public_out},
    {"inCongestionExperiencedBytes", public_ce},
    {"inRxmitBytes", public_in_retx},
    {"outRxmitBytes", public_out_retx},
    {"connections", public_conns},
};

/* Quiet buckets have no row, but a number in the file. */
static json_t *public_array(uint32_t (*of)(const struct obs_sample *s),
    uint32_t n_buckets, const struct obs_samples *t, size_t from, size_t to)
{
	json_t *a = json_array();
	size_t i = from;
	int bad = !a;
	for (uint32_t b = 0; !bad && b < n_buckets; b++) {
		const int has = i < to && t->bucket[i] == b;
		uint32_t v = 0;
		if (has) {
			const struct obs_sample s = obs_samples_at(t, i++);
			v = of(&s);
		}
		bad = json_array_append_new(a, json_integer(v)) < 0;
	}
	if (!bad)
		return a;
	json_decref(a);
	return NULL;
}

static json_t *public_burst_array(const struct xp_public_bursts *b)
{
	json_t *a = json_array();
	int bad = !a;
	for (size_t i = 0; !bad && i < b->n; i++)
		bad = json_array_append_new(a,
			  json_pack("{sI sI}", "Position",
			      (json_int_t)b->first[i], "Length",
			      (json_int_t)b->n_buckets[i])) < 0;
	if (!bad)
		return a;
	json_decref(a);
	return NULL;
}

static json_t *public_object(const char *rack, const char *host,
    const struct obs_run *run, const struct obs_samples *t, size_t from,
    size_t to, const struct xp_public_bursts *b)
{
	char key[24];
	json_t *root = json_pack("{ss ss sI sI sI}", "rack_id", rack,
	    "server_hostname", host, "start_ns", (json_int_t)run->start_ns,
	    "width_ns", (json_int_t)run->width_ns, "line_bps",
	    (json_int_t)run->line_bps);
	int bad = !root;
	for (size_t k = 0;
	     !bad && k < sizeof(public_out_keys) / sizeof(public_out_keys[0]);
	     k++)
		bad = json_object_set_new(root, public_out_keys[k].key,
			  public_array(public_out_keys[k].of, run->n_buckets, t,
			      from, to)) < 0;
	snprintf(key, sizeof(key), "%" PRIu64, run->start_ns / 1000);
	if (!bad && b)
		bad = json_object_set_new(root, "burst_result",
			  json_pack("{s{so}}", "ingress", key,
			      public_burst_array(b))) < 0;
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

/* The same run gives the same bytes: no time and no name in gzip's header. */
static int public_put(const char *path, const char *text, struct sim_err *e)
{
	const size_t n = strlen(path);
	const int packs = n > 3 && strcmp(path + n - 3, ".gz") == 0;
	struct res_file_draft d;
	int rc = res_file_begin(&d, path, e);
	if (rc < 0)
		return rc;
	const int fd = res_file_hand(&d, e);
	if (fd < 0)
		return res_file_end(&d, fd, e);
	errno = 0;
	gzFile f = gzdopen(fd, packs ? "wb9" : "wbT");
	int good = f && gzputs(f, text) == (int)strlen(text);
	if (f)
		good &= gzclose(f) == Z_OK;
	else
		close(fd);
	if (!good)
		rc = sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    errno ? strerror(errno) : "it could not be packed");
	return res_file_end(&d, rc, e);
}

int xp_public_write(const char *path, const char *rack, const char *host,
    const struct obs_run *run, const struct obs_samples *t, size_t from,
    size_t to, const struct xp_public_bursts *b, struct sim_err *e)
{
	json_t *root = public_object(rack, host, run, t, from, to, b);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		return sim_fail(e, SIM_ENOMEM,
		    "%s: there is no memory, or a name is no UTF-8.", path);
	const int rc = public_put(path, text, e);
	free(text);
	return rc;
}
