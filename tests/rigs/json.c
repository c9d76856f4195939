/* tests/rigs/json.c -- whether a text is JSON, by its grammar.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each function takes what its name says from the begin of a text, and returns
 * what is behind it; NULL: it is not there.
 */
#include "tests/rigs/json.h"

#include <stddef.h>
#include <string.h>

static const char *json_value(const char *p);

static const char *json_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static const char *json_string(const char *p)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	if (*p++ != '"')
		return NULL;
	for (; *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		if (*++p == 'u' && strspn(p + 1, hex) >= 4)
			p += 4;
		else if (!*p || !strchr("\"\\/bfnrt", *p))
			return NULL;
	}
	return p + 1;
}

static const char *json_digits(const char *p)
{
	const size_t n = strspn(p, "0123456789");
	return n > 0 ? p + n : NULL;
}

static const char *json_number(const char *p)
{
	p += *p == '-';
	p = *p == '0' ? p + 1 : json_digits(p);
	if (p && *p == '.')
		p = json_digits(p + 1);
	if (p && (*p == 'e' || *p == 'E')) {
		p++;
		p = json_digits(p + (*p == '+' || *p == '-'));
	}
	return p;
}

static const char *json_word(const char *p)
{
	static const char *const words[] = {"true", "false", "null"};
	for (size_t i = 0; i < 3; i++)
		if (strncmp(p, words[i], strlen(words[i])) == 0)
			return p + strlen(words[i]);
	return NULL;
}

static const char *json_member(const char *p)
{
	p = json_string(json_blanks(p));
	p = p ? json_blanks(p) : NULL;
	return p && *p == ':' ? json_value(p + 1) : NULL;
}

/* What stands between brackets with commas between it. */
static const char *json_list(const char *p, char end,
    const char *(*one)(const char *))
{
	p = json_blanks(p + 1);
	if (*p == end)
		return p + 1;
	while ((p = one(p)) && *(p = json_blanks(p)) == ',')
		p++;
	return p && *p == end ? p + 1 : NULL;
}

static const char *json_value(const char *p)
{
	p = json_blanks(p);
	switch (*p) {
	case '{':
		return json_list(p, '}', json_member);
	case '[':
		return json_list(p, ']', json_value);
	case '"':
		return json_string(p);
	case 't':
	case 'f':
	case 'n':
		return json_word(p);
	default:
		return json_number(p);
	}
}

int json_is_whole(const char *text)
{
	const char *p = json_value(text);
	return p && *json_blanks(p) == '\0';
}
