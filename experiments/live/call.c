/* experiments/live/call.c -- one request of a running daemon, by libcurl.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/live/curl.late.h"
#include "experiments/live/status.h"
#include "experiments/live/url.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "sim/yaml.h"

enum { CALL_TARGET = 65536, CALL_SAID = 4096 };

struct call {
	CURL *easy;
	FILE *out;
	struct xp_call_got *got;
	char said[CALL_SAID + 1]; /* of a refusal */
	size_t n_said;
	char why[CURL_ERROR_SIZE];
};

int xp_call_is_url(const char *text)
{
	return strncasecmp(text, "http://", 7) == 0 ||
	    strncasecmp(text, "https://", 8) == 0;
}

void xp_call_add(struct xp_call *c, const char *key, const char *value)
{
	if (!value)
		return;
	c->key[c->n] = key;
	c->value[c->n++] = value;
}

/* --- what comes ----------------------------------------------------------- */

static size_t call_take(char *bytes, size_t one, size_t n, void *arg)
{
	struct call *x = arg;
	(void)one;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->got->status);
	if (x->got->status >= 300) {
		const size_t left = CALL_SAID - x->n_said;
		memcpy(x->said + x->n_said, bytes, n < left ? n : left);
		x->n_said += n < left ? n : left;
		return n;
	}
	/* A carriage return says that there is more to look through. */
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\r')
			continue;
		if (putc(bytes[i], x->out) == EOF)
			return 0;
		x->got->n_bytes++;
		x->got->n_lines += bytes[i] == '\n';
	}
	return n;
}

static size_t call_header(char *line, size_t one, size_t n, void *arg)
{
	static const char name[] = "culprit-note: ";
	struct call *x = arg;
	const size_t from = sizeof(name) - 1;
	size_t to = n;
	(void)one;
	while (to > from && strchr("\r\n", line[to - 1]))
		to--;
	if (n > from && strncasecmp(line, name, from) == 0)
		snprintf(x->got->note, sizeof(x->got->note), "%.*s",
		    (int)(to - from), line + from);
	return n;
}

/* {"error": TEXT} is also YAML. */
static int call_refused(struct call *x, const char *url, struct sim_err *e)
{
	const long status = x->got->status;
	const struct sim_yaml_node *said = NULL;
	struct sim_yaml y = {0};
	x->said[x->n_said] = '\0';
	if (sim_yaml_parse(&y, "answer", x->said, x->n_said, NULL) == 0)
		said = sim_yaml_get(y.root, "error");
	const int rc = status == 409        ? SIM_ELIMIT
	    : status >= 400 && status < 500 ? SIM_EINVAL
					    : SIM_EIO;
	if (said && said->text)
		sim_fail(e, rc, "%s", said->text);
	else
		sim_fail(e, rc, "%s answers %ld (%s).", url, status,
		    xp_http_status_words(status));
	sim_yaml_free(&y);
	return rc;
}

/* --- what goes ------------------------------------------------------------ */

static int call_target(CURL *easy, const struct xp_call *c, char *out,
    size_t size, struct sim_err *e)
{
	struct sim_text t = {out, size, 0};
	sim_put(&t, "%s", c->path);
	for (size_t i = 0; i < c->n; i++) {
		char *value = curl_easy_escape(easy, c->value[i], 0);
		if (!value)
			return sim_fail(e, SIM_ENOMEM, "there is no memory.");
		sim_put(&t, "%c%s=%s", i == 0 ? '?' : '&', c->key[i], value);
		curl_free(value);
	}
	return t.n < size ? 0
			  : sim_fail(e, SIM_EINVAL,
				"A request of %zu bytes is too long.", t.n);
}

static int call_go(struct call *x, const struct xp_call *c, const char *url,
    struct sim_err *e)
{
	CURL *easy = x->easy;
	if (curl_easy_setopt(easy, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, c->method) !=
		CURLE_OK)
		return sim_fail(e, SIM_ENOMEM, "there is no memory.");
	if (c->identity && !xp_url_identify(easy, c->identity))
		return sim_fail(e, SIM_EDEP,
		    "libcurl does not take the certificates.");
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->why);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, 5L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, c->most_s);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, 30L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, call_take);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, call_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
	const CURLcode rc = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &x->got->status);
	if (rc == CURLE_OK)
		return x->got->status >= 300 ? call_refused(x, c->url, e) : 0;
	return sim_fail(e, rc == CURLE_OUT_OF_MEMORY ? SIM_ENOMEM : SIM_EIO,
	    x->got->n_bytes > 0 ? "%s: the answer was cut off: %s."
				: "%s does not answer: %s.",
	    c->url, *x->why ? x->why : curl_easy_strerror(rc));
}

int xp_call(const struct xp_call *c, FILE *out, struct xp_call_got *got,
    struct sim_err *e)
{
	struct call x = {.out = out, .got = got};
	char base[XP_URL_MAX], *url = NULL;
	int rc = xp_url_take(base, c->url, strlen(c->url), "", e);
	*got = (struct xp_call_got){0};
	if (rc == 0 && c->identity)
		rc = xp_url_check_plain(base, &c->identity->params, e);
	if (rc < 0)
		return rc;
	const size_t n = strlen(base);
	if (!(x.easy = xp_url_easy()))
		rc = sim_fail(e, SIM_EDEP, "libcurl cannot start.");
	if (rc == 0)
		rc = SIM_ZALLOC(&url, CALL_TARGET, e);
	if (rc == 0) {
		memcpy(url, base, n);
		rc = call_target(x.easy, c, url + n, CALL_TARGET - n, e);
	}
	if (rc == 0)
		rc = call_go(&x, c, url, e);
	curl_easy_cleanup(x.easy);
	free(url);
	return rc;
}
