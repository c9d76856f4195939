/* experiments/cmd/cmd.c -- what the verbs of the command line share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/cmd.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/sweep/journal.h"
#include "experiments/sweep/memory.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/state.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/h5_table.h"
#include "results/json.h"
#include "results/until.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "sim/yaml.h"

unsigned cmd_processors(void)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

/* --- errors -------------------------------------------------------------- */

int cmd_fail(int code, const struct sim_err *e)
{
	const char *line = e->msg;
	while (*line) {
		int n = (int)strcspn(line, "\n");
		fprintf(stderr, "culprit: %.*s\n", n, line);
		line += n;
		line += *line == '\n';
	}
	return code;
}

/* What the user can mend by other words is of the command
 * line; all else is trouble. */
int cmd_exit_of(int rc)
{
	switch (rc) {
	case SIM_EINVAL:
	case SIM_ERANGE:
	case SIM_EPARSE:
	case SIM_ELIMIT:
	case SIM_EUNSUPPORTED:
	case SIM_EMISMATCH:
		return CMD_USAGE;
	default:
		return rc < 0 ? CMD_TROUBLE : CMD_GOOD;
	}
}

/* --- files --------------------------------------------------------------- */

/* The folder of this program, wherever it was started, without the slash; "."
 * if it can't be told. */
static void program_folder(char buf[], size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	if (n <= 0) {
		snprintf(buf, size, ".");
		return;
	}
	buf[n] = '\0';
	char *slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
}

static int is_readable(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) &&
	    access(path, R_OK) == 0;
}

/* Folders that may hold what ships with the program, the nearest first: the
 * current one, that of a build, and that of an installation. */
enum { N_ROOTS = 3 };
static void root_folder(int root, const char *folder, char buf[], size_t size)
{
	static const char *const up[N_ROOTS] = {"", "/../",
	    "/../share/culprit/"};
	char program[2048] = "";
	if (root > 0)
		program_folder(program, sizeof(program));
	snprintf(buf, size, "%s%s%s", program, up[root], folder);
}

static int has_suffix(const char *name, const char *suffix)
{
	const size_t n = strlen(name), k = strlen(suffix);
	return n > k && strcmp(name + n - k, suffix) == 0;
}

void cmd_each_file(const char *folder, const char *suffix, int shipped,
    void (*hear)(void *arg, const char *name), void *arg)
{
	for (int root = 0; root < (shipped ? N_ROOTS : 1); root++) {
		char path[4096];
		struct dirent **entry;
		root_folder(root, folder, path, sizeof(path));
		/* Where the program was built, its tree may be the current
		 * folder too. */
		if (root > 0 && cmd_is_same_file(path, folder))
			continue;
		int n_entries = scandir(path, &entry, NULL, alphasort);
		for (int i = 0; i < n_entries; i++) {
			char *file = entry[i]->d_name;
			if (has_suffix(file, suffix)) {
				file[strlen(file) - strlen(suffix)] = '\0';
				hear(arg, file);
			}
			free(entry[i]);
		}
		if (n_entries >= 0)
			free(entry);
	}
}

/* Names without their suffix. */
struct known {
	char *name[256];
	size_t n;
};

static void keep_name(void *arg, const char *name)
{
	struct known *k = arg;
	if (k->n < 256 && (k->name[k->n] = strdup(name)))
		k->n++;
}

/* A name near NAME among FOLDER's files, or one that has it
 * within; "" if there is none. */
static void find_near(const char *name, const char *folder, const char *suffix,
    int shipped, char near[256])
{
	struct known k = {.n = 0};
	cmd_each_file(folder, suffix, shipped, keep_name, &k);
	const char *best = sim_did_you_mean(name, (const char **)k.name, k.n);
	for (size_t i = 0; !best && i < k.n; i++)
		if (strstr(k.name[i], name))
			best = k.name[i];
	snprintf(near, 256, "%s", best ? best : "");
	while (k.n > 0)
		free(k.name[--k.n]);
}

int cmd_find(char **out, const char *name, const char *folder,
    const char *suffix, struct sim_err *e)
{
	char path[4096], near[256];
	/* With a slash, or where it is a file, a name is a
	 * path and nothing else. */
	if (strchr(name, '/') || is_readable(name))
		return sim_dup(out, name, e);
	if (has_suffix(name, suffix))
		suffix = "";
	for (int i = 0; i < N_ROOTS; i++) {
		char root[3072];
		root_folder(i, folder, root, sizeof(root));
		snprintf(path, sizeof(path), "%s/%s%s", root, name, suffix);
		if (is_readable(path))
			return sim_dup(out, path, e);
	}
	find_near(name, folder, suffix, 1, near);
	if (*near)
		return sim_fail(e, SIM_EIO,
		    "there is no %s/%s%s; did you mean \"%s\"?", folder, name,
		    suffix, near);
	return sim_fail(e, SIM_EIO,
	    "there is no file %s, and no %s/%s%s here, beside the "
	    "program or where it is installed.",
	    name, folder, name, suffix);
}

void cmd_warn(const struct xp_spec *s)
{
	for (size_t i = 0; i < s->n_warnings; i++)
		fprintf(stderr, "culprit: warning: %s\n", s->warning[i]);
}

int cmd_is_set(const char *path, const char *const set[], size_t n_set)
{
	const size_t n = strlen(path);
	for (size_t i = 0; i < n_set; i++)
		if (strncmp(set[i], path, n) == 0 &&
		    (set[i][n] == '=' || set[i][n] == '.'))
			return 1;
	return 0;
}

typedef int spec_loader(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e);

static int cmd_load_by(spec_loader *load, struct xp_spec *s, const char *name,
    int smoke, const char *const set[], size_t n_set, struct sim_err *e)
{
	char *path = NULL;
	int rc = cmd_find(&path, name, "experiments", ".yaml", e);
	if (rc == 0)
		rc = load(s, path, smoke, set, n_set, e);
	free(path);
	if (rc == 0)
		cmd_warn(s);
	return rc;
}

int cmd_load_spec(struct xp_spec *s, const char *name, int smoke,
    const char *const set[], size_t n_set, struct sim_err *e)
{
	return cmd_load_by(xp_spec_load, s, name, smoke, set, n_set, e);
}

int cmd_load_spec_still(struct xp_spec *s, const char *name, int smoke,
    const char *const set[], size_t n_set, struct sim_err *e)
{
	return cmd_load_by(xp_spec_load_still, s, name, smoke, set, n_set, e);
}

int cmd_check_cell(const struct xp_spec *s, uint64_t point, uint64_t run,
    struct sim_err *e)
{
	if (point < s->n_points && run < s->runs)
		return 0;
	return sim_fail(e, SIM_ERANGE,
	    "point %llu, run %llu: the sweep has points 0 to %zu and runs 0 "
	    "to %u.",
	    (unsigned long long)point, (unsigned long long)run, s->n_points - 1,
	    s->runs - 1);
}

int cmd_is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	    x.st_ino == y.st_ino;
}

int cmd_is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int cmd_check_output(const char *option, const char *path, char *const input[],
    size_t n, struct sim_err *e)
{
	for (size_t i = 0; i < n; i++)
		if (cmd_is_same_file(path, input[i]))
			return sim_fail(e, SIM_EINVAL,
			    "%s %s would replace %s, which is read; give "
			    "another name.",
			    option, path,
			    strcmp(path, input[i]) ? input[i] : "a file");
	return 0;
}

/* Is PATH a file of that KIND, as its attributes say? */
static int is_of_kind(const char *path, const char *kind)
{
	char attribute[64];
	struct res_h5_in *f;
	snprintf(attribute, sizeof(attribute), "%s_version", kind);
	if (res_h5_in_open(&f, path, NULL) < 0)
		return 0;
	const int is = res_h5_in_has_attr(f, attribute, NULL) > 0;
	res_h5_in_close(f);
	return is;
}

int cmd_make_room(const char *path, const char *kind, int force,
    struct sim_err *e)
{
	int there;
	const int rc = res_file_look(path, &there, e);
	if (rc < 0 || !there || is_of_kind(path, kind))
		return rc;
	return force
	    ? res_file_keep(path, e)
	    : sim_fail(e, SIM_EINVAL,
		  "%s exists, and is damaged or none that this command "
		  "wrote; give another name, or replace it with "
		  "--force, which keeps it as %s~.",
		  path, path);
}

int cmd_choose_output(char **out, const char *given, const struct xp_spec *s,
    const char *kind, int force, struct sim_err *e)
{
	char path[sizeof(s->figure) + 64];
	snprintf(path, sizeof(path), "results/out/%s.%s.h5", s->figure, kind);
	int rc = sim_dup(out, given ? given : path, e);
	if (rc == 0 && !given)
		rc = cmd_make_way(*out, e);
	if (rc == 0)
		rc = cmd_follow_link(out, e);
	if (rc == 0)
		rc = cmd_check_output("-o", *out, s->input, s->n_inputs, e);
	return rc < 0 ? rc : cmd_make_room(*out, kind, force, e);
}

int cmd_make_way(const char *path, struct sim_err *e)
{
	char *copy;
	int rc = sim_dup(&copy, path, e);
	if (rc < 0)
		return rc;
	for (char *p = *copy ? strchr(copy + 1, '/') : NULL; p && rc == 0;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		struct stat st;
		/* Folders that exist are fine; a file of that name is not,
		 * though mkdir() calls both by the same error. */
		int made = mkdir(copy, 0777) == 0 || errno == EEXIST;
		if (made && stat(copy, &st) == 0 && !S_ISDIR(st.st_mode)) {
			made = 0;
			errno = ENOTDIR;
		}
		if (!made)
			rc = sim_fail(e, SIM_EIO, "cannot make folder %s: %s.",
			    copy, strerror(errno));
		*p = '/';
	}
	free(copy);
	return rc;
}

int cmd_follow_link(char **path, struct sim_err *e)
{
	struct stat st;
	if (lstat(*path, &st) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	char *to = realpath(*path, NULL);
	if (!to)
		return sim_fail(e, SIM_EIO, "cannot follow the link %s: %s.",
		    *path, strerror(errno));
	free(*path);
	*path = to;
	return 0;
}

int cmd_write_file(const char *path, const void *bytes, size_t n,
    struct sim_err *e)
{
	struct stat st;
	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
		return res_file_write(path, bytes, n, e);
	/* What is no regular file can't be replaced by another one. */
	FILE *f = fopen(path, "w");
	if (!f)
		return sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    strerror(errno));
	const int whole = fwrite(bytes, 1, n, f) == n;
	return fclose(f) == 0 && whole
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		  strerror(errno));
}

/* What surely can't be is not begun: the kernel would end some process of the
 * machine, hours later, and not always ours. */
int cmd_check_memory(const struct xp_spec *s, unsigned n_workers,
    unsigned shard_n, int yes, struct sim_err *e)
{
	struct xp_memory m;
	struct xp_room room;
	xp_memory_of(&m, s, n_workers, shard_n);
	xp_room_read(&room, "");
	const int rc = xp_memory_fits(&m, &room, e);
	if (rc < 0 && !yes)
		return rc;
	if (rc != 0)
		fprintf(stderr, "culprit: warning: %s\n", e->msg);
	return 0;
}

/* --- results ------------------------------------------------------------- */

static int has_journal(const char *path)
{
	char *journal;
	if (xp_run_path(&journal, path, ".journal", NULL) < 0)
		return 0;
	const int has = access(journal, F_OK) == 0;
	free(journal);
	return has;
}

int cmd_find_results(char **out, const char *name, struct sim_err *e)
{
	char path[4096], near[256];
	/* A sweep may have a journal and no results yet. */
	if (access(name, F_OK) == 0 || has_journal(name))
		return sim_dup(out, name, e);
	if (strchr(name, '/'))
		return sim_fail(e, SIM_EIO, "there is no file %s.", name);
	snprintf(path, sizeof(path), "results/out/%s%s", name,
	    has_suffix(name, ".h5") ? "" : ".h5");
	if (is_readable(path) || has_journal(path))
		return sim_dup(out, path, e);
	find_near(name, "results/out", ".h5", 0, near);
	if (*near)
		return sim_fail(e, SIM_EIO,
		    "there is no %s; did you mean \"%s\"?", path, near);
	return sim_fail(e, SIM_EIO,
	    "there is no file %s, and no %s; `culprit run` makes "
	    "it.",
	    name, path);
}

/* "; until 0.01 accuracy_fault: 9 points at 265 to 700 runs, 5 not in 1000". */
static void print_until(const struct res_cube *c)
{
	struct res_until_sum u;
	const char *mark = ":";
	if (!c->until || res_until_sum(c, &u, NULL) < 0)
		return;
	printf("; until %s", c->until);
	if (u.n_met > 0) {
		printf(": %zu point%s at %u", u.n_met, u.n_met > 1 ? "s" : "",
		    u.least);
		if (u.most > u.least)
			printf(" to %u", u.most);
		printf(" runs");
		mark = ",";
	}
	if (u.n_all > 0) {
		printf("%s %zu not in %zu", mark, u.n_all, c->n_runs);
		mark = ",";
	}
	if (u.n_open > 0)
		printf("%s %zu undecided", mark, u.n_open);
}

void cmd_print_until_json(const struct res_cube *c)
{
	struct res_until_sum u;
	if (!c->until || res_until_sum(c, &u, NULL) < 0)
		return;
	res_json_text_of(stdout, "until_ci", c->until);
	printf(", \"met\": %zu, \"not_met\": %zu, \"undecided\": %zu", u.n_met,
	    u.n_all, u.n_open);
}

/* Cells that are done but for an algorithm from outside. Shards are merged without
 * their rows in memory; `culprit status` tells it of the whole. */
static void print_unanswered(const struct res_cube *c)
{
	for (size_t a = 0; c->rows.n > 0 && a < c->n_algos; a++) {
		const size_t n = res_cube_n_unanswered(c, a);
		if (n > 0)
			printf(", %zu without %s", n, c->algo[a]);
	}
}

void cmd_print_cells(const struct res_cube *c, const char *path)
{
	const struct res_progress p = res_cube_progress(c);
	printf("%s: %llu of %llu cells done", c->figure,
	    (unsigned long long)p.n_done, (unsigned long long)p.n_cells);
	if (p.n_failed > 0)
		printf(", %llu failed", (unsigned long long)p.n_failed);
	if (p.n_crashed > 0)
		printf(", %llu crashed", (unsigned long long)p.n_crashed);
	print_unanswered(c);
	if (c->shard_n > 1)
		printf(", shard %u/%u", c->shard_i + 1, c->shard_n);
	if (c->partial)
		printf(", partial (%s)", c->partial);
	print_until(c);
	printf(" -> %s\n", path);
}

/* A journal that is of another sweep, or cannot be read, is no matter here: `culprit
 * status` tells why. */
static void warn_of_journal(const struct res_cube *c, const char *path)
{
	const unsigned long long n_here = res_cube_progress(c).n_done;
	struct res_cube both = {0};
	struct sim_err e = {0};
	char *journal;
	if (xp_run_path(&journal, path, ".journal", NULL) < 0)
		return;
	if (access(journal, F_OK) == 0 && xp_state_read(&both, path, &e) == 0) {
		const unsigned long long n = res_cube_progress(&both).n_done;
		if (n > n_here)
			fprintf(stderr,
			    "culprit: %s has %llu of %llu cells that are done: "
			    "the others stand in %s, with which `culprit run` "
			    "goes on.\n",
			    path, n_here, n, journal);
	}
	res_cube_free(&both);
	free(journal);
}

void cmd_warn_unfinished(const struct res_cube *c, const char *path)
{
	if (c->partial)
		fprintf(stderr, "culprit: %s is partial: %s.\n", path,
		    c->partial);
	warn_of_journal(c, path);
}
