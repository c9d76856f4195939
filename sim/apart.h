/* sim/apart.h -- functions that may crash or hang, called in another process.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some libraries cannot survive a failed allocation or a forged file. What
 * calls them is forked: the child has all that the parent had, serves one call
 * after the other, and keeps what the library made. Whatever it dies of, or
 * loops in, is an error of the call:
 *
 *	sim_apart_open(&a, "HDF5", state, limit, e);      a fork
 *	sim_apart_ask(a, fn, &ask, sizeof(ask), &n, e);   fn(state, ...), there
 *	sim_apart_take(a, to, n, e);                      what it gave back
 *	sim_apart_close(a);
 *
 * Pointers made before sim_apart_open(), and those of functions and constants,
 * mean the same in both. A question costs some 15 us, and what is given back
 * about 1 ns a byte.
 */
#ifndef SIM_APART_H
#define SIM_APART_H

#include <stddef.h>
#include <stdint.h>

#include <sys/resource.h>

#include "sim/err.h"

struct sim_apart;

/* What a call gives back: bytes in the order in which they were made room
 * for. */
struct sim_apart_reply {
	unsigned char *bytes;
	size_t n, cap;
};

/* Room for N more bytes, to be filled at once, or NULL. */
void *sim_apart_room(struct sim_apart_reply *r, size_t n, struct sim_err *e);

/* Runs in the child. What it returns below 0, and what it says in E, is what
 * the caller gets; its reply is then dropped. */
typedef int sim_apart_fn(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e);

/* Bounds of the child: memory beyond what the parent had, 0 for none; and time
 * of the processor for each question. One that neither computes nor ends is
 * ended after a minute for each of these seconds. */
struct sim_apart_limit {
	uint64_t more_bytes;
	unsigned cpu_s;
};

/* NAME, a constant, is whom messages blame. The child has the parent's files
 * open, too. Errors SIM_ENOMEM, SIM_EIO. */
int sim_apart_open(struct sim_apart **a, const char *name, void *state,
    const struct sim_apart_limit *limit, struct sim_err *e);

/* Call FN(state, ask, n) in the child. *N_REPLY, which may be NULL, is what
 * there is to take; the next question drops what was not taken.
 * Errors those of FN; SIM_EDEP: the child crashed, ran out of time, or did so
 * at an earlier question; SIM_EINVAL in a fork of who opened it. */
int sim_apart_ask(struct sim_apart *a, sim_apart_fn *fn, const void *ask,
    size_t n, size_t *n_reply, struct sim_err *e);

/* The next N bytes. Errors SIM_EDEP, also when so many are not left. */
int sim_apart_take(struct sim_apart *a, void *to, size_t n, struct sim_err *e);

/* End the child, whatever it does. NULL is fine. */
void sim_apart_close(struct sim_apart *a);

/* Let this process's data grow by no more than so many bytes from now on, or
 * by less if it may not as it is. HAD is what there was. */
void sim_limit_data(uint64_t more_bytes, struct rlimit *had);

#endif
