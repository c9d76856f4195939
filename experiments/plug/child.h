/* experiments/plug/child.h -- a program that is asked and answers, on pipes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It reads its file descriptor 3 and answers on 4. Its stdin is empty; what it
 * prints is caught, and its end is told with it. It dies with the process that
 * started it, has no core file, and no more than 4 GiB of data.
 */
#ifndef EXPERIMENTS_PLUG_CHILD_H
#define EXPERIMENTS_PLUG_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "sim/err.h"

/* Zeroed is none. */
struct plug_child {
	pid_t pid;   /* 0: none */
	pid_t owner; /* who started it; in a fork of that it is not ours */
	int to, from, said;
	unsigned char *got; /* its answer, [n_got] */
	size_t n_got, cap_got;
	char words[512]; /* the last that it printed */
	size_t n_words;
};

/* How long the message is that begins with these N bytes: *SIZE, or 0 if more
 * are needed to tell. An error ends the child. */
typedef int plug_size_of(void *arg, const unsigned char *b, size_t n,
    size_t *size, struct sim_err *e);

/* What a child does; its end is that of the process. */
typedef void plug_child_main(void *arg);

/* Start a process that does RUN(ARG). Errors SIM_EIO. */
int plug_child_fork(struct plug_child *c, plug_child_main *run, void *arg,
    struct sim_err *e);

/* Start COMMAND, words that are parted by blanks, in FOLDER ("": here). Errors
 * SIM_EIO, SIM_ENOMEM; that there is no such program is learned from its
 * end. */
int plug_child_start(struct plug_child *c, const char *command,
    const char *folder, struct sim_err *e);

/* Write N bytes and read one message into c->got, *SIZE bytes. After any error
 * there is no child. Errors SIM_EDEP: it died, took too long, or wrote
 * something else. */
int plug_child_ask(struct plug_child *c, const void *bytes, size_t n,
    double timeout_s, plug_size_of *size_of, void *arg, size_t *size,
    struct sim_err *e);

/* Is there one, of this process? */
int plug_child_lives(struct plug_child *c);

void plug_child_end(struct plug_child *c);
void plug_child_free(struct plug_child *c);

#endif
