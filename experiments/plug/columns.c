/* experiments/plug/columns.c -- columns of a window, by number and by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/columns.h"

#include "models/obs_tallies.h"

static const char *const column_hops[] = {"off", "link"};
static const char *const column_paths[] = {"set_first", "set_from", "set_to",
    "path_off", "path_link"};
enum { N_HOPS = 2, N_PATHS = 5 };

struct plug_column plug_column(unsigned number)
{
	const struct sim_table *flows = obs_flows_kind();
	const struct sim_table *rows = obs_tallies_kind();
	const unsigned n_in[] = {0, (unsigned)flows->n_columns, N_HOPS,
	    (unsigned)rows->n_columns, N_PATHS};
	struct plug_column c = {NULL, PLUG_OF_FLOWS, number};
	while (c.group < PLUG_N_GROUPS && c.at >= n_in[c.group + 1])
		c.at -= n_in[++c.group];
	switch (c.group) {
	case PLUG_OF_FLOWS:
		c.name = flows->column[c.at].name;
		break;
	case PLUG_OF_HOPS:
		c.name = column_hops[c.at];
		break;
	case PLUG_OF_ROWS:
		c.name = rows->column[c.at].name;
		break;
	case PLUG_OF_PATHS:
		c.name = column_paths[c.at];
		break;
	case PLUG_N_GROUPS:
		break;
	}
	return c;
}

static const void *column_of_paths(unsigned at, const struct obs_paths *p,
    size_t *bytes)
{
	const void *const is[] = {p->first, p->from, p->to, p->off, p->link};
	const size_t n[] = {p->n_sets + 1, p->n_sets, p->n_sets, p->n + 1,
	    p->n > 0 ? p->off[p->n] : 0};
	*bytes = n[at] * sizeof(uint32_t);
	return is[at];
}

const void *plug_column_of(unsigned number, const struct obs *w, size_t *bytes)
{
	static const uint64_t zero = 0;
	static const struct obs_tallies no_rows = {0};
	static const struct obs_paths no_paths = {0};
	const struct sim_table *kind = obs_flows_kind();
	const struct obs_tallies *rows = w->tallies ? w->tallies : &no_rows;
	const struct plug_column c = plug_column(number);
	const void *at = NULL;
	switch (c.group) {
	case PLUG_OF_FLOWS:
		*bytes = w->flows.n * kind->column[c.at].size;
		at = sim_table_at(kind, &w->flows, c.at, 0);
		break;
	case PLUG_OF_HOPS:
		*bytes = c.at == 0 ? (w->flows.n + 1) * sizeof(w->hops.off[0])
				   : w->hops.n * sizeof(topo_link);
		at = c.at > 0        ? (const void *)w->hops.link
		    : w->flows.n > 0 ? w->hops.off
				     : NULL;
		break;
	case PLUG_OF_ROWS:
		kind = obs_tallies_kind();
		*bytes = rows->n * kind->column[c.at].size;
		at = sim_table_at(kind, rows, c.at, 0);
		break;
	case PLUG_OF_PATHS:
		at = column_of_paths(c.at,
		    rows->paths ? rows->paths : &no_paths, bytes);
		break;
	case PLUG_N_GROUPS:
		*bytes = 0;
		break;
	}
	/* What is empty may never have had offsets. */
	return at || *bytes > sizeof(zero) ? at : &zero;
}
