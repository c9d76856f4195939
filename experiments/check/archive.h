/* experiments/check/archive.h -- an archive of results, unpacked with distrust.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `make artifact` makes one: a gzipped tar of plain files under one folder,
 *
 *	README.md, VERSION   what it is; what made it
 *	MANIFEST.sha256      a checksum of every other file, as of sha256sum
 *	specs/NAME.yaml      results/NAME.h5
 *	tables/NAME.tsv      figures/NAME.svg, .pdf, .png
 *
 * It may be anybody's. tar and sha256sum read it; what tar lists is checked
 * before anything is written: no links and no devices, names of plain letters
 * that lead nowhere else, none twice, no more bytes than XP_ARCHIVE_MAX. It goes
 * into a new folder that only this user may enter. HDF5 reads what is in it: a
 * results file made to attack HDF5 is not told by this (results/h5.h).
 */
#ifndef EXPERIMENTS_CHECK_ARCHIVE_H
#define EXPERIMENTS_CHECK_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

#define XP_ARCHIVE_MAX      (UINT64_C(8) << 30) /* bytes, unpacked */
#define XP_ARCHIVE_MANIFEST "MANIFEST.sha256"

struct xp_archive {
	char *folder;   /* a new one under $TMPDIR or /tmp */
	char *top;      /* the archive's own folder in it, with a slash */
	size_t n_files; /* without folders */
	char **file;    /* their names within TOP, sorted */
	uint64_t n_bytes;
	uint64_t key; /* a hash of its manifest, once that was checked */
};

/* What `tar --list --verbose` printed, into a zeroed A: files, top (their folder
 * alone, with its slash) and n_bytes. LIST is cut at its lines. Errors of
 * xp_archive_open(); A is to be closed either way. */
int xp_archive_read_list(struct xp_archive *a, char *list, struct sim_err *e);

/* Do the lines of a manifest, TEXT, which is cut, name just the files of A, but
 * itself? Errors of xp_archive_check_sums(). */
int xp_archive_read_manifest(const struct xp_archive *a, char *text,
    struct sim_err *e);

/* Unpack FILE. A need not be initialised and is to be closed either way.
 * Errors SIM_EIO (FILE can't be read), SIM_EPARSE (no gzipped tar, or cut),
 * SIM_EINVAL (it holds what it must not, named), SIM_ELIMIT, SIM_EDEP (no tar),
 * SIM_ENOMEM. */
int xp_archive_open(struct xp_archive *a, const char *file, struct sim_err *e);

/* Remove what was unpacked. */
void xp_archive_close(struct xp_archive *a);

/* Is each file in the manifest and as the manifest has it, and is there no
 * other? Errors SIM_EMISMATCH, naming the first that differs, is missing or is
 * one too many; SIM_EPARSE (no manifest, or a bad line), SIM_EDEP, SIM_EIO,
 * SIM_ENOMEM. */
int xp_archive_check_sums(struct xp_archive *a, struct sim_err *e);

/* Is there a file of that name within TOP? */
int xp_archive_has(const struct xp_archive *a, const char *name);

#endif
