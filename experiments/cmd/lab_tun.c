/* experiments/cmd/lab_tun.c -- culprit lab up --tun: hosts alone are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/lab_tun.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/spec/config.h"
#include "models/netns/caps.h"
#include "models/tun/net.h"
#include "topo/addr.h"

enum { FEW = 10 };

struct world {
	struct xp_spec spec;
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	struct tun_net_params params;
	struct tun_net *net;
	int as_user;
};

static void close_world(struct world *w)
{
	tun_net_close(w->net);
	scene_free(&w->scene);
	topo_close(&w->topo);
	xp_config_free(&w->config);
	xp_spec_free(&w->spec);
}

/* Draw one run of the spec's first point, as `culprit run` would draw it. */
static int open_world(struct world *w, const struct cmd_lab_tun *x,
    struct sim_err *e)
{
	char *path = NULL;
	int rc = cmd_find(&path, x->spec, "experiments", ".yaml", e);
	if (rc == 0 &&
	    (rc = xp_spec_load(&w->spec, path, 0, x->set, x->n_set, e)) == 0 &&
	    (rc = xp_spec_point(&w->spec, 0, &w->config, e)) == 0 &&
	    (rc = xp_topology_open(&w->config.topology, w->spec.folder,
		 &w->topo, e)) == 0) {
		const struct sim_seed where = {.seed = w->spec.seed,
		    .run = x->run};
		rc = scene_draw(&w->scene, &w->topo, &w->config.scene, &where,
		    e);
	}
	free(path);
	return rc;
}

static int open_net(struct world *w, struct sim_err *e)
{
	struct tun_net_params *p = &w->params;
	int rc;
	if ((rc = sim_field_defaults(tun_net_fields, p, e)) < 0 ||
	    (rc = sim_field_defaults(tun_switch_fields, &p->network, e)) < 0 ||
	    (rc = sim_field_defaults(fabric_sim_icmp_fields, &p->network.icmp,
		 e)) < 0 ||
	    (rc = netns_permit(&w->as_user, e)) < 0)
		return rc;
	/* Of the latency section only the delay of a hop is taken: what it says
	 * of queues is about whole round trips. */
	p->network.hop_us = w->config.scene.latency.hop_us;
	p->network.max_drops = 0;
	return tun_net_open(&w->net, &w->topo, p, e);
}

/* --- what there is -------------------------------------------------------- */

/* As `lab up` prints it, but a host's namespace is all there is to enter. */
static void print_host(const struct world *w, topo_host h)
{
	char name[64], addr[16], user[64] = "";
	if (w->as_user)
		snprintf(user, sizeof(user), "-U --preserve-credentials -t %d ",
		    getpid());
	topo_node_name(&w->topo, h, name);
	topo_addr_format(topo_addr_of_host(h), addr);
	printf("  %-12s %-15s nsenter %s--net=/proc/%d/fd/%d\n", name, addr,
	    user, getpid(), tun_net_ns(w->net, h));
}

static void print_fault(const struct world *w, const struct truth_fault *f)
{
	char name[64];
	topo_link_name(&w->topo, f->link, name);
	if (f->of_hole)
		printf("  %-24s leads into a hole\n", name);
	else if (truth_is_slow(f))
		printf("  %-24s adds %g us\n", name, f->delay_us);
	else
		printf("  %-24s loses %g %%\n", name, 100 * f->rate);
}

static void print_world(const struct world *w, int list)
{
	const struct truth *t = &w->scene.truth;
	printf("%u hosts; %u switches and %u cables are this program\n",
	    w->topo.n_hosts, w->topo.n_switches, w->topo.n_links / 2);
	for (topo_host h = 0; h < w->topo.n_hosts; h++)
		if (list || h == 0 || h == w->topo.n_hosts - 1)
			print_host(w, h);
	printf("%zu faults\n", t->n_faults);
	for (size_t i = 0; i < t->n_faults && (list || i < FEW); i++)
		print_fault(w, &t->fault[i]);
}

/* --- what became of it ---------------------------------------------------- */

/* Say what this program, as the network, did with packets: the truth that
 * algorithms on the hosts would be scored against. */
static void print_losses(const struct world *w)
{
	const struct tun_net_counters *c = tun_net_count(w->net);
	const struct tun_switch *s = tun_net_switch(w->net);
	char name[64];
	printf("%" PRIu64 " packets sent, %" PRIu64 " received, %" PRIu64
	       " answers of switches\n",
	    c->read, c->written, c->answers);
	for (topo_link l = 0; l < w->topo.n_links; l++) {
		if (s->lost[l] == 0)
			continue;
		topo_link_name(&w->topo, l, name);
		printf("  %-24s lost %" PRIu64 " of %" PRIu64 "\n", name,
		    s->lost[l], s->offered[l]);
	}
	for (int i = 0; i < TUN_N_REFUSALS; i++)
		if (c->refused[i] > 0)
			printf("  refused: %s: %" PRIu64 "\n",
			    tun_refusal_texts[i], c->refused[i]);
	if (c->crowded + c->unwritten > 0)
		printf("  for want of room: %" PRIu64 "\n",
		    c->crowded + c->unwritten);
}

/* Be the network until a signal comes. Signals are held before it is
 * said how to end it, so that whoever acts on the words finds a program
 * that ends in good order. */
static int serve_until_end(struct tun_net *net, struct sim_err *e)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	const int end = signalfd(-1, &set, SFD_CLOEXEC);
	struct pollfd p[2] = {{.fd = end, .events = POLLIN},
	    {.fd = tun_net_fd(net), .events = POLLIN}};
	int rc = end >= 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "Signals cannot be waited for: %s.",
		  strerror(errno));
	printf("^C ends it.\n");
	if (fflush(stdout) != 0 && rc == 0)
		rc = sim_fail(e, SIM_EIO, "stdout cannot be written.");
	/* Both are waited for at once, as packets must
	 * not wait for a signal. */
	while (rc == 0 && (poll(p, 2, -1) > 0 || errno == EINTR)) {
		if (p[0].revents)
			break;
		rc = tun_net_serve(net, e);
	}
	if (end >= 0)
		close(end);
	return rc;
}

int cmd_lab_up_tun(const struct cmd_lab_tun *x)
{
	/* An epoch of an hour, as switches count their
	 * answers by its seconds. */
	const sim_ns epoch = 3600 * SIM_SEC;
	struct world w = {.net = NULL};
	struct sim_err e = {0};
	int code = CMD_GOOD, rc = open_world(&w, x, &e);
	if (rc < 0) {
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	} else if ((rc = open_net(&w, &e)) == 0 &&
	    (rc = tun_net_begin(w.net, &w.scene, epoch, &e)) == 0) {
		print_world(&w, x->list);
		if ((rc = serve_until_end(w.net, &e)) == 0)
			print_losses(&w);
	}
	if (rc < 0 && code == CMD_GOOD)
		code = cmd_fail(cmd_exit_of(rc), &e);
	close_world(&w);
	return code;
}
