/* results/provenance.h -- what made a result: versions, commit, libraries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only what is the same for every worker, shard and repetition stands in a
 * results file, so that files can be compared byte for byte. What differs
 * (command line, host, times, memory) goes into the run record beside it.
 */
#ifndef RESULTS_PROVENANCE_H
#define RESULTS_PROVENANCE_H

#include "sim/err.h"

struct res_provenance {
	const char *name, *value;
};

/* Ends with a NULL name: culprit's version, its git commit ("unknown" when
 * built outside git, "-dirty" when the tree had changes), its build, and the
 * compiler's version. */
const struct res_provenance *res_provenance(void);
const char *res_version(void); /* "0.4.0 (1a2b3c4d5e6f, build ...)" */

/* Which program this is: a hash, of 16 hexadecimal digits, of the machine code
 * and constants of all that was compiled and of the flags of the linker. So it
 * changes with any edit that changes the program, also one that is in no
 * commit, and with the compiler and its flags; neither with a comment nor with
 * the folder it was built in. What two builds or two sets of libraries computed
 * is never mixed: results, shards and journals say of both which they are of. */
const char *res_build(void);

/* The libraries that numbers pass through, as they are at run time, since one
 * may be upgraded under a program: "GSL 2.7.1, GLPK 5.0, HDF5 1.10.8, ...". Of
 * glibc also which functions of mathematics this processor gets. */
enum { RES_LIBRARIES_BYTES = 160 };
void res_libraries(char out[RES_LIBRARIES_BYTES]);

/* OUT.run.json: command line, host, start, end, CPU seconds, peak memory,
 * workers, cells done. CPU and memory are those of this process and of the
 * workers it has waited for. Replaces PATH as a whole. Errors SIM_EIO,
 * SIM_ENOMEM. */
struct res_run_record {
	int argc;
	char *const *argv;
	double start_unix_s, wall_s;
	unsigned n_workers;
	unsigned long long n_cells, n_done, n_failed, n_crashed;
	const struct res_provenance *more; /* ends with a NULL name; or NULL */
};
int res_run_record_write(const char *path, const struct res_run_record *r,
    struct sim_err *e);

#endif
