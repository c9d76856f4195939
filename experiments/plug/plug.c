/* experiments/plug/plug.c -- algorithms from outside the tree, as algo_ops.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/plug.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/plug/answer.h"
#include "experiments/plug/child.h"
#include "experiments/plug/frame.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

/* An algorithm that has not answered once since it was started so often is not
 * started again. */
enum { PLUG_MAX_DEATHS = 8 };
/* For a description: an interpreter and its modules may come from a cold disk. */
#define PLUG_START_S 30.0

struct plug {
	char *command, *folder;
	size_t number;
	uint64_t hash;
	struct plug_about about;
	struct algo_ops ops;
	struct plug_child child;
	uint64_t opened; /* what the child was told last, by plug_state.id */
	uint64_t n_opens, n_asked;
	unsigned n_deaths;     /* since it last answered */
	struct sim_err failed; /* code 0: it was described well */
	struct plug_bytes out;
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
	uint32_t *seen, stamp;
	struct algo_verdicts first; /* what it said before it was asked twice */
};

/* --- what it is made of ----------------------------------------------------- */

static uint64_t plug_hash_file(uint64_t hash, const char *folder,
    const char *name)
{
	char path[4096];
	unsigned char block[4096];
	struct stat st;
	size_t n;
	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : folder, name);
	/* A word that is no file is an option, say. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return hash;
	FILE *f = fopen(path, "rb");
	while (f && (n = fread(block, 1, sizeof(block), f)) > 0)
		hash = sim_fnv(hash, block, n);
	if (f)
		fclose(f);
	return hash;
}

static int plug_hash_now(const struct plug *p, uint64_t *hash,
    struct sim_err *e)
{
	char *copy, *rest;
	int rc = sim_dup(&copy, p->command, e);
	if (rc < 0)
		return rc;
	*hash = sim_fnv(SIM_FNV_START, copy, strlen(copy));
	rest = copy;
	for (char *word; (word = strtok_r(rest, " \t\n", &rest));)
		*hash = plug_hash_file(*hash, p->folder, word);
	free(copy);
	return 0;
}

/* --- its description -------------------------------------------------------- */

static int plug_about_size(void *arg, const unsigned char *b, size_t n,
    size_t *size, struct sim_err *e)
{
	static const char end[] = "\nend\n";
	(void)arg;
	const unsigned char *at = memmem(b, n, end, strlen(end));
	if (at)
		*size = (size_t)(at - b) + strlen(end);
	else if (n > PLUG_ABOUT_BYTES)
		return sim_fail(e, SIM_EDEP,
		    "its description has no end within %d bytes.",
		    PLUG_ABOUT_BYTES);
	return 0;
}

/* Start it and have it describe itself: as it did before, after the first
 * time. */
static int plug_start(struct plug *p, struct plug_about *about,
    struct sim_err *e)
{
	size_t size;
	int rc = plug_child_start(&p->child, p->command, p->folder, e);
	if (rc < 0 ||
	    (rc = plug_child_ask(&p->child, NULL, 0, PLUG_START_S,
		 plug_about_size, NULL, &size, e)) < 0)
		return rc;
	rc = plug_about_read(about, (const char *)p->child.got, size, e);
	return rc < 0 && rc != SIM_ENOMEM
	    ? sim_wrap(e, SIM_EDEP, "it describes itself wrongly")
	    : rc;
}

static int plug_restart(struct plug *p, struct sim_err *e)
{
	struct plug_about now = {0};
	uint64_t hash;
	int rc;
	if (p->n_deaths >= PLUG_MAX_DEATHS)
		return sim_fail(e, SIM_EDEP,
		    "it failed %d times in a row and is not started again.",
		    PLUG_MAX_DEATHS);
	p->n_deaths++;
	p->opened = 0;
	if ((rc = plug_hash_now(p, &hash, e)) == 0 && hash != p->hash)
		rc = sim_fail(e, SIM_EDEP,
		    "it is another program than when this began.");
	if (rc == 0)
		rc = plug_start(p, &now, e);
	plug_about_free(&now);
	if (rc < 0)
		plug_child_end(&p->child);
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
	return SIM_ZALLOC(&s->seen, t->n_links + t->n_switches, e);
}

static void plug_close(void *work)
{
	if (!plug_of(work))
		return;
	struct plug_state *s = plug_state(work);
	free(s->seen);
	algo_verdicts_free(&s->first);
}

static int plug_size_of_frame(void *arg, const unsigned char *b, size_t n,
    size_t *size, struct sim_err *e)
{
	return plug_frame_size(b, n, arg, size, e);
}

/* Write what lies in p->out and take what comes. */
static int plug_talk(struct plug *p, void *work, struct plug_limits *l,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct plug_params *params = work;
	struct plug_state *s = plug_state(work);
	size_t size;
	int rc = plug_child_ask(&p->child, p->out.b, p->out.n,
	    params->timeout_s, plug_size_of_frame, l, &size, e);
	if (rc < 0)
		return rc;
	/* Whatever it says, it lives and keeps to the protocol. */
	p->n_deaths = 0;
	return plug_frame_take(p->child.got, l, s->seen, &s->stamp, out, e);
}

/* See to it that there is a child and that it knows this network. */
static int plug_ready(struct plug *p, void *work, struct plug_limits l,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct plug_state *s = plug_state(work);
	int rc = 0;
	if (!plug_child_lives(&p->child))
		rc = plug_restart(p, e);
	if (rc < 0 || p->opened == s->id)
		return rc;
	l.expects = PLUG_OPENED;
	const unsigned deaths = p->n_deaths;
	if ((rc = plug_put_topo(&p->out, &p->about, work, s->t, e)) == 0 &&
	    (rc = plug_talk(p, work, &l, out, e)) == 0)
		p->opened = s->id;
	p->n_deaths = deaths;
	return rc;
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

static int plug_audit(struct plug *p, void *work, struct plug_limits *l,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct plug_state *s = plug_state(work);
	const struct algo_verdicts first = s->first;
	/* The first answer is put aside, and OUT gets the second. */
	s->first = *out;
	*out = first;
	int rc = plug_talk(p, work, l, out, e);
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
	const struct plug_state *s = plug_state(work);
	const struct plug_params *params = work;
	const uint64_t high = sim_rng_u32(tie);
	const uint64_t seed = high << 32 | sim_rng_u32(tie);
	struct plug_limits l = {PLUG_ANSWER, s->t->n_links,
	    s->t->n_links + s->t->n_switches, w->flows.n, p->about.says};
	algo_verdicts_clear(out);
	int rc = plug_ready(p, work, l, out, e);
	if (rc < 0 ||
	    (rc = plug_put_window(&p->out, &p->about, w, seed, e)) < 0 ||
	    (rc = plug_talk(p, work, &l, out, e)) < 0)
		return rc;
	if (params->audit > 0 && p->n_asked++ % params->audit == 0)
		rc = plug_audit(p, work, &l, out, e);
	return rc;
}

/* --- the set ----------------------------------------------------------------- */

static void plug_free(struct plug *p)
{
	if (!p)
		return;
	plug_child_free(&p->child);
	plug_about_free(&p->about);
	free(p->out.b);
	free(p->command);
	free(p->folder);
	free(p);
}

static int plug_describe(struct plug *p, struct sim_err *e)
{
	struct plug_about *a = &p->about;
	int rc = plug_hash_now(p, &p->hash, e);
	if (rc == 0)
		rc = plug_start(p, a, e);
	plug_child_end(&p->child);
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

static int plug_set_add(struct plug_set *s, const char *command, size_t number,
    struct plug **out, struct sim_err *e)
{
	struct sim_err why = {0};
	struct plug *p = NULL;
	int rc = SIM_RESERVE(&s->plug, &s->cap, s->n + 1, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&p, 1, e)) < 0)
		return rc;
	p->number = number;
	if ((rc = sim_dup(&p->command, command, e)) < 0 ||
	    (rc = sim_dup(&p->folder, s->folder, e)) < 0 ||
	    (rc = plug_describe(p, &why)) == SIM_ENOMEM) {
		plug_free(p);
		return sim_fail(e, rc, "no memory for an algorithm.");
	}
	p->failed = why;
	p->failed.code = rc;
	*out = s->plug[s->n++] = p;
	return 0;
}

int plug_set_find(struct plug_set *s, const char *command, size_t number,
    struct plug **out, struct sim_err *e)
{
	int rc = 0;
	*out = NULL;
	for (size_t i = 0; i < s->n && !*out; i++)
		if (s->plug[i]->number == number &&
		    strcmp(s->plug[i]->command, command) == 0)
			*out = s->plug[i];
	if (!*out)
		rc = plug_set_add(s, command, number, out, e);
	if (rc == 0 && (rc = (*out)->failed.code) < 0)
		sim_fail(e, rc, "%s", (*out)->failed.msg);
	return rc;
}

const struct algo_ops *plug_ops(const struct plug *p)
{
	return &p->ops;
}

const char *plug_command(const struct plug *p)
{
	return p->command;
}

uint64_t plug_hash(const struct plug *p)
{
	return p->hash;
}
