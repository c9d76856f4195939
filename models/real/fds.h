/* models/real/fds.h -- how many files a process may have open.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_REAL_FDS_H
#define MODELS_REAL_FDS_H

#include <sys/resource.h>

/* Raise the soft limit on open files to NEED if the hard limit allows; one that
 * is higher already stays. Returns 1 if NEED files may be open now; *HARD is
 * the hard limit. */
static inline int real_fds_raise(rlim_t need, unsigned long long *hard)
{
	struct rlimit limit = {0};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need &&
	    limit.rlim_max >= need) {
		limit.rlim_cur = need;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	const int known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
	*hard = (unsigned long long)limit.rlim_max;
	return known && limit.rlim_cur >= need;
}

#endif
