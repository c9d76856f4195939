/* experiments/cmd/trace_file.c -- what verbs that read traces share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace_file.h"

#include <stdio.h>
#include <string.h>

#include "algos/everflow/filter.h"
#include "experiments/cmd/cmd.h"
#include "experiments/spec/config.h"
#include "sim/text.h"
#include "sim/yaml.h"

int cmd_trace_topology(struct topo *t, struct xp_spec *s, const char *name,
    struct sim_err *e)
{
	struct xp_config c = {0};
	int rc = cmd_load_spec_still(s, name, 0, NULL, 0, e);
	*t = (struct topo){0};
	if (rc == 0 && (rc = xp_spec_point(s, 0, &c, e)) == 0)
		rc = xp_topology_open(&c.topology, s->folder, t, e);
	xp_config_free(&c);
	return rc;
}

/* --- the file ------------------------------------------------------------- */

/* Of the spec only the topology is read: what else it has may be of another
 * version's planes. */
static int traces_open_net(struct cmd_traces *x, struct sim_err *e)
{
	struct sim_yaml y;
	struct xp_topology shape = {0};
	int rc = sim_yaml_parse(&y, "its topology", x->info->spec,
	    strlen(x->info->spec), e);
	if (rc == 0 && (rc = xp_topology_read(&y, &shape, e)) == 0)
		rc = sim_yaml_verdict(&y, e);
	if (rc == 0)
		rc = xp_topology_open(&shape, "", &x->net, e);
	sim_yaml_free(&y);
	if (rc < 0)
		return rc;
	if (x->net.n_hosts != x->info->n_hosts ||
	    x->net.n_switches != x->info->n_switches ||
	    x->net.n_links != x->info->n_links)
		return sim_fail(e, SIM_EMISMATCH,
		    "its topology has %u hosts, %u switches and %u links, but "
		    "its traces are of %u, %u and %u.",
		    x->net.n_hosts, x->net.n_switches, x->net.n_links,
		    x->info->n_hosts, x->info->n_switches, x->info->n_links);
	x->topo = &x->net;
	return 0;
}

int cmd_traces_open(struct cmd_traces *x, const char *path, struct sim_err *e)
{
	*x = (struct cmd_traces){0};
	int rc = res_traces_open(&x->file, path, e);
	if (rc < 0)
		return rc;
	x->info = res_traces_info(x->file);
	if (*x->info->spec == '\0')
		return 0;
	rc = traces_open_net(x, e);
	return rc < 0 ? sim_wrap(e, rc, "%s", path) : 0;
}

void cmd_traces_close(struct cmd_traces *x)
{
	res_traces_close(x->file);
	topo_close(&x->net);
	*x = (struct cmd_traces){0};
}

/* --- options -------------------------------------------------------------- */

void cmd_take_time(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e = {0};
	if (sim_parse_ns(arg, to, &e) < 0)
		argp_error(g->state, "--%s: %s", g->option->name, e.msg);
}

static void language_fields(FILE *out, const char *head, unsigned first,
    unsigned last)
{
	fprintf(out, "\n%s:\n\n", head);
	for (const struct algo_filter_field_info *f = algo_filter_fields;
	     f->word; f++)
		if (f->scope >= first && f->scope <= last)
			fprintf(out, "  %-13s %s\n", f->word, f->doc);
}

void cmd_trace_language(FILE *out)
{
	fprintf(out,
	    "An expression is tests, joined by && || ! and parentheses. A test "
	    "is FIELD OP\nVALUE, with OP one of == != < <= > >= &; a flag; or "
	    "path ~ \"...\" of nodes, tiers\n(tor, t1, t2), . for a hop, * for "
	    "any hops, and (a|b). What is of copies fits if\none of them does; "
	    "behind \"all:\", if all do.\n");
	language_fields(out, "Of packets", ALGO_OF_PACKET, ALGO_OF_FRAME);
	language_fields(out, "Of copies", ALGO_OF_COPY, ALGO_OF_COPY);
	language_fields(out, "Of traces, in conditions (--where) alone",
	    ALGO_OF_TRACE, ALGO_OF_TRACE);
	fprintf(out, "\nFlags:\n\n  %-13s suspect or confirmed\n", "drop");
#define X(mark, word, text) fprintf(out, "  %-13s %s\n", word, text);
	ALGO_TRACE_MARKS(X)
#undef X
}
