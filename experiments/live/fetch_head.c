/* experiments/live/fetch_head.c -- what an agent keeps of the head of an answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/fetch_head.h"

#include <string.h>
#include <strings.h>

/* If LINE is the header NAME, keep its value in OUT if that has SIZE bytes and the
 * value no others than those from LEAST to the tilde. */
static void head_keep(const char *line, size_t n, const char *name, char least,
    char *out, size_t size)
{
	size_t from = strlen(name), to = n, i;
	if (n < from || strncasecmp(line, name, from) != 0)
		return;
	while (from < to && (line[from] == ' ' || line[from] == '\t'))
		from++;
	while (to > from && strchr(" \t\r\n", line[to - 1]))
		to--;
	for (i = from; i < to && line[i] >= least && line[i] < 127; i++)
		;
	if (i < to || to - from >= size)
		to = from;
	memcpy(out, line + from, to - from);
	out[to - from] = '\0';
}

/* A tag is sent back in a header, and has no blanks in it; a mark has two. */
void xp_fetch_head_line(struct xp_fetch_head *h, const char *line, size_t n)
{
	if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
		h->tag[0] = h->mark[0] = '\0';
	head_keep(line, n, "etag:", '!', h->tag, sizeof(h->tag));
	head_keep(line, n, XP_LIST_HEADER ":", ' ', h->mark, sizeof(h->mark));
}
