/* tests/rigs/schedule_lists.c -- pinglists for schedules: good ones, and others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/schedule_lists.h"

#include <stdio.h>
#include <string.h>

#include "sim/bytes.h"
#include "topo/addr.h"

enum { MAX_PEERS = 12, MAX_KINDS = 3, WORK = 1024 };

#define EMPTY                                                                  \
	"<pinglist server=\"10.0.0.1\" version=\"0123456789abcdef\" "          \
	"count=\"0\"></pinglist>"
const struct schedule_list schedule_list_empty = {.n = sizeof(EMPTY) - 1,
    .text = EMPTY};

uint64_t schedule_list_sum(const void *bytes, size_t n)
{
	return sim_fnv(SIM_FNV_START, bytes, n);
}

/* What was read already is not read again. */
int schedule_list_take(struct schedule_list *l, const void *bytes, size_t n,
    uint32_t most)
{
	uint32_t work[WORK];
	const uint64_t sum = n > 0 ? schedule_list_sum(bytes, n) : 0;
	struct algo_pinglist_doc d = {.entry = l->entry,
	    .work = work,
	    .max_entries = most,
	    .max_bytes = SCHEDULE_LIST_BYTES};
	if (n > 0 && sum == l->sum)
		return l->n_entries > 0;
	l->sum = sum;
	l->n_entries = n > 0 &&
		algo_pinglist_xml_read(&d, topo_addr_of_host(0), bytes, n,
		    NULL) == 0
	    ? d.n_entries
	    : 0;
	return l->n_entries > 0;
}

int schedule_list_has(const struct schedule_list *l, const struct topo_tuple *t)
{
	for (uint32_t i = 0; i < l->n_entries; i++)
		if (l->entry[i].address == t->dst_ip &&
		    l->entry[i].port == t->dst_port)
			return 1;
	return 0;
}

void schedule_list_make(struct schedule_list *l, uint32_t version,
    struct sim_rng *rng)
{
	const uint32_t n_peers = 1 + sim_rng_below(rng, MAX_PEERS);
	static const char *const pings[] = {"", " ping=\"http\"",
	    " ping=\"tcp\""};
	char body[SCHEDULE_LIST_BYTES - 256];
	uint32_t n = 0;
	int at = 0;
	body[0] = '\0';
	for (uint32_t p = sim_rng_below(rng, 3);
	     p < n_peers + 2 && p <= MAX_PEERS; p++) {
		const uint32_t kinds = 1 + sim_rng_below(rng, MAX_KINDS);
		for (uint32_t k = 0; k < kinds; k++, n++) {
			const uint32_t payload =
			    sim_rng_below(rng, 2) * sim_rng_below(rng, 100000);
			at += snprintf(body + at, sizeof(body) - (size_t)at,
			    "<peer address=\"10.0.0.%u\" port=\"%u\" "
			    "level=\"dc\" class=\"%u\" interval_s=\"%u\" "
			    "payload=\"%u\"%s/>",
			    p + 1, 80 + k, k, sim_rng_below(rng, 41), payload,
			    payload ? "" : pings[sim_rng_below(rng, 3)]);
		}
	}
	l->n = (size_t)snprintf(l->text, sizeof(l->text),
	    "<pinglist server=\"10.0.0.1\" version=\"%016x\" count=\"%u\">"
	    "%s</pinglist>",
	    version, n, body);
	l->sum = 0;
	schedule_list_take(l, l->text, l->n, 40);
}

void schedule_list_spoil(struct schedule_list *l,
    const struct schedule_list *from, struct sim_rng *rng)
{
	*l = *from;
	if (sim_rng_below(rng, 2))
		l->n = sim_rng_below(rng, (uint32_t)l->n);
	for (uint32_t i = sim_rng_below(rng, 4); i > 0 && l->n > 0; i--)
		l->text[sim_rng_below(rng, (uint32_t)l->n)] =
		    (char)sim_rng_below(rng, 256);
}
