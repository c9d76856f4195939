/* experiments/live/lists.h -- pinglists on their way, from a few buffers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list that is being sent holds one buffer; buffers at rest are used again,
 * so there are never more than lists under way at a time. Any thread may call.
 */
#ifndef EXPERIMENTS_LIVE_LISTS_H
#define EXPERIMENTS_LIVE_LISTS_H

#include <pthread.h>
#include <stddef.h>

#include "algos/pingmesh/pinglist_xml.h"
#include "experiments/live/list_sign.h"
#include "sim/err.h"

struct xp_http_lists;

struct xp_http_list {
	struct xp_http_list *next; /* when at rest */
	struct xp_http_lists *lists;
	struct algo_pinglist_xml xml;
	int is_whole;            /* all of it is in `buf` */
	size_t at, n;            /* of `buf`: what was read, what there is */
	char mark[XP_LIST_MARK]; /* "": the list is not signed */
	char buf[ALGO_PINGLIST_XML_CHUNK];
};

struct xp_http_lists {
	const struct algo_pinglist *plan;
	pthread_mutex_t lock;
	struct xp_http_list *rest;
	const struct xp_list_signer *signer; /* NULL: none */
};

/* PLAN and SIGNER, NULL for none, are kept. */
void xp_http_lists_init(struct xp_http_lists *l,
    const struct algo_pinglist *plan, const struct xp_list_signer *signer);

/* Domain every list was put to rest. */
void xp_http_lists_free(struct xp_http_lists *l);

/* Begin the list of SERVER, OF_6: of its address of IPv6: up to the first ALGO_PINGLIST_XML_CHUNK bytes of it
 * are in `buf`. One that is signed and longer is made twice, as its signature goes
 * before it. Errors SIM_ENOMEM, SIM_ERANGE, SIM_EDEP. */
int xp_http_list_take(struct xp_http_list **out, struct xp_http_lists *l,
    uint32_t server, int of_6, struct sim_err *e);

/* What comes next, from the start: up to SIZE bytes; 0 at the end. */
size_t xp_http_list_read(struct xp_http_list *list, char *out, size_t size);

void xp_http_list_rest(struct xp_http_list *list);

#endif
