/* experiments/cmd/arena_words.c -- lists of the arena's command line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_words.h"

#include <stdio.h>
#include <string.h>

#include "sim/text.h"

char *cmd_arena_word_end(char *s)
{
	int depth = 0;
	char quote = '\0';
	for (; *s && (depth > 0 || quote || *s != ','); s++) {
		if (quote)
			quote = *s == quote ? '\0' : quote;
		else if (*s == '"' || *s == '\'')
			quote = *s;
		else
			depth +=
			    (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
	}
	return s;
}

int cmd_arena_is_asked(const char *list, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n]))
			return 1;
	}
	return !list;
}

int cmd_arena_check_words(const char *option, const char *list,
    const char *const *name, size_t n, struct sim_err *e)
{
	for (const char *at = list; at;) {
		const char *end = strchrnul(at, ',');
		char word[64];
		int is = 0;
		snprintf(word, sizeof(word), "%.*s", (int)(end - at), at);
		for (size_t i = 0; i < n; i++)
			is |= strcmp(word, name[i]) == 0;
		if (!is) {
			const char *near = sim_did_you_mean(word, name, n);
			return sim_fail(e, SIM_EINVAL,
			    "%s: there is no \"%s\"%s%s%s", option, word,
			    near ? "; did you mean \"" : "; see --help.",
			    near ? near : "", near ? "\"?" : "");
		}
		at = *end ? end + 1 : NULL;
	}
	return 0;
}
