/* sim/err.h -- error codes with a message that callers wrap in context.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Functions that can fail return 0 or a negative SIM_E* code and take a
 * `struct sim_err *e` last, which may be NULL. Whoever meets the fault writes
 * the message with sim_fail(); each caller that knows more puts its context in
 * front with sim_wrap():
 *
 *	if ((rc = topo_open(&t, &shape, e)) < 0)
 *		return sim_wrap(e, rc, "topology of %s", spec->figure);
 */
#ifndef SIM_ERR_H
#define SIM_ERR_H

#define SIM_ERR_CODES(X)                                                       \
	X(SIM_EINVAL, -1, "invalid value")                                     \
	X(SIM_ERANGE, -2, "value out of range")                                \
	X(SIM_ENOMEM, -3, "out of memory")                                     \
	X(SIM_EIO, -4, "input or output failed")                               \
	X(SIM_EPARSE, -5, "input is not well formed")                          \
	X(SIM_ELIMIT, -6, "a stated limit is exceeded")                        \
	X(SIM_EUNSUPPORTED, -7, "not supported in this combination")           \
	X(SIM_EDEP, -8, "a library reported a failure")                        \
	X(SIM_EMISMATCH, -9, "two things that must agree do not")

enum sim_err_code {
#define X(name, value, text) name = value,
	SIM_ERR_CODES(X)
#undef X
};

struct sim_err {
	int code;
	char msg[1024]; /* one line, ends in a full stop, no newline */
};

/* Write the message (a sentence with its full stop) and return CODE. */
int sim_fail(struct sim_err *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "context: " before the message and return CODE. */
int sim_wrap(struct sim_err *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The code's meaning, for example "input or output failed". */
const char *sim_err_text(int code);

#endif
