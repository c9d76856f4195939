/* experiments/everflow/control_sessions.c -- what is marked, and for how long.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/everflow/control_parts.h"
#include "results/json.h"
#include "sim/text.h"
#include "sim/vec.h"

/* --- GET ------------------------------------------------------------------ */

static int session_has(const struct xp_control_session *s, topo_host h)
{
	for (size_t i = 0; i < s->n_servers; i++)
		if (s->server[i] == h)
			return 1;
	return 0;
}

static void session_put(const struct xp_control *c,
    const struct xp_control_session *s, FILE *out)
{
	char name[64];
	fprintf(out,
	    "{\"id\": %u, \"sample\": %u, \"until_ns\": %" PRIu64
	    ", \"filter\": ",
	    s->id, 1u << s->sample_bits, s->until);
	res_json_text(out, s->filter);
	fprintf(out, ", \"servers\": [");
	for (size_t i = 0; i < s->n_servers; i++) {
		topo_node_name(c->p.routing.topo, s->server[i], name);
		fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", name);
	}
	fprintf(out, "]}");
}

static void load_put(const char *key, const struct algo_load *l, FILE *out)
{
	static const char *const words[] = {
#define X(capacity, word, unit) word,
	    ALGO_CAPACITIES(X)
#undef X
	};
	fprintf(out, ", \"%s\": {", key);
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++) {
		fprintf(out, "%s\"%s\": ", i > 0 ? ", " : "", words[i]);
		res_json_number(out, l->of[i]);
	}
	fprintf(out, "}");
}

static int sessions_tell(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	const struct xp_control *c = x->c;
	const topo_host *server = arg;
	const struct algo_load used = algo_control_used(c->control);
	const struct algo_load all = algo_admission_capacity(&c->p.capacity);
	const char *comma = "";
	(void)e;
	fprintf(out, "{\"sessions\": [");
	for (size_t i = 0; i < c->n_sessions; i++)
		if (*server == TOPO_NONE ||
		    session_has(&c->session[i], *server)) {
			fputs(comma, out);
			session_put(c, &c->session[i], out);
			comma = ", ";
		}
	fprintf(out, "]");
	load_put("used", &used, out);
	load_put("capacity", &all, out);
	fprintf(out, "}\n");
	return 0;
}

/* A server's number, by its name. */
static int session_server(const struct xp_control *c, const char *name,
    topo_host *h, struct sim_err *e)
{
	const struct topo *t = c->p.routing.topo;
	char shown[64];
	topo_node n;
	const int rc = topo_node_parse(t, name, &n, e);
	*h = n;
	if (rc == 0 && n >= t->n_hosts)
		return sim_fail(e, SIM_EINVAL, "%s is a switch, no server.",
		    sim_quote(shown, name));
	return rc;
}

void xp_control_sessions_get(struct xp_control_call *x)
{
	static const char *const words[] = {"server", NULL};
	const char *name = xp_query_value(x->q, "server");
	topo_host server = TOPO_NONE;
	struct sim_err e = {0};
	int rc = xp_query_check(x->q, words, &e);
	if (rc == 0 && name)
		rc = session_server(x->c, name, &server, &e);
	if (rc < 0)
		xp_control_mistake(x, rc, 400, &e);
	else
		xp_control_say(x, 200, xp_control_json, sessions_tell, &server);
}

/* --- POST ----------------------------------------------------------------- */

/* "all", or names with commas between them. */
static int session_servers(const struct xp_control *c, const char *text,
    struct xp_control_session *s, struct sim_err *e)
{
	const uint32_t n_hosts = c->p.routing.topo->n_hosts;
	char name[64];
	int rc = SIM_ZALLOC(&s->server, n_hosts, e);
	if (rc == 0 && strcmp(text, "all") == 0)
		for (; s->n_servers < n_hosts; s->n_servers++)
			s->server[s->n_servers] = (topo_host)s->n_servers;
	else
		while (rc == 0 && *text) {
			const size_t n = strcspn(text, ",");
			if (s->n_servers == n_hosts)
				return sim_fail(e, SIM_EINVAL,
				    "servers: there are only %u.", n_hosts);
			snprintf(name, sizeof(name), "%.*s",
			    n < sizeof(name) ? (int)n : (int)sizeof(name),
			    text);
			rc = session_server(c, name, &s->server[s->n_servers++],
			    e);
			text += n + (text[n] == ',');
		}
	return rc < 0 ? sim_wrap(e, rc, "servers") : 0;
}

static int session_read(struct xp_control_call *x, struct algo_request *r,
    struct xp_control_session *s, struct sim_err *e)
{
	static const char *const words[] = {"servers", "filter", "sample",
	    "life", NULL};
	const char *servers = xp_query_value(x->q, "servers");
	uint64_t sample = 1;
	int rc;
	r->filter = xp_query_value(x->q, "filter");
	if ((rc = xp_query_check(x->q, words, e)) < 0 ||
	    (rc = xp_query_number(x->q, "sample", 1, 1 << ALGO_SAMPLE_MOST,
		 &sample, e)) < 0 ||
	    (rc = xp_query_time(x->q, "life", &r->life_ns, e)) < 0)
		return rc;
	if (!servers)
		return sim_fail(e, SIM_EINVAL,
		    "parameter servers is missing: servers=host0,host17 or "
		    "servers=all.");
	if (sample & (sample - 1))
		return sim_fail(e, SIM_ERANGE,
		    "sample: %" PRIu64 " is no power of two.", sample);
	while (sample >> s->sample_bits > 1)
		s->sample_bits++;
	if ((rc = session_servers(x->c, servers, s, e)) < 0 ||
	    (rc = sim_dup(&s->filter, r->filter ? r->filter : "", e)) < 0)
		return rc;
	r->server = s->server;
	r->n_servers = s->n_servers;
	r->sample_bits = s->sample_bits;
	return 0;
}

static void session_begin(struct xp_control_call *x,
    struct xp_control_session *s, const struct algo_request *r, uint32_t id)
{
	struct xp_control *c = x->c;
	const sim_ns most = sim_ns_of(c->p.control.life_s);
	const sim_ns life =
	    r->life_ns > 0 && r->life_ns < most ? r->life_ns : most;
	s->id = id;
	s->until = c->now + life;
	/* The controller has at most as many as there is room for. */
	c->session[c->n_sessions++] = *s;
	xp_control_text(x->a, 201,
	    "{\"id\": %u, \"sample\": %u, \"until_ns\": %" PRIu64 "}\n", id,
	    1u << s->sample_bits, s->until);
	*s = (struct xp_control_session){0};
}

void xp_control_sessions_post(struct xp_control_call *x)
{
	struct algo_request r = {.kind = ALGO_ENABLE_DEBUG};
	struct xp_control_session s = {0};
	const struct algo_action *a = NULL;
	struct sim_err e = {0};
	int rc = session_read(x, &r, &s, &e);
	if (rc < 0)
		xp_control_mistake(x, rc, 400, &e);
	else if ((rc = xp_control_ask(x->c, &r, &a, &e)) < 0)
		xp_control_mistake(x, rc, rc == SIM_ELIMIT ? 409 : 400, &e);
	else if (a->kind == ALGO_REFUSED)
		xp_control_unfit(x->a, &a->refusal);
	else
		session_begin(x, &s, &r, a->id);
	free(s.server);
	free(s.filter);
}

/* --- DELETE --------------------------------------------------------------- */

void xp_control_sessions_delete(struct xp_control_call *x)
{
	static const char *const words[] = {"id", NULL};
	struct algo_request r = {.kind = ALGO_DISABLE_DEBUG};
	const struct algo_action *a;
	struct sim_err e = {0};
	uint64_t id = 0;
	int rc;
	if ((rc = xp_query_check(x->q, words, &e)) == 0 &&
	    (rc = xp_query_number(x->q, "id", 1, UINT32_MAX, &id, &e)) == 0 &&
	    id == 0)
		rc = sim_fail(&e, SIM_EINVAL, "parameter id is missing.");
	r.session = (uint32_t)id;
	if (rc < 0)
		xp_control_mistake(x, rc, 400, &e);
	else if ((rc = xp_control_ask(x->c, &r, &a, &e)) < 0)
		xp_control_mistake(x, rc, 404, &e);
	else
		xp_control_text(x->a, 200, "{}\n");
}
