/* experiments/plug/library.h -- loading a plug-in, and having it described.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PLUG_LIBRARY_H
#define EXPERIMENTS_PLUG_LIBRARY_H

#include "algos/plugin.h"
#include "sim/err.h"
#include "sim/text.h"

/* Load PATH, which has a slash, for good: *P is the plug-in's. It may do what it
 * likes in this process meanwhile. Errors SIM_EDEP. */
int plug_library_load(const char *path, const struct culprit_plugin **p,
    struct sim_err *e);

/* Lines of a description, without its first and last: whatever P holds, no line
 * is more than it should be, and what can't be is left to the reader. */
void plug_probe_put(struct sim_text *t, const struct culprit_plugin *p);

/* In a child (child.h): load ARG, a path, and write to 4 what it says of itself,
 * as about.h has it; why not, if that can't be. */
void plug_library_probe(void *arg);

#endif
