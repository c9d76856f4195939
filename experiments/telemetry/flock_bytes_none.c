/* experiments/telemetry/flock_bytes_none.c -- traces of a program without zlib.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/telemetry/flock_text.h"
#include "sim/input.h"
#include "sim/vec.h"

struct xp_flock_file {
	FILE *file;
	const char *path;
};

static int ftext_needs_zlib(const char *path, struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "%s is packed by gzip, and this program was built without zlib: "
	    "unpack it, or install zlib1g-dev and build again.",
	    path);
}

int xp_flock_open(struct xp_flock_file **f, const char *path, int writes,
    struct sim_err *e)
{
	const size_t n = strlen(path);
	int rc;
	*f = NULL;
	if (writes && n > 3 && strcmp(path + n - 3, ".gz") == 0)
		return ftext_needs_zlib(path, e);
	if ((rc = SIM_ZALLOC(f, 1, e)) < 0)
		return rc;
	const char *why;
	(*f)->file = writes ? fopen(path, "wb") : sim_input_open(path, &why);
	(*f)->path = path;
	if ((*f)->file)
		return 0;
	free(*f);
	*f = NULL;
	return sim_fail(e, SIM_EIO, "cannot %s %s: %s.",
	    writes ? "write" : "read", path, strerror(errno));
}

int xp_flock_take(struct xp_flock_file *f, void *to, size_t n, size_t *got,
    struct sim_err *e)
{
	const int begins = ftell(f->file) == 0;
	*got = fread(to, 1, n, f->file);
	if (begins && *got >= 2 && memcmp(to, "\x1f\x8b", 2) == 0)
		return ftext_needs_zlib(f->path, e);
	return ferror(f->file) ? sim_fail(e, SIM_EIO, "cannot read %s: %s.",
				     f->path, strerror(errno))
			       : 0;
}

int xp_flock_put(struct xp_flock_file *f, const void *from, size_t n,
    struct sim_err *e)
{
	return fwrite(from, 1, n, f->file) == n
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot write %s: %s.", f->path,
		  strerror(errno));
}

int xp_flock_close(struct xp_flock_file *f, struct sim_err *e)
{
	if (!f)
		return 0;
	const char *path = f->path;
	const int bad = fclose(f->file);
	free(f);
	return bad
	    ? sim_fail(e, SIM_EIO, "cannot end %s: %s.", path, strerror(errno))
	    : 0;
}
