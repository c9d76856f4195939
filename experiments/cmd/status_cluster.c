/* experiments/cmd/status_cluster.c -- culprit status --cluster: a sweep's shards.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/status_cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cluster/shards.h"
#include "experiments/cmd/cmd.h"
#include "results/json.h"
#include "sim/text.h"

/* As enum xp_shard_is. */
static const char *const shard_words[] = {"done", "running", "queued", "failed",
    "missing"};
enum { SHARD_WORDS = sizeof(shard_words) / sizeof(shard_words[0]) };

/* --- which folder ---------------------------------------------------------- */

static int has_plan(const char *folder)
{
	char path[8192];
	snprintf(path, sizeof(path), "%s/plan.yaml", folder);
	return access(path, F_OK) == 0;
}

/* *FOLDER is BEFORE, the last N bytes of NAME left out, and ".cluster", if that
 * is one. */
static int try_folder(char **folder, const char *before, const char *name,
    const char *suffix, struct sim_err *e)
{
	char path[4200];
	const size_t n = strlen(name), k = strlen(suffix);
	const int cut = n > k && strcmp(name + n - k, suffix) == 0;
	snprintf(path, sizeof(path), "%s%.*s.cluster", before,
	    (int)(cut ? n - k : n), name);
	return has_plan(path) ? sim_dup(folder, path, e) : 0;
}

int cmd_find_cluster(char **folder, const char *name, struct sim_err *e)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	*folder = NULL;
	int rc = has_plan(name) ? sim_dup(folder, name, e)
				: try_folder(folder, "", name, ".h5", e);
	if (rc == 0 && !*folder)
		rc = try_folder(folder, "", name, ".yaml", e);
	if (rc == 0 && !*folder)
		rc = try_folder(folder, "results/out/", base, ".yaml", e);
	if (rc == 0 && !*folder)
		rc = sim_fail(e, SIM_EIO,
		    "%s has no .cluster folder; `culprit submit` makes it.",
		    name);
	return rc;
}

/* --- one of them ------------------------------------------------------------ */

/* What there is to say. */
struct cluster_line {
	const struct xp_shards *shards;
	struct res_progress cells;
	uint32_t n[SHARD_WORDS];
};

static void cluster_put_numbers(const struct cluster_line *l,
    enum xp_shard_is which, int json)
{
	const struct xp_shards *s = l->shards;
	const uint32_t n = s->plan->n_shards;
	const char *mark = "";
	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = i;
		if (xp_shard_is(s, i) != which)
			continue;
		while (
		    !json && last + 1 < n && xp_shard_is(s, last + 1) == which)
			last++;
		printf("%s%" PRIu32, mark, i + 1);
		if (last > i)
			printf("-%" PRIu32, last + 1);
		mark = ", ";
		i = last;
	}
}

static void cluster_put_line(const struct cluster_line *l)
{
	const struct xp_shards *s = l->shards;
	const struct xp_plan *p = s->plan;
	const char *mark = ":";
	printf("%s: %s, %" PRIu32 " shards", p->figure,
	    xp_engine_names[p->engine], p->n_shards);
	for (int w = 0; w < SHARD_WORDS; w++) {
		if (l->n[w] == 0)
			continue;
		printf("%s %" PRIu32 " %s", mark, l->n[w], shard_words[w]);
		mark = ",";
		if (w != XP_SHARD_DONE) {
			printf(" (");
			cluster_put_numbers(l, (enum xp_shard_is)w, 0);
			putchar(')');
		}
	}
	printf("; %" PRIu64 " of %" PRIu64 " cells done", l->cells.n_done,
	    l->cells.n_cells);
	if (l->cells.n_failed + l->cells.n_crashed > 0)
		printf(", %" PRIu64 " failed",
		    l->cells.n_failed + l->cells.n_crashed);
	if (*s->queue.why)
		printf("; jobs wait: %s", s->queue.why);
	printf(" -> %s\n",
	    access(p->output, F_OK) == 0 ? p->output : s->folder);
}

static void cluster_put_json(const struct cluster_line *l)
{
	const struct xp_shards *s = l->shards;
	printf("{\"folder\": ");
	res_json_text(stdout, s->folder);
	res_json_text_of(stdout, "figure", s->plan->figure);
	res_json_text_of(stdout, "engine", xp_engine_names[s->plan->engine]);
	printf(", \"cells\": %" PRIu64 ", \"cells_done\": %" PRIu64
	       ", \"cells_failed\": %" PRIu64 ", \"shards\": %" PRIu32,
	    l->cells.n_cells, l->cells.n_done,
	    l->cells.n_failed + l->cells.n_crashed, s->plan->n_shards);
	for (int w = 0; w < SHARD_WORDS; w++) {
		printf(", \"%s\": [", shard_words[w]);
		cluster_put_numbers(l, (enum xp_shard_is)w, 1);
		putchar(']');
	}
	if (*s->queue.why)
		res_json_text_of(stdout, "why", s->queue.why);
	printf(", \"merged\": %s}\n",
	    access(s->plan->output, F_OK) == 0 ? "true" : "false");
}

static struct cluster_line count_shards(const struct xp_shards *s)
{
	struct cluster_line l = {.shards = s, .cells = {.n_cells = s->n_cells}};
	for (uint32_t i = 0; i < s->plan->n_shards; i++) {
		const struct res_progress *p = &s->state[i].cells;
		l.n[xp_shard_is(s, i)]++;
		l.cells.n_done += p->n_done;
		l.cells.n_failed += p->n_failed;
		l.cells.n_crashed += p->n_crashed;
	}
	return l;
}

int cmd_status_folder(const char *folder, int json)
{
	struct xp_plan plan;
	struct xp_shards s = {0};
	struct sim_err e = {0};
	int code = CMD_TROUBLE, rc = xp_plan_read(&plan, folder, &e);
	if (rc < 0 || (rc = xp_shards_init(&s, &plan, folder, &e)) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	rc = xp_shards_read(&s, NULL, &e);
	/* Without an engine that answers there is still what files say. */
	if (rc == 0 && xp_shards_ask(&s, &e) < 0)
		(void)cmd_fail(CMD_TROUBLE, &e);
	if (rc < 0) {
		(void)cmd_fail(CMD_TROUBLE, &e);
	} else {
		const struct cluster_line l = count_shards(&s);
		if (json)
			cluster_put_json(&l);
		else
			cluster_put_line(&l);
		code = l.n[XP_SHARD_DONE] == plan.n_shards ? CMD_GOOD
							   : CMD_TROUBLE;
	}
	xp_shards_free(&s);
	return code;
}

/* --- several ---------------------------------------------------------------- */

struct folders {
	int json, code;
	size_t n;
};

static void status_each_folder(void *arg, const char *name)
{
	struct folders *f = arg;
	char path[4200];
	snprintf(path, sizeof(path), "results/out/%s.cluster", name);
	if (!has_plan(path))
		return;
	f->n++;
	if (cmd_status_folder(path, f->json) != CMD_GOOD)
		f->code = CMD_TROUBLE;
}

int cmd_status_cluster(const struct cmd_words *names, int json)
{
	struct folders f = {.json = json, .code = CMD_GOOD};
	struct sim_err e = {0};
	if (names->n == 0) {
		cmd_each_file("results/out", ".cluster", 0, status_each_folder,
		    &f);
		if (f.n > 0)
			return f.code;
		(void)sim_fail(&e, SIM_EIO,
		    "there is no .cluster folder in results/out; `culprit "
		    "submit` makes it.");
		return cmd_fail(CMD_TROUBLE, &e);
	}
	for (size_t i = 0; i < names->n; i++) {
		char *folder;
		if (cmd_find_cluster(&folder, names->word[i], &e) < 0)
			f.code = cmd_fail(CMD_TROUBLE, &e);
		else if (cmd_status_folder(folder, json) != CMD_GOOD)
			f.code = CMD_TROUBLE;
		free(folder);
	}
	return f.code;
}
