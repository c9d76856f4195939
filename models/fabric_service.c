/* models/fabric_service.c -- controller and collector, as agents meet them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_randist.h>

#include "models/fabric_sim_impl.h"

/* Beside the modes of an outage. */
enum { UP = TRUTH_GARBAGE + 1 };

static const char garbage[] = "<html>It works!</html>\n";

static const struct truth_outage *outage(const struct fabric_sim *f,
    enum truth_outage_kind kind)
{
	return truth_outage_at(&f->scene->truth, kind, 0, f->now);
}

/* When the answer comes to a request of now. */
static int answer_at(struct fabric_sim *f, topo_host host,
    const struct truth_outage *o, sim_ns *at, struct sim_err *e)
{
	const double mean = f->params->connect.service_ms / 2;
	struct fabric_sim_streams *s;
	int rc = fabric_sim_streams(f, host, &s, e);
	if (rc < 0)
		return rc;
	const double ms = mean + gsl_ran_exponential(&s->service.gsl, mean);
	*at = f->now + (sim_ns)(ms * 1e6);
	if (o && o->mode == TRUTH_SLOW)
		*at += (sim_ns)(o->delay_us * 1e3);
	return 0;
}

int fabric_sim_fetch(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct truth_outage *o = outage(f, TRUTH_CONTROLLER);
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_FETCH_DONE, .token = a->token},
	    .host = host,
	    .mode = o ? o->mode : UP,
	};
	sim_ns at;
	int rc = answer_at(f, host, o, &at, e);
	if (rc < 0 || p.mode == TRUTH_DOWN)
		return rc;
	return fabric_sim_put(f, &p, FABRIC_SIM_FETCHED, at, e);
}

int fabric_sim_take_fetched(struct fabric_sim *f,
    const struct fabric_sim_pending *p, struct agent_event *ev,
    struct sim_err *e)
{
	const struct fabric_sim_services *s = &f->services;
	int rc = 0;
	ev->data = NULL;
	ev->n = 0;
	ev->ok = s->fetch != NULL;
	if (p->mode == TRUTH_GARBAGE) {
		ev->data = garbage;
		ev->n = sizeof(garbage) - 1;
	} else if (ev->ok && p->mode != TRUTH_EMPTY) {
		rc = s->fetch(s->arg, p->host, f->now, &ev->data, &ev->n, e);
	}
	return rc < 0 ? rc : 1;
}

/* The bytes are only there now, so the collector has them at once. */
int fabric_sim_upload(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct truth_outage *o = outage(f, TRUTH_COLLECTOR);
	const struct fabric_sim_services *s = &f->services;
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_UPLOAD_DONE,
		.token = a->token,
		.ok = s->upload != NULL},
	    .host = host,
	};
	sim_ns at;
	int rc = answer_at(f, host, o, &at, e);
	if (rc < 0 || (o && o->mode == TRUTH_DOWN))
		return rc;
	if (s->upload &&
	    (rc = s->upload(s->arg, host, f->now, a->data, a->n_bytes, e)) < 0)
		return rc;
	return fabric_sim_put(f, &p, FABRIC_SIM_TELL, at, e);
}
