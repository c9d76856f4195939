/* experiments/cmd/ca.c -- culprit ca: certificates for tests and small fleets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/live/ca.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum { MOST = 4096 };

struct args {
	const char *dir;
	struct order {
		enum xp_ca_kind kind;
		const char *names; /* NULL: the address alone */
		uint32_t address;
	} order[MOST];
	size_t n;
	uint64_t from_s; /* 0: from now */
	uint32_t days;
};

/* --- options -------------------------------------------------------------- */
static void ca_order(struct args *a, struct order order,
    const struct cmd_given *g)
{
	if (a->n == MOST)
		argp_error(g->state, "more than %d certificates", MOST);
	a->order[a->n++] = order;
}

static void take_server_names(void *to, char *arg, const struct cmd_given *g)
{
	ca_order(to, (struct order){XP_CA_SERVER, arg, 0}, g);
}

/* "10.0.0.1-10.0.0.12": each address of a range is an agent of its own. */
static int ca_range(const char *arg, uint32_t *first, uint32_t *last)
{
	char text[16];
	const char *dash = strchr(arg, '-');
	if (!dash || (size_t)(dash - arg) >= sizeof(text))
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)(dash - arg), arg);
	return topo_addr_parse(text, first, NULL) == 0 &&
	    topo_addr_parse(dash + 1, last, NULL) == 0;
}

static void take_agent_names(void *to, char *arg, const struct cmd_given *g)
{
	uint32_t first, last;
	if (!ca_range(arg, &first, &last)) {
		ca_order(to, (struct order){XP_CA_AGENT, arg, 0}, g);
		return;
	}
	if (first > last || last - first >= MOST)
		argp_error(g->state,
		    "--agent %s: a range ascends and has at most %d addresses",
		    arg, MOST);
	for (uint32_t n = 0; n <= last - first; n++)
		ca_order(to, (struct order){XP_CA_AGENT, NULL, first + n}, g);
}

static void take_day(void *to, char *arg, const struct cmd_given *g)
{
	struct tm t = {0};
	uint64_t *from_s = to;
	const char *end = strptime(arg, "%Y-%m-%d", &t);
	const int day = t.tm_mday;
	const time_t at = end && *end == '\0' ? timegm(&t) : -1;
	/* A 31st of February would become a day of March. */
	if (at <= 0 || t.tm_mday != day)
		argp_error(g->state, "--from \"%s\" is no day: 2026-01-31 is",
		    arg);
	*from_s = (uint64_t)at;
}

static const struct cmd_option ca_options[] = {
    {"server", 0, "NAME,...",
	"a certificate for a controller or collector with these addresses "
	"and names, the first of which names its files, - for a colon "
	"(fd00--2.pem); may be repeated",
	.take = take_server_names},
    {"agent", 0, "ADDRESS,...",
	"the same for an agent; A.B.C.D-E.F.G.H makes one for each address "
	"of a range",
	.take = take_agent_names},
    {"days", 0, "N", "how long certificates are good (365)",
	.take = cmd_take_u32, .at = CMD_AT(days), .min = 1,
	.max = XP_CA_MAX_DAYS},
    {"from", 0, "YYYY-MM-DD", "from when on, at 0:00 of UTC (an hour ago)",
	.take = take_day, .at = CMD_AT(from_s)},
    {0},
};

static void ca_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out,
	    "DIR is made if missing, and so is the authority in it:\n"
	    "  ca.pem             what all of a fleet are told by --ca\n"
	    "  ca.key             keep it off the fleet: who has it can be "
	    "anybody\n"
	    "  list.key list.pub  what lists are signed by: --sign of a "
	    "controller, and\n"
	    "                     --signed-by of agents\n"
	    "  NAME.pem NAME.key  what one of them is told by --cert and "
	    "--key\n"
	    "Keys are of mode 0600, in plain text. A certificate that is "
	    "asked for again is replaced, with a new key: copy both where "
	    "they are used, and daemons take them without a restart. An "
	    "agent's cannot serve, and a server's cannot ask. There is no "
	    "revocation but the date: this is for tests and small fleets. "
	    "Certificates of any other authority do as well, if they have "
	    "the addresses as subjectAltName.\n");
}

static const struct cmd_line ca_line = {
    .options = ca_options,
    .word = {"dir", .take = cmd_take_one, .at = CMD_AT(dir)},
    .without = "where are certificates to be: DIR?",
    .more = ca_more,
    .args_doc = "DIR",
    .doc = "Make a certificate authority in DIR, and certificates for "
	   "controllers, collectors and agents, by which they know each "
	   "other."
	   "\v ",
};

/* --- the work ------------------------------------------------------------- */
static int ca_make(const struct args *a, struct sim_err *e)
{
	/* Clocks of a fleet differ. */
	const uint64_t from =
	    a->from_s ? a->from_s : (uint64_t)time(NULL) - 3600;
	struct xp_ca *ca;
	int is_new;
	int rc = xp_ca_open(&ca, a->dir, &is_new, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < a->n && rc == 0; i++) {
		const struct order *o = &a->order[i];
		char address[16];
		topo_addr_format(o->address, address);
		rc = xp_ca_issue(ca, o->kind, o->names ? o->names : address,
		    from, a->days, e);
	}
	xp_ca_close(ca);
	if (rc == 0)
		printf("%s: %s authority, %zu certificate%s of %u days\n",
		    a->dir, is_new ? "a new" : "the same", a->n,
		    a->n == 1 ? "" : "s", a->days);
	return rc;
}

int cmd_ca(int argc, char **argv)
{
	struct args *a = NULL;
	struct sim_err e = {0};
	if (SIM_ZALLOC(&a, 1, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	a->days = 365;
	cmd_parse(&ca_line, argc, argv, a);
	const int rc = ca_make(a, &e);
	free(a);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
