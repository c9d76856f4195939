/* experiments/live/page/page.h -- a collector's page, and the data that it asks for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	GET /					the page
 *	GET /v1/now				clocks, newest windows, bounds
 *	GET /v1/windows/JOB/DC			5min, 10min, 1hour or 1day
 *	GET /v1/heat/JOB/DC/FROM_S		from pod to pod, of a window
 *	GET /v1/pair/JOB/DC/SRC/DST		one of these over time
 *	GET /v1/sla/JOB/DC			services and the data centre
 *	GET /v1/http/JOB/DC			the same of HTTP pings
 *	GET /v1/alerts/DC  /v1/holes/DC  /v1/agents
 *
 * The page is one file without anything beside it; a content security policy that
 * names its two inline parts by their hashes keeps all else from being loaded or
 * run. Data are JSON: objects of tables, each {"columns": [...], "rows": [[...]]},
 * with times in seconds since 1970, or {"error": TEXT}.
 *
 * All is read from the database of results/sql/, which some other process writes;
 * nothing here writes. It must not keep batches from being taken:
 *   - one query at a time, and together no more than a quarter of the time, after
 *     the first two seconds of it; else 503, and "ask again";
 *   - a query has a bound on its rows, and so has an answer on its bytes;
 *   - answers are kept until the database changes, shared by all who fetch them,
 *     and together at most LIVE_HELD_BYTES.
 * Without TLS, pages of other sites are refused (xp_http_is_stranger()).
 */
#ifndef EXPERIMENTS_LIVE_PAGE_PAGE_H
#define EXPERIMENTS_LIVE_PAGE_PAGE_H

#include "experiments/live/serve.h"

enum {
	LIVE_BODY_BYTES = 4 << 20,  /* of an answer */
	LIVE_HELD_BYTES = 32 << 20, /* of all */
};

struct xp_live_page;

/* The page of the database FILE, which need not be there yet; NULL: there is none,
 * and the page says so. Errors SIM_ENOMEM. */
int xp_live_page_open(struct xp_live_page **p, const char *file,
    struct sim_err *e);

/* As `page` of struct xp_http_service. */
int xp_live_page_answer(void *page, const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a);

/* No answer is being sent any more. NULL is fine. */
void xp_live_page_close(struct xp_live_page *p);

#endif
