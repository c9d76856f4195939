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

/* 1 if LINE is the header NAME, whose value OUT then has, or "" if it is odd. */
static int head_is(const char *line, size_t n, const char *name, char out[64])
{
	if (n < strlen(name) || strncasecmp(line, name, strlen(name)) != 0)
		return 0;
	head_keep(line, n, name, ' ', out, 64);
	return 1;
}

/* A tag is sent back in a header, and has no blanks in it; a mark has two. */
void xp_fetch_head_line(struct xp_fetch_head *h, const char *line, size_t n)
{
	char value[64] = "";
	if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
		*h = (struct xp_fetch_head){0};
	head_keep(line, n, "etag:", '!', h->tag, sizeof(h->tag));
	head_keep(line, n, XP_LIST_HEADER ":", ' ', h->mark, sizeof(h->mark));
	h->is_folded |= n > 0 && (line[0] == ' ' || line[0] == '\t');
	h->n_lengths += (unsigned)head_is(line, n, "content-length:", value);
	if (head_is(line, n, "transfer-encoding:", value)) {
		h->n_codings++;
		h->is_chunked = strcasecmp(value, "chunked") == 0;
	}
	if (head_is(line, n, "content-encoding:", value))
		h->is_packed |= strcasecmp(value, "identity") != 0;
}

const char *xp_fetch_head_ill(const struct xp_fetch_head *h)
{
	if (h->n_lengths > 1 || (h->n_lengths > 0 && h->n_codings > 0))
		return "it says the length of its answer in two ways";
	if (h->n_codings > 1 || (h->n_codings == 1 && !h->is_chunked))
		return "its answer has a transfer coding that is not chunked";
	if (h->is_packed)
		return "its answer is packed, which was not asked for";
	if (h->is_folded)
		return "a header of its answer is folded";
	return NULL;
}
