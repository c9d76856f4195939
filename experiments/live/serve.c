/* experiments/live/serve.c -- requests in, answers out; without sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything that a request may ask is answered here, without a socket, so that
 * tests can ask it all. A target that is not one of a handful of texts is none;
 * nothing is decoded, joined to a path or looked up in a file system.
 */
#include "experiments/live/serve.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "algos/pingmesh/pinglist.xsd.h" /* made of pinglist.xsd */
#include "experiments/live/expose.h"
#include "topo/addr.h"

static const char live_serve_plain[] = "text/plain; charset=utf-8";
static const char json[] = "application/json";
static const char xml[] = "application/xml";

static const char list_prefix[] = "/pinglist/";
static const char reads[] = "GET, HEAD", posts[] = "POST";

__attribute__((format(printf, 5, 6))) static void
live_serve_say(struct xp_http_answer *a, unsigned status,
    enum xp_http_counter counter, const char *type, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	const int n = vsnprintf(a->text, sizeof(a->text), fmt, args);
	va_end(args);
	a->status = status;
	a->counter = counter;
	a->type = type;
	/* The answer points into itself, which is why it may not be copied. */
	a->bytes = a->text;
	a->n_bytes = n < 0                ? 0
	    : (size_t)n < sizeof(a->text) ? (size_t)n
					  : sizeof(a->text) - 1;
}

/* --- pages ---------------------------------------------------------------- */
static void say_index(const struct xp_http_site *site, struct xp_http_answer *a)
{
	if (site->plan)
		live_serve_say(a, 200, XP_HTTP_pages, live_serve_plain,
		    "The controller of Pingmesh: whom each of %" PRIu32
		    " servers probes.\n\n"
		    "GET /pinglist/ADDRESS  the list of a server, e.g. "
		    "/pinglist/10.0.0.1\n"
		    "GET /pinglist.xsd      the XML schema of a list\n"
		    "GET /health            numbers, as JSON\n"
		    "GET /metrics           the same for Prometheus\n",
		    site->plan->n_servers);
	else
		live_serve_say(a, 200, XP_HTTP_pages, live_serve_plain,
		    "The collector of Pingmesh: what the probes of all servers "
		    "saw.\n\n"
		    "POST /results  one batch, as algos/pingmesh/wire.h has "
		    "it\n"
		    "GET /health    numbers, as JSON\n"
		    "GET /metrics   the same for Prometheus\n");
}

static void say_health(const struct xp_http_site *site,
    struct xp_http_answer *a)
{
	static const char *const names[] = {
#define X(name, doc) #name,
	    XP_HTTP_COUNTERS(X)
#undef X
	};
	char head[256], list[1280];
	uint64_t requests = site->count[XP_HTTP_malformed];
	size_t n = 0;
	for (int i = 0; i < XP_HTTP_N_ANSWERS; i++)
		requests += site->count[i];
	/* The list fits: 20 names of at most 14 bytes, each with a number of at
	 * most 20. */
	for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n,
		    ", \"%s\": %" PRIu64, names[i], site->count[i]);
	if (site->plan)
		snprintf(head, sizeof(head),
		    "\"service\": \"controller\", \"version\": \"%016" PRIx64
		    "\", \"servers\": %" PRIu32 ", \"stopped\": %s",
		    site->plan->version, site->plan->n_servers,
		    site->stopped ? "true" : "false");
	else
		snprintf(head, sizeof(head),
		    "\"service\": \"collector\", \"bytes\": %" PRIu64,
		    site->held.n_bytes);
	live_serve_say(a, 200, XP_HTTP_pages, json,
	    "{%s, \"uptime_s\": %" PRIu64 ", \"requests\": %" PRIu64
	    ", \"open\": %" PRIu64 "%s}\n",
	    head, site->uptime_s, requests, site->n_open, list);
}

/* It fits: a test has each number at its largest. */
static void live_serve_metrics(const struct xp_http_site *site,
    struct xp_http_answer *a)
{
	struct sim_text t = {a->text, sizeof(a->text), 0};
	live_serve_say(a, 200, XP_HTTP_pages, XP_EXPOSE_TYPE, "%s", "");
	xp_http_put_metrics(&t, site);
	a->n_bytes = t.n < sizeof(a->text) ? t.n : sizeof(a->text) - 1;
}

/* --- pinglists ------------------------------------------------------------ */
/* Whether a list of entity tags, or "*", has ETAG. If-None-Match compares
 * weakly (RFC 9110 13.1.2), so W/ is passed over. What is not such a list has
 * no tag, and the whole answer is sent, which is never wrong. */
int xp_http_has_tag(const char *list, const char *etag)
{
	const char *p = list + strspn(list, " \t");
	const size_t n = strlen(etag);
	if (*p == '*')
		return p[1 + strspn(p + 1, " \t")] == '\0';
	while (*p != '\0') {
		const char *end;
		if (strncmp(p, "W/", 2) == 0)
			p += 2;
		if (*p != '"' || !(end = strchr(p + 1, '"')))
			return 0;
		end++;
		if ((size_t)(end - p) == n && memcmp(p, etag, n) == 0)
			return 1;
		p = end + strspn(end, " \t");
		if (*p != ',')
			return 0;
		p += strspn(p, ", \t");
	}
	return 0;
}

/* The address that TEXT is, or ::. It must be written as we write it: 10.0.0.01 or
 * FD00::1 would be another name of the same list, and caches would keep two. */
static struct topo_ip live_serve_address(const char *text)
{
	const struct topo_ip none = {{0}};
	char again[TOPO_IP_TEXT];
	struct topo_ip ip;
	if (topo_ip_parse(text, &ip, NULL) < 0)
		return none;
	topo_ip_format(&ip, again);
	return strcmp(again, text) == 0 ? ip : none;
}

/* Whether the client speaks for another than itself: the answer, then. */
static int live_serve_is_other(const struct xp_http_request *q,
    struct topo_ip ip, struct xp_http_answer *a)
{
	char address[TOPO_IP_TEXT];
	if (!q->is_for || q->is_for(q->peer, ip))
		return 0;
	topo_ip_format(&ip, address);
	live_serve_say(a, 403, XP_HTTP_refused, live_serve_plain,
	    "%s is not in your certificate.\n", address);
	return 1;
}

static void say_list(const struct xp_http_site *site,
    const struct xp_http_request *q, const char *address,
    struct xp_http_answer *a)
{
	const struct topo_ip ip = live_serve_address(address);
	a->server = algo_pinglist_find(site->plan, &ip);
	a->of_6 = !topo_ip_is_4(&ip);
	if (a->server == TOPO_NONE) {
		live_serve_say(a, 404, XP_HTTP_not_found, live_serve_plain,
		    "That is no address of a server.\n");
		a->none_ip = ip;
		return;
	}
	if (live_serve_is_other(q, ip, a))
		return;
	/* A 404 and not an error: agents take it as "there is no list" and
	 * stop, while on an error they would go on with their list until the
	 * third. */
	if (site->stopped) {
		live_serve_say(a, 404, XP_HTTP_withheld, live_serve_plain,
		    "All agents are stopped: there are no pinglists until the "
		    "controller's stop file is removed.\n");
		a->none_ip = ip;
		return;
	}
	/* The plan's version and the address name the bytes of a list, so it
	 * need not be made to be compared. */
	snprintf(a->etag, sizeof(a->etag), "\"%016" PRIx64 "-%s\"",
	    site->plan->version, address);
	if (q->if_none_match && xp_http_has_tag(q->if_none_match, a->etag)) {
		live_serve_say(a, 304, XP_HTTP_not_modified, xml, "%s", "");
		return;
	}
	a->status = 200;
	a->counter = XP_HTTP_pinglists;
	a->type = xml;
	a->is_pinglist = 1;
}

/* --- strangers ------------------------------------------------------------ */
/* A page of some site whose name was made to lead here (DNS rebinding) has that
 * name as its host; one that posts to us has an Origin. Neither is of whoever may
 * ask. */
int xp_http_is_stranger(const struct xp_http_request *q)
{
	unsigned char ip[16];
	char host[64];
	if (q->origin)
		return 1;
	if (!q->host)
		return 0;
	const char *from = q->host + (*q->host == '[');
	const size_t n =
	    *q->host == '[' ? strcspn(from, "]") : strcspn(from, ":");
	snprintf(host, sizeof(host), "%.*s",
	    (int)(n < sizeof(host) ? n : sizeof(host)), from);
	return strcmp(host, "localhost") != 0 &&
	    inet_pton(AF_INET, host, ip) != 1 &&
	    inet_pton(AF_INET6, host, ip) != 1;
}

/* --- routes --------------------------------------------------------------- */
/* The methods that a target allows, or NULL if there is no such target. A name
 * that fills all of XP_HTTP_TARGET may have been cut short. */
static const char *allowed(const struct xp_http_site *site, const char *target)
{
	if (strnlen(target, XP_HTTP_TARGET) == XP_HTTP_TARGET)
		return NULL;
	if (strcmp(target, "/") == 0 || strcmp(target, "/health") == 0 ||
	    strcmp(target, "/metrics") == 0)
		return reads;
	if (!site->plan)
		return strcmp(target, "/results") == 0 ? posts : NULL;
	if (strcmp(target, "/pinglist.xsd") == 0 ||
	    strncmp(target, list_prefix, sizeof(list_prefix) - 1) == 0)
		return reads;
	return NULL;
}

static int may(const char *allow, const char *method)
{
	if (allow == posts)
		return strcmp(method, "POST") == 0;
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

const char *xp_http_target(const char *target, const char **host, size_t *n)
{
	const char *from = target;
	*host = NULL;
	*n = 0;
	if (strncasecmp(from, "http://", 7) == 0)
		from += 7;
	else if (strncasecmp(from, "https://", 8) == 0)
		from += 8;
	else
		return target;
	const size_t length = strcspn(from, "/?#@\\");
	/* A query without a path is none of ours, as is a user. */
	if (length == 0 || (from[length] != '/' && from[length] != '\0'))
		return target;
	*host = from;
	*n = length;
	return from[length] == '/' ? from + length : "/";
}

/* What is wrong with how Q says where it ends, or NULL. A proxy in between might
 * read it the other way, and take what follows for a request of its own. */
static const char *ill_framed(const struct xp_http_request *q)
{
	if (q->n_lengths > 1 || (q->n_lengths > 0 && q->n_codings > 0))
		return "The length of the body is said in two ways.";
	if (q->n_codings > 1)
		return "Transfer-Encoding is said twice.";
	if (q->n_codings > 0 && q->is_http_1_0)
		return "HTTP/1.0 has no Transfer-Encoding.";
	if (q->n_hosts > 1)
		return "Host is said twice.";
	if (q->is_folded)
		return "A length or a coding is folded.";
	if (q->has_control)
		return "There is a control character in a header.";
	return NULL;
}

int xp_http_is_ill(const struct xp_http_request *q, struct xp_http_answer *a)
{
	const char *why = ill_framed(q);
	if (why)
		live_serve_say(a, 400, XP_HTTP_malformed, live_serve_plain,
		    "%s\n", why);
	else if (q->n_codings > 0 && strcasecmp(q->coding, "chunked") != 0)
		live_serve_say(a, 501, XP_HTTP_malformed, live_serve_plain,
		    "Of transfer codings there is chunked alone.\n");
	else if (q->expect && strcasecmp(q->expect, "100-continue") != 0)
		live_serve_say(a, 417, XP_HTTP_refused, live_serve_plain,
		    "Nothing but 100-continue is expected.\n");
	else
		return 0;
	return 1;
}

enum xp_http_next xp_http_head(const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a)
{
	const char *allow = allowed(site, q->target);
	/* Not the text, which is large and is written when it is needed. */
	memset(a, 0, offsetof(struct xp_http_answer, text));
	if (xp_http_is_ill(q, a)) {
		return XP_HTTP_ANSWERED;
	} else if (!allow) {
		live_serve_say(a, 404, XP_HTTP_not_found, live_serve_plain,
		    "There is nothing here; GET / says what there is.\n");
	} else if (!may(allow, q->method)) {
		live_serve_say(a, 405, XP_HTTP_bad_methods, live_serve_plain,
		    "This has %s alone.\n", allow);
		a->allow = allow;
	} else if (allow == posts) {
		/* Chunks say no length; whoever receives them must count. */
		if (q->length <= ALGO_PINGMESH_WIRE_MAX)
			return XP_HTTP_SEND_BODY;
		live_serve_say(a, 413, XP_HTTP_too_large, live_serve_plain,
		    "A batch has at most %d bytes.\n", ALGO_PINGMESH_WIRE_MAX);
	} else if (strcmp(q->target, "/") == 0) {
		say_index(site, a);
	} else if (strcmp(q->target, "/health") == 0) {
		say_health(site, a);
	} else if (strcmp(q->target, "/metrics") == 0) {
		live_serve_metrics(site, a);
	} else if (strcmp(q->target, "/pinglist.xsd") == 0) {
		live_serve_say(a, 200, XP_HTTP_pages, xml, "%s", "");
		a->bytes = schema;
		a->n_bytes = sizeof(schema) - 1;
	} else {
		say_list(site, q, q->target + sizeof(list_prefix) - 1, a);
	}
	return XP_HTTP_ANSWERED;
}

enum xp_http_next xp_http_body(const struct xp_http_request *q,
    struct xp_http_answer *a)
{
	struct sim_err e;
	memset(a, 0, offsetof(struct xp_http_answer, text));
	if (algo_pingmesh_wire_check(&a->batch, q->body, q->n_body, &e) == 0)
		return live_serve_is_other(q, a->batch.src, a)
		    ? XP_HTTP_ANSWERED
		    : XP_HTTP_KEEP;
	live_serve_say(a, 400, XP_HTTP_bad_batches, live_serve_plain, "%s\n",
	    e.msg);
	return XP_HTTP_ANSWERED;
}

/* The store's own message names files of the server, which is nobody's business
 * who posts; only that the limit is reached is passed on. */
void xp_http_kept(struct xp_http_answer *a, int rc, int is_new,
    const struct sim_err *e)
{
	if (rc == SIM_ELIMIT)
		live_serve_say(a, 507, XP_HTTP_not_stored, live_serve_plain,
		    "%s\n", e->msg);
	else if (rc < 0)
		live_serve_say(a, 503, XP_HTTP_not_stored, live_serve_plain,
		    "The batch could not be written; try again later.\n");
	else if (is_new)
		live_serve_say(a, 200, XP_HTTP_batches_taken, live_serve_plain,
		    "taken\n");
	else
		live_serve_say(a, 200, XP_HTTP_batches_known, live_serve_plain,
		    "taken before\n");
}

void xp_http_no_memory(struct xp_http_answer *a)
{
	memset(a, 0, offsetof(struct xp_http_answer, text));
	live_serve_say(a, 503, XP_HTTP_not_sent, live_serve_plain,
	    "There is no memory for this now; try again later.\n");
}
