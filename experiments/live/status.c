/* experiments/live/status.c -- what a status of HTTP means, in words.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/status.h"

#include <stddef.h>

/* Those that our own servers, their library and proxies before them send. */
static const struct {
	long status;
	const char *words;
} table[] = {
    {200, "all is well"},
    {204, "there is nothing to send"},
    {206, "a part of it alone"},
    {207, "the answers to several requests: this is a server of WebDAV"},
    {301, "it has moved; redirects are not followed"},
    {302, "it is elsewhere for now; redirects are not followed"},
    {303, "see elsewhere; redirects are not followed"},
    {304, "it has not changed"},
    {307, "it is elsewhere for now; redirects are not followed"},
    {308, "it has moved; redirects are not followed"},
    {400, "it takes the request for malformed"},
    {401, "it wants a user and a password"},
    {403, "not for this certificate or address"},
    {404, "there is no such thing"},
    {405, "not by this method"},
    {407, "a proxy in between wants a user and a password"},
    {408, "the request came too slowly"},
    {409, "it has as many of these as it takes"},
    {411, "it wants the length of the body said"},
    {413, "the body is larger than it takes"},
    {414, "the target is longer than it takes"},
    {417, "it does not do what was expected"},
    {421, "it serves another name"},
    {426, "it wants another protocol"},
    {429, "too many requests of this address"},
    {431, "the head is larger than it takes"},
    {500, "it failed"},
    {501, "it cannot do that"},
    {502, "what is behind this proxy makes no sense"},
    {503, "it is overloaded, or down for now"},
    {504, "what is behind this proxy does not answer"},
    {505, "it does not speak this version of HTTP"},
    {507, "it has no room left"},
};

const char *xp_http_status_words(long status)
{
	static const char *const classes[] = {"an interim answer", "it is done",
	    "it is elsewhere; redirects are not followed",
	    "it refuses the request", "it failed"};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].status == status)
			return table[i].words;
	return status >= 100 && status < 600 ? classes[status / 100 - 1]
					     : "no status of HTTP";
}
