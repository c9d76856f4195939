/* experiments/plug/library.c -- an algorithm that is a library, loaded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/library.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/guard.h"
#include "experiments/plug/hear.h"
#include "experiments/plug/net.h"
#include "experiments/plug/way.h"
#include "models/obs_paths.h"
#include "models/obs_tallies.h"
#include "sim/text.h"
#include "sim/vec.h"

/* A process that has grown by more should end: the library leaks, mostly. */
#define LIBRARY_GROWTH ((size_t)1 << 30)
#define LIBRARY_LOAD_S 30.0

enum { LIBRARY_ERROR = 400, LIBRARY_OLD = 9 };

typedef const struct culprit_plugin *library_entry(void);

struct library {
	const struct culprit_plugin *plugin; /* NULL: not loaded here */
	struct plug_guard *guard;
	int sig; /* by which it crashed in this process; 0: it has not */
};

/* Of one network and its parameters. */
struct library_state {
	struct plug_net net;
	char (*name)[64];
	const char **names;
	struct culprit_topo topo;
	void *work;
	int is_open;
};

/* --- loading ------------------------------------------------------------------ */

/* A name without a slash would be looked for in the system's folders. */
static int library_path(const struct plug_source *s, char **path,
    struct sim_err *e)
{
	const char *folder = s->text[0] == '/' ? "" : s->folder;
	const char *here = *folder || strchr(s->text, '/') ? "" : "./";
	const size_t n = strlen(folder) + strlen(s->text) + 3;
	const int rc = SIM_ZALLOC(path, n, e);
	if (rc == 0)
		snprintf(*path, n, "%s%s%s", here, folder, s->text);
	return rc;
}

static int library_no_entry(void *handle, struct sim_err *e)
{
	for (int i = 0; i <= LIBRARY_OLD; i++) {
		char name[32];
		snprintf(name, sizeof(name), "culprit_plugin_%d", i);
		if (dlsym(handle, name))
			return sim_fail(e, SIM_EDEP,
			    "it has %s(), another version of the interface "
			    "than this culprit's, %d.",
			    name, CULPRIT_ABI);
	}
	return sim_fail(e, SIM_EDEP,
	    "it has no culprit_plugin_%d(), so it is no plug-in.", CULPRIT_ABI);
}

/* Whether it is as the interface has it. What is younger than that may lack. */
static int library_check(const struct culprit_plugin *p, struct sim_err *e)
{
	if (!p)
		return sim_fail(e, SIM_EDEP,
		    "its culprit_plugin_%d() returns nothing.", CULPRIT_ABI);
	if (!CULPRIT_HAS(p, close))
		return sim_fail(e, SIM_EDEP,
		    "its struct culprit_plugin has %" PRIu32
		    " bytes, and %zu are due.",
		    p->size, sizeof(*p));
	if (!p->open || !p->diagnose || !p->close)
		return sim_fail(e, SIM_EDEP,
		    "it lacks one of open(), diagnose() and close().");
	if (p->n_params > 0 &&
	    (!p->param || p->param_stride < sizeof(struct culprit_param)))
		return sim_fail(e, SIM_EDEP,
		    "a parameter of it has %" PRIu32 " bytes, and %zu are "
		    "due.",
		    p->param_stride, sizeof(struct culprit_param));
	return 0;
}

/* The message without the path, which whoever asked puts before it. */
static const char *library_why(const char *why, const char *path)
{
	const size_t n = strlen(path);
	return strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0
	    ? why + n + 2
	    : why;
}

int plug_library_load(const char *path, const struct culprit_plugin **p,
    struct sim_err *e)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	*p = NULL;
	if (!handle)
		return sim_fail(e, SIM_EDEP, "%.800s.",
		    library_why(dlerror(), path));
	char name[32];
	snprintf(name, sizeof(name), "culprit_plugin_%d", CULPRIT_ABI);
	/* A function's address, by way of an object's. */
	void *at = dlsym(handle, name);
	library_entry *entry;
	memcpy(&entry, &at, sizeof(entry));
	if (!at)
		return library_no_entry(handle, e);
	*p = entry();
	return library_check(*p, e);
}

/* --- calls into it ------------------------------------------------------------ */

struct library_load {
	const char *path;
	const struct culprit_plugin **plugin;
	struct sim_err *e;
	int rc;
};

static void library_do_load(void *arg)
{
	struct library_load *x = arg;
	x->rc = plug_library_load(x->path, x->plugin, x->e);
}

/* One call of the plug-in's: by FN, whose result is RC. */
struct library_call {
	const struct culprit_plugin *p;
	struct library_state *s;
	const struct culprit_window *w;
	struct culprit_answer *out;
	int rc;
	char error[LIBRARY_ERROR];
};

static void library_do_open(void *arg)
{
	struct library_call *c = arg;
	c->rc =
	    c->p->open(&c->s->work, &c->s->topo, c->error, sizeof(c->error));
}

static void library_do_diagnose(void *arg)
{
	struct library_call *c = arg;
	c->rc = c->p->diagnose(c->s->work, c->w, c->out, c->error,
	    sizeof(c->error));
}

static void library_do_close(void *arg)
{
	struct library_call *c = arg;
	c->p->close(c->s->work);
}

static int library_crashed(struct library *x, int sig, const char *what,
    struct sim_err *e)
{
	x->sig = sig;
	if (sig == PLUG_GUARD_EXIT)
		return sim_fail(e, SIM_EDEP,
		    "%s: it called exit(), which a library may not.", what);
	return sig == SIGALRM
	    ? sim_fail(e, SIM_EDEP, "%s: no answer within its timeout.", what)
	    : sim_fail(e, SIM_EDEP, "%s: it crashed by signal %d (%s).", what,
		  sig, strsignal(sig));
}

static int library_run(struct library *x, const char *what, double timeout_s,
    void (*fn)(void *arg), struct library_call *c, struct sim_err *e)
{
	c->error[0] = '\0';
	const int sig = plug_guard_call(x->guard, timeout_s, fn, c);
	if (sig != 0)
		return library_crashed(x, sig, what, e);
	if (c->rc == 0)
		return 0;
	c->error[sizeof(c->error) - 1] = '\0';
	return plug_answer_failed((const unsigned char *)c->error,
	    strlen(c->error), e);
}

/* --- a network ----------------------------------------------------------------- */

static void library_forget(void *host, void *state)
{
	struct library *x = host;
	struct library_state *s = state;
	struct library_call c = {.p = x->plugin, .s = s};
	if (!s)
		return;
	/* What crashed is not asked to clean up. */
	if (s->is_open && x->sig == 0)
		x->sig = plug_guard_call(x->guard, LIBRARY_LOAD_S,
		    library_do_close, &c);
	plug_net_free(&s->net);
	free(s->name);
	free(s->names);
	free(s);
}

static int library_state_init(struct library_state *s, const struct plug_ask *q,
    struct sim_err *e)
{
	const struct topo *t = q->topo;
	const size_t n = t->n_hosts + t->n_switches;
	int rc;
	if ((rc = plug_net_init(&s->net, t, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->name, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->names, n, e)) < 0)
		return rc;
	for (topo_node i = 0; i < n; i++) {
		topo_node_name(t, i, s->name[i]);
		s->names[i] = s->name[i];
	}
	s->topo = (struct culprit_topo){
	    .size = sizeof(s->topo),
	    .n_hosts = t->n_hosts,
	    .n_switches = t->n_switches,
	    .n_links = t->n_links,
	    .n_values = (uint32_t)q->about->n_params,
	    .link_from = s->net.from,
	    .link_to = s->net.to,
	    .link_class = s->net.class,
	    .host_tor = s->net.tor,
	    .node_name = s->names,
	    .value = (const void *)(q->params + 1),
	};
	return 0;
}

/* Once a network, and again after it failed. */
static int library_ready(struct library *x, const struct plug_ask *q,
    struct sim_err *e)
{
	struct library_state *s = *q->state;
	int rc = 0;
	if (s && s->is_open)
		return 0;
	if (s)
		library_forget(x, s);
	*q->state = NULL;
	if ((rc = SIM_ZALLOC(&s, 1, e)) < 0)
		return rc;
	*q->state = s;
	if ((rc = library_state_init(s, q, e)) < 0)
		return rc;
	struct library_call c = {.p = x->plugin, .s = s};
	rc = library_run(x, "open()", q->params->timeout_s, library_do_open, &c,
	    e);
	s->is_open = rc == 0;
	if (rc < 0 && x->sig == 0)
		x->sig = plug_guard_call(x->guard, LIBRARY_LOAD_S,
		    library_do_close, &c);
	return rc;
}

/* --- a window ------------------------------------------------------------------ */

static void library_put_rows(struct culprit_window *out, const struct obs *w)
{
	static const uint32_t none = 0;
	const struct obs_tallies *r = w->tallies;
	const struct obs_paths *p = r ? r->paths : NULL;
	out->set_first = out->path_off = &none;
	if (!r)
		return;
	out->n_rows = r->n;
	out->telemetry = r->telemetry;
	out->up = r->up;
	out->down = r->down;
	out->set = r->set;
	out->path = r->path;
	out->n_sent = r->n_sent;
	out->n_lost = r->n_lost;
	out->flow = r->flow;
	out->is_probe = r->is_probe;
	if (!p || p->n == 0)
		return;
	out->n_sets = p->n_sets;
	out->n_paths = p->n;
	out->n_path_links = p->off[p->n];
	out->set_first = p->first;
	out->set_from = p->from;
	out->set_to = p->to;
	out->path_off = p->off;
	out->path_link = p->link;
}

static struct culprit_window library_window(const struct obs *w, uint64_t seed)
{
	static const uint64_t none = 0;
	struct culprit_window out = {
	    .size = sizeof(out),
	    .complete = w->complete,
	    .seed = seed,
	    .n_flows = w->flows.n,
	    .n_hops = w->hops.n,
	    .flows_ran = w->n_flows,
	    .packets = w->n_packets,
	    .start_ns = w->flows.start_ns,
	    .src_host = w->flows.src_host,
	    .dst_host = w->flows.dst_host,
	    .src_port = w->flows.src_port,
	    .dst_port = w->flows.dst_port,
	    .n_pkts = w->flows.n_pkts,
	    .srtt_us = w->flows.srtt_us,
	    .n_retx = w->flows.n_retx,
	    .count_off = w->flows.count_off,
	    .off = w->flows.n > 0 ? w->hops.off : &none,
	    .link = w->hops.link,
	};
	library_put_rows(&out, w);
	return out;
}

/* Loaded once a process, and never unloaded: threads and handlers of its may be
 * left. */
static int library_begin(struct library *x, const struct plug_ask *q,
    struct sim_err *e)
{
	char *path = NULL;
	int rc;
	if ((rc = plug_source_check(q->source, e)) < 0 ||
	    (rc = library_path(q->source, &path, e)) < 0 ||
	    (!x->guard && (rc = plug_guard_open(&x->guard, e)) < 0))
		goto out;
	struct library_load load = {path, &x->plugin, e, 0};
	const int sig =
	    plug_guard_call(x->guard, LIBRARY_LOAD_S, library_do_load, &load);
	rc = sig ? library_crashed(x, sig, "loading it", e) : load.rc;
	if (rc < 0)
		x->plugin = NULL;
out:
	free(path);
	return rc;
}

static int library_ask(void *host, const struct plug_ask *q,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct library *x = host;
	int rc = 0;
	if (x->sig != 0)
		return sim_fail(e, SIM_EDEP,
		    "it crashed before, in this cell or process.");
	if (!x->plugin && (rc = library_begin(x, q, e)) < 0)
		return rc;
	if ((rc = library_ready(x, q, e)) < 0 ||
	    (rc = plug_answer_room(out, &q->limits, e)) < 0)
		return rc;
	const struct culprit_window w = library_window(q->window, q->seed);
	struct culprit_answer a = {.size = sizeof(a),
	    .id = out->link,
	    .score = out->score,
	    .blame = out->blame};
	struct library_call c = {.p = x->plugin,
	    .s = *q->state,
	    .w = &w,
	    .out = &a};
	if ((rc = library_run(x, "diagnose()", q->params->timeout_s,
		 library_do_diagnose, &c, e)) < 0)
		return rc;
	const struct plug_count n = {a.n, a.n_flagged, out->n_flows};
	return plug_answer_take(out, &n, &q->limits, q->seen, e);
}

/* --- the whole ------------------------------------------------------------------ */

static int library_open(void **host, struct sim_err *e)
{
	struct library *x;
	const int rc = SIM_ZALLOC(&x, 1, e);
	*host = x;
	return rc;
}

static void library_close(void *host)
{
	struct library *x = host;
	plug_guard_close(x->guard);
	free(x);
}

static int library_describe(void *host, const struct plug_source *s,
    struct plug_about *a, struct sim_err *e)
{
	struct plug_child c = {0};
	char *path;
	(void)host;
	int rc = library_path(s, &path, e);
	if (rc < 0)
		return rc;
	if ((rc = plug_child_fork(&c, plug_library_probe, path, e)) == 0)
		rc = plug_about_hear(&c, a, e);
	plug_child_free(&c);
	free(path);
	return rc;
}

static int library_is_spent(const void *host)
{
	const struct library *x = host;
	return x->guard &&
	    (x->sig != 0 || plug_guard_growth(x->guard) > LIBRARY_GROWTH);
}

const struct plug_way plug_library = {
    .key = "plugin",
    .open = library_open,
    .close = library_close,
    .describe = library_describe,
    .ask = library_ask,
    .forget = library_forget,
    .is_spent = library_is_spent,
};
