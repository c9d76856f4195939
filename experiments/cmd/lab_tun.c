/* experiments/cmd/lab_tun.c -- culprit lab up --tun: hosts alone are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/lab.h"
#include "models/netns/caps.h"
#include "models/tun/net.h"

struct world {
	struct cmd_lab *lab;
	struct tun_net *net;
};

static int open_net(struct world *w, struct sim_err *e)
{
	struct tun_net_params p;
	int rc;
	if ((rc = sim_field_defaults(tun_net_fields, &p, e)) < 0 ||
	    (rc = sim_field_defaults(tun_switch_fields, &p.network, e)) < 0 ||
	    (rc = sim_field_defaults(fabric_sim_icmp_fields, &p.network.icmp,
		 e)) < 0 ||
	    (rc = netns_permit(&w->lab->as_user, e)) < 0)
		return rc;
	/* Of the latency section only the delay of a hop is taken: what it says
	 * of queues is about whole round trips. */
	p.network.hop_us = w->lab->config.scene.latency.hop_us;
	p.network.max_drops = 0;
	return tun_net_open(&w->net, &w->lab->topo, &p, e);
}

/* --- what there is -------------------------------------------------------- */

static void print_world(const struct world *w)
{
	const struct topo *t = &w->lab->topo;
	printf("%u hosts; %u switches and %u cables are this program\n",
	    t->n_hosts, t->n_switches, t->n_links / 2);
	for (topo_host h = 0; h < t->n_hosts; h++)
		if (w->lab->list || cmd_lab_is_shown(t, h))
			cmd_lab_print_node(w->lab, h, tun_net_ns(w->net, h));
	cmd_lab_print_faults(w->lab);
	cmd_lab_print_idle(w->lab);
}

/* --- what became of it ---------------------------------------------------- */

/* Say what this program, as the network, did with packets: the truth that
 * algorithms on the hosts would be scored against. */
static void print_losses(const struct world *w)
{
	const struct tun_net_counters *c = tun_net_count(w->net);
	const struct tun_switch *s = tun_net_switch(w->net);
	printf("%" PRIu64 " packets sent, %" PRIu64 " received, %" PRIu64
	       " answers of switches\n",
	    c->read, c->written, c->answers);
	for (topo_link l = 0; l < w->lab->topo.n_links; l++)
		cmd_lab_print_lost(w->lab, l, s->lost[l], s->offered[l]);
	for (int i = 0; i < TUN_N_REFUSALS; i++)
		if (c->refused[i] > 0)
			printf("  refused: %s: %" PRIu64 "\n",
			    tun_refusal_texts[i], c->refused[i]);
	if (c->crowded + c->unwritten > 0)
		printf("  for want of room: %" PRIu64 "\n",
		    c->crowded + c->unwritten);
}

/* Be the network until a signal comes. */
static int serve_until_end(struct tun_net *net, struct sim_err *e)
{
	int end, rc = cmd_lab_open_end(&end, e);
	/* Both are waited for at once, as packets must not wait for a signal. */
	struct pollfd p[2] = {{.fd = end, .events = POLLIN},
	    {.fd = tun_net_fd(net), .events = POLLIN}};
	while (rc == 0 && (poll(p, 2, -1) > 0 || errno == EINTR)) {
		if (p[0].revents)
			break;
		rc = tun_net_serve(net, e);
	}
	if (end >= 0)
		close(end);
	return rc;
}

int cmd_lab_up_tun(struct cmd_lab *lab, struct sim_err *e)
{
	/* An epoch of an hour, as switches count their
	 * answers by its seconds. */
	const sim_ns epoch = 3600 * SIM_SEC;
	struct world w = {.lab = lab};
	int rc = open_net(&w, e);
	if (rc == 0 &&
	    (rc = tun_net_begin(w.net, &lab->scene, epoch, e)) == 0) {
		print_world(&w);
		if ((rc = serve_until_end(w.net, e)) == 0)
			print_losses(&w);
	}
	tun_net_close(w.net);
	return rc;
}
