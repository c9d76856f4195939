/* experiments/cmd/trace_rules.c -- culprit trace rules: what switches mirror.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_sonic.h"
#include "experiments/everflow/everflow.h"
#include "experiments/spec/plane.h"
#include "sim/text.h"
#include "topo/addr.h"

enum rules_form { RULES_TCAM, RULES_SONIC, RULES_BPF };
static const char *const rules_forms[] = {"tcam", "sonic", "bpf", NULL};

struct args {
	struct algo_mirror_params rules;
	struct mirror_params mirror;
	uint32_t truncate, policer; /* 0: as of the spec, or by default */
	const char *source, *collector, *ports, *spec;
	struct cmd_set set;
	uint32_t form;
	int has_rules;
};

static void rules_take_form(void *to, char *arg, const struct cmd_given *g)
{
	uint32_t *form = to;
	const size_t i = sim_word_find(rules_forms, arg);
	if (!rules_forms[i])
		argp_error(g->state, "--as %s is none of tcam, sonic and bpf",
		    arg);
	*form = (uint32_t)i;
}

static void rules_take_key(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	cmd_take_key(&a->rules, arg, g);
	a->has_rules = 1;
}

static void rules_take_address(void *to, char *arg, const struct cmd_given *g)
{
	const char **address = to;
	struct sim_err e;
	uint32_t ip;
	if (topo_addr_parse(arg, &ip, &e) < 0)
		argp_error(g->state, "--%s: %s", g->option->name, e.msg);
	*address = arg;
}

static const struct cmd_option cmd_trace_rules_options[] = {
    {"param", 'p', "KEY=VALUE",
	"a key of the rules (see below), e.g. sample_n=64; may be repeated",
	.take = rules_take_key, .with = algo_mirror_fields},
    {"set", 's', "PATH=VALUE",
	"override a key of SPEC, e.g. everflow.sample_n=64; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"as", 0, "FORM", "tcam (default), sonic or bpf", .take = rules_take_form,
	.at = CMD_AT(form), .values = rules_forms},
    {.doc = "Of a configuration for SONiC:"},
    {"source", 0, "ADDRESS", "of the switch, which copies come from",
	.take = rules_take_address, .at = CMD_AT(source)},
    {"collector", 0, "ADDRESS", "that copies are sent to",
	.take = rules_take_address, .at = CMD_AT(collector)},
    {"truncate", 0, "BYTES",
	"of a frame that a copy has (default: 128, or of SPEC)",
	.take = cmd_take_u32, .at = CMD_AT(truncate), .min = 64, .max = 9216},
    {"policer", 0, "N",
	"copies a second that the switch sends at most (default: any, or of "
	"SPEC)",
	.take = cmd_take_u32, .at = CMD_AT(policer), .min = 1,
	.max = 1000000000},
    {"ports", 0, "NAMES", "of the switch, with commas (default: none)",
	.take = cmd_take_text, .at = CMD_AT(ports)},
    {0},
};

static void cmd_trace_rules_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	const int sonic = a->form == RULES_SONIC;
	if (a->spec && a->has_rules)
		argp_error(state,
		    "--param is for rules without a SPEC, which "
		    "takes --set");
	if (!a->spec && a->set.n_set > 0)
		argp_error(state, "--set is for a SPEC");
	if (sonic && (!a->source || !a->collector))
		argp_error(state, "--as sonic takes --source and --collector");
	if (!sonic &&
	    (a->source || a->collector || a->ports || a->truncate ||
		a->policer))
		argp_error(state,
		    "--source, --collector, --truncate, --policer and --ports "
		    "are for --as sonic");
}

static void cmd_trace_rules_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --param:\n");
	cmd_field_help(out, algo_mirror_fields);
}

static const struct cmd_line cmd_trace_rules_line = {
    .options = cmd_trace_rules_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .check = cmd_trace_rules_check,
    .more = cmd_trace_rules_more,
    .args_doc = "[SPEC]",
    .doc =
	"What every switch is told to mirror: rows that are tried in order, of "
	"which the first that hits decides. Of the first point of a SPEC of "
	"plane everflow, or by --param."
	"\vAs tcam: a line a row, number, header and each field as value/mask. "
	"As bpf: a line a row, 56 bytes as hexadecimal, such as programs for "
	"the kernel have them in a map (models/obs_match_row.h, numbers in "
	"this machine's order). As sonic: a configuration (config_db.json) for "
	"one switch; what SONiC can't match is told on stderr.\n ",
};

static void rules_print_bytes(const struct algo_mirror_table *t, FILE *out)
{
	for (size_t i = 0; i < t->n; i++) {
		unsigned char b[sizeof(t->row[i])];
		memcpy(b, &t->row[i], sizeof(b));
		for (size_t k = 0; k < sizeof(b); k++)
			fprintf(out, "%02x", b[k]);
		fprintf(out, "\n");
	}
}

static void rules_print(const struct args *a, const struct algo_mirror_table *t)
{
	struct mirror_params mirror = a->mirror;
	const struct cmd_sonic sonic = {t, &mirror, a->source, a->collector,
	    a->ports};
	mirror.truncate = a->truncate ? a->truncate : mirror.truncate;
	mirror.policer = a->policer ? a->policer : mirror.policer;
	switch ((enum rules_form)a->form) {
	case RULES_TCAM:
		algo_mirror_print(t, stdout);
		printf("%zu rows\n", t->n);
		break;
	case RULES_SONIC:
		cmd_sonic_write(&sonic, stdout, stderr);
		break;
	case RULES_BPF:
		rules_print_bytes(t, stdout);
		break;
	}
}

static int rules_read(struct args *a, struct sim_err *e)
{
	struct xp_spec s = {0};
	struct xp_config c = {0};
	int rc =
	    cmd_load_spec_still(&s, a->spec, 0, a->set.set, a->set.n_set, e);
	if (rc == 0)
		rc = xp_spec_point(&s, 0, &c, e);
	if (rc == 0 && xp_plane_of(&c) != &xp_plane_everflow)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "%s: plane %s mirrors no packets; plane everflow does.",
		    a->spec, xp_plane_of(&c)->name);
	if (rc == 0) {
		a->rules = xp_everflow_of(&c)->rules;
		a->mirror = xp_everflow_of(&c)->mirror;
	}
	xp_config_free(&c);
	xp_spec_free(&s);
	return rc;
}

int cmd_trace_rules(int argc, char **argv)
{
	struct args a = {.form = RULES_TCAM};
	struct algo_mirror_table t;
	struct sim_err e;
	int rc = sim_field_defaults(algo_mirror_fields, &a.rules, &e);
	if (rc == 0)
		rc = sim_field_defaults(mirror_fields, &a.mirror, &e);
	if (rc == 0)
		cmd_parse(&cmd_trace_rules_line, argc, argv, &a);
	if (rc == 0 && a.spec)
		rc = rules_read(&a, &e);
	if (rc == 0)
		rc = algo_mirror_table(&t, &a.rules, &e);
	if (rc < 0)
		return cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	rules_print(&a, &t);
	return CMD_GOOD;
}
