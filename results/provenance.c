/* results/provenance.c -- what made a result: versions, commit, libraries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Makefile gives the CULPRIT_* macros to this file alone. It includes the
 * headers of all libraries, for nothing but their versions. HDF5's and igraph's
 * are those that this was built with, as they are loaded late (sim/late.h): HDF5
 * refuses to run with another, and of igraph the name of the file tells all but
 * its last digits.
 */
#include "results/provenance.h"

#include <glpk.h>
#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <igraph.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "results/file.h"
#include "results/json.h"
#include "sim/text.h"

#define CULPRIT_VERSION "0.13.0"

const struct res_provenance *res_provenance(void)
{
	static const struct res_provenance list[] = {
	    {"culprit", CULPRIT_VERSION},
	    {"git_commit", CULPRIT_COMMIT},
	    {"build", CULPRIT_BUILD},
	    {"compiler", __VERSION__},
	    {NULL, NULL},
	};
	return list;
}

const char *res_version(void)
{
	return CULPRIT_VERSION " (" CULPRIT_COMMIT ", build " CULPRIT_BUILD ")";
}

const char *res_build(void)
{
	return CULPRIT_BUILD;
}

/* glibc has exp(), log() and the like twice on this machine's kind, and takes
 * the ones that fuse multiply and add where the processor can. Their last bits
 * differ. */
static const char *libm_kind(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("fma") ? " with fma" : " without fma";
#else
	return "";
#endif
}

void res_libraries(char out[RES_LIBRARIES_BYTES])
{
	struct sim_text t = {out, RES_LIBRARIES_BYTES, 0};
	sim_put(&t, "GSL %s, GLPK %s, HDF5 %u.%u.%u, igraph %s, glibc %s%s",
	    gsl_version, glp_version(), H5_VERS_MAJOR, H5_VERS_MINOR,
	    H5_VERS_RELEASE, IGRAPH_VERSION, gnu_get_libc_version(),
	    libm_kind());
}

/* Time in user and kernel mode. */
static double cpu_s(int who)
{
	struct rusage u;
	if (getrusage(who, &u) < 0)
		return 0;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The memory of the largest single process, of this one and the workers it has
 * waited for: Linux reports kilobytes. */
static double peak_bytes(void)
{
	long peak = 0;
	for (int i = 0; i < 2; i++) {
		struct rusage u;
		int who = i ? RUSAGE_CHILDREN : RUSAGE_SELF;
		if (getrusage(who, &u) == 0 && u.ru_maxrss > peak)
			peak = u.ru_maxrss;
	}
	return 1024.0 * (double)peak;
}

/* Every field but the first comes behind a comma. */
static void provenance_number(FILE *out, const char *name, double x)
{
	fprintf(out, ",\n  \"%s\": ", name);
	res_json_number(out, x);
}

static void text(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",\n  \"%s\": ", name);
	res_json_text(out, value);
}

static void print(FILE *out, const struct res_run_record *r)
{
	char libraries[RES_LIBRARIES_BYTES];
	fputs("{\n  \"argv\": [", out);
	for (int i = 0; i < r->argc; i++) {
		fputs(i ? ", " : "", out);
		res_json_text(out, r->argv[i]);
	}
	putc(']', out);
	for (const struct res_provenance *p = res_provenance(); p->name; p++)
		text(out, p->name, p->value);
	res_libraries(libraries);
	text(out, "libraries", libraries);
	/* What differs from run to run stands here and not in the results file,
	 * which can thus be compared byte for byte. */
	struct utsname host;
	if (uname(&host) == 0) {
		text(out, "host", host.nodename);
		text(out, "system", host.release);
		text(out, "machine", host.machine);
	}
	/* What the caller knows of this run besides. */
	for (const struct res_provenance *p = r->more; p && p->name; p++)
		text(out, p->name, p->value);
	provenance_number(out, "start_unix_s", r->start_unix_s);
	provenance_number(out, "end_unix_s", r->start_unix_s + r->wall_s);
	provenance_number(out, "wall_s", r->wall_s);
	provenance_number(out, "cpu_s",
	    cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN));
	provenance_number(out, "peak_bytes", peak_bytes());
	provenance_number(out, "workers", r->n_workers);
	provenance_number(out, "cells", (double)r->n_cells);
	provenance_number(out, "done", (double)r->n_done);
	provenance_number(out, "failed", (double)r->n_failed);
	provenance_number(out, "crashed", (double)r->n_crashed);
	fputs("\n}\n", out);
}

int res_run_record_write(const char *path, const struct res_run_record *r,
    struct sim_err *e)
{
	char *bytes = NULL;
	size_t n = 0;
	/* In memory first, so that the file is replaced as a whole or not at
	 * all. */
	FILE *out = open_memstream(&bytes, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for %s.", path);
	print(out, r);
	int rc = ferror(out);
	if (fclose(out) != 0 || rc)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for %s.", path);
	else
		rc = res_file_write(path, bytes, n, e);
	free(bytes);
	return rc;
}
