/* experiments/everflow/copies.c -- captured bytes as copies of known switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/copies.h"

#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"
#include "topo/addr.h"

int xp_copies_open(struct xp_copies *c, const struct topo *t, uint16_t vendor,
    struct sim_err *e)
{
	/* All that tells why a packet was mirrored, but for samples: whatever
	 * no other row takes is one. */
	const struct algo_mirror_params all =
	    {.rules = ((1u << OBS_N_COPY_KINDS) - 1) & ~(1u << OBS_COPY_SAMPLE),
		.inner = 1};
	*c = (struct xp_copies){.topo = t, .vendor = vendor};
	int rc = algo_mirror_table(&c->kinds, &all, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&c->at, t->n_switches, e);
	for (topo_switch s = 0; rc == 0 && s < t->n_switches; s++)
		c->at[s].sessions = TOPO_NONE;
	return rc;
}

void xp_copies_free(struct xp_copies *c)
{
	free(c->address);
	free(c->at);
	free(c->session);
	*c = (struct xp_copies){0};
}

/* --- whose address -------------------------------------------------------- */

static int copies_by_ip(const void *a, const void *b)
{
	const struct xp_switch_address *x = a, *y = b;
	return (x->ip > y->ip) - (x->ip < y->ip);
}

/* LINE, "SWITCH=ADDRESS", is taken apart in place. */
static int copies_add_address(struct xp_copies *c, char *line,
    struct sim_err *e)
{
	struct xp_switch_address a;
	char *equals = strchr(line, '='), quote[64];
	topo_node node;
	int rc;
	if (!equals)
		return sim_fail(e, SIM_EINVAL, "%s is not SWITCH=ADDRESS.",
		    sim_quote(quote, line));
	*equals = '\0';
	if ((rc = topo_node_parse(c->topo, line, &node, e)) < 0 ||
	    (rc = topo_addr_parse(equals + 1, &a.ip, e)) < 0)
		return rc;
	if (node < c->topo->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "%s is a host, and mirrors "
		    "nothing.",
		    sim_quote(quote, line));
	a.node = node - c->topo->n_hosts;
	if ((rc = SIM_RESERVE(&c->address, &c->cap_addresses,
		 c->n_addresses + 1, e)) == 0)
		c->address[c->n_addresses++] = a;
	return rc;
}

/* The line without its comment and the blanks around it. */
static char *copies_trim(char *line)
{
	static const char blanks[] = " \t\r";
	line[strcspn(line, "#")] = '\0';
	line += strspn(line, blanks);
	for (size_t n = strlen(line); n > 0 && strchr(blanks, line[n - 1]);)
		line[--n] = '\0';
	return line;
}

static int copies_sort_addresses(struct xp_copies *c, const char *name,
    struct sim_err *e)
{
	char text[16];
	if (c->n_addresses == 0)
		return sim_fail(e, SIM_EINVAL, "%s names no switch.", name);
	qsort(c->address, c->n_addresses, sizeof(c->address[0]), copies_by_ip);
	for (size_t i = 1; i < c->n_addresses; i++) {
		if (c->address[i].ip != c->address[i - 1].ip)
			continue;
		topo_addr_format(c->address[i].ip, text);
		return sim_fail(e, SIM_EINVAL, "%s: %s is given twice.", name,
		    text);
	}
	return 0;
}

int xp_copies_addresses(struct xp_copies *c, const char *name, const char *text,
    struct sim_err *e)
{
	unsigned n = 1;
	int rc = 0;
	for (; rc == 0 && *text; n++) {
		char line[256];
		const size_t bytes = strcspn(text, "\n");
		if (bytes >= sizeof(line))
			return sim_fail(e, SIM_EINVAL,
			    "%s:%u: more than 255 bytes.", name, n);
		memcpy(line, text, bytes);
		line[bytes] = '\0';
		text += bytes + (text[bytes] == '\n');
		char *inside = copies_trim(line);
		if (*inside && (rc = copies_add_address(c, inside, e)) < 0)
			return sim_wrap(e, rc, "%s:%u", name, n);
	}
	return rc < 0 ? rc : copies_sort_addresses(c, name, e);
}

static topo_switch copies_switch(const struct xp_copies *c, uint32_t ip)
{
	const struct xp_switch_address want = {.ip = ip};
	if (!c->address)
		return topo_addr_to_switch(ip, c->topo->n_switches);
	const struct xp_switch_address *a = bsearch(&want, c->address,
	    c->n_addresses, sizeof(want), copies_by_ip);
	return a ? a->node : TOPO_NONE;
}

/* --- copies --------------------------------------------------------------- */

/* The session of that switch, made if there is none: *IS_NEW. */
static int copies_session(struct xp_copies *c, topo_switch s, uint16_t id,
    struct xp_copy_session **out, int *is_new, struct sim_err *e)
{
	uint32_t i = c->at[s].sessions;
	while (i != TOPO_NONE && c->session[i].id != id)
		i = c->session[i].next;
	*is_new = i == TOPO_NONE;
	if (*is_new) {
		const int rc = SIM_RESERVE(&c->session, &c->cap_sessions,
		    c->n_sessions + 1, e);
		if (rc < 0)
			return rc;
		i = (uint32_t)c->n_sessions++;
		c->session[i] = (struct xp_copy_session){.id = id,
		    .next = c->at[s].sessions};
		c->at[s].sessions = i;
	}
	*out = &c->session[i];
	return 0;
}

/* By how much the session went on is how far the switch did. A number far back
 * is no late one: the switch began anew. */
static int copies_number(struct xp_copies *c, topo_switch s,
    const struct algo_erspan_copy *x, uint32_t *number, struct sim_err *e)
{
	enum { LATE = 65536 };
	struct xp_copy_session *session;
	struct xp_copy_switch *at = &c->at[s];
	int is_new, rc;
	*number = 0;
	if (!x->has_sequence)
		return 0;
	if ((rc = copies_session(c, s, x->session, &session, &is_new, e)) < 0)
		return rc;
	const uint32_t back = session->last - x->sequence;
	if (!is_new && back < LATE) {
		*number = at->number - back;
		return 0;
	}
	const uint32_t on = x->sequence - session->last;
	at->number += is_new || on > UINT32_MAX / 2 ? 1 : on;
	session->last = x->sequence;
	*number = at->number;
	return 0;
}

/* The link into switch S that the copy says it came by. */
static topo_link copies_link(struct xp_copies *c, topo_switch s,
    const struct algo_erspan_copy *x)
{
	topo_node from, to;
	if (!c->index_is_link || x->kind != ALGO_ERSPAN_II)
		return TOPO_NONE;
	if (x->index < c->topo->n_links) {
		topo_link_ends(c->topo, x->index, &from, &to);
		if (to == c->topo->n_hosts + s)
			return x->index;
	}
	c->n_bad_index++;
	return TOPO_NONE;
}

static int copies_add(struct xp_copies *c, topo_switch s, uint64_t t,
    const struct algo_erspan_copy *x, struct obs_mirror *out, struct sim_err *e)
{
	struct obs_copy copy = obs_copy_of(&x->packet);
	const int row = obs_match(c->kinds.row, c->kinds.n, &x->packet, 0);
	const int rc = copies_number(c, s, x, &copy.mirror_seq, e);
	if (rc < 0)
		return rc;
	copy.node = s;
	copy.in_link = copies_link(c, s, x);
	copy.t_ns = t;
	copy.switch_ns = x->switch_ns;
	copy.kind = row < 0 ? OBS_COPY_SAMPLE : c->kinds.row[row].kind;
	c->n_copies++;
	return obs_mirror_add(out, &copy, e);
}

/* Less is as if it were slewed, and less than traces wait for their copies. */
static const int64_t COPIES_SET = 100 * (int64_t)SIM_MS;

sim_ns xp_copies_clock(struct xp_copies *c, sim_ns steady, uint64_t wall)
{
	const uint64_t offset = wall - steady;
	const int64_t by = (int64_t)(offset - c->offset_ns);
	if (c->n_packets == 0 && c->start_ns == 0)
		c->set_ns = c->most_ns = 0;
	else if (c->offset_ns != 0 && (by > COPIES_SET || by < -COPIES_SET))
		c->set_ns += (uint64_t)by;
	c->offset_ns = offset;
	if (c->start_ns == 0)
		return 0;
	const int64_t now = (int64_t)(wall - c->set_ns - c->start_ns);
	c->most_ns = (uint64_t)((now > 0 ? now : 0) + COPIES_SET);
	return now > 0 ? (sim_ns)now : 0;
}

/* What was stamped before the clock was set, and is read after that, or the other
 * way, would be years ahead or behind. */
static uint64_t copies_time(const struct xp_copies *c, uint64_t unix_ns)
{
	const uint64_t t = unix_ns - c->set_ns - c->start_ns;
	if ((int64_t)t < 0)
		return 0;
	return c->most_ns > 0 && t > c->most_ns ? c->most_ns : t;
}

int xp_copies_take(struct xp_copies *c, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct obs_mirror *out, struct sim_err *e)
{
	struct algo_erspan_copy x;
	if (c->n_packets++ == 0 && c->start_ns == 0)
		c->start_ns = unix_ns;
	const enum algo_erspan_end end =
	    algo_erspan_read(ethertype, bytes, n, c->vendor, &x);
	c->n_end[end]++;
	if (end != ALGO_ERSPAN_FINE)
		return 0;
	const topo_switch s = copies_switch(c, x.switch_ip);
	if (s == TOPO_NONE) {
		if (c->n_unknown++ == 0)
			c->unknown_ip = x.switch_ip;
		return 0;
	}
	const uint64_t t = copies_time(c, unix_ns);
	c->n_back += t < c->last_ns || unix_ns - c->set_ns < c->start_ns;
	if (t > c->last_ns)
		c->last_ns = t;
	return copies_add(c, s, c->last_ns, &x, out, e);
}
