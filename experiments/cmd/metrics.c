/* experiments/cmd/metrics.c -- culprit metrics: what each number means.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that is said of a metric comes from its line in results/schema.h; which
 * planes measure it from what they say; which figures draw it and which claims
 * are on it from plots/ and results/expected/.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/claim.h"
#include "experiments/cmd/cmd.h"
#include "experiments/spec/plane.h"
#include "results/file.h"
#include "results/json.h"
#include "results/schema.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	const char *name;
	int json;
};

/* A script of plots/ that draws a figure, with what it loads. */
struct script {
	char name[64];
	char *text;
};

/* What is looked into for who uses a metric. */
struct sources {
	struct script *script;
	size_t n_scripts, cap;
	struct xp_claims claims;
};

/* --- scripts of figures --------------------------------------------------- */

/* Put FOLDER/NAME behind what *TEXT has. Errors SIM_EIO, SIM_ENOMEM. */
static int append_file(char **text, const char *folder, const char *name,
    struct sim_err *e)
{
	char path[4096];
	void *bytes;
	size_t n, had = *text ? strlen(*text) : 0, cap = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int rc = res_file_read(path, &bytes, &n, e);
	if (rc < 0)
		return rc;
	if ((rc = SIM_RESERVE(text, &cap, had + n + 1, e)) == 0) {
		memcpy(*text + had, bytes, n);
		(*text)[had + n] = '\0';
	}
	free(bytes);
	return rc;
}

/* What a script loads says what it draws, too; but not what all load. */
static int append_loaded(char **text, const char *folder, struct sim_err *e)
{
	static const char load[] = "\nload \"";
	int rc = 0;
	for (const char *at = *text; rc == 0 && (at = strstr(at, load));) {
		char name[64];
		const size_t from = (size_t)(at + sizeof(load) - 1 - *text);
		const size_t n = strcspn(*text + from, "\"");
		snprintf(name, sizeof(name), "%.*s", (int)n, *text + from);
		if (strcmp(name, "style.gp") != 0)
			rc = append_file(text, folder, name, e);
		at = *text + from;
	}
	return rc;
}

/* Scripts that others load draw no figure; sweep.gp draws any metric. */
static int draws_figure(const char *name, const char *text)
{
	return strstr(text, "\nload \"style.gp\"") &&
	    strcmp(name, "sweep.gp") != 0;
}

static int add_script(struct sources *s, const char *folder, const char *name,
    struct sim_err *e)
{
	char *text = NULL;
	int rc = append_file(&text, folder, name, e);
	if (rc == 0)
		rc = append_loaded(&text, folder, e);
	if (rc == 0 && draws_figure(name, text) &&
	    (rc = SIM_RESERVE(&s->script, &s->cap, s->n_scripts + 1, e)) == 0) {
		struct script *x = &s->script[s->n_scripts++];
		snprintf(x->name, sizeof(x->name), "%.*s",
		    (int)strlen(name) - 3, name);
		x->text = text;
		return 0;
	}
	free(text);
	return rc;
}

static int is_script(const struct dirent *d)
{
	const size_t n = strlen(d->d_name);
	return n > 3 && n < 64 && strcmp(d->d_name + n - 3, ".gp") == 0;
}

/* In the order of their names. */
static int open_scripts(struct sources *s, struct sim_err *e)
{
	struct dirent **entry;
	char *folder;
	int rc = cmd_find(&folder, "style", "plots", ".gp", e);
	if (rc < 0)
		return rc;
	folder[strlen(folder) - strlen("/style.gp")] = '\0';
	const int n = scandir(folder, &entry, is_script, alphasort);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_script(s, folder, entry[i]->d_name, e);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	free(folder);
	return rc;
}

static int open_sources(struct sources *s, struct sim_err *e)
{
	char *path = NULL;
	int rc = open_scripts(s, e);
	if (rc == 0)
		rc = cmd_find(&path, "vigil", "results/expected", ".yaml", e);
	if (rc == 0)
		rc = xp_claims_load(&s->claims, path, e);
	free(path);
	return rc;
}

static void close_sources(struct sources *s)
{
	for (size_t i = 0; i < s->n_scripts; i++)
		free(s->script[i].text);
	free(s->script);
	xp_claims_free(&s->claims);
}

static int is_word_byte(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z');
}

/* What a column may have behind the metric's name. */
static size_t suffix_length(const char *at)
{
	static const char *const suffix[] = {"_lo", "_hi", "_p10", "_p50",
	    "_p90", "_trials", NULL};
	for (size_t i = 0; suffix[i]; i++) {
		const size_t n = strlen(suffix[i]);
		if (strncmp(at, suffix[i], n) == 0 && !is_word_byte(at[n]))
			return n;
	}
	return 0;
}

/* Whether a script names a metric's column. "recall" is also a word of titles,
 * so one without an underscore must be all that stands in quotes, but for the
 * algorithm. */
static int script_names(const char *text, const char *name)
{
	const size_t n = strlen(name);
	const int plain = !strchr(name, '_');
	for (const char *at = text; (at = strstr(at, name)); at++) {
		const char before = at > text ? at[-1] : '\n';
		const char after = at[n + suffix_length(at + n)];
		if (is_word_byte(before) || is_word_byte(after))
			continue;
		if (!plain ||
		    (after == '"' && (before == '"' || before == ':')))
			return 1;
	}
	return 0;
}

static int claim_names(const struct xp_claim *c, const char *name)
{
	const size_t n = strlen(name);
	const char *minus = strstr(c->metric, " - ");
	return strcmp(c->metric, name) == 0 ||
	    (minus && strcmp(minus + 3, name) == 0) ||
	    (minus && (size_t)(minus - c->metric) == n &&
		strncmp(c->metric, name, n) == 0);
}

/* --- one metric ----------------------------------------------------------- */

/* What is printed of one, as text or as JSON. */
struct fact {
	const struct res_metric_list *list;
	const struct res_metric *metric;
	const struct sources *sources;
};

/* The set that it is measured with; 0: verdicts, of whatever plane. */
static unsigned set_of(const struct fact *f)
{
	const int of_part = f->list->of_trial && f->list->ratio;
	return of_part ? res_metric_num(f->list, f->metric)->set
		       : f->metric->set;
}

static int fills(const struct xp_plane *p, const struct fact *f)
{
	return set_of(f) == 0 || (p->fills & set_of(f)) != 0;
}

static const char *set_name(unsigned set)
{
	switch (set) {
	case RES_OF_SCENE:
		return "scene";
	case RES_OF_FLOWS:
		return "flows";
	case RES_OF_AGENTS:
		return "agents";
	case RES_OF_SECONDS:
		return "seconds";
	case RES_OF_PROBES:
		return "probes";
	case RES_OF_MIRROR:
		return "mirror";
	case RES_OF_COST:
		return "cost";
	case RES_OF_RETX_COST:
		return "retx_cost";
	case RES_OF_RACK:
		return "rack";
	case RES_OF_BUFFERS:
		return "buffers";
	case RES_OF_TRUE_BURSTS:
		return "true_bursts";
	case RES_OF_PORTS:
		return "ports";
	case RES_OF_REPORTS:
		return "reports";
	case RES_OF_LIMIT:
		return "limit";
	case RES_OF_PLANNER:
		return "planner";
	default:
		return "verdicts";
	}
}

/* Each says the Ith word of a list, or NULL behind the last, or "" for one that
 * is none. */
static const char *plane_at(const struct fact *f, size_t i)
{
	const struct xp_plane *p = xp_planes[i];
	return !p ? NULL : fills(p, f) ? p->name : "";
}

static const char *figure_at(const struct fact *f, size_t i)
{
	const struct sources *s = f->sources;
	return i == s->n_scripts ? NULL
	    : script_names(s->script[i].text, f->metric->name)
	    ? s->script[i].name
	    : "";
}

static const char *claim_at(const struct fact *f, size_t i)
{
	const struct xp_claims *c = &f->sources->claims;
	return i == c->n                                 ? NULL
	    : claim_names(&c->claim[i], f->metric->name) ? c->claim[i].id
							 : "";
}

typedef const char *word_at(const struct fact *f, size_t i);

/* Lines of 80 columns, those after the first below the text, which stands FROM
 * so many columns on. */
static void print_below(const char *label, const char *text, size_t from)
{
	enum { TO = 79 };
	size_t at = from;
	printf("  %-*s ", (int)from - 3, label);
	while (*text) {
		const size_t n = strcspn(text, " ");
		if (at > from && at + 1 + n > TO) {
			printf("\n%*s", (int)from, "");
			at = from;
		}
		printf("%s%.*s", at > from ? " " : "", (int)n, text);
		at += n + (at > from);
		text += n + (text[n] == ' ');
	}
	printf("\n");
}

static void print_wrapped(const char *label, const char *text)
{
	print_below(label, text, 15);
}

static void print_users(const char *label, word_at *word, const struct fact *f)
{
	char *text = NULL;
	size_t size, n = 0;
	const char *w;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	for (size_t i = 0; (w = word(f, i)); i++)
		if (*w)
			fprintf(out, "%s%s", n++ ? ", " : "", w);
	fprintf(out, n ? "" : "none");
	fclose(out);
	print_wrapped(label, text);
	free(text);
}

static void print_part(const char *label, const struct res_metric *m)
{
	char text[512];
	if (!m)
		return;
	snprintf(text, sizeof(text), "%s (%s): %s", m->name, m->unit, m->how);
	print_wrapped(label, text);
}

static const char *owner_of(const struct res_metric_list *l)
{
	return l->of_trial ? "trial" : "algorithm";
}

/* The line of the schema, without its definition, which stands above. */
static void print_schema(const struct fact *f)
{
	const struct res_metric *m = f->metric;
	char text[640];
	if (f->list->ratio)
		snprintf(text, sizeof(text), "%s X(%s, %s, %s, ...)",
		    f->list->name, m->name, res_metric_num(f->list, m)->name,
		    res_metric_den(f->list, m)->name);
	else
		snprintf(text, sizeof(text), "%s X(%s, \"%s\", %s, ...)",
		    f->list->name, m->name, m->unit, res_ranges[m->range].name);
	print_wrapped("schema.h", text);
}

static void print_columns(const struct fact *f)
{
	const char *name = f->metric->name;
	char text[256];
	snprintf(text, sizeof(text), "%s%s%s",
	    f->list->of_trial ? "" : "ALGORITHM:", name,
	    f->list->ratio ? " over all runs, _lo, _hi, _p10, _p50, _p90, "
			     "_trials; of each run with --runs"
			   : "; of each run with --runs, its mean with --tidy");
	print_wrapped("in tables", text);
}

static void metrics_print_text(const struct fact *f)
{
	const struct res_metric *m = f->metric;
	printf("%s -- %s\n", m->name, m->doc);
	print_wrapped("definition", m->how);
	print_part("numerator", res_metric_num(f->list, m));
	print_part("denominator", res_metric_den(f->list, m));
	print_wrapped("of",
	    f->list->of_trial
		? "the trial, once a row"
		: "each algorithm; where it names switches, read switch for "
		  "link");
	print_wrapped("unit", m->unit);
	print_wrapped("range", res_ranges[m->range].words);
	print_wrapped("set", set_name(set_of(f)));
	if (set_of(f) == 0)
		print_wrapped("on planes",
		    "any: verdicts are scored on each window, as far as it "
		    "holds what they are about");
	else
		print_users("on planes", plane_at, f);
	print_users("in figures", figure_at, f);
	print_users("in claims", claim_at, f);
	print_columns(f);
	print_schema(f);
}

/* --- JSON ----------------------------------------------------------------- */

static void metrics_json_pair(const char *key, const char *text)
{
	printf(",\n  \"%s\": ", key);
	if (text)
		res_json_text(stdout, text);
	else
		printf("null");
}

static void metrics_json_words(const char *key, word_at *word,
    const struct fact *f)
{
	const char *w;
	size_t n = 0;
	printf(",\n  \"%s\": [", key);
	for (size_t i = 0; (w = word(f, i)); i++)
		if (*w) {
			printf("%s", n++ ? ", " : "");
			res_json_text(stdout, w);
		}
	printf("]");
}

static void metrics_print_json(const struct fact *f)
{
	const struct res_metric *m = f->metric;
	const struct res_metric *num = res_metric_num(f->list, m);
	const struct res_metric *den = res_metric_den(f->list, m);
	printf("{\"name\": ");
	res_json_text(stdout, m->name);
	metrics_json_pair("of", owner_of(f->list));
	metrics_json_pair("meaning", m->doc);
	metrics_json_pair("definition", m->how);
	metrics_json_pair("numerator", num ? num->name : NULL);
	metrics_json_pair("denominator", den ? den->name : NULL);
	metrics_json_pair("unit", m->unit);
	metrics_json_pair("range", res_ranges[m->range].words);
	metrics_json_pair("set", set_name(set_of(f)));
	metrics_json_words("planes", plane_at, f);
	metrics_json_words("figures", figure_at, f);
	metrics_json_words("claims", claim_at, f);
	metrics_json_pair("schema", f->list->name);
	printf("}");
}

/* --- all of them ---------------------------------------------------------- */

static void print_all_text(void)
{
	static const char *const head[RES_N_LISTS] = {
	    [RES_LIST_RATIOS] = "Ratios of each algorithm, pooled over runs:",
	    [RES_LIST_ALGO] = "Of each algorithm, a number a run:",
	    [RES_LIST_TRIAL_RATIOS] = "Ratios of the trial, pooled over runs:",
	    [RES_LIST_TRIAL] = "Of the trial, a number a run:",
	    [RES_LIST_REACH] = "Ratios of an algorithm's number and the "
			       "trial's:",
	};
	for (unsigned k = 0; k < RES_N_LISTS; k++) {
		const struct res_metric_list *l = &res_metric_lists[k];
		printf("%s%s\n", k ? "\n" : "", head[k]);
		for (unsigned i = 0; i < l->n; i++) {
			const struct res_metric *m = &l->metric[i];
			char text[512];
			const int pure = strcmp(m->unit, "1") == 0;
			snprintf(text, sizeof(text), "%s%s%s%s", m->doc,
			    pure ? "" : " [", pure ? "" : m->unit,
			    pure ? "" : "]");
			print_below(m->name, text, 25);
		}
	}
}

static void print_all_json(const struct sources *s)
{
	size_t n = 0;
	printf("[");
	for (unsigned k = 0; k < RES_N_LISTS; k++)
		for (unsigned i = 0; i < res_metric_lists[k].n; i++) {
			const struct fact f = {&res_metric_lists[k],
			    &res_metric_lists[k].metric[i], s};
			printf("%s", n++ ? ",\n" : "");
			metrics_print_json(&f);
		}
	printf("]\n");
}

/* A metric by its own name, or by that of a column: vote:recall_lo. */
static const struct res_metric *metrics_find(const char *name,
    const struct res_metric_list **list)
{
	char bare[64];
	const char *colon = strrchr(name, ':');
	const struct res_metric *m;
	name = colon ? colon + 1 : name;
	if ((m = res_metric_find(name, list)))
		return m;
	for (size_t n = strlen(name); n-- > 0;)
		if (name[n] == '_' && suffix_length(name + n) > 0) {
			snprintf(bare, sizeof(bare), "%.*s", (int)n, name);
			return res_metric_find(bare, list);
		}
	return NULL;
}

static int no_metric(const char *name, struct sim_err *e)
{
	const char *known[RES_N_NAMES];
	char quote[64];
	const char *colon = strrchr(name, ':');
	res_metric_names(known);
	const char *near =
	    sim_did_you_mean(colon ? colon + 1 : name, known, RES_N_NAMES);
	return sim_fail(e, SIM_EINVAL, "there is no metric %s%s%s%s",
	    sim_quote(quote, name), near ? "; did you mean \"" : "",
	    near ? near : "", near ? "\"?" : "; `culprit metrics` lists them.");
}

static int metrics_print(const struct args *a, struct sim_err *e)
{
	struct sources s = {0};
	struct fact f = {.sources = &s};
	if (a->name && !(f.metric = metrics_find(a->name, &f.list)))
		return no_metric(a->name, e);
	/* Lists for people need nothing beside the schema. */
	int rc = a->name || a->json ? open_sources(&s, e) : 0;
	if (rc == 0 && !a->name && a->json)
		print_all_json(&s);
	else if (rc == 0 && !a->name)
		print_all_text();
	else if (rc == 0 && a->json)
		metrics_print_json(&f);
	else if (rc == 0)
		metrics_print_text(&f);
	if (rc == 0 && a->name && a->json)
		printf("\n");
	close_sources(&s);
	return rc;
}

int cmd_metrics(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"json", 0, NULL, "JSON: an array of objects, or of METRIC one",
		.take = cmd_take_flag, .at = CMD_AT(json)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {"metric", .take = cmd_take_one, .at = CMD_AT(name)},
	    .args_doc = "[METRIC]",
	    .doc = "List all that is measured; or explain one METRIC, "
		   "which may be a column's name too, as vote:recall_lo: its "
		   "definition, numerator and denominator, unit and range, "
		   "which planes measure it, and which figures and claims are "
		   "about it.",
	};
	struct args a = {0};
	struct sim_err e = {0};
	cmd_parse(&line, argc, argv, &a);
	const int rc = metrics_print(&a, &e);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
