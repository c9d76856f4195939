/* models/sim/service.c -- controller and collector, as agents meet them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_randist.h>

#include "models/sim/impl.h"

/* When the answer to a request made now comes: after half of the mean for
 * certain, an exponential time of the other half, and DELAY_NS. The number is
 * drawn even if the service is down, so that an outage moves no later
 * answers. */
static int answer_at(struct fabric_sim *f, topo_host host, sim_ns delay_ns,
    sim_ns *at, struct sim_err *e)
{
	const double mean = f->params->connect.service_ms / 2;
	struct fabric_sim_streams *s;
	int rc = fabric_sim_streams(f, host, &s, e);
	if (rc < 0)
		return rc;
	const double ms = mean + gsl_ran_exponential(&s->service.gsl, mean);
	*at = f->now + (sim_ns)(ms * 1e6) + delay_ns;
	return 0;
}

int fabric_sim_fetch(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	sim_ns delay, at;
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_FETCH_DONE, .token = a->token},
	    .host = host,
	    .mode = fault_service_mode(&f->scene->truth, TRUTH_CONTROLLER,
		f->now, &delay),
	};
	int rc = answer_at(f, host, delay, &at, e);
	if (rc < 0 || p.mode == TRUTH_DOWN)
		return rc;
	/* The document is asked for when it arrives, since it is borrowed only
	 * until the next call; how the controller behaves was settled above. */
	return fabric_sim_put(f, &p, FABRIC_SIM_FETCHED, at, e);
}

int fabric_sim_take_fetched(struct fabric_sim *f,
    const struct fabric_sim_pending *p, struct agent_event *ev,
    struct sim_err *e)
{
	ev->ok = f->services.fetch != NULL;
	const int rc = fault_service_document(&f->services, p->mode, p->host,
	    f->now, &ev->data, &ev->n, e);
	return rc < 0 ? rc : 1;
}

/* The bytes stand in the agent's state and may change with its next step, so
 * the collector has them at once, and only the answer takes time. */
int fabric_sim_upload(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct fault_services *s = &f->services;
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_UPLOAD_DONE,
		.token = a->token,
		.ok = s->upload != NULL},
	    .host = host,
	};
	sim_ns delay, at;
	const uint32_t mode = fault_service_mode(&f->scene->truth,
	    TRUTH_COLLECTOR, f->now, &delay);
	int rc = answer_at(f, host, delay, &at, e);
	if (rc < 0 || mode == TRUTH_DOWN)
		return rc;
	if (s->upload &&
	    (rc = s->upload(s->arg, host, f->now, a->data, a->n_bytes, e)) < 0)
		return rc;
	return fabric_sim_put(f, &p, FABRIC_SIM_TELL, at, e);
}
