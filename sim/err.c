/* sim/err.c -- error codes with a message that callers wrap in context.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int sim_wrap(struct sim_err *e, int code, const char *fmt, ...)
{
	if (e) {
		char inner[sizeof(e->msg)];
		memcpy(inner, e->msg, sizeof(inner));
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < sizeof(e->msg))
			snprintf(e->msg + n, sizeof(e->msg) - (size_t)n,
			    ": %s", inner);
		e->code = code;
	}
	return code;
}

const char *sim_err_name(int code)
{
	switch (code) {
#define X(name, value, text)                                              \
	case value:                                                       \
		return #name;
		SIM_ERR_CODES(X)
#undef X
	}
	return code == 0 ? "ok" : "unknown";
}

const char *sim_err_text(int code)
{
	switch (code) {
#define X(name, value, text)                                              \
	case value:                                                       \
		return text;
		SIM_ERR_CODES(X)
#undef X
	}
	return code == 0 ? "no error" : "unknown error";
}
