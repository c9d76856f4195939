/* tests/rigs/live_world_serve.c -- what controllers and the collector of a world answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "tests/rigs/live_world.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { LIST_MOST = 1 << 16 };

/* --- controllers ---------------------------------------------------------- */
void world_controller_stop(struct world *w, uint32_t i)
{
	struct world_controller *c = &w->controller[i];
	if (c->has_lists)
		xp_http_lists_free(&c->lists);
	xp_list_signer_close(c->signer);
	memset(c, 0, sizeof(*c));
}

/* A replayer has the plan of before, as it was signed then. */
void world_controller_start(struct world *w, uint32_t i, uint32_t plan,
    enum world_impostor impostor)
{
	struct world_controller *c = &w->controller[i];
	const char *key =
	    impostor == FORGER ? "another/list.key" : "ours/list.key";
	world_controller_stop(w, i);
	/* Wherever agents believe anybody, nobody lies. */
	c->impostor = world_is_signed() ? impostor : HONEST;
	c->plan = plan;
	c->is_on = c->has_lists = 1;
	c->since = world_wall(w, w->controllers_off);
	if (c->impostor == REPLAYER)
		c->since -= 7200 * SIM_SEC;
	if (world_is_signed() && impostor != UNSIGNED)
		assert_ok(xp_list_signer_open(&c->signer, world_path(key),
		    c->since / SIM_SEC, test_err()));
	xp_http_lists_init(&c->lists, world_plan(plan), c->signer);
}

/* Clients' certificates are for their own addresses. */
static int is_for(void *peer, struct topo_ip address)
{
	const uint32_t *agent = peer;
	return algo_pingmesh_wire_short(NULL, &address) ==
	    topo_addr_of_host(*agent);
}

static struct world_message *answer_of(struct world_message *m,
    const struct xp_http_answer *a, const void *body, size_t n)
{
	struct world_message *x = calloc(1, sizeof(*x) + n);
	assert_non_null(x);
	*x = *m;
	x->to = m->from;
	x->from = m->to;
	x->status = a->status;
	snprintf(x->etag, sizeof(x->etag), "%s", a->etag);
	x->mark[0] = '\0';
	x->n = n;
	memcpy(x->body, body, n);
	free(m);
	return x;
}

static struct world_message *give_list(struct world_controller *c,
    struct world_message *m, const struct xp_http_answer *a)
{
	static char text[LIST_MOST];
	struct xp_http_list *list;
	size_t n = 0, more;
	assert_ok(
	    xp_http_list_take(&list, &c->lists, a->server, 0, test_err()));
	while ((more = xp_http_list_read(list, text + n, sizeof(text) - n)))
		n += more;
	assert_true(n < sizeof(text));
	struct world_message *x = answer_of(m, a, text, n);
	snprintf(x->mark, sizeof(x->mark), "%s", list->mark);
	x->impostor = c->impostor;
	x->issued_s = c->since / SIM_SEC;
	x->of_version = world_plan(c->plan)->version;
	xp_http_list_rest(list);
	return x;
}

static struct world_message *serve_list(struct world *w,
    struct world_controller *c, struct world_message *m)
{
	static struct xp_http_answer a;
	const struct xp_http_site site = {.plan = world_plan(c->plan),
	    .stopped = c->is_stopped};
	const struct xp_http_request q = {.method = "GET",
	    .target = m->target,
	    .if_none_match = m->tag[0] ? m->tag : NULL,
	    .is_for = is_for,
	    .peer = &m->from};
	assert_int_equal(xp_http_head(&site, &q, &a), XP_HTTP_ANSWERED);
	world_saw(w, WORLD_FORBIDDEN, a.status == 403);
	if (a.is_pinglist)
		return give_list(c, m, &a);
	struct world_message *x = answer_of(m, &a, a.bytes, a.n_bytes);
	x->impostor = c->impostor;
	if (!topo_ip_is_zero(&a.none_ip) && c->signer)
		assert_ok(xp_list_sign_none(c->signer, a.none_ip,
		    world_wall(w, w->controllers_off) / SIM_SEC, x->mark,
		    test_err()));
	return x;
}

/* --- the collector -------------------------------------------------------- */
static struct world_message *serve_batch(struct world *w,
    struct world_message *m)
{
	static struct xp_http_answer a;
	const struct xp_http_site site = {0};
	struct xp_http_request q = {.method = "POST",
	    .target = m->target,
	    .length = m->n,
	    .n_lengths = 1,
	    .is_for = is_for,
	    .peer = &m->from};
	if (xp_http_head(&site, &q, &a) == XP_HTTP_SEND_BODY) {
		q.body = m->body;
		q.n_body = m->n;
		if (xp_http_body(&q, &a) == XP_HTTP_KEEP)
			world_collector_keep(w, m, &a);
		world_saw(w, WORLD_BAD, a.status == 400);
		world_saw(w, WORLD_FORBIDDEN, a.status == 403);
	}
	return answer_of(m, &a, a.bytes, a.n_bytes);
}

struct world_message *world_serve(struct world *w, struct world_message *m)
{
	struct world_controller *c = &w->controller[m->to - WORLD_CONTROLLER];
	const int is_on =
	    m->to == WORLD_COLLECTOR ? w->collector.is_on : c->is_on;
	world_note(w, m->to * 2 + (uint64_t)is_on);
	if (!is_on) {
		free(m);
		return NULL;
	}
	return m->to == WORLD_COLLECTOR ? serve_batch(w, m)
					: serve_list(w, c, m);
}
