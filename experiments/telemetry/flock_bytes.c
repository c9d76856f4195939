/* experiments/telemetry/flock_bytes.c -- bytes of traces, packed by zlib or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "experiments/telemetry/flock_text.h"
#include "sim/input.h"
#include "sim/vec.h"

struct xp_flock_file {
	gzFile gz;
	const char *path;
};

int xp_flock_open(struct xp_flock_file **f, const char *path, int writes,
    struct sim_err *e)
{
	const size_t n = strlen(path);
	const int packs = n > 3 && strcmp(path + n - 3, ".gz") == 0;
	const char *why;
	const int fd = writes ? -1 : sim_input_fd(path, &why);
	if (!writes && fd < 0)
		return sim_fail(e, SIM_EIO, "cannot read %s: %s.", path, why);
	const int rc = SIM_ZALLOC(f, 1, e);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	errno = 0;
	/* What is not packed is read as it is. */
	(*f)->gz =
	    writes ? gzopen(path, packs ? "wb6" : "wbT") : gzdopen(fd, "rb");
	(*f)->path = path;
	if ((*f)->gz)
		return 0;
	if (fd >= 0)
		close(fd);
	free(*f);
	*f = NULL;
	return sim_fail(e, errno == 0 || errno == ENOMEM ? SIM_ENOMEM : SIM_EIO,
	    "cannot %s %s: %s.", writes ? "write" : "read", path,
	    strerror(errno ? errno : ENOMEM));
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

int xp_flock_close(struct xp_flock_file *f, struct sim_err *e)
{
	if (!f)
		return 0;
	const char *path = f->path;
	errno = 0;
	const int rc = gzclose(f->gz);
	free(f);
	/* Of what is read, only the end of a packed file that is cut. */
	return rc == Z_OK || rc == Z_BUF_ERROR
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot end %s: %s.", path,
		  errno ? strerror(errno) : "it could not be packed");
}
