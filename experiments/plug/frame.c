/* experiments/plug/frame.c -- what an algorithm in a child is told, as bytes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/answer.h"
#include "experiments/plug/columns.h"
#include "experiments/plug/net.h"
#include "models/obs_tallies.h"
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

/* Frames stand one behind the other: *AT is where this one begins. */
static int frame_begin(struct plug_bytes *to, uint32_t type, size_t *at,
    struct sim_err *e)
{
	unsigned char head[FRAME_HEAD] = {0};
	sim_store_32(head, type);
	*at = to->n;
	return frame_put(to, head, sizeof(head), e);
}

static int frame_end(struct plug_bytes *to, size_t at, int rc)
{
	if (rc == 0)
		sim_store_64(to->b + at + 8, to->n - at - FRAME_HEAD);
	return rc;
}

/* --- the network ------------------------------------------------------------*/

static void frame_put_value(struct sim_text *t, const struct sim_field *f,
    const void *params)
{
	const char *at = (const char *)params + f->offset;
	char number[32];
	uint32_t u32;
	double f64;
	memcpy(&u32, at, sizeof(u32));
	memcpy(&f64, at, sizeof(f64));
	if (f->type == SIM_F_F64)
		sim_format_f64(number, f64);
	else
		snprintf(number, sizeof(number), "%" PRIu32, u32);
	sim_put(t, "param %s %s\n", f->name, number);
}

static void frame_put_lines(struct sim_text *t, const struct plug_about *a,
    const void *params, const struct topo *net)
{
	char name[64];
	sim_put(t, "topology %u %u %u\ncolumns", net->n_hosts, net->n_switches,
	    net->n_links);
	for (size_t i = 0; i < a->n_columns; i++)
		sim_put(t, " %s", plug_column(a->column[i]).name);
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
	const size_t n = t->n_links;
	struct plug_net net;
	int rc = plug_net_init(&net, t, e);
	if (rc == 0 && (rc = frame_put(to, net.from, 4 * n, e)) == 0 &&
	    (rc = frame_put(to, net.to, 4 * n, e)) == 0 &&
	    (rc = frame_put(to, net.tor, 4 * (size_t)t->n_hosts, e)) == 0)
		rc = frame_put(to, net.class, n, e);
	plug_net_free(&net);
	return rc;
}

int plug_put_topo(struct plug_bytes *to, const struct plug_about *a,
    const void *params, const struct topo *t, struct sim_err *e)
{
	size_t at;
	to->n = 0;
	int rc = frame_begin(to, PLUG_OPEN, &at, e);
	if (rc == 0 && (rc = frame_put_text(to, a, params, t, e)) == 0)
		rc = frame_put_links(to, t, e);
	return frame_end(to, at, rc);
}

/* --- a window ---------------------------------------------------------------*/

/* The groups of columns that it asks for, a bit each. */
static unsigned frame_groups(const struct plug_about *a)
{
	unsigned groups = 0;
	for (size_t i = 0; i < a->n_columns; i++)
		groups |= 1u << plug_column(a->column[i]).group;
	return groups;
}

static int frame_put_columns(struct plug_bytes *to, const struct plug_about *a,
    const struct obs *w, unsigned groups, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < a->n_columns; i++) {
		size_t n;
		if (!(groups >> plug_column(a->column[i]).group & 1))
			continue;
		const void *at = plug_column_of(a->column[i], w, &n);
		rc = frame_put(to, at, n, e);
	}
	return rc;
}

/* Paths are many, and mostly those of the window before. */
static int frame_put_paths(struct plug_bytes *to, const struct plug_about *a,
    struct plug_told *told, const struct obs *w, struct sim_err *e)
{
	const struct obs_paths *p = w->tallies ? w->tallies->paths : NULL;
	const struct plug_told now = p
	    ? (struct plug_told){p, p->n_sets, p->n, p->n_cleared}
	    : (struct plug_told){0};
	size_t at;
	if (!p ||
	    (now.paths == told->paths && now.n_sets == told->n_sets &&
		now.n_paths == told->n_paths &&
		now.n_cleared == told->n_cleared))
		return 0;
	const uint64_t head[] = {p->n_sets, p->n, p->n > 0 ? p->off[p->n] : 0};
	int rc = frame_begin(to, PLUG_PATHS, &at, e);
	if (rc == 0 && (rc = frame_put(to, head, sizeof(head), e)) == 0)
		rc = frame_put_columns(to, a, w, 1 << PLUG_OF_PATHS, e);
	if (rc == 0)
		*told = now;
	return frame_end(to, at, rc);
}

int plug_put_window(struct plug_bytes *to, const struct plug_about *a,
    struct plug_told *told, const struct obs *w, uint64_t seed,
    struct sim_err *e)
{
	const struct obs_tallies *rows = w->tallies;
	const uint64_t head[] = {w->complete, seed, w->flows.n, w->hops.n,
	    w->n_flows, w->n_packets, rows ? rows->n : 0,
	    rows ? rows->telemetry : 0};
	const unsigned groups = frame_groups(a);
	/* Two numbers more for those who ask for rows. */
	const size_t n_head = groups >> PLUG_OF_ROWS & 1 ? 8 : 6;
	size_t at;
	int rc = 0;
	to->n = 0;
	if (groups >> PLUG_OF_PATHS & 1)
		rc = frame_put_paths(to, a, told, w, e);
	if (rc == 0 && (rc = frame_begin(to, PLUG_WINDOW, &at, e)) == 0) {
		rc = frame_put(to, head, n_head * sizeof(head[0]), e);
		if (rc == 0)
			rc = frame_put_columns(to, a, w,
			    groups & ~(1u << PLUG_OF_PATHS), e);
		rc = frame_end(to, at, rc);
	}
	/* What is not sent was not told. */
	if (rc < 0)
		*told = (struct plug_told){0};
	return rc;
}
