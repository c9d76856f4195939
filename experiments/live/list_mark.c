/* experiments/live/list_mark.c -- what comes with a signed list, and whether it is fresh.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/list_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"

static const char mark_digits[] = "0123456789abcdef";

static void mark_put_hex(char *out, const unsigned char *bytes, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		out[2 * i] = mark_digits[bytes[i] >> 4];
		out[2 * i + 1] = mark_digits[bytes[i] & 15];
	}
	out[2 * (size_t)n] = '\0';
}

/* Lower case alone, and just N bytes. */
static int mark_take_hex(const char *text, unsigned char *bytes, unsigned n)
{
	if (strlen(text) != 2 * (size_t)n ||
	    strspn(text, mark_digits) != 2 * (size_t)n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		bytes[i] = (unsigned char)((strchr(mark_digits, text[2 * i]) -
					       mark_digits)
			<< 4 |
		    (strchr(mark_digits, text[2 * i + 1]) - mark_digits));
	return 1;
}

void xp_list_mark_put(char out[XP_LIST_MARK], const struct xp_list_mark *m)
{
	char hex[2 * XP_LIST_SIGNATURE + 1];
	mark_put_hex(hex, m->signature, XP_LIST_SIGNATURE);
	snprintf(out, XP_LIST_MARK, "1 %" PRIu64 " %s", m->issued_s, hex);
}

int xp_list_mark_take(struct xp_list_mark *m, const char *text,
    struct sim_err *e)
{
	struct xp_list_mark found;
	char issued[24];
	const char *p = text;
	if (strncmp(p, "1 ", 2) == 0) {
		const size_t n = strcspn(p += 2, " ");
		if (n < sizeof(issued) && p[n] == ' ') {
			memcpy(issued, p, n);
			issued[n] = '\0';
			if (sim_parse_u64(issued, &found.issued_s, NULL) == 0 &&
			    mark_take_hex(p + n + 1, found.signature,
				XP_LIST_SIGNATURE)) {
				*m = found;
				return 0;
			}
		}
	}
	return sim_fail(e, SIM_EPARSE,
	    "its signature is not of the form that signatures have");
}

unsigned xp_list_mark_statement(char out[XP_LIST_STATEMENT], uint64_t issued_s,
    const unsigned char digest[XP_LIST_DIGEST])
{
	char hex[2 * XP_LIST_DIGEST + 1];
	mark_put_hex(hex, digest, XP_LIST_DIGEST);
	return (unsigned)snprintf(out, XP_LIST_STATEMENT,
	    "culprit pinglist 1\nissued %" PRIu64 "\nsha256 %s\n", issued_s,
	    hex);
}

unsigned xp_list_none_statement(char out[XP_LIST_STATEMENT], uint64_t issued_s,
    struct topo_ip address)
{
	char text[TOPO_IP_TEXT];
	topo_ip_format(&address, text);
	return (unsigned)snprintf(out, XP_LIST_STATEMENT,
	    "culprit no pinglist 1\nissued %" PRIu64 "\naddress %s\n", issued_s,
	    text);
}

int xp_list_none_judge(uint64_t issued_s, uint64_t now_s, struct sim_err *e)
{
	const uint64_t off =
	    issued_s > now_s ? issued_s - now_s : now_s - issued_s;
	return off <= XP_LIST_NONE_S
	    ? 0
	    : sim_fail(e, SIM_EMISMATCH,
		  "that there is none was said at %" PRIu64 " s, %" PRIu64
		  " s from now",
		  issued_s, off);
}

static int mark_is_ahead(uint64_t issued_s, uint64_t now_s)
{
	return issued_s > now_s && issued_s - now_s > XP_LIST_AHEAD_S;
}

int xp_list_mark_judge(struct xp_list_newest *n, uint64_t issued_s,
    const unsigned char digest[XP_LIST_DIGEST], uint64_t now_s,
    struct sim_err *e)
{
	const int is_same = memcmp(digest, n->digest, XP_LIST_DIGEST) == 0;
	const int bars = !mark_is_ahead(n->issued_s, now_s);
	if (mark_is_ahead(issued_s, now_s))
		return sim_fail(e, SIM_EMISMATCH,
		    "it was issued at %" PRIu64 " s, which is %" PRIu64
		    " s from now",
		    issued_s, issued_s - now_s);
	if (bars && issued_s < n->issued_s && !is_same)
		return sim_fail(e, SIM_EMISMATCH,
		    "it is an older one, issued at %" PRIu64 " s, %" PRIu64
		    " s before the one that was had",
		    issued_s, n->issued_s - issued_s);
	if (!bars || issued_s > n->issued_s)
		n->issued_s = issued_s;
	memcpy(n->digest, digest, XP_LIST_DIGEST);
	return 0;
}

static const char mark_newest[] = "newest pinglist 1\nissued ";
static const char mark_sum[] = "sha256 ";

unsigned xp_list_newest_put(char out[XP_LIST_NEWEST],
    const struct xp_list_newest *n)
{
	char hex[2 * XP_LIST_DIGEST + 1];
	mark_put_hex(hex, n->digest, XP_LIST_DIGEST);
	return (unsigned)snprintf(out, XP_LIST_NEWEST, "%s%" PRIu64 "\n%s%s\n",
	    mark_newest, n->issued_s, mark_sum, hex);
}

int xp_list_newest_take(struct xp_list_newest *n, const char *text,
    struct sim_err *e)
{
	struct xp_list_newest found;
	char again[XP_LIST_NEWEST], hex[2 * XP_LIST_DIGEST + 1] = "";
	const char *sum = strstr(text, mark_sum);
	if (sum)
		snprintf(hex, sizeof(hex), "%s", sum + strlen(mark_sum));
	/* What it makes is compared: there is nothing else in a good one. */
	if (sum && mark_take_hex(hex, found.digest, XP_LIST_DIGEST) &&
	    strncmp(text, mark_newest, strlen(mark_newest)) == 0) {
		found.issued_s = strtoull(text + strlen(mark_newest), NULL, 10);
		xp_list_newest_put(again, &found);
		if (strcmp(again, text) == 0) {
			*n = found;
			return 0;
		}
	}
	return sim_fail(e, SIM_EPARSE, "it does not tell of a newest list");
}
