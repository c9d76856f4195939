/* experiments/plug/plug.c -- algorithms from outside the tree, as algo_ops.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/plug.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/plug/way.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

struct plug {
	const struct plug_way *way;
	char *text, *folder;
	struct plug_source source;
	size_t number;
	struct plug_about about;
	struct algo_ops ops;
	void *host; /* the way's */
	uint64_t n_opens, n_asked;
	struct sim_err failed; /* code 0: it was described well */
};

struct plug_set {
	char *folder;
	size_t n, cap;
	struct plug **plug;
};

/* Of one algorithm on one network: behind its parameters. */
struct plug_state {
	const struct topo *t;
	uint64_t id;
	void *way; /* the way's */
	struct plug_seen seen;
	struct algo_verdicts first; /* what it said before it was asked twice */
};

/* --- what it is made of ----------------------------------------------------- */

/* Of its own name and its bytes: where it lies does not matter. 0: no such file. */
static uint64_t plug_hash_file(const char *folder, const char *name)
{
	const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name;
	char path[4096];
	unsigned char block[4096];
	uint64_t hash = SIM_FNV_START;
	struct stat st;
	size_t n;
	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : folder, name);
	/* A word that is no file is an option, say. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	hash = sim_fnv(hash, own, strlen(own) + 1);
	FILE *f = fopen(path, "rb");
	while (f && (n = fread(block, 1, sizeof(block), f)) > 0)
		hash = sim_fnv(hash, block, n);
	if (f)
		fclose(f);
	return hash;
}

int plug_source_hash(const struct plug_source *s, uint64_t *hash,
    struct sim_err *e)
{
	const char *blanks = s->is_command ? " \t\n" : "";
	uint64_t one, told = 0;
	char *copy, *rest;
	int rc = sim_dup(&copy, s->text, e);
	if (rc < 0)
		return rc;
	*hash = sim_fnv(SIM_FNV_START, copy, strlen(copy));
	rest = copy;
	for (char *word; (word = strtok_r(rest, blanks, &rest));) {
		one = plug_hash_file(s->folder, word);
		*hash = sim_fnv(*hash, &one, sizeof(one));
	}
	/* They are told in the order of their paths, or in which they were
	 * loaded; a sum has none. */
	for (size_t i = 0; i < s->about->n_files; i++)
		told += plug_hash_file(s->folder, s->about->file[i]);
	*hash = sim_fnv(*hash, &told, sizeof(told));
	free(copy);
	return 0;
}

int plug_source_check(const struct plug_source *s, struct sim_err *e)
{
	uint64_t now;
	const int rc = plug_source_hash(s, &now, e);
	if (rc == 0 && now != s->hash)
		return sim_fail(e, SIM_EDEP,
		    "it is another program than when this began.");
	return rc;
}

/* --- asking ------------------------------------------------------------------ */

static struct plug *plug_of(void *work)
{
	return ((struct plug_params *)work)->plug;
}

static struct plug_state *plug_state(void *work)
{
	return (void *)((char *)work + plug_of(work)->about.params_size);
}

static int plug_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct plug *p = plug_of(work);
	if (!p)
		return sim_fail(e, SIM_EINVAL,
		    "an algorithm from outside has no defaults.");
	struct plug_state *s = plug_state(work);
	s->t = t;
	s->id = ++p->n_opens;
	return SIM_ZALLOC(&s->seen.seen, t->n_links + t->n_switches, e);
}

static void plug_close(void *work)
{
	struct plug *p = plug_of(work);
	if (!p)
		return;
	struct plug_state *s = plug_state(work);
	p->way->forget(p->host, s->way);
	free(s->seen.seen);
	algo_verdicts_free(&s->first);
}

static int plug_same(const struct algo_verdicts *a,
    const struct algo_verdicts *b)
{
	return a->n == b->n && a->n_flagged == b->n_flagged &&
	    a->n_flows == b->n_flows &&
	    (a->n == 0 ||
		(memcmp(a->link, b->link, a->n * sizeof(a->link[0])) == 0 &&
		    memcmp(a->score, b->score, a->n * sizeof(a->score[0])) ==
			0)) &&
	    (a->n_flows == 0 ||
		memcmp(a->blame, b->blame, a->n_flows * sizeof(a->blame[0])) ==
		    0);
}

static int plug_audit(struct plug *p, const struct plug_ask *q,
    struct plug_state *s, struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_verdicts first = s->first;
	/* The first answer is put aside, and OUT gets the second. */
	s->first = *out;
	*out = first;
	int rc = p->way->ask(p->host, q, out, e);
	if (rc < 0)
		return rc;
	return plug_same(&s->first, out)
	    ? 0
	    : sim_fail(e, SIM_EDEP,
		  "asked twice about one window it answered differently: "
		  "results would depend on the number of workers.");
}

static int plug_diagnose(void *work, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct plug *p = plug_of(work);
	struct plug_state *s = plug_state(work);
	const struct plug_params *params = work;
	const uint64_t high = sim_rng_u32(tie);
	const struct plug_ask q = {
	    .source = &p->source,
	    .about = &p->about,
	    .params = params,
	    .topo = s->t,
	    .id = s->id,
	    .state = &s->way,
	    .window = w,
	    .seed = high << 32 | sim_rng_u32(tie),
	    .limits = {PLUG_ANSWER, s->t->n_links,
		s->t->n_links + s->t->n_switches, w->flows.n, p->about.says},
	    .seen = &s->seen,
	};
	algo_verdicts_clear(out);
	int rc = p->way->ask(p->host, &q, out, e);
	if (rc == 0 && params->audit > 0 && p->n_asked++ % params->audit == 0)
		rc = plug_audit(p, &q, s, out, e);
	return rc;
}

static int plug_none_init(void *work, const struct topo *t, struct sim_err *e)
{
	(void)work;
	(void)t;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "it is a program or plug-in, and none is started here.");
}

static void plug_none_close(void *work)
{
	(void)work;
}

static const struct sim_field plug_no_fields[] = {{0}};

const struct algo_ops plug_none = {
    .name = "outside",
    .paper = "",
    .doc = "",
    .params = plug_no_fields,
    .params_size = sizeof(struct plug_params),
    .work_size = sizeof(struct plug_params),
    .init = plug_none_init,
    .diagnose = plug_diagnose,
    .free = plug_none_close,
};

/* --- the set ----------------------------------------------------------------- */

static void plug_free(struct plug *p)
{
	if (!p)
		return;
	if (p->host)
		p->way->close(p->host);
	plug_about_free(&p->about);
	free(p->text);
	free(p->folder);
	free(p);
}

static int plug_describe(struct plug *p, struct sim_err *e)
{
	struct plug_about *a = &p->about;
	int rc = p->way->describe(p->host, &p->source, a, e);
	if (rc == 0)
		rc = plug_source_hash(&p->source, &p->source.hash, e);
	p->ops = (struct algo_ops){
	    .name = a->name,
	    .paper = a->paper,
	    .doc = a->doc,
	    .needs = a->needs,
	    .params = a->field,
	    .params_size = a->params_size,
	    .work_size = a->params_size + sizeof(struct plug_state),
	    .init = plug_init,
	    .diagnose = plug_diagnose,
	    .free = plug_close,
	};
	return rc;
}

int plug_set_open(struct plug_set **s, const char *folder, struct sim_err *e)
{
	int rc = SIM_ZALLOC(s, 1, e);
	if (rc == 0 && (rc = sim_dup(&(*s)->folder, folder, e)) < 0) {
		free(*s);
		*s = NULL;
	}
	return rc;
}

void plug_set_free(struct plug_set *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		plug_free(s->plug[i]);
	if (s) {
		free(s->plug);
		free(s->folder);
	}
	free(s);
}

static int plug_new(struct plug **out, const struct plug_set *s,
    const struct plug_way *way, const char *text, struct sim_err *e)
{
	struct plug *p;
	int rc = SIM_ZALLOC(out, 1, e);
	if (rc < 0)
		return rc;
	p = *out;
	p->way = way;
	if ((rc = sim_dup(&p->text, text, e)) < 0 ||
	    (rc = sim_dup(&p->folder, s->folder, e)) < 0)
		return rc;
	p->source = (struct plug_source){p->text, p->folder,
	    .is_command = way == &plug_exec, .about = &p->about};
	return way->open(&p->host, e);
}

static int plug_set_add(struct plug_set *s, const struct plug_way *way,
    const char *text, size_t number, struct plug **out, struct sim_err *e)
{
	struct sim_err why = {0};
	struct plug *p = NULL;
	int rc = SIM_RESERVE(&s->plug, &s->cap, s->n + 1, e);
	if (rc < 0)
		return rc;
	if ((rc = plug_new(&p, s, way, text, e)) < 0 ||
	    (rc = plug_describe(p, &why)) == SIM_ENOMEM) {
		plug_free(p);
		return sim_fail(e, rc, "no memory for an algorithm.");
	}
	p->number = number;
	p->failed = why;
	p->failed.code = rc;
	*out = s->plug[s->n++] = p;
	return 0;
}

static const struct plug_way *plug_way_of(enum plug_kind kind)
{
	static const struct plug_way *const ways[] = {&plug_exec,
	    &plug_library};
	return ways[kind];
}

int plug_set_find(struct plug_set *s, enum plug_kind kind, const char *text,
    size_t number, struct plug **out, struct sim_err *e)
{
	const struct plug_way *way = plug_way_of(kind);
	int rc = 0;
	*out = NULL;
	for (size_t i = 0; i < s->n && !*out; i++)
		if (s->plug[i]->number == number && s->plug[i]->way == way &&
		    strcmp(s->plug[i]->text, text) == 0)
			*out = s->plug[i];
	if (!*out)
		rc = plug_set_add(s, way, text, number, out, e);
	if (rc == 0 && (rc = (*out)->failed.code) < 0)
		sim_fail(e, rc, "%s", (*out)->failed.msg);
	return rc;
}

const struct algo_ops *plug_ops(const struct plug *p)
{
	return &p->ops;
}

const char *plug_warns(const struct plug *p)
{
	return p->about.warns;
}

uint64_t plug_hash(const struct plug *p)
{
	return p->source.hash;
}

int plug_is_spent(const struct plug *p)
{
	return p->way->is_spent && p->way->is_spent(p->host);
}
