/* tests/fuzz/http_fuzz.c -- any bytes as a request; each has a sane answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An input is four lines: flags, method, target, entity tags (or a coding, or what
 * is expected); what follows is the body.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/page/page.h"
#include "experiments/live/page/view.h"
#include "experiments/live/serve.h"
#include "tests/fuzz/fuzz.h"
#include "topo/addr.h"

/* The next line on the heap, so that ASan sees a read past it. */
static char *next_line(const uint8_t **p, size_t *n)
{
	const uint8_t *end = *n > 0 ? memchr(*p, '\n', *n) : NULL;
	const size_t length = end ? (size_t)(end - *p) : *n;
	char *line = malloc(length + 1);
	must(line != NULL);
	if (length > 0)
		memcpy(line, *p, length);
	line[length] = '\0';
	*p += length + (end != NULL);
	*n -= length + (end != NULL);
	return line;
}

static void check(const struct xp_http_site *site,
    const struct xp_http_request *q, const struct xp_http_answer *a)
{
	must(a->status >= 200 && a->status < 600 && a->type != NULL);
	must((a->status == 405) == (a->allow != NULL));
	must(strlen(a->etag) < sizeof(a->etag));
	if (a->is_pinglist) {
		char address[16];
		must(site->plan && !site->stopped && a->status == 200);
		must(a->server < site->plan->n_servers);
		topo_addr_format(topo_addr_of_host(a->server), address);
		must(strncmp(q->target, "/pinglist/", 10) == 0);
		must(strcmp(q->target + 10, address) == 0);
		must(!q->is_for || topo_addr_of_host(a->server) % 2 == 0);
	} else {
		must(a->bytes != NULL);
		must(a->bytes != a->text || a->n_bytes == strlen(a->text));
	}
}

/* Half of all addresses are the client's. */
static int is_even(void *peer, struct topo_ip address)
{
	(void)peer;
	return address.byte[15] % 2 == 0;
}

/* There is one way to write a target: its numbers are its end, as we write them. */
static void look_at_page(const struct xp_http_site *site,
    const struct xp_http_request *q)
{
	static struct xp_live_page *page;
	static struct xp_http_answer a;
	struct xp_live_ask ask;
	char end[128] = "";
	if (!page)
		must(xp_live_page_open(&page, NULL, NULL) == 0);
	memset(&a, 0, offsetof(struct xp_http_answer, text));
	if (xp_live_page_answer(page, site, q, &a)) {
		must(a.status != 200 || q->method[0] == 'G' ||
		    q->method[0] == 'H');
		must(a.status >= 200 && a.status < 600 && a.type && a.headers);
		if (a.rest)
			a.rest(a.of);
	}
	if (!xp_live_ask_read(&ask, q->target))
		return;
	for (size_t i = 0, n = 0; i < ask.n; i++)
		n += (size_t)snprintf(end + n, sizeof(end) - n, "/%lld",
		    (long long)ask.number[i]);
	must(strlen(q->target) > strlen(end));
	must(strcmp(q->target + strlen(q->target) - strlen(end), end) == 0);
}

static void serve(const struct xp_http_site *site, struct xp_http_request *q,
    const uint8_t *body, size_t n_body)
{
	static struct xp_http_answer a;
	if (!site->plan)
		look_at_page(site, q);
	memset(&a, 0xa5, sizeof(a));
	q->length = n_body;
	if (xp_http_head(site, q, &a) == XP_HTTP_ANSWERED) {
		check(site, q, &a);
		return;
	}
	must(!site->plan && strcmp(q->method, "POST") == 0);
	uint8_t *exact = malloc(n_body ? n_body : 1);
	must(exact != NULL);
	if (n_body > 0)
		memcpy(exact, body, n_body);
	q->body = exact;
	q->n_body = n_body;
	if (xp_http_body(q, &a) == XP_HTTP_KEEP) {
		must(algo_pingmesh_wire_size(a.batch.n) == n_body);
		must(!q->is_for || a.batch.src.byte[15] % 2 == 0);
		xp_http_kept(&a, 0, 1, NULL);
	}
	check(site, q, &a);
	free(exact);
}

/* What stands behind a host is of the target's own bytes, and so is the host. */
static const char *path_of(const char *target)
{
	const char *host, *path;
	size_t n;
	path = xp_http_target(target, &host, &n);
	must((n == 0) == (host == NULL) && (n > 0 || path == target));
	must(!host || (host > target && n <= strlen(host)));
	must(!host || memchr(host, '@', n) == NULL);
	must(!host || path == host + n || strcmp(path, "/") == 0);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct algo_pinglist plan;
	static struct xp_http_site controller, collector;
	if (!controller.plan) {
		struct algo_pinglist_params p;
		struct topo_clos shape;
		must(sim_field_defaults(algo_pinglist_fields, &p, NULL) == 0);
		must(sim_field_defaults(topo_clos_fields, &shape, NULL) == 0);
		must(algo_pinglist_open(&plan, &p, &shape, 1, NULL) == 0);
		controller.plan = &plan;
	}
	char *flags = next_line(&bytes, &n), *method = next_line(&bytes, &n);
	char *target = next_line(&bytes, &n), *tags = next_line(&bytes, &n);
	struct xp_http_request q = {
	    .method = method,
	    .target = target,
	    .if_none_match = strchr(flags, 't') ? tags : NULL,
	    .n_lengths = strchr(flags, '2') ? 2 : n > 0,
	    .coding = strchr(flags, 'x') ? tags : "chunked",
	    .n_codings = strchr(flags, 'c') || strchr(flags, 'x'),
	    .n_hosts = strchr(flags, 'h') ? 2 : 1,
	    .expect = strchr(flags, 'e') ? tags : NULL,
	    .is_http_1_0 = strchr(flags, '0') != NULL,
	    .is_folded = strchr(flags, 'f') != NULL,
	    .has_control = strchr(flags, 'k') != NULL,
	};
	if (strchr(flags, 'u'))
		q.target = path_of(target);
	if (strchr(flags, 'a'))
		q.is_for = is_even;
	controller.stopped = strchr(flags, 's') != NULL;
	serve(strchr(flags, 'p') ? &controller : &collector, &q, bytes, n);
	free(flags);
	free(method);
	free(target);
	free(tags);
	return 0;
}
