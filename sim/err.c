/* sim/err.c -- error codes with a message that callers wrap in context.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The code is returned whether or not anybody reads the message, so callers
 * write `return sim_fail(e, ...)` also where E may be NULL. */
int sim_fail(struct sim_err *e, int code, const char *fmt, ...)
{
	if (e) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
		e->code = code;
	}
	return code;
}

/* Write ": " and TEXT at offset N of BUF, which has SIZE bytes. A message that
 * is too long loses its end, and stays terminated: the contexts in front,
 * written by the outermost callers, say where to look. */
static void err_append(char *buf, size_t size, size_t n, const char *text)
{
	const char *const part[] = {": ", text};
	for (size_t i = 0; i < 2 && n + 1 < size; i++) {
		size_t k = strlen(part[i]), room = size - 1 - n;
		k = k < room ? k : room;
		memcpy(buf + n, part[i], k);
		n += k;
		buf[n] = '\0';
	}
}

int sim_wrap(struct sim_err *e, int code, const char *fmt, ...)
{
	if (e) {
		/* The new message is written over the old one, so what the
		 * callee said is set aside first. */
		char inner[sizeof(e->msg)];
		memcpy(inner, e->msg, sizeof(inner));
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
		err_append(e->msg, sizeof(e->msg), n < 0 ? 0 : (size_t)n,
		    inner);
		e->code = code;
	}
	return code;
}

const char *sim_err_text(int code)
{
	switch (code) {
#define X(name, value, text)                                                   \
	case value:                                                            \
		return text;
		SIM_ERR_CODES(X)
#undef X
	}
	return code == 0 ? "no error" : "unknown error";
}
