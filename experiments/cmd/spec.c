/* experiments/cmd/spec.c -- culprit spec: the keys of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/cmd.h"
#include "experiments/schema/page.h"
#include "experiments/schema/schema.h"

struct args {
	const char *key;
	int all, schema;
};

static const struct cmd_option cmd_spec_options[] = {
    {"all", 'a', NULL, "all sections, with all that is known of their keys",
	.take = cmd_take_flag, .at = CMD_AT(all)},
    {"schema", 0, NULL,
	"a JSON Schema (draft-07), by which an editor completes keys, explains "
	"them and marks mistakes",
	.take = cmd_take_flag, .at = CMD_AT(schema)},
    {0},
};

static void cmd_spec_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!!a->key + a->all + a->schema > 1)
		argp_error(state,
		    "a KEY, --all and --schema exclude each other");
}

static void cmd_spec_help(FILE *out, const void *args)
{
	(void)args;
	fputs("An editor with a YAML language server reads the schema that the "
	      "first line of a spec names:\n\n"
	      "  culprit spec --schema >culprit.schema.json\n"
	      "  # yaml-language-server: $schema=culprit.schema.json\n",
	    out);
}

int cmd_spec(int argc, char **argv)
{
	static const struct cmd_line line = {
	    .options = cmd_spec_options,
	    .word = {"key", .take = cmd_take_one, .at = CMD_AT(key)},
	    .check = cmd_spec_check,
	    .more = cmd_spec_help,
	    .args_doc = "[KEY]",
	    .doc = "List the keys of a spec (experiments/*.yaml), or explain "
		   "a section or one KEY: its meaning, type, range, unit and "
		   "default. A number may be drawn where the type says so: "
		   "{uniform: [a, b]} or {log_uniform: [a, b]}.",
	};
	struct args a = {0};
	struct sim_err e = {0};
	int rc = 0;
	cmd_parse(&line, argc, argv, &a);
	if (a.schema)
		xp_schema_print(stdout);
	else if (a.all)
		xp_page_print_all(stdout);
	else if (a.key)
		rc = xp_page_tell(a.key, stdout, &e);
	else
		xp_page_overview(stdout);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
