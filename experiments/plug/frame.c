/* experiments/plug/frame.c -- what an algorithm in a child is told, as bytes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/answer.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { FRAME_HEAD = 16 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "columns are written as they lie in memory");

static int frame_put(struct plug_bytes *to, const void *bytes, size_t n,
    struct sim_err *e)
{
	const size_t padded = (n + 7) & ~(size_t)7;
	int rc = SIM_RESERVE(&to->b, &to->cap, to->n + padded, e);
	if (rc < 0 || n == 0)
		return rc;
	memcpy(to->b + to->n, bytes, n);
	memset(to->b + to->n + n, 0, padded - n);
	to->n += padded;
	return 0;
}

static int frame_begin(struct plug_bytes *to, uint32_t type, struct sim_err *e)
{
	unsigned char head[FRAME_HEAD] = {0};
	sim_store_32(head, type);
	to->n = 0;
	return frame_put(to, head, sizeof(head), e);
}

static int frame_end(struct plug_bytes *to, int rc)
{
	if (rc == 0)
		sim_store_64(to->b + 8, to->n - FRAME_HEAD);
	return rc;
}

/* --- the network ------------------------------------------------------------*/

static void frame_put_value(struct sim_text *t, const struct sim_field *f,
    const void *params)
{
	const char *at = (const char *)params + f->offset;
	char number[32];
	if (f->type == SIM_F_F64)
		sim_format_f64(number, *(const double *)at);
	else
		snprintf(number, sizeof(number), "%" PRIu32,
		    *(const uint32_t *)at);
	sim_put(t, "param %s %s\n", f->name, number);
}

static void frame_put_lines(struct sim_text *t, const struct plug_about *a,
    const void *params, const struct topo *net)
{
	char name[64];
	sim_put(t, "topology %u %u %u\ncolumns", net->n_hosts, net->n_switches,
	    net->n_links);
	for (size_t i = 0; i < a->n_columns; i++)
		sim_put(t, " %s", plug_column_name(a->column[i]));
	sim_put(t, "\n");
	for (size_t i = 0; i < a->n_params; i++)
		frame_put_value(t, &a->field[PLUG_OWN_FIELDS + i], params);
	for (topo_node n = 0; n < net->n_hosts + net->n_switches; n++) {
		topo_node_name(net, n, name);
		sim_put(t, "node %s\n", name);
	}
	sim_put(t, "end\n");
}

/* The text is written where it is to stand: a first time only to learn how long
 * it is. */
static int frame_put_text(struct plug_bytes *to, const struct plug_about *a,
    const void *params, const struct topo *net, struct sim_err *e)
{
	struct sim_text t = {0};
	unsigned char n[8];
	frame_put_lines(&t, a, params, net);
	sim_store_64(n, t.n);
	int rc = frame_put(to, n, sizeof(n), e);
	if (rc < 0 ||
	    (rc = SIM_RESERVE(&to->b, &to->cap, to->n + t.n + 8, e)) < 0)
		return rc;
	memset(to->b + to->n, 0, t.n + 8);
	t = (struct sim_text){(char *)to->b + to->n, t.n + 1, 0};
	frame_put_lines(&t, a, params, net);
	to->b[to->n + t.n] = 0;
	to->n += (t.n + 7) & ~(size_t)7;
	return 0;
}

static int frame_put_links(struct plug_bytes *to, const struct topo *t,
    struct sim_err *e)
{
	uint32_t *from = NULL;
	uint8_t *class = NULL;
	const size_t n = t->n_links;
	/* Two arrays of links and one of hosts: in one block, one by one. */
	struct plug_bytes all = {0};
	int rc = SIM_RESERVE(&all.b, &all.cap,
	    8 * n + 4 * (size_t)t->n_hosts + n + 1, e);
	if (rc < 0)
		return rc;
	from = (uint32_t *)(void *)all.b;
	uint32_t *tor = from + 2 * n;
	class = (uint8_t *)(tor + t->n_hosts);
	for (topo_link l = 0; l < n; l++) {
		topo_link_ends(t, l, &from[l], &from[n + l]);
		class[l] = (uint8_t)topo_class_of(t, l);
	}
	for (topo_host h = 0; h < t->n_hosts; h++)
		tor[h] = topo_tor_of(t, h);
	if ((rc = frame_put(to, from, 4 * n, e)) == 0 &&
	    (rc = frame_put(to, from + n, 4 * n, e)) == 0 &&
	    (rc = frame_put(to, tor, 4 * (size_t)t->n_hosts, e)) == 0)
		rc = frame_put(to, class, n, e);
	free(all.b);
	return rc;
}

int plug_put_topo(struct plug_bytes *to, const struct plug_about *a,
    const void *params, const struct topo *t, struct sim_err *e)
{
	int rc = frame_begin(to, PLUG_OPEN, e);
	if (rc == 0 && (rc = frame_put_text(to, a, params, t, e)) == 0)
		rc = frame_put_links(to, t, e);
	return frame_end(to, rc);
}

/* --- a window ---------------------------------------------------------------*/

static int frame_put_column(struct plug_bytes *to, unsigned column,
    const struct obs *w, struct sim_err *e)
{
	static const uint64_t no_flows = 0;
	const struct sim_table *flows = obs_flows_kind();
	if (column < flows->n_columns)
		return frame_put(to, sim_table_at(flows, &w->flows, column, 0),
		    w->flows.n * flows->column[column].size, e);
	/* An empty window may never have had offsets. */
	if (column == flows->n_columns)
		return frame_put(to, w->flows.n > 0 ? w->hops.off : &no_flows,
		    (w->flows.n + 1) * sizeof(no_flows), e);
	return frame_put(to, w->hops.link, w->hops.n * sizeof(topo_link), e);
}

int plug_put_window(struct plug_bytes *to, const struct plug_about *a,
    const struct obs *w, uint64_t seed, struct sim_err *e)
{
	const uint64_t head[] = {w->complete, seed, w->flows.n, w->hops.n,
	    w->n_flows, w->n_packets};
	int rc = frame_begin(to, PLUG_WINDOW, e);
	if (rc == 0)
		rc = frame_put(to, head, sizeof(head), e);
	for (size_t i = 0; rc == 0 && i < a->n_columns; i++)
		rc = frame_put_column(to, a->column[i], w, e);
	return frame_end(to, rc);
}
