/* experiments/live/doctor.c -- is the live half well? By numbers, without I/O.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/doctor.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A store that is as full as that is about to refuse or to remove; a process
 * that takes as much of its budget is told of. */
#define DOCTOR_NEARLY 0.9

__attribute__((format(printf, 6, 7))) static void
doctor_say(struct xp_doctor *d, enum xp_health health, const char *of,
    const char *name, const char *todo, const char *fmt, ...)
{
	va_list args;
	d->n_warned += health == XP_HEALTH_WARN;
	d->n_failed += health == XP_HEALTH_FAIL;
	if (d->n == XP_DOCTOR_MOST)
		return;
	struct xp_check *c = &d->check[d->n++];
	*c = (struct xp_check){.health = health, .of = of};
	c->todo = health == XP_HEALTH_OK ? NULL : todo;
	snprintf(c->name, sizeof(c->name), "%s", name);
	va_start(args, fmt);
	vsnprintf(c->says, sizeof(c->says), fmt, args);
	va_end(args);
}

/* WHAT happened at AT_S and is to be no older than MOST_S. A process that began
 * less than that ago may not have had time for it. A time that has not come yet
 * is of a clock that is off. */
static void doctor_age(struct xp_doctor *d, const char *of, const char *name,
    const char *what, double at_s, double start_s, double most_s,
    const char *todo)
{
	const double age = d->now_s - at_s;
	if (isnan(at_s) && d->now_s - start_s <= most_s)
		doctor_say(d, XP_HEALTH_WARN, of, name,
		    "look again in some minutes",
		    "no %s yet; it began %.0f s ago", what, d->now_s - start_s);
	else if (isnan(at_s))
		doctor_say(d, XP_HEALTH_FAIL, of, name, todo, "no %s", what);
	else if (age < -60)
		doctor_say(d, XP_HEALTH_FAIL, of, name,
		    "have clocks follow NTP",
		    "the last %s is %.0f s from now: clocks differ", what,
		    -age);
	else
		doctor_say(d, age <= most_s ? XP_HEALTH_OK : XP_HEALTH_FAIL, of,
		    name, todo, "the last %s was %.0f s ago, %.0f are allowed",
		    what, fmax(0, age), most_s);
}

/* X of MOST, of what there should be less than that. */
static void doctor_budget(struct xp_doctor *d, const char *of, const char *name,
    const char *unit, double x, double most, double scale, const char *todo)
{
	const enum xp_health health = isnan(x) || x > most ? XP_HEALTH_FAIL
	    : x > DOCTOR_NEARLY * most                     ? XP_HEALTH_WARN
							   : XP_HEALTH_OK;
	doctor_say(d, health, of, name, todo, "%.4g of %.4g %s", x / scale,
	    most / scale, unit);
}

/* A counter that is to stay at 0. */
static void doctor_none(struct xp_doctor *d, const char *of, const char *name,
    const char *what, double n, const char *todo)
{
	doctor_say(d, n == 0 ? XP_HEALTH_OK : XP_HEALTH_WARN, of, name, todo,
	    "%.0f %s", n, what);
}

void xp_doctor_silent(struct xp_doctor *d, const char *of, const char *why)
{
	doctor_say(d, XP_HEALTH_FAIL, of, "answers",
	    "start it, or look at its log and at --ca, --cert and --key", "%s",
	    why);
}

void xp_doctor_unread(struct xp_doctor *d, const char *of, const char *why)
{
	doctor_say(d, XP_HEALTH_FAIL, of, "answers",
	    "name another, or have this user allowed to read it", "%s", why);
}

#define OF(name) xp_exposed_get(x, name)

void xp_doctor_controller(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x)
{
	const double version = OF("culprit_controller_list_version");
	if (isnan(version)) {
		xp_doctor_silent(d, of, "it is no controller");
		return;
	}
	doctor_say(d,
	    OF("culprit_controller_stopped") > 0 ? XP_HEALTH_WARN
						 : XP_HEALTH_OK,
	    of, "stopped", "remove its stop file to have agents probe",
	    OF("culprit_controller_stopped") > 0 ? "all agents are stopped"
						 : "agents may probe");
	/* While they are stopped nobody gets a list, which is as it should be. */
	if (OF("culprit_controller_stopped") == 0)
		doctor_age(d, of, "lists", "list given",
		    OF("culprit_controller_last_list_seconds"),
		    OF("process_start_time_seconds"), d->limits.list_s,
		    "see whether agents run, and reach it");
	if (d->list_version > 0)
		doctor_say(d,
		    version == d->list_version ? XP_HEALTH_OK : XP_HEALTH_FAIL,
		    of, "version",
		    "start all controllers with the same options",
		    version == d->list_version
			? "the lists of the first controller"
			: "other lists than the first controller's");
	else
		d->list_version = version;
	d->servers = OF("culprit_controller_servers");
}

void xp_doctor_collector(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x)
{
	const double bytes = OF("culprit_collector_store_bytes");
	if (isnan(bytes)) {
		xp_doctor_silent(d, of, "it is no collector");
		return;
	}
	doctor_age(d, of, "data", "batch stored",
	    OF("culprit_collector_last_batch_seconds"),
	    OF("process_start_time_seconds"), d->limits.data_s,
	    "see whether agents run, reach it and are not refused");
	doctor_budget(d, of, "room", "MiB", bytes,
	    OF("culprit_collector_store_limit_bytes"), 1048576,
	    "give it --make-room or --keep-days, or a larger --total-mib");
	doctor_none(d, of, "stored", "batches could not be stored",
	    OF("culprit_http_requests_total{outcome=\"not_stored\"}"),
	    "look at its disk, --total-mib and --client-mib");
	doctor_none(d, of, "damage", "bytes of its files are damaged",
	    OF("culprit_collector_store_damaged_bytes"),
	    "look at the disk; what follows damage in a file is not read");
}

/* --- agents --------------------------------------------------------------- */
static void doctor_agent_costs(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x)
{
	const double lived = OF("culprit_agent_written_seconds") -
	    OF("culprit_agent_start_time_seconds");
	doctor_budget(d, of, "memory", "MiB",
	    OF("culprit_agent_resident_memory_bytes"),
	    (double)d->limits.agent_mib * 1048576, 1048576,
	    "lower max_entries and batch, or allow it more by --agent-mib");
	/* The first minute is its start. */
	if (lived > 60)
		doctor_budget(d, of, "processor", "of a processor",
		    OF("culprit_agent_cpu_seconds_total") / lived,
		    d->limits.agent_cpu, 1,
		    "lower the rate of probes: interval_s of its list");
}

void xp_doctor_agent(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x)
{
	const double written = OF("culprit_agent_written_seconds"),
		     peers = OF("culprit_agent_peers");
	const double version = OF("culprit_agent_list_version");
	if (isnan(written)) {
		xp_doctor_silent(d, of, "it is no agent");
		return;
	}
	doctor_age(d, of, "alive", "sign of life", written, 0, 180,
	    "start the agent, or look at its log");
	doctor_age(d, of, "list", "list that it got",
	    OF("culprit_agent_last_list_seconds"),
	    OF("culprit_agent_start_time_seconds"), d->limits.list_s,
	    "see whether it reaches a controller; its log says why not");
	doctor_say(d, peers > 0 ? XP_HEALTH_OK : XP_HEALTH_WARN, of, "probes",
	    "its log says why its peers were dropped", "it probes %.0f peers",
	    peers);
	if (d->list_version > 0 && peers > 0)
		doctor_say(d,
		    version == d->list_version ? XP_HEALTH_OK : XP_HEALTH_WARN,
		    of, "version", "look again in ten minutes",
		    version == d->list_version
			? "its list is the controller's"
			: "its list is another than the controller's");
	doctor_none(d, of, "lost", "records were lost",
	    OF("culprit_agent_discarded_total") +
		OF("culprit_agent_overrun_total"),
	    "see whether the collector takes what it sends");
	doctor_agent_costs(d, of, x);
}

/* --- the store ------------------------------------------------------------ */
void xp_doctor_store(struct xp_doctor *d, const char *of,
    const struct xp_doctor_store *s)
{
	if (s->n_files == 0) {
		doctor_say(d, XP_HEALTH_FAIL, of, "data",
		    "is this the collector's --dir?", "there are no batches");
		return;
	}
	doctor_age(d, of, "data", "write to its files", s->written_s, 0,
	    d->limits.data_s, "see whether collector and agents run");
	doctor_age(d, of, "sla", "window of an agent's counters", s->window_s,
	    0, d->limits.sla_s,
	    "SLAs are made of these: look at the agents' uploads");
	if (d->servers > 0)
		doctor_say(d,
		    (double)s->n_agents >= DOCTOR_NEARLY * d->servers
			? XP_HEALTH_OK
			: XP_HEALTH_WARN,
		    of, "agents", "start agents on the others",
		    "%" PRIu64 " of %.0f servers have sent one of late",
		    s->n_agents, d->servers);
}

/* --- the database ---------------------------------------------------------- */

/* The paper reports levels 20 minutes after a probe was sent, the first of a window
 * of 10; there may be 10 more until the next one is due. */
enum { DOCTOR_DB_S = 1800 };

void xp_doctor_db(struct xp_doctor *d, const char *of,
    const struct xp_doctor_db *b)
{
	static const char todo[] =
	    "see whether `culprit jobs --continuous` runs, and batches come";
	if (!isnan(b->counters_s) || isnan(b->probes_s))
		doctor_age(d, of, "counters", "window of 5 minutes",
		    b->counters_s, 0, d->limits.sla_s, todo);
	const double ahead_s = b->probes_s - d->now_s;
	if (ahead_s > 86400)
		doctor_say(d, XP_HEALTH_FAIL, of, "sla",
		    "have clocks follow NTP; if they do now, move the database "
		    "away: it is made anew of the collector's files",
		    "windows were made of %.0f days to come", ahead_s / 86400);
	else
		doctor_age(d, of, "sla", "window of 10 minutes", b->probes_s, 0,
		    DOCTOR_DB_S, todo);
	doctor_none(d, of, "on_time", "windows of the last day were late",
	    (double)b->n_late, "jobs stood still, or take too long");
	doctor_say(d, *b->ill ? XP_HEALTH_WARN : XP_HEALTH_OK, of, "watchdogs",
	    "`culprit alerts DB --show watchdogs` has them", "%s",
	    *b->ill ? b->ill : "all are quiet");
}
