/* experiments/cmd.c -- what the verbs of the command line share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/h5.h"
#include "sim/vec.h"
#include "sim/yaml.h"

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

/* The folder of this program, without the slash; "." if it can't be told. */
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

int cmd_find(char **out, const char *name, const char *folder,
	     const char *suffix, struct sim_err *e)
{
	static const char *const roots[] = {"", "/../", "/../share/culprit/"};
	char program[2048], path[4096];
	if (strchr(name, '/') || access(name, R_OK) == 0)
		return sim_yaml_dup(out, name, e);
	program_folder(program, sizeof(program));
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s/%s%s",
			 i == 0 ? "" : program, roots[i], folder, name, suffix);
		if (access(path, R_OK) == 0)
			return sim_yaml_dup(out, path, e);
	}
	return sim_fail(
	    e, SIM_EIO,
	    "there is no file %s, nor %s/%s%s here, beside the program or "
	    "where it is installed.",
	    name, folder, name, suffix);
}

int cmd_make_way(const char *path, struct sim_err *e)
{
	char *copy;
	int rc = sim_yaml_dup(&copy, path, e);
	if (rc < 0)
		return rc;
	for (char *p = strchr(copy + 1, '/'); p && rc == 0;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = sim_fail(e, SIM_EIO, "cannot make folder %s: %s.",
				      copy, strerror(errno));
		*p = '/';
	}
	free(copy);
	return rc;
}

int cmd_read_results(struct res_cube *c, const char *name, struct sim_err *e)
{
	char *path;
	int rc = cmd_find(&path, name, "results/out", ".h5", e);
	if (rc == 0) {
		rc = res_h5_read(c, path, e);
		free(path);
	}
	return rc;
}
