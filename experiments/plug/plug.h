/* experiments/plug/plug.h -- algorithms from outside the tree, as algo_ops.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	algorithms:
 *	  - { exec: "python3 mine.py", accuse: 2, label: mine }
 *	  - { plugin: ./mine.so, accuse: 2 }
 *
 * A command is started once to describe itself (about.h) when a spec is read,
 * and once in each process that diagnoses by it; there it is kept over windows
 * and points, and told of each point's network (frame.h). What it answers is
 * checked (answer.h). When it dies, takes too long or writes garbage it is
 * started anew for the next window; who does so eight times in a row is not
 * started again. Its own failures are SIM_EDEP; all other errors are ours.
 *
 * A plug-in is a library (algos/plugin.h), described by a process that ends then,
 * and loaded by each process that diagnoses by it (library.h). When it crashes
 * or takes too long there, that is such a failure too, but its process should
 * end before it does more: plug_is_spent().
 *
 * DEPARTS from algo.h: nothing keeps such an algorithm from having state. So it
 * is asked twice about some windows, and an answer that differs is a failure.
 */
#ifndef EXPERIMENTS_PLUG_PLUG_H
#define EXPERIMENTS_PLUG_PLUG_H

#include "algos/algo.h"
#include "experiments/plug/about.h"
#include "sim/err.h"

struct plug;
struct plug_set; /* the algorithms of a spec, each once */

/* Relative names are looked for in FOLDER, "" or with its slash. */
int plug_set_open(struct plug_set **s, const char *folder, struct sim_err *e);
void plug_set_free(struct plug_set *s); /* NULL is fine; ends all children */

enum plug_kind { PLUG_EXEC, PLUG_LIBRARY };

/* The algorithm of TEXT, a command or a file, for the NUMBER-th place of a list,
 * described the first time. *OUT lives as long as S. Errors SIM_EDEP, of its
 * description too; SIM_EINVAL, SIM_ENOMEM. Of what failed once the error is
 * kept. */
int plug_set_find(struct plug_set *s, enum plug_kind kind, const char *text,
    size_t number, struct plug **out, struct sim_err *e);

/* What stands for one that was not asked for, as nothing is to be started: it
 * needs and takes nothing, and can't be opened. */
extern const struct algo_ops plug_none;

/* Its parameters begin with struct plug_params, whose `plug` is to be set. */
const struct algo_ops *plug_ops(const struct plug *p);

/* Has it crashed in this process, or made it large? Then the process should end
 * when it has said what it knows. */
int plug_is_spent(const struct plug *p);

/* What a library imports that it should not, "exit, rand", or NULL. */
const char *plug_warns(const struct plug *p);
#define PLUG_WARNS                                                             \
	"imports %s: a library should not end or change its process, nor "     \
	"have "                                                                \
	"a clock or draws of its own."

/* The hash of its text and of the files that this names, as they were when it was
 * described. */
uint64_t plug_hash(const struct plug *p);

#endif
