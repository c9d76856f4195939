/* experiments/live/mhd_head.c -- headers of a request, from the library.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>
#include <strings.h>

#include "experiments/live/mhd_parts.h"
#include "sim/text.h"

/* A carriage return, say, which another reader may take for the end of a line (RFC
 * 9110 5.5); in a name a blank is as bad (RFC 9112 5.1). A NUL never comes here: the library ends a value there. */
static int mhd_has_control(const char *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') ||
		    value[i] == 127)
			return 1;
	return 0;
}

/* libmicrohttpd (0.9.75) puts what a folded line has behind the header's name in
 * place of its value, so a folded length or coding would be a header that nobody
 * knows; a proxy in between may well unfold it. Of others a fold is harmless. */
static int mhd_is_folded(const char *name)
{
	static const char *const framing[] = {MHD_HTTP_HEADER_CONTENT_LENGTH,
	    MHD_HTTP_HEADER_TRANSFER_ENCODING};
	for (size_t i = 0; i < 2; i++) {
		const size_t n = strlen(framing[i]);
		if (strncasecmp(name, framing[i], n) == 0 && name[n] != '\0')
			return 1;
	}
	return 0;
}

static enum MHD_Result see_header(void *arg, enum MHD_ValueKind kind,
    const char *name, size_t n_name, const char *value, size_t n_value)
{
	struct xp_http_request *q = arg;
	(void)kind;
	if (!value) {
		value = "";
		n_value = 0;
	}
	q->is_folded |= mhd_is_folded(name);
	q->has_control |= mhd_has_control(name, n_name) |
	    (strpbrk(name, " \t") != NULL) | mhd_has_control(value, n_value);
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		q->coding = value;
		q->n_codings++;
	}
	if (strcasecmp(name, MHD_HTTP_HEADER_EXPECT) == 0)
		q->expect = value;
	if (strcasecmp(name, MHD_HTTP_HEADER_IF_NONE_MATCH) == 0)
		q->if_none_match = value;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
		q->host = value;
		q->n_hosts++;
	}
	if (strcasecmp(name, MHD_HTTP_HEADER_ORIGIN) == 0)
		q->origin = value;
	if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) != 0)
		return MHD_YES;
	/* Counted, not just read: two lengths of one body are how requests are
	 * smuggled past a proxy. */
	q->n_lengths++;
	if (sim_parse_u64(value, &q->length, NULL) < 0)
		q->length = UINT64_MAX;
	return MHD_YES;
}

void xp_http_see_head(struct MHD_Connection *mhd, struct xp_http_request *q)
{
	MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, see_header, q);
}
