/* experiments/telemetry/flock_bytes.c -- bytes of traces, packed by zlib or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "experiments/telemetry/flock_text.h"
#include "results/file.h"
#include "sim/input.h"
#include "sim/vec.h"

struct xp_flock_file {
	gzFile gz;
	const char *path;
	int writes;
	struct res_file_draft draft; /* if it is written */
};

/* The descriptor that is zlib's to close, or an error. */
static int fbytes_fd(struct xp_flock_file *f, const char *path, int writes,
    struct sim_err *e)
{
	const char *why;
	if (!writes) {
		const int fd = sim_input_fd(path, &why);
		return fd >= 0
		    ? fd
		    : sim_fail(e, SIM_EIO, "cannot read %s: %s.", path, why);
	}
	const int rc = res_file_begin(&f->draft, path, e);
	f->writes = rc == 0;
	return rc < 0 ? rc : res_file_hand(&f->draft, e);
}

/* What is not packed is read as it is. */
static int fbytes_begin(struct xp_flock_file *f, const char *mode,
    struct sim_err *e)
{
	const int fd = fbytes_fd(f, f->path, *mode == 'w', e);
	if (fd < 0)
		return fd;
	errno = 0;
	if ((f->gz = gzdopen(fd, mode)))
		return 0;
	const int why = errno ? errno : ENOMEM;
	close(fd);
	return sim_fail(e, why == ENOMEM ? SIM_ENOMEM : SIM_EIO,
	    "cannot %s %s: %s.", *mode == 'w' ? "write" : "read", f->path,
	    strerror(why));
}

int xp_flock_open(struct xp_flock_file **f, const char *path, int writes,
    struct sim_err *e)
{
	const size_t n = strlen(path);
	const int packs = n > 3 && strcmp(path + n - 3, ".gz") == 0;
	int rc = SIM_ZALLOC(f, 1, e);
	if (rc < 0)
		return rc;
	(*f)->path = path;
	rc = fbytes_begin(*f, !writes ? "rb" : packs ? "wb6" : "wbT", e);
	if (rc < 0) {
		xp_flock_close(*f, rc, e);
		*f = NULL;
	}
	return rc;
}

int xp_flock_take(struct xp_flock_file *f, void *to, size_t n, size_t *got,
    struct sim_err *e)
{
	const int r = gzread(f->gz, to, (unsigned)n);
	int why = Z_OK;
	const char *said = gzerror(f->gz, &why);
	*got = r > 0 ? (size_t)r : 0;
	/* A packed file that is cut gives what it has, and then this. */
	if (r >= 0 && (why == Z_OK || why == Z_STREAM_END || *got > 0))
		return 0;
	return sim_fail(e, why == Z_MEM_ERROR ? SIM_ENOMEM : SIM_EIO,
	    "cannot read %s: %s.", f->path,
	    why == Z_ERRNO           ? strerror(errno)
		: why == Z_BUF_ERROR ? "it is cut"
				     : sim_input_said(said));
}

int xp_flock_put(struct xp_flock_file *f, const void *from, size_t n,
    struct sim_err *e)
{
	errno = 0;
	if (n == 0 || gzwrite(f->gz, from, (unsigned)n) == (int)n)
		return 0;
	return sim_fail(e, SIM_EIO, "cannot write %s: %s.", f->path,
	    errno ? strerror(errno) : "it could not be packed");
}

/* Of what is read, only the end of a packed file that is cut is no mistake. */
int xp_flock_close(struct xp_flock_file *f, int rc, struct sim_err *e)
{
	if (!f)
		return rc;
	errno = 0;
	const int end = f->gz ? gzclose(f->gz) : Z_OK;
	if (rc == 0 && end != Z_OK && end != Z_BUF_ERROR)
		rc = sim_fail(e, SIM_EIO, "cannot end %s: %s.", f->path,
		    errno ? strerror(errno) : "it could not be packed");
	if (f->writes)
		rc = res_file_end(&f->draft, rc, e);
	free(f);
	return rc;
}
