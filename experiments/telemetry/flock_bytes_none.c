/* experiments/telemetry/flock_bytes_none.c -- traces of a program without zlib.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/telemetry/flock_text.h"
#include "results/file.h"
#include "sim/input.h"
#include "sim/vec.h"

struct xp_flock_file {
	FILE *file;
	const char *path;
	int writes;
	struct res_file_draft draft; /* if it is written */
};

static int ftext_needs_zlib(const char *path, struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "%s is packed by gzip, and this program was built without zlib: "
	    "unpack it, or install zlib1g-dev and build again.",
	    path);
}

static int fplain_begin(struct xp_flock_file *f, int writes, struct sim_err *e)
{
	const char *why;
	int rc;
	if (!writes)
		return (f->file = sim_input_open(f->path, &why))
		    ? 0
		    : sim_fail(e, SIM_EIO, "cannot read %s: %s.", f->path, why);
	if ((rc = res_file_begin(&f->draft, f->path, e)) < 0)
		return rc;
	f->writes = 1;
	const int fd = res_file_hand(&f->draft, e);
	if (fd < 0 || (f->file = fdopen(fd, "wb")))
		return fd < 0 ? fd : 0;
	close(fd);
	return sim_fail(e, SIM_ENOMEM, "no memory to write %s.", f->path);
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
	(*f)->path = path;
	if ((rc = fplain_begin(*f, writes, e)) < 0) {
		xp_flock_close(*f, rc, e);
		*f = NULL;
	}
	return rc;
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

int xp_flock_close(struct xp_flock_file *f, int rc, struct sim_err *e)
{
	if (!f)
		return rc;
	if (f->file && fclose(f->file) != 0 && rc == 0)
		rc = sim_fail(e, SIM_EIO, "cannot end %s: %s.", f->path,
		    strerror(errno));
	if (f->writes)
		rc = res_file_end(&f->draft, rc, e);
	free(f);
	return rc;
}
