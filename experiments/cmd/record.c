/* experiments/cmd/record.c -- culprit record: what a collector got, as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/pingmesh/record.h"
#include "sim/text.h"

enum { KEY_SMOKE = 1000, KEY_POINT, KEY_RUN, MAX_SET = 256 };

static const struct argp_option cmd_record_options[] = {
    {"point", KEY_POINT, "P", 0, "of the sweep, counted from 0 (default: 0)",
	0},
    {"run", KEY_RUN, "R", 0, "of that point, from 0 (default: 0)", 0},
    {"set", 's', "PATH=VALUE", 0,
	"override a key, e.g. pingmesh.duration=600; may be repeated", 0},
    {"smoke", KEY_SMOKE, NULL, 0, "the spec's small `smoke` sweep", 0},
    {"output", 'o', "FILE", 0,
	"recording (default: results/out/FIGURE.recording.h5)", 0},
    {0},
};

struct args {
	const char *spec, *output;
	const char *set[MAX_SET];
	size_t n_set;
	uint64_t point, run;
	int smoke;
};

static error_t cmd_record_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case KEY_POINT:
		a->point = cmd_number(arg, "--point", 0, UINT64_MAX, state);
		return 0;
	case KEY_RUN:
		a->run = cmd_number(arg, "--run", 0, UINT64_MAX, state);
		return 0;
	case KEY_SMOKE:
		a->smoke = 1;
		return 0;
	case 's':
		if (a->n_set == MAX_SET)
			argp_error(state, "more than %d --set", MAX_SET);
		a->set[a->n_set++] = arg;
		return 0;
	case 'o':
		if (*arg == '\0')
			argp_error(state, "--output needs a file's name");
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_one(&a->spec, arg, "SPEC", state);
		return 0;
	case ARGP_KEY_END:
		if (!a->spec)
			argp_error(state, "no spec");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp cmd_record_argp = {
    .options = cmd_record_options,
    .parser = cmd_record_parse,
    .args_doc = "SPEC",
    .doc = "Simulate one cell of a spec of plane pingmesh and write what its "
	   "collector got: every probe, and the agents' performance counters.",
};

/* A given path is the user's own, and its folder must
 * exist; only ours is made. */
static int choose_output(char **out, const struct xp_spec *s,
    const struct args *a, struct sim_err *e)
{
	char path[sizeof(s->figure) + 64];
	snprintf(path, sizeof(path), "results/out/%s.recording.h5", s->figure);
	int rc = sim_dup(out, a->output ? a->output : path, e);
	if (rc == 0 && !a->output)
		rc = cmd_make_way(*out, e);
	return rc < 0 ? rc : cmd_follow_link(out, e);
}

/* Record one cell of the sweep. Point and run can be checked only
 * once the spec is read. */
static int record(struct xp_spec *s, const struct args *a, struct sim_err *e)
{
	struct xp_recorded r;
	char *out = NULL;
	if (a->point >= s->n_points || a->run >= s->runs)
		return sim_fail(e, SIM_ERANGE,
		    "point %llu, run %llu: the sweep has points 0 to %zu and "
		    "runs 0 to %u.",
		    (unsigned long long)a->point, (unsigned long long)a->run,
		    s->n_points - 1, s->runs - 1);
	int rc = choose_output(&out, s, a, e);
	if (rc == 0)
		rc = xp_record_cell(s, (size_t)a->point, (uint32_t)a->run, out,
		    &r, e);
	if (rc == 0)
		printf("%s: %llu probes, %llu of VIPs, %llu counters -> %s\n",
		    s->figure, (unsigned long long)r.n_probes,
		    (unsigned long long)r.n_vip_probes,
		    (unsigned long long)r.n_counters, out);
	free(out);
	return rc;
}

int cmd_record(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	char *path = NULL;
	cmd_parse(&cmd_record_argp, argc, argv, &a);
	int code, rc;
	if ((rc = cmd_find(&path, a.spec, "experiments", ".yaml", &e)) < 0 ||
	    (rc = xp_spec_load(&s, path, a.smoke, a.set, a.n_set, &e)) < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else
		code = (rc = record(&s, &a, &e)) < 0
		    ? cmd_fail(cmd_exit_of(rc), &e)
		    : CMD_GOOD;
	xp_spec_free(&s);
	free(path);
	return code;
}
