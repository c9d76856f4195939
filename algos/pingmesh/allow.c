/* algos/pingmesh/allow.c -- whom an agent may probe, whatever a list says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/allow.h"

#include <stddef.h>
#include <string.h>

#include "sim/text.h"

enum { ALLOW_WORD = 64 };

/* The next word of a list with commas, and *TEXT behind it, or NULL at its end.
 * One that is too long is cut, and then no address or port. */
static void allow_word(char word[ALLOW_WORD], const char **text)
{
	const size_t n = strcspn(*text, ",");
	const size_t keep = n < ALLOW_WORD ? n : ALLOW_WORD - 1;
	memcpy(word, *text, keep);
	word[keep] = '\0';
	*text = (*text)[n] == '\0' ? NULL : *text + n + 1;
}

int algo_pinglist_allow_nets(struct algo_pinglist_allow *a, const char *text,
    struct sim_err *e)
{
	while (text) {
		char word[ALLOW_WORD];
		struct topo_ip_net net;
		allow_word(word, &text);
		const int rc = topo_ip_net_parse(word, &net, e);
		if (rc < 0)
			return rc;
		if (a->n_nets == ALGO_PINGLIST_ALLOW_MOST)
			return sim_fail(e, SIM_ELIMIT, "more than %d networks.",
			    ALGO_PINGLIST_ALLOW_MOST);
		a->net[a->n_nets++] = net;
	}
	return 0;
}

static int allow_port(const char *text, uint16_t *port)
{
	uint64_t x;
	if (sim_parse_u64(text, &x, NULL) < 0 || x == 0 || x > UINT16_MAX)
		return 0;
	*port = (uint16_t)x;
	return 1;
}

static int allow_range(char *word, uint16_t *first, uint16_t *last,
    struct sim_err *e)
{
	char quote[64], *dash;
	sim_quote(quote, word);
	if ((dash = strchr(word, '-')))
		*dash = '\0';
	if (!allow_port(word, first) ||
	    !allow_port(dash ? dash + 1 : word, last) || *first > *last)
		return sim_fail(e, SIM_EINVAL,
		    "%s is neither a port nor a range of ports, in [1, "
		    "65535]: 8765 and 9000-9010 are.",
		    quote);
	if (*first<ALGO_PINGLIST_WELL_KNOWN && * last> * first)
		return sim_fail(e, SIM_EINVAL,
		    "%s has ports below %d, which have to be named one by "
		    "one.",
		    quote, ALGO_PINGLIST_WELL_KNOWN);
	return 0;
}

int algo_pinglist_allow_ports(struct algo_pinglist_allow *a, const char *text,
    struct sim_err *e)
{
	while (text) {
		char word[ALLOW_WORD];
		uint16_t first = 0, last = 0;
		allow_word(word, &text);
		const int rc = allow_range(word, &first, &last, e);
		if (rc < 0)
			return rc;
		if (a->n_ports == ALGO_PINGLIST_ALLOW_MOST)
			return sim_fail(e, SIM_ELIMIT,
			    "more than %d ports and ranges.",
			    ALGO_PINGLIST_ALLOW_MOST);
		a->first[a->n_ports] = first;
		a->last[a->n_ports++] = last;
	}
	return 0;
}

int algo_pinglist_allows_net(const struct algo_pinglist_allow *a,
    const struct topo_ip *address)
{
	int has_net = 0;
	for (uint32_t i = 0; i < a->n_nets && !has_net; i++)
		has_net = topo_ip_net_has(&a->net[i], address);
	return has_net;
}

int algo_pinglist_allows(const struct algo_pinglist_allow *a,
    const struct topo_ip *address, uint16_t port)
{
	int has_port = 0;
	for (uint32_t i = 0; i < a->n_ports && !has_port; i++)
		has_port = port >= a->first[i] && port <= a->last[i];
	return has_port && algo_pinglist_allows_net(a, address);
}
