/* experiments/everflow/query.c -- what a target of HTTP says: path and parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/query.h"

#include <inttypes.h>
#include <string.h>

#include "sim/text.h"

static int query_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'  ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'  ? c - 'A' + 10
				    : -1;
}

/* Decode TEXT in its place. Returns 0 if that cannot be. */
static int query_decode(char *text)
{
	char *to = text;
	for (const char *p = text; *p; p++) {
		if (*p == '%') {
			const int hi = query_digit(p[1]);
			const int lo = hi < 0 ? -1 : query_digit(p[2]);
			if (lo < 0 || hi + lo == 0)
				return 0;
			*to++ = (char)(hi << 4 | lo);
			p += 2;
		} else {
			*to++ = *p;
			if (*p == '+')
				to[-1] = ' ';
		}
	}
	*to = '\0';
	return 1;
}

static int query_add(struct xp_query *q, char *word, struct sim_err *e)
{
	char shown[64];
	char *is = strchr(word, '=');
	if (is)
		*is = '\0';
	if (!query_decode(word) || (is && !query_decode(is + 1)))
		return sim_fail(e, SIM_EINVAL,
		    "a percent sign is followed by two hexadecimal digits that "
		    "are not both 0; it is written %%25 itself.");
	if (!is || *word == '\0')
		return sim_fail(e, SIM_EINVAL,
		    "%s is no parameter; KEY=VALUE is one.",
		    sim_quote(shown, word));
	if (xp_query_value(q, word))
		return sim_fail(e, SIM_EINVAL, "parameter %s stands twice.",
		    sim_quote(shown, word));
	if (q->n == XP_QUERY_MOST)
		return sim_fail(e, SIM_ELIMIT, "more than %d parameters.",
		    XP_QUERY_MOST);
	q->key[q->n] = word;
	q->value[q->n++] = is + 1;
	return 0;
}

int xp_query_read(struct xp_query *q, const char *target, struct sim_err *e)
{
	const size_t n = strlen(target);
	int rc = 0;
	q->n = 0;
	q->path = q->text;
	q->text[0] = '\0';
	if (n > XP_QUERY_BYTES)
		return sim_fail(e, SIM_ELIMIT, "a target of %zu bytes.", n);
	strcpy(q->text, target);
	char *p = strchr(q->text, '?');
	if (!p)
		return 0;
	*p++ = '\0';
	while (rc == 0 && *p) {
		char *end = p + strcspn(p, "&");
		const int more = *end != '\0';
		*end = '\0';
		rc = query_add(q, p, e);
		p = end + more;
	}
	return rc;
}

int xp_query_check(const struct xp_query *q, const char *const words[],
    struct sim_err *e)
{
	char shown[64];
	size_t n = 0;
	while (words[n])
		n++;
	for (size_t i = 0; i < q->n; i++) {
		if (sim_word_find(words, q->key[i]) < n)
			continue;
		const char *near = sim_did_you_mean(q->key[i], words, n);
		return sim_fail(e, SIM_EINVAL, "%s is no parameter of %s%s%s%s",
		    sim_quote(shown, q->key[i]), q->path,
		    near ? "; did you mean \"" : ".", near ? near : "",
		    near ? "\"?" : "");
	}
	return 0;
}

const char *xp_query_value(const struct xp_query *q, const char *key)
{
	for (size_t i = 0; i < q->n; i++)
		if (strcmp(q->key[i], key) == 0)
			return q->value[i];
	return NULL;
}

int xp_query_time(const struct xp_query *q, const char *key, sim_ns *out,
    struct sim_err *e)
{
	const char *text = xp_query_value(q, key);
	const int rc = text ? sim_parse_ns(text, out, e) : 0;
	return rc < 0 ? sim_wrap(e, rc, "%s", key) : 0;
}

int xp_query_number(const struct xp_query *q, const char *key, uint64_t least,
    uint64_t most, uint64_t *out, struct sim_err *e)
{
	const char *text = xp_query_value(q, key);
	uint64_t n = 0;
	const int rc = text ? sim_parse_u64(text, &n, e) : 0;
	if (rc < 0)
		return sim_wrap(e, rc, "%s", key);
	if (text && (n < least || n > most))
		return sim_fail(e, SIM_ERANGE,
		    "%s: %" PRIu64 " is not in [%" PRIu64 ", %" PRIu64 "].",
		    key, n, least, most);
	if (text)
		*out = n;
	return 0;
}

int xp_query_word(const struct xp_query *q, const char *key,
    const char *const words[], unsigned *out, struct sim_err *e)
{
	const char *text = xp_query_value(q, key);
	char shown[64];
	size_t n = 0;
	*out = 0;
	if (!text)
		return 0;
	while (words[n])
		n++;
	if ((*out = (unsigned)sim_word_find(words, text)) < n)
		return 0;
	const char *near = sim_did_you_mean(text, words, n);
	sim_fail(e, SIM_EINVAL, "%s: there is no %s%s%s%s", key,
	    sim_quote(shown, text), near ? "; did you mean \"" : ".",
	    near ? near : "", near ? "\"?" : "");
	*out = 0;
	return SIM_EINVAL;
}
