/* sim/text.c -- words and numbers: strict reading, quoting, did you mean.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* Once the text is longer than the buffer, nothing more is written but all is
 * counted: N tells the caller how large the buffer should have been. */
void sim_put(struct sim_text *t, const char *fmt, ...)
{
	size_t at = t->n < t->size ? t->n : t->size;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(t->size ? t->buf + at : NULL, t->size - at, fmt, ap);
	va_end(ap);
	t->n += n > 0 ? (size_t)n : 0;
}

/* --- quoting ------------------------------------------------------------ */
/* A value from a file may hold anything. In a message it is one line of at most
 * SHOWN bytes, so control characters become blanks. */
const char *sim_quote(char buf[64], const char *text)
{
	enum { SHOWN = 40 };
	size_t n = 0, used = 0;
	buf[n++] = '"';
	for (; used < SHOWN && text[used]; used++) {
		unsigned char c = (unsigned char)text[used];
		buf[n++] = iscntrl(c) ? ' ' : (char)c;
	}
	if (text[used]) {
		/* Don't cut a character of UTF-8 in two. */
		for (; used > 0 && (text[used] & 0xc0) == 0x80; used--)
			n--;
		memcpy(buf + n, "...", 3);
		n += 3;
	}
	buf[n++] = '"';
	buf[n] = '\0';
	return buf;
}

/* LEAST refuses characters written with more bytes than they need, and the last
 * test refuses surrogates; the NUL at the end is no continuation byte, so
 * nothing is read beyond it. */
uint32_t sim_next_char(const unsigned char **text)
{
	static const uint32_t least[] =
	    {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
	const unsigned char *p = *text;
	/* A first byte starts with as many ones as there are bytes. */
	unsigned len =
	    p[0] < 0x80 ? 1 : (unsigned)__builtin_clz(~((uint32_t)p[0] << 24));
	int good = p[0] < 0x80 || (len >= 2 && len <= 4);
	uint32_t c = len < 2 ? p[0] : p[0] & (0x7fu >> len);
	for (unsigned i = 1; good && i < len; i++) {
		good = (p[i] & 0xc0) == 0x80;
		c = c << 6 | (p[i] & 0x3fu);
	}
	good = good && c >= least[len] && c <= 0x10ffff &&
	    !(c >= 0xd800 && c < 0xe000);
	*text += good ? len : 1;
	return good ? c : 0xfffd;
}

/* Characters that YAML reads as line ends or does not allow to stand raw, and
 * the byte order mark, which a reader may drop. */
static int must_escape(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x2028 ||
	    c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

/* Whether S can stand without quotes, also inside [ ] and { }, and reads back
 * as it is. This accepts less than YAML does: needless quotes do no harm,
 * missing ones change the value. */
static int is_plain(const char *s)
{
	static const char inner[] = "_./+-%~", first[] = "_/+~";
	size_t n = strlen(s);
	if (n == 0 || s[n - 1] == ' ')
		return 0;
	if (!isalnum((unsigned char)s[0]) && !strchr(first, s[0]) &&
	    !((s[0] == '-' || s[0] == '.') && isalnum((unsigned char)s[1])))
		return 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		int blank = c == ' ' && s[i + 1] != ' ';
		if (c >= 0x80 || !(isalnum(c) || blank || strchr(inner, c)))
			return 0;
	}
	return 1;
}

void sim_put_scalar(struct sim_text *t, const char *text, int quoted)
{
	if (!quoted && is_plain(text)) {
		sim_put(t, "%s", text);
		return;
	}
	sim_put(t, "\"");
	const unsigned char *p = (const unsigned char *)text;
	while (*p) {
		const unsigned char *from = p;
		uint32_t c = sim_next_char(&p);
		if (c == '"' || c == '\\')
			sim_put(t, "\\%c", (char)c);
		else if (c == '\n')
			sim_put(t, "\\n");
		else if (c == '\t')
			sim_put(t, "\\t");
		/* One byte read as U+FFFD is a bad byte; a real U+FFFD has
		 * three and stands as it is. */
		else if (must_escape(c) || (c == 0xfffd && p - from == 1))
			sim_put(t, "\\u%04" PRIx32, c);
		else
			sim_put(t, "%.*s", (int)(p - from), (const char *)from);
	}
	sim_put(t, "\"");
}

/* --- did you mean ------------------------------------------------------- */
enum { WORD_MAX = 64 };

static size_t text_min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Restricted Damerau-Levenshtein distance; both words fit in WORD_MAX. A
 * transposition looks back two rows, so three are kept and used in turn. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[3][WORD_MAX + 1];
	for (size_t j = 0; j <= n_b; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3];
		const size_t *before = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);
			size_t d = last[j - 1] + (x != y);
			d = text_min_of(d,
			    text_min_of(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 &&
			    x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				d = text_min_of(d, before[j - 2] + 1);
			now[j] = d;
		}
	}
	return row[n_a % 3][n_b];
}

const char *sim_did_you_mean(const char *word, const char *const *candidates,
    size_t n)
{
	const char *best = NULL;
	size_t best_d = WORD_MAX, n_word = strlen(word);
	for (size_t i = 0; i < n; i++) {
		size_t n_cand = strlen(candidates[i]);
		size_t longer = n_word > n_cand ? n_word : n_cand;
		if (longer > WORD_MAX)
			continue;
		size_t d = distance(word, n_word, candidates[i], n_cand);
		/* Strictly less keeps the first of equals. A suggestion may
		 * change one letter of two to four, two of five to seven, and
		 * so on. */
		if (d < best_d && d <= (longer + 1) / 3) {
			best = candidates[i];
			best_d = d;
		}
	}
	return best;
}

size_t sim_distance(const char *a, const char *b)
{
	const size_t n = strlen(a), m = strlen(b);
	return n > WORD_MAX || m > WORD_MAX ? SIZE_MAX : distance(a, n, b, m);
}

/* Is PART a whole part of WORD between underscores? */
static int has_part(const char *word, const char *part)
{
	const size_t n = strlen(part);
	for (const char *p = word; (p = strstr(p, part)); p++)
		if ((p == word || p[-1] == '_') &&
		    (p[n] == '\0' || p[n] == '_'))
			return 1;
	return 0;
}

const char *sim_like(const char *word, const char *const *candidates, size_t n)
{
	enum { FIRST = 4, SHORT = 3 };
	const size_t n_word = strlen(word);
	for (size_t i = 0; i < n; i++) {
		const char *c = candidates[i];
		if (has_part(word, c) || has_part(c, word) ||
		    strncmp(word, c, FIRST) == 0 ||
		    (n_word >= SHORT && strncmp(word, c, n_word) == 0))
			return c;
	}
	return NULL;
}

size_t sim_word_find(const char *const words[], const char *word)
{
	size_t i = 0;
	while (words[i] && strcmp(words[i], word) != 0)
		i++;
	return i;
}

int sim_dup(char **copy, const char *text, struct sim_err *e)
{
	const size_t n = strlen(text) + 1;
	const int rc = sim_zalloc(copy, n, 1, e);
	if (rc == 0)
		memcpy(*copy, text, n);
	return rc;
}

/* --- numbers ------------------------------------------------------------ */
static const char *digits(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* Whether TEXT is -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? */
static int is_number(const char *s)
{
	const char *end;
	if (*s == '-')
		s++;
	if (s[0] == '0' && isdigit((unsigned char)s[1]))
		return 0;
	if ((end = digits(s)) == s)
		return 0;
	s = end;
	if (*s == '.') {
		if ((end = digits(s + 1)) == s + 1)
			return 0;
		s = end;
	}
	if (*s == 'e' || *s == 'E') {
		s += s[1] == '-' || s[1] == '+' ? 2 : 1;
		if ((end = digits(s)) == s)
			return 0;
		s = end;
	}
	return *s == '\0';
}

/* Digits alone after an optional minus: "1e3" is a number but no integer. The
 * minus is let through here so that "-1" is called out of range, not
 * malformed. */
static int text_is_whole(const char *text)
{
	const char *from = text + (*text == '-');
	return is_number(text) && *digits(from) == '\0';
}

/* TEXT is not written as a number. Guess the number that was meant, so that a
 * message can say what to write: 0x10, 007, .5, 5., +1, 1_000, 1 000 and 1%
 * have one plain meaning. NAN where there is none. */
static double guess(const char *text)
{
	char s[48];
	size_t n = 0;
	const char *p = text + strspn(text, " \t");
	int negative = *p == '-';
	p += *p == '-' || *p == '+';
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		char *end;
		uint64_t x = strtoull(p, &end, 16);
		if (*end || x == UINT64_MAX)
			return NAN; /* all ones are also what is too large */
		return negative ? -(double)x : (double)x;
	}
	/* Leading zeros are read as decimal: nobody means octal. */
	while (p[0] == '0' && isdigit((unsigned char)p[1]))
		p++;
	if (*p == '.')
		s[n++] = '0';
	/* Four bytes stay free for "e-2" and its terminator, added below. */
	for (; *p && n < sizeof(s) - 4; p++)
		if (!strchr(" \t_", *p))
			s[n++] = *p;
	int percent = n > 0 && s[n - 1] == '%';
	n -= (size_t)percent;
	if (n > 0 && s[n - 1] == '.')
		n--;
	s[n] = '\0';
	if (*p || s[0] == '-' || !is_number(s))
		return NAN;
	/* Shifting the exponent keeps 0.29% at 0.0029; dividing by 100 does
	 * not, as both 0.29 and the quotient are rounded. */
	int shift = percent && !strpbrk(s, "eE");
	if (shift)
		memcpy(s + n, "e-2", 4);
	double x = strtod(s, NULL) / (percent && !shift ? 100 : 1);
	return negative ? -x : x;
}

int sim_parse_u64(const char *text, uint64_t *out, struct sim_err *e)
{
	char quote[64];
	if (!text_is_whole(text)) {
		double x = guess(text);
		/* Below 2^53 the guess is the exact number, so it can be
		 * suggested. */
		if (x >= 0 && x < 0x1p53 && x == floor(x))
			return sim_fail(e, SIM_EINVAL,
			    "%s is not a whole number; write %.0f.",
			    sim_quote(quote, text), x);
		return sim_fail(e, SIM_EINVAL, "%s is not a whole number.",
		    sim_quote(quote, text));
	}
	if (text[0] == '-')
		return sim_fail(e, SIM_ERANGE, "%s is below 0.",
		    sim_quote(quote, text));
	uint64_t x = 0;
	for (const char *p = text; *p; p++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, (uint64_t)(*p - '0'), &x))
			return sim_fail(e, SIM_ERANGE,
			    "%s is above %" PRIu64 ".", sim_quote(quote, text),
			    UINT64_MAX);
	*out = x;
	return 0;
}

int sim_parse_f64(const char *text, double *out, struct sim_err *e)
{
	char quote[64], number[32];
	if (!is_number(text)) {
		double x = guess(text);
		if (isfinite(x))
			return sim_fail(e, SIM_EINVAL,
			    "%s is not a number; write %s.",
			    sim_quote(quote, text), sim_format_f64(number, x));
		return sim_fail(e, SIM_EINVAL, "%s is not a number.",
		    sim_quote(quote, text));
	}
	double x = strtod(text, NULL);
	if (isinf(x))
		return sim_fail(e, SIM_ERANGE, "%s is too large.",
		    sim_quote(quote, text));
	/* A digit other than 0 before the exponent, and yet 0: it underflowed.
	 * A drop rate of 1e-400 is a slip of the pen, not a rate of 0. */
	size_t mantissa = strcspn(text, "eE");
	if (x == 0 && strcspn(text, "123456789") < mantissa)
		return sim_fail(e, SIM_ERANGE, "%s is too near to 0.",
		    sim_quote(quote, text));
	*out = x + 0; /* -0 becomes 0 */
	return 0;
}

int sim_parse_ns(const char *text, sim_ns *out, struct sim_err *e)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "m", "h",
	    "d", NULL};
	static const double ns[] = {1, 1e3, 1e6, 1e9, 60e9, 3600e9, 86400e9};
	char quote[64], number[32] = "";
	const size_t n = strspn(text, "0123456789.");
	const size_t unit = sim_word_find(units, text + n);
	double x;
	if (n < sizeof(number))
		memcpy(number, text, n);
	if (!units[unit] || sim_parse_f64(number, &x, NULL) < 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is no time; write a number and ns, us, ms, s, m, h "
		    "or d: 150us.",
		    sim_quote(quote, text));
	if (x * ns[unit] >= 0x1p63)
		return sim_fail(e, SIM_ERANGE, "%s is above 2^63 ns.",
		    sim_quote(quote, text));
	*out = (sim_ns)llround(x * ns[unit]);
	return 0;
}

const char *sim_format_f64(char buf[32], double x)
{
	if (x == floor(x) && fabs(x) < 1e15) {
		snprintf(buf, 32, "%.0f", x + 0);
		return buf;
	}
	/* 17 digits tell any two doubles apart, so the last turn always
	 * succeeds. */
	for (int n = 1; n <= 17; n++) {
		snprintf(buf, 32, "%.*g", n, x);
		if (strtod(buf, NULL) == x)
			break;
	}
	return buf;
}

/* --- paragraphs ----------------------------------------------------------- */

/* The columns that N bytes of UTF-8 take: those that begin a character. */
static unsigned n_columns(const char *text, size_t n)
{
	unsigned columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void sim_fill(FILE *out, unsigned at, unsigned indent, const char *text)
{
	enum { WIDTH = 78 }; /* argp breaks lines of 79 */
	int begun = 0;       /* a word stands in this line */
	while (*text) {
		const size_t n = strcspn(text, " \n");
		const unsigned wide = n_columns(text, n);
		/* A word that fits in no line stands in one by itself. */
		if (n > 0 && begun && at + 1 + wide > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (n > 0 && begun) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, n, out);
		at += wide;
		begun |= n > 0;
		text += n;
		if (*text == '\n') {
			fprintf(out, "\n%*s", text[1] ? (int)indent : 0, "");
			at = indent;
			begun = 0;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}
