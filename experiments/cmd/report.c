/* experiments/cmd/report.c -- culprit report: results as one page of HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/report_arena.h"
#include "experiments/report/page.h"
#include "experiments/sweep/run.h"
#include "results/file.h"
#include "results/h5.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	struct cmd_words files;
	const char *output, *claims;
	uint32_t n_cells, megabytes;
	int all, quiet;
};

static const struct cmd_option report_options[] = {
    {"all", 0, NULL, "every results/out/*.h5 that is no shard, and the arena",
	.take = cmd_take_flag, .at = CMD_AT(all)},
    {"output", 'o', "FILE", "the page (default: report.html)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"cells", 0, "N",
	"cells of each figure that are run again and drawn, at most (default: "
	"24)",
	.take = cmd_take_u32, .at = CMD_AT(n_cells), .max = 10000},
    {"size", 0, "MB",
	"no more cells once the page has that many megabytes (default: 10)",
	.take = cmd_take_u32, .at = CMD_AT(megabytes), .min = 1, .max = 1000},
    {"claims", 0, "FILE",
	"what papers claim (default: results/expected/vigil.yaml); why ours "
	"differs stands beside it in differs.md",
	.take = cmd_take_file, .at = CMD_AT(claims)},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {0},
};

static void report_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->all && a->files.n > 0)
		argp_error(state, "--all takes no FILE beside it");
	if (!a->all && a->files.n == 0)
		argp_error(state, "which FILE or FIGURE? Or --all");
}

static const struct cmd_line report_line = {
    .options = report_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .check = report_check,
    .args_doc = "FILE|FIGURE...\n--all",
    .doc =
	"Write results as one page of HTML that needs nothing beside itself: "
	"figures, their numbers, specs and provenance, what the paper claims "
	"against ours, and some cells to look into: what was broken, what each "
	"algorithm said, and the network with its votes.\v"
	"Figures are those of `culprit plot`, and of the arena, which is its "
	"folder, "
	"those of `culprit arena --plot`. Cells are run again, from the "
	"spec that stands in the results: of each point the first run, and the "
	"worst by the least ratio of any algorithm. Each says whether it has "
	"the numbers of the file; `culprit explain` shows any other. Cells of "
	"probes and of real networks are not run.",
};

/* --- what there is -------------------------------------------------------- */

static int is_whole(const struct dirent *d)
{
	const size_t n = strlen(d->d_name);
	char folder[512];
	snprintf(folder, sizeof(folder), "results/out/%s", d->d_name);
	if (*d->d_name != '.' && cmd_report_is_arena(folder))
		return 1;
	return n > 3 && strcmp(d->d_name + n - 3, ".h5") == 0 &&
	    !strstr(d->d_name, "-of-") && !strchr(d->d_name, '~');
}

/* *PATH[*N], all on the heap. */
static int list_all(char ***path, size_t *n, struct sim_err *e)
{
	struct dirent **entry;
	const int found = scandir("results/out", &entry, is_whole, alphasort);
	if (found <= 0)
		return sim_fail(e, SIM_EIO,
		    "there is no results/out/*.h5; `culprit run` makes them.");
	int rc = SIM_ZALLOC(path, (size_t)found, e);
	for (int i = 0; i < found; i++) {
		char name[512];
		snprintf(name, sizeof(name), "results/out/%s",
		    entry[i]->d_name);
		if (rc == 0 && (rc = sim_dup(*path + i, name, e)) == 0)
			(*n)++;
		free(entry[i]);
	}
	free(entry);
	return rc;
}

/* A folder of the arena, given or of results/out; or a file of results. */
static int report_find(char **path, const char *word, struct sim_err *e)
{
	char folder[4096];
	if (cmd_report_is_arena(word))
		return sim_dup(path, word, e);
	snprintf(folder, sizeof(folder), "results/out/%s", word);
	return cmd_report_is_arena(folder) ? sim_dup(path, folder, e)
					   : cmd_find_results(path, word, e);
}

static int list_given(const struct args *a, char ***path, size_t *n,
    struct sim_err *e)
{
	int rc = SIM_ZALLOC(path, a->files.n, e);
	for (size_t i = 0; rc == 0 && i < a->files.n; i++)
		if ((rc = report_find(*path + i, a->files.word[i], e)) == 0)
			(*n)++;
	for (size_t i = 0; rc == 0 && i < *n; i++)
		if (a->output && cmd_is_same_file(a->output, (*path)[i]))
			rc = sim_fail(e, SIM_EINVAL,
			    "-o %.200s is one of the results.", a->output);
	return rc;
}

/* What papers claim is told where it is known; a program installed without it
 * has a page without. */
struct sources {
	struct xp_claims claims;
	char *reasons;
	int has;
};

static int report_open_sources(struct sources *s, const struct args *a,
    struct sim_err *e)
{
	char *path = NULL, beside[4096];
	void *text;
	size_t n;
	int rc = cmd_find(&path, a->claims ? a->claims : "vigil",
	    "results/expected", ".yaml", e);
	if (rc < 0)
		return a->claims || rc == SIM_ENOMEM ? rc : 0;
	if ((rc = xp_claims_load(&s->claims, path, e)) == 0) {
		const char *slash = strrchr(path, '/');
		s->has = 1;
		snprintf(beside, sizeof(beside), "%.*sdiffers.md",
		    slash ? (int)(slash + 1 - path) : 0, path);
		if (res_file_read(beside, &text, &n, NULL) == 0)
			s->reasons = text;
	}
	free(path);
	return rc;
}

static void report_close_sources(struct sources *s)
{
	xp_claims_free(&s->claims);
	free(s->reasons);
}

/* --- one file ------------------------------------------------------------- */

/* `culprit plot`, in a process of its own: it prints what it drew. Returns its
 * exit code, or -1. */
static int run_plot(const char *folder, const char *path)
{
	char title[] = "culprit plot", format[] = "--format=svg", out[] = "-o";
	char *argv[] = {title, format, out, (char *)folder, (char *)path, NULL};
	int status;
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		const int null = open("/dev/null", O_WRONLY);
		if (null < 0 || dup2(null, 1) < 0)
			_exit(CMD_TROUBLE);
		const int code = cmd_plot(5, argv);
		fflush(NULL);
		_exit(code);
	}
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Empty a folder of ours and remove it; *SVG is the drawing that was in it. */
static void take_drawing(const char *folder, char **svg)
{
	struct dirent **entry;
	const int n = scandir(folder, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		const size_t k = strlen(name);
		char path[4096];
		void *text;
		size_t size;
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (k > 4 && strcmp(name + k - 4, ".svg") == 0 && !*svg &&
		    res_file_read(path, &text, &size, NULL) == 0)
			*svg = text;
		unlink(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	rmdir(folder);
}

static void draw(const char *path, char **svg)
{
	const char *base = getenv("TMPDIR");
	char folder[2048];
	snprintf(folder, sizeof(folder), "%s/culprit-report-XXXXXX",
	    base && *base ? base : "/tmp");
	*svg = NULL;
	if (mkdtemp(folder)) {
		run_plot(folder, path);
		take_drawing(folder, svg);
	}
	if (!*svg)
		fprintf(stderr, "culprit: %s could not be drawn.\n", path);
}

/* The time at which a run began stands beside its results, if anywhere. */
static void find_date(const char *path, char date[64])
{
	struct sim_yaml y = {0};
	char *record = NULL;
	struct sim_err e = {0};
	double start = 0;
	*date = '\0';
	int rc = xp_run_path(&record, path, ".run.json", &e);
	if (rc == 0 && access(record, R_OK) == 0 &&
	    (rc = sim_yaml_load(&y, record, &e)) == 0) {
		const struct sim_yaml_node *node =
		    sim_yaml_get(y.root, "start_unix_s");
		const time_t t = node && node->kind == SIM_YAML_SCALAR &&
			sim_parse_f64(node->text, &start, NULL) == 0
		    ? (time_t)start
		    : 0;
		struct tm tm;
		if (t > 0 && gmtime_r(&t, &tm))
			strftime(date, 64, "%Y-%m-%d %H:%M UTC", &tm);
	}
	if (rc < 0)
		fprintf(stderr, "culprit: %s has no date: %s\n", path, e.msg);
	sim_yaml_free(&y);
	free(record);
}

/* A spec of ours is known by its name; any other stands in the page, to be
 * saved. GraphML files are looked for beside the first. */
static int find_spec(const struct res_cube *c, char name[128], char **folder,
    struct sim_err *e)
{
	char *path = NULL;
	void *text = NULL;
	size_t n = 0;
	snprintf(name, 128, "%.100s.yaml", c->figure);
	int rc = cmd_find(&path, c->figure, "experiments", ".yaml", NULL);
	if (rc == 0 && res_file_read(path, &text, &n, NULL) == 0 &&
	    n == c->spec_bytes && memcmp(text, c->spec, n) == 0)
		snprintf(name, 128, "%.100s", c->figure);
	free(text);
	rc = sim_dup(folder, path ? path : "", e);
	if (rc == 0) {
		char *slash = strrchr(*folder, '/');
		(*folder)[slash ? slash + 1 - *folder : 0] = '\0';
	}
	free(path);
	return rc;
}

/* First what there is of each file, and then its cells: these get what room
 * the rest leaves. One file at a time is in memory. */
enum round { FIGURE, CELLS };

static int add_cube(struct xp_report_page *p, const struct res_cube *c,
    const char *path, enum round round, struct sim_err *e)
{
	char name[128], date[64], *folder = NULL, *svg = NULL;
	int rc = find_spec(c, name, &folder, e);
	if (rc < 0)
		return rc;
	if (round == FIGURE)
		draw(path, &svg);
	find_date(path, date);
	const struct xp_page_file f = {
	    .path = path,
	    .cube = c,
	    .svg = svg,
	    .no_svg = "`culprit plot` says why.",
	    .explain = name,
	    .folder = folder,
	    .date = date,
	};
	rc = round == FIGURE ? xp_page_add(p, &f, e)
			     : xp_page_add_cells(p, &f, e);
	free(folder);
	free(svg);
	return rc;
}

static void report_tell(const struct xp_report_page *p, const char *figure,
    size_t n_cells, enum round round)
{
	if (round == FIGURE)
		fprintf(stderr, "culprit: figure %zu of %zu: %s\n", p->n_added,
		    p->asks.n_files, figure);
	else
		fprintf(stderr, "culprit: cells %zu of %zu: %zu of %s\n",
		    p->n_celled, p->asks.n_files, n_cells, figure);
}

static int add_file(struct xp_report_page *p, const struct args *a,
    const char *path, enum round round, struct sim_err *e)
{
	struct res_cube c = {0};
	const size_t had = p->n_cells;
	const int is_arena = cmd_report_is_arena(path);
	int rc = 0;
	if (is_arena && round == FIGURE)
		rc = cmd_report_arena(p, path, e);
	else if (is_arena)
		xp_page_skip_cells(p);
	else if ((rc = res_h5_read(&c, path, e)) == 0)
		rc = add_cube(p, &c, path, round, e);
	if (rc == 0 && !a->quiet)
		report_tell(p, is_arena ? "arena" : c.figure, p->n_cells - had,
		    round);
	res_cube_free(&c);
	return rc;
}

/* --- all ------------------------------------------------------------------ */

static int write_page(struct xp_report_page *p, const struct args *a,
    struct sim_err *e)
{
	const char *out = a->output ? a->output : "report.html";
	char *text = NULL;
	size_t n = 0;
	int rc = xp_page_write(p, &text, &n, e);
	if (rc == 0)
		rc = cmd_write_file(out, text, n, e);
	if (rc == 0)
		printf("%s: %zu figures, %zu cells, %.1f MB\n", out, p->n_added,
		    p->n_cells, 1e-6 * (double)n);
	if (rc == 0 && p->n_left > 0)
		fprintf(stderr,
		    "culprit: %zu more cells had no room in %u MB; --size "
		    "gives more.\n",
		    p->n_left, a->megabytes);
	if (rc == 0 && p->n_unlike > 0)
		fprintf(stderr,
		    "culprit: %zu cells have other numbers by this build than "
		    "in their results; the page says which.\n",
		    p->n_unlike);
	free(text);
	return rc;
}

static int report(const struct args *a, struct sim_err *e)
{
	struct sources s = {0};
	struct xp_report_page p = {0};
	char **path = NULL;
	size_t n = 0;
	int rc = a->all ? list_all(&path, &n, e) : list_given(a, &path, &n, e);
	if (rc == 0 && (rc = report_open_sources(&s, a, e)) == 0) {
		const struct xp_page_asks asks = {
		    .n_files = n,
		    .max_bytes = (size_t)a->megabytes * 1000000,
		    .n_cells = a->n_cells,
		    .claims = s.has ? &s.claims : NULL,
		    .reasons = s.reasons,
		    .all_claims = a->all,
		};
		rc = xp_page_open(&p, &asks, e);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_file(&p, a, path[i], FIGURE, e);
	for (size_t i = 0; rc == 0 && a->n_cells > 0 && i < n; i++)
		rc = add_file(&p, a, path[i], CELLS, e);
	if (rc == 0)
		rc = write_page(&p, a, e);
	xp_page_close(&p);
	report_close_sources(&s);
	for (size_t i = 0; i < n; i++)
		free(path[i]);
	free(path);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct args a = {.n_cells = 24, .megabytes = 10};
	struct sim_err e = {0};
	cmd_parse(&report_line, argc, argv, &a);
	const int rc = report(&a, &e);
	return rc < 0 ? cmd_fail(rc == SIM_EINVAL ? CMD_USAGE : CMD_TROUBLE, &e)
		      : CMD_GOOD;
}
