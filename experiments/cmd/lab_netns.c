/* experiments/cmd/lab_netns.c -- culprit lab up: hosts and switches are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/cmd/lab.h"
#include "experiments/fabrics/netns.h"
#include "models/clock.h"
#include "models/netns/caps.h"
#include "models/netns/net.h"
#include "sim/vec.h"

struct world {
	struct cmd_lab *lab;
	struct netns_net *net;
	struct netns_faults *faults; /* NULL: nothing is ever lost */
	sim_ns began;
};

/* --- building it ---------------------------------------------------------- */

/* MiB that the whole machine has free, by which the size of a network is told;
 * 0 if the machine doesn't say. */
static double free_mib(void)
{
	char line[128];
	uint64_t kib = 0;
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

static int build(struct world *w, struct sim_err *e)
{
	struct cmd_lab *lab = w->lab;
	const struct topo *t = &lab->topo;
	struct netns_params p = xp_netns_of(&lab->config)->net;
	int rc = 0;
	if (lab->seeded)
		p.ecmp_seed = lab->run;
	if (netns_is_built_in() && (rc = netns_permit(&lab->as_user, e)) < 0)
		return rc;
	const double free_before = free_mib();
	const sim_ns start = clock_now();
	if ((rc = netns_open(&w->net, t, &p, e)) < 0)
		return rc;
	const double took = 1e-9 * (double)(clock_now() - start);
	/* Other programs may have freed memory meanwhile;
	 * then nothing is told. */
	const double used = free_before - free_mib();
	printf("%u hosts, %u switches, %u cables: built in %.3f s", t->n_hosts,
	    t->n_switches, t->n_links / 2, took);
	if (used > 0)
		printf(", %.0f MiB", used);
	printf("\n");
	for (topo_node n = 0; n < t->n_hosts + t->n_switches; n++)
		if (lab->list || cmd_lab_is_shown(t, n))
			cmd_lab_print_node(lab, n, netns_fd(w->net, n));
	return 0;
}

/* --- its faults ----------------------------------------------------------- */

static sim_ns now_of(const struct world *w)
{
	return clock_now() - w->began;
}

static int apply(struct world *w, struct sim_err *e)
{
	return netns_faults_apply(w->faults, &w->lab->scene.loss, now_of(w), e);
}

/* Where neither eBPF nor nft is to be had, a network whose links lose nothing
 * would pass for the one that was asked for. */
static int begin_faults(struct world *w, struct sim_err *e)
{
	const struct cmd_lab *lab = w->lab;
	const struct netns_faults_params p =
	    {.by = xp_netns_of(&lab->config)->faults == XP_NETNS_BY_NFT
		    ? NETNS_FAULTS_NFT
		    : NETNS_FAULTS_ANY,
		.seed = (uint64_t)lab->run << 32 ^ lab->spec.seed};
	struct sim_err why = {0};
	int rc;
	w->began = clock_now();
	if (!cmd_lab_is_faulty(lab))
		return 0;
	if ((rc = netns_faults_open(&w->faults, w->net, &lab->topo, &p, &why)) <
		0 ||
	    (rc = apply(w, &why)) < 0)
		return sim_fail(e, rc,
		    "--no-faults has the network alone; the spec's noise and "
		    "faults cannot be done: %s",
		    why.msg);
	cmd_lab_print_faults(lab);
	return 0;
}

/* Milliseconds until the next fault begins or ends; -1: none does. Rounded up,
 * or it would be looked at again before it is due. */
static int wait_ms(const struct world *w)
{
	const struct truth *truth = &w->lab->scene.truth;
	const sim_ns now = now_of(w);
	const sim_ns next =
	    w->faults ? netns_faults_next(truth, now) : SIM_NEVER;
	if (next == SIM_NEVER)
		return -1;
	const sim_ns ms = (next - now) / SIM_MS + 1;
	return ms < 60000 ? (int)ms : 60000;
}

/* Hold packets that are late, and change what links do when it is time, until a
 * signal comes. */
static int hold_up(struct world *w, int end, struct sim_err *e)
{
	struct pollfd p[2] = {{.fd = end, .events = POLLIN},
	    {.fd = w->faults ? netns_faults_delay_fd(w->faults) : -1,
		.events = POLLIN}};
	sim_ns change =
	    w->faults ? netns_faults_next(&w->lab->scene.truth, 0) : SIM_NEVER;
	int rc = 0;
	while (rc == 0 && (poll(p, 2, wait_ms(w)) >= 0 || errno == EINTR)) {
		if (p[0].revents)
			break;
		if (p[1].revents)
			rc = netns_faults_delay_step(w->faults, e);
		if (rc == 0 && now_of(w) >= change) {
			const sim_ns now = now_of(w);
			rc = apply(w, e);
			change = netns_faults_next(&w->lab->scene.truth, now);
		}
	}
	return rc;
}

/* The truth that algorithms on the hosts would be scored against. */
static int print_what_was_lost(const struct world *w, struct sim_err *e)
{
	const struct topo *t = &w->lab->topo;
	struct netns_link_count *count = NULL;
	int rc = SIM_ZALLOC(&count, t->n_links, e);
	if (rc == 0)
		rc = netns_faults_count(w->faults, count, e);
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++)
		cmd_lab_print_lost(w->lab, l,
		    count[l].n_random + count[l].n_hole, count[l].packets);
	free(count);
	return rc;
}

/* --- all of it ------------------------------------------------------------ */

int cmd_lab_up_netns(struct cmd_lab *lab, struct sim_err *e)
{
	struct world w = {.lab = lab};
	int end = -1, rc;
	if ((rc = build(&w, e)) == 0 && (rc = begin_faults(&w, e)) == 0) {
		cmd_lab_print_idle(lab);
		if ((rc = cmd_lab_open_end(&end, e)) == 0 &&
		    (rc = hold_up(&w, end, e)) == 0 && w.faults)
			rc = print_what_was_lost(&w, e);
	}
	if (end >= 0)
		close(end);
	netns_faults_close(w.faults);
	netns_close(w.net);
	return rc;
}
