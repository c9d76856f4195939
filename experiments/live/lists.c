/* experiments/live/lists.c -- pinglists on their way, from a few buffers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list may have thousands of entries. It is made while it is sent, one buffer
 * at a time, so that a controller of a large fleet needs memory for those who
 * are being served and not for all lists.
 */
#include "experiments/live/lists.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void xp_http_lists_init(struct xp_http_lists *l,
    const struct algo_pinglist *plan, const struct xp_list_signer *signer)
{
	*l = (struct xp_http_lists){.plan = plan, .signer = signer};
	pthread_mutex_init(&l->lock, NULL);
}

void xp_http_lists_free(struct xp_http_lists *l)
{
	for (struct xp_http_list *i = l->rest, *next; i; i = next) {
		next = i->next;
		free(i);
	}
	pthread_mutex_destroy(&l->lock);
}

/* As much of the list as the buffer holds; the writer never gives part of an
 * entry, so it needs a least room. */
static void lists_fill(struct xp_http_list *i)
{
	size_t more = 1;
	i->at = i->n = 0;
	while (sizeof(i->buf) - i->n >= ALGO_PINGLIST_XML_LEAST && more > 0) {
		more = algo_pinglist_xml_next(&i->xml, i->buf + i->n,
		    sizeof(i->buf) - i->n);
		i->n += more;
	}
	i->is_whole = more == 0;
}

/* Sign the list that has been begun, and begin it again if it does not fit. */
static int lists_sign(struct xp_http_list *i, uint32_t server,
    struct sim_err *e)
{
	const int fits = i->is_whole;
	void *sum;
	int rc = xp_list_sum_begin(&sum, e);
	if (rc < 0)
		return rc;
	xp_list_sum_add(sum, i->buf, i->n);
	while (!i->is_whole) {
		lists_fill(i);
		xp_list_sum_add(sum, i->buf, i->n);
	}
	if ((rc = xp_list_sum_end(sum, i->lists->signer, i->mark, e)) < 0 ||
	    fits)
		return rc;
	if ((rc = algo_pinglist_xml_start(&i->xml, server, e)) == 0)
		lists_fill(i);
	return rc;
}

int xp_http_list_take(struct xp_http_list **out, struct xp_http_lists *l,
    uint32_t server, int of_6, struct sim_err *e)
{
	struct xp_http_list *i;
	int rc;
	pthread_mutex_lock(&l->lock);
	if ((i = l->rest))
		l->rest = i->next;
	pthread_mutex_unlock(&l->lock);
	/* Buffers are made when all are in use and never given back: there are
	 * at most as many as connections. */
	if (!i) {
		if ((rc = SIM_ZALLOC(&i, 1, e)) < 0)
			return rc;
		i->lists = l;
		algo_pinglist_xml_open(&i->xml, l->plan);
	}
	i->mark[0] = '\0';
	i->xml.of_6 = of_6 != 0;
	if ((rc = algo_pinglist_xml_start(&i->xml, server, e)) == 0) {
		lists_fill(i);
		if (l->signer)
			rc = lists_sign(i, server, e);
	}
	if (rc < 0)
		xp_http_list_rest(i);
	else
		*out = i;
	return rc;
}

size_t xp_http_list_read(struct xp_http_list *i, char *out, size_t size)
{
	/* At the end lists_fill() finds nothing more, and 0 bytes tell so. */
	if (i->at == i->n)
		lists_fill(i);
	const size_t n = i->n - i->at < size ? i->n - i->at : size;
	memcpy(out, i->buf + i->at, n);
	i->at += n;
	return n;
}

void xp_http_list_rest(struct xp_http_list *i)
{
	struct xp_http_lists *l = i->lists;
	pthread_mutex_lock(&l->lock);
	i->next = l->rest;
	l->rest = i;
	pthread_mutex_unlock(&l->lock);
}
