/* experiments/live/url.c -- whom a live agent may be told to ask.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/url.h"

#include <stdio.h>
#include <string.h>

#define LATE_DEFINE
#include "experiments/live/curl.late.h"
#include "sim/text.h"

/* A part of a URL, kept in *TEXT until the next call, or NULL if there is
 * none. */
static const char *part(CURLU *u, CURLUPart what, char **text)
{
	curl_free(*text);
	*text = NULL;
	return curl_url_get(u, what, text, 0) == CURLUE_OK ? *text : NULL;
}

/* NULL if TEXT is a URL that may be asked, or what is wrong with it. A query or
 * fragment would end up before the path that is added; a password would be seen
 * in logs. */
static const char *fault_of(CURLU *u, const char *text, int *needs_tls)
{
	const char *why = NULL;
	char *got = NULL;
	if (curl_url_set(u, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) !=
	    CURLUE_OK)
		return "it is no URL; http://10.0.0.9:8080 is one";
	const char *scheme = part(u, CURLUPART_SCHEME, &got);
	*needs_tls = scheme && strcmp(scheme, "https") == 0;
	if (!scheme || (!*needs_tls && strcmp(scheme, "http") != 0))
		why = "it does not begin with http:// or https://";
	else if (part(u, CURLUPART_QUERY, &got) ||
	    part(u, CURLUPART_FRAGMENT, &got))
		why = "it has a query or a fragment";
	else if (part(u, CURLUPART_USER, &got) ||
	    part(u, CURLUPART_PASSWORD, &got))
		why = "it has a user or a password";
	curl_free(got);
	return why;
}

int xp_url_take(char out[XP_URL_MAX], const char *text, size_t n,
    const char *tail, struct sim_err *e)
{
	char url[XP_URL_MAX], quote[64];
	int needs_tls = 0;
	const int rc = sim_late_load(&late_curl_library, e);
	if (rc < 0)
		return rc;
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	/* Checked for both, so that what is put together below fits. */
	if (n + strlen(tail) >= sizeof(url))
		return sim_fail(e, SIM_EINVAL, "A URL has at most %zu bytes.",
		    sizeof(url) - 1 - strlen(tail));
	snprintf(url, sizeof(url), "%.*s", (int)n, text);
	CURLU *u = curl_url();
	if (!u)
		return sim_fail(e, SIM_ENOMEM, "There is no memory for a URL.");
	const char *why = fault_of(u, url, &needs_tls);
	curl_url_cleanup(u);
	if (why)
		return sim_fail(e, SIM_EINVAL, "%s cannot be asked: %s.",
		    sim_quote(quote, url), why);
	if (needs_tls && !(v->features & CURL_VERSION_SSL))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s cannot be asked: libcurl was built without TLS.",
		    sim_quote(quote, url));
	/* TAIL begins with a slash. */
	while (n > 0 && url[n - 1] == '/')
		url[--n] = '\0';
	memcpy(out, url, n);
	memcpy(out + n, tail, strlen(tail) + 1);
	return 0;
}

void *xp_url_easy(void)
{
	const int has_tls = (curl_version_info(CURLVERSION_NOW)->features &
				CURL_VERSION_SSL) != 0;
	CURL *c = curl_easy_init();
	if (c && curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	    curl_easy_setopt(c, CURLOPT_PROXY, "") == CURLE_OK &&
	    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR,
		has_tls ? "http,https" : "http") == CURLE_OK &&
	    curl_easy_setopt(c, CURLOPT_HTTP_VERSION,
		(long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	    curl_easy_setopt(c, CURLOPT_USERAGENT, "culprit") == CURLE_OK &&
	    /* An agent's contacts are minutes apart: a connection that is kept
	     * open would cost the controller memory for each of the fleet. */
	    curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK)
		return c;
	curl_easy_cleanup(c);
	return NULL;
}
