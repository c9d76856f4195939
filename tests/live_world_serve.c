/* tests/live_world_serve.c -- controllers and the collector of a world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/live_world.h"
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
	c->since = world_wall(w, 0);
	if (c->impostor == REPLAYER)
		c->since -= 7200 * SIM_SEC;
	if (world_is_signed() && impostor != UNSIGNED)
		assert_ok(xp_list_signer_open(&c->signer, world_path(key),
		    c->since / SIM_SEC, test_err()));
	xp_http_lists_init(&c->lists, world_plan(plan), c->signer);
}

/* Clients' certificates are for their own addresses. */
static int is_for(void *peer, uint32_t address)
{
	const uint32_t *agent = peer;
	return address == topo_addr_of_host(*agent);
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
	assert_ok(xp_http_list_take(&list, &c->lists, a->server, test_err()));
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
	if (a.none_ip > 0 && c->signer)
		assert_ok(xp_list_sign_none(c->signer, a.none_ip,
		    world_wall(w, 0) / SIM_SEC, x->mark, test_err()));
	return x;
}

/* --- the collector -------------------------------------------------------- */
static const struct xp_batch_store_params store_params = {
    .file_bytes = 1 << 18,
    .total_bytes = UINT64_C(1) << 40,
    .max_runs = 1 << 16,
};

void world_collector_start(struct world *w, uint64_t room)
{
	struct world_collector *c = &w->collector;
	struct xp_batch_store_params p = store_params;
	if (c->is_on)
		return;
	assert_ok(xp_batch_store_open(&c->store, world_path("store"), &p,
	    test_err()));
	if (room > 0) { /* no more than so much beyond what is there */
		p.total_bytes = xp_batch_store_held(c->store).n_bytes + room;
		assert_ok(xp_batch_store_close(c->store, test_err()));
		assert_ok(xp_batch_store_open(&c->store, world_path("store"),
		    &p, test_err()));
	}
	c->is_on = 1;
}

/* The newest file; *N its bytes. Returns 0 if there is none. */
static int newest(char *path, size_t size, uint64_t *n)
{
	struct dirent **found;
	struct stat st;
	const int fd = open(world_path("store"), O_RDONLY | O_DIRECTORY);
	const int n_found = fd < 0 ? 0 : xp_batch_files(fd, &found);
	for (int i = 0; i < n_found; i++) {
		if (i == n_found - 1)
			snprintf(path, size, "%s/%s", world_path("store"),
			    found[i]->d_name);
		free(found[i]);
	}
	if (fd >= 0) {
		close(fd);
		free(found);
	}
	if (n_found <= 0 || stat(path, &st) < 0)
		return 0;
	*n = (uint64_t)st.st_size;
	return 1;
}

/* What a kill leaves in the midst of a write: TORN bytes of a batch. */
void world_collector_stop(struct world *w, uint32_t torn)
{
	struct world_collector *c = &w->collector;
	char path[512];
	uint64_t size;
	if (!c->is_on)
		return;
	c->is_on = 0;
	assert_ok(xp_batch_store_close(c->store, test_err()));
	c->store = NULL;
	if (torn == 0 || c->n_last == 0 || !newest(path, sizeof(path), &size))
		return;
	const int fd = open(path, O_WRONLY | O_APPEND);
	const size_t n = torn % c->n_last;
	assert_true(fd >= 0 && write(fd, c->last, n) == (ssize_t)n);
	close(fd);
	world_saw(w, WORLD_TORN, n > 0);
}

/* Files may grow by ROOM bytes and no more. */
static void limit_disk(uint64_t room)
{
	struct rlimit l;
	char path[512];
	uint64_t size = 0;
	getrlimit(RLIMIT_FSIZE, &l);
	if (!newest(path, sizeof(path), &size))
		size = 0;
	l.rlim_cur = size + room;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void unlimit_disk(void)
{
	struct rlimit l;
	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void keep(struct world *w, struct world_message *m,
    struct xp_http_answer *a)
{
	struct world_collector *c = &w->collector;
	struct sim_err e = {0};
	int is_new = 0;
	if (c->is_full)
		limit_disk(world_below(w, (uint32_t)m->n + 1) % m->n);
	const int rc = xp_batch_store_put(c->store, &a->batch, m->body, m->n,
	    (int64_t)(world_wall(w, 0) / SIM_SEC), &is_new, &e);
	if (c->is_full)
		unlimit_disk();
	memcpy(c->last, m->body, m->n);
	c->n_last = m->n;
	xp_http_kept(a, rc, is_new, &e);
	world_saw(w,
	    rc < 0       ? WORLD_NOT_STORED
		: is_new ? WORLD_TAKEN
			 : WORLD_KNOWN,
	    1);
}

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
			keep(w, m, &a);
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
