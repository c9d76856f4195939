/* experiments/live/url.c -- whom a live agent may be told to ask.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

/* Is it SCHEME, two slashes and more? libcurl takes one slash and three as well,
 * and nobody means what is behind these. */
static int has_slashes(const char *text, const char *scheme)
{
	const char *at = text + strlen(scheme);
	return strncasecmp(text, scheme, strlen(scheme)) == 0 &&
	    strncmp(at, "://", 3) == 0 && at[3] != '/';
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
	if (!scheme || (!*needs_tls && strcmp(scheme, "http") != 0) ||
	    !has_slashes(text, scheme))
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

/* Names other than localhost would have to be looked up, by whoever answers that
 * first. */
static int url_is_local(const char *host)
{
	struct in_addr ip;
	return strcasecmp(host, "localhost") == 0 ||
	    strcmp(host, "[::1]") == 0 ||
	    (inet_pton(AF_INET, host, &ip) == 1 &&
		ntohl(ip.s_addr) >> 24 == IN_LOOPBACKNET);
}

int xp_url_check_plain(const char *url, const struct xp_identity_params *p,
    struct sim_err *e)
{
	char *got = NULL, quote[64];
	CURLU *u = curl_url();
	if (!u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK) {
		curl_url_cleanup(u);
		return sim_fail(e, SIM_ENOMEM, "There is no memory for a URL.");
	}
	const char *scheme = part(u, CURLUPART_SCHEME, &got);
	int is_fine = p->insecure || (scheme && strcmp(scheme, "https") == 0);
	if (!is_fine) {
		const char *host = part(u, CURLUPART_HOST, &got);
		is_fine = host && url_is_local(host);
	}
	curl_free(got);
	curl_url_cleanup(u);
	return is_fine ? 0
		       : sim_fail(e, SIM_EINVAL,
			     "%s is another host, and what is said to it can "
			     "be read and forged: use https:// with --ca, "
			     "--cert and --key, or --insecure.",
			     sim_quote(quote, url));
}

static int url_set_blob(CURL *c, CURLoption what, const struct xp_pem *p)
{
	struct curl_blob blob = {p->bytes, p->n, CURL_BLOB_COPY};
	return curl_easy_setopt(c, what, &blob) == CURLE_OK;
}

/* Bytes and not files: the three are of one moment, and were found to fit. No
 * session is taken up again, or a certificate that has expired would go on. */
int xp_url_identify(void *easy, const struct xp_identity *x)
{
	CURL *c = easy;
	return !x->ca.bytes ||
	    (url_set_blob(c, CURLOPT_CAINFO_BLOB, &x->ca) &&
		url_set_blob(c, CURLOPT_SSLCERT_BLOB, &x->cert) &&
		url_set_blob(c, CURLOPT_SSLKEY_BLOB, &x->key) &&
		curl_easy_setopt(c, CURLOPT_CAINFO, NULL) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_CAPATH, NULL) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSLCERTTYPE, "PEM") == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSLKEYTYPE, "PEM") == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSLVERSION,
		    (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSL_SESSIONID_CACHE, 0L) ==
		    CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK);
}
