/* experiments/cmd/doctor.c -- culprit doctor: is the live half well?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/identity.h"
#include "experiments/live/call.h"
#include "experiments/live/doctor_store.h"
#include "results/file.h"
#include "results/json.h"
#include "sim/vec.h"

enum { DOCTOR_ANSWER = 65536, DOCTOR_URL = 512, DOCTOR_URLS = 16 };

struct args {
	const char *controllers, *collector, *dir, *db;
	struct cmd_words agents; /* files */
	struct xp_identity_params identity;
	struct xp_doctor_limits limits;
	int json;
};

static const struct cmd_option doctor_options[] = {
    {"controller", 0, "URL,...", "controllers to ask", .take = cmd_take_text,
	.at = CMD_AT(controllers)},
    {"collector", 0, "URL", "the collector to ask", .take = cmd_take_text,
	.at = CMD_AT(collector)},
    {"dir", 0, "DIR", "the collector's folder, where that is at hand",
	.take = cmd_take_text, .at = CMD_AT(dir)},
    {"db", 0, "FILE",
	"the database of `culprit jobs --continuous`, where that is at hand",
	.take = cmd_take_text, .at = CMD_AT(db)},
    {"list-age", 0, "S", "seconds since a list was had, at most (900)",
	.take = cmd_take_seconds, .at = CMD_AT(limits.list_s)},
    {"data-age", 0, "S", "seconds since a batch was stored, at most (300)",
	.take = cmd_take_seconds, .at = CMD_AT(limits.data_s)},
    {"sla-age", 0, "S",
	"seconds since a window of counters ended, at most (900)",
	.take = cmd_take_seconds, .at = CMD_AT(limits.sla_s)},
    {"agent-mib", 0, "N", "memory that an agent may take (45)",
	.take = cmd_take_u32, .at = CMD_AT(limits.agent_mib), .min = 1,
	.max = 1 << 20},
    {.with = cmd_identity_options, .at = CMD_AT(identity)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static void doctor_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->controllers && !a->collector && !a->dir && !a->db &&
	    a->agents.n == 0)
		argp_error(state,
		    "nobody to look at: --controller, --collector, --dir, --db "
		    "or the files of agents");
	cmd_identity_check(&a->identity, state);
}

static void doctor_put_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out,
	    "It asks /metrics, and reads the files that agents write with "
	    "--metrics. Is a list given now and then, by controllers that "
	    "agree? Are batches stored, is there room? Did windows of the "
	    "agents' counters, of which SLAs are made, come in time, and "
	    "from how many servers? Were windows of jobs made on time, and "
	    "what do their watchdogs say? Does an agent live, have its list "
	    "and "
	    "stay within 45 MiB and a twentieth of a processor?\n\n"
	    "A line a check: ok, WARN or FAIL, and what to do. The exit code "
	    "is 1 if any failed.\n");
}

static const struct cmd_line doctor_line = {
    .options = doctor_options,
    .word = {"agents", .take = cmd_take_all, .at = CMD_AT(agents)},
    .check = doctor_check,
    .more = doctor_put_more,
    .args_doc = "[AGENT.prom...]",
    .doc = "Say whether controllers, collector and agents do their work."
	   "\v ",
};

/* --- asking --------------------------------------------------------------- */
typedef void doctor_judge(struct xp_doctor *d, const char *of,
    const struct xp_exposed *x);

struct doctor_room {
	struct xp_exposed x;
	char answer[DOCTOR_ANSWER];
	char url[DOCTOR_URLS][DOCTOR_URL];
	size_t n_urls;
	struct xp_doctor doctor;
};

static void doctor_hear(struct doctor_room *r, const char *of, const char *text,
    doctor_judge *judge)
{
	struct sim_err e;
	if (xp_exposed_read(&r->x, text, &e) < 0)
		xp_doctor_silent(&r->doctor, of, e.msg);
	else
		judge(&r->doctor, of, &r->x);
}

/* The answer has a bound, and the time for it, as whoever is asked may be
 * anybody. */
static int doctor_call(struct doctor_room *r, const char *url,
    const struct xp_identity *identity, struct sim_err *e)
{
	const struct xp_call c = {.method = "GET",
	    .url = url,
	    .path = "/metrics",
	    .identity = identity,
	    .most_s = 20};
	struct xp_call_got got;
	memset(r->answer, 0, sizeof(r->answer));
	FILE *out = fmemopen(r->answer, sizeof(r->answer) - 1, "w");
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "there is no memory.");
	const int rc = xp_call(&c, out, &got, e);
	if (fclose(out) != 0 && rc == 0)
		return sim_fail(e, SIM_EPARSE,
		    "an answer of more than %d bytes.", DOCTOR_ANSWER);
	return rc;
}

/* Errors: of the command line alone; one who does not answer is a finding. */
static int doctor_ask(struct doctor_room *r, const char *text, size_t n,
    const struct xp_identity *identity, doctor_judge *judge, struct sim_err *e)
{
	struct sim_err why;
	if (r->n_urls == DOCTOR_URLS || n >= DOCTOR_URL)
		return sim_fail(e, SIM_EINVAL,
		    "more than %d URLs, or one of %d bytes.", DOCTOR_URLS,
		    DOCTOR_URL);
	char *url = r->url[r->n_urls++];
	snprintf(url, DOCTOR_URL, "%.*s", (int)n, text);
	const int rc = doctor_call(r, url, identity, &why);
	if (rc == SIM_EUNSUPPORTED || rc == SIM_EINVAL) {
		*e = why;
		return rc;
	}
	if (rc < 0)
		xp_doctor_silent(&r->doctor, url, why.msg);
	else
		doctor_hear(r, url, r->answer, judge);
	return 0;
}

static int doctor_ask_all(struct doctor_room *r, const struct args *a,
    const struct xp_identity *identity, struct sim_err *e)
{
	int rc = 0;
	for (const char *at = a->controllers; at && rc == 0;) {
		const size_t n = strcspn(at, ",");
		rc = doctor_ask(r, at, n, identity, xp_doctor_controller, e);
		at = at[n] == ',' ? at + n + 1 : NULL;
	}
	if (a->collector && rc == 0)
		rc = doctor_ask(r, a->collector, strlen(a->collector), identity,
		    xp_doctor_collector, e);
	return rc;
}

static void doctor_read_agent(struct doctor_room *r, const char *path)
{
	struct sim_err e;
	void *bytes;
	size_t n;
	if (res_file_read(path, &bytes, &n, &e) < 0) {
		xp_doctor_unread(&r->doctor, path, e.msg);
		return;
	}
	doctor_hear(r, path, bytes, xp_doctor_agent);
	free(bytes);
}

static void doctor_look_at_db(struct doctor_room *r, const char *file)
{
	struct xp_doctor_db b;
	struct sim_err why;
	if (xp_doctor_look_db(&b, file, r->doctor.now_s, &why) < 0)
		xp_doctor_unread(&r->doctor, file, why.msg);
	else
		xp_doctor_db(&r->doctor, file, &b);
}

static int doctor_look_at(struct doctor_room *r, const struct args *a,
    struct sim_err *e)
{
	struct xp_identity identity = {0};
	struct xp_doctor_store store;
	struct sim_err why;
	int rc = xp_identity_open(&identity, &a->identity, e);
	if (rc < 0)
		return rc;
	rc = doctor_ask_all(r, a, &identity, e);
	xp_identity_close(&identity);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < a->agents.n; i++)
		doctor_read_agent(r, a->agents.word[i]);
	if (a->db)
		doctor_look_at_db(r, a->db);
	if (!a->dir)
		return 0;
	if (xp_doctor_look(&store, a->dir, r->doctor.now_s - a->limits.sla_s,
		&why) < 0)
		xp_doctor_unread(&r->doctor, a->dir, why.msg);
	else
		xp_doctor_store(&r->doctor, a->dir, &store);
	return 0;
}

/* --- telling -------------------------------------------------------------- */
static const char *const doctor_words[] = {"ok", "WARN", "FAIL"};

static void doctor_print(const struct xp_doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct xp_check *c = &d->check[i];
		printf("%-5s %s: %s: %s\n", doctor_words[c->health], c->of,
		    c->name, c->says);
		if (c->todo)
			printf("      -> %s\n", c->todo);
	}
	printf("%zu checks, %zu warn, %zu fail\n", d->n, d->n_warned,
	    d->n_failed);
}

static void doctor_print_json(const struct xp_doctor *d)
{
	printf("{\"warned\": %zu, \"failed\": %zu, \"checks\": [", d->n_warned,
	    d->n_failed);
	for (size_t i = 0; i < d->n; i++) {
		const struct xp_check *c = &d->check[i];
		printf("%s\n  {\"health\": ", i > 0 ? "," : "");
		res_json_text(stdout, doctor_words[c->health]);
		res_json_text_of(stdout, "of", c->of);
		res_json_text_of(stdout, "check", c->name);
		res_json_text_of(stdout, "says", c->says);
		if (c->todo)
			res_json_text_of(stdout, "todo", c->todo);
		printf("}");
	}
	printf("\n]}\n");
}

int cmd_doctor(int argc, char **argv)
{
	struct args a = {.limits = {.list_s = 900,
			     .data_s = 300,
			     .sla_s = 900,
			     .agent_mib = 45,
			     .agent_cpu = 0.05}};
	struct doctor_room *r;
	struct sim_err e = {0};
	cmd_parse(&doctor_line, argc, argv, &a);
	int rc = SIM_ZALLOC(&r, 1, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	r->doctor.limits = a.limits;
	r->doctor.now_s = (double)time(NULL);
	int code = CMD_GOOD;
	if ((rc = doctor_look_at(r, &a, &e)) < 0) {
		code = cmd_fail(cmd_exit_of(rc), &e);
	} else {
		(a.json ? doctor_print_json : doctor_print)(&r->doctor);
		code = r->doctor.n_failed > 0 ? CMD_FAILED : CMD_GOOD;
	}
	free(r);
	return code;
}
