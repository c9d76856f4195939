/* experiments/cmd/lab_world.c -- culprit lab up: what of a spec is done there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network that is held up is as its spec says, or refused: a fault that
 * nobody does would be taken for one that an algorithm did not see.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

#include "experiments/cmd/lab.h"
#include "sim/text.h"

/* --- what is refused ------------------------------------------------------ */

/* Kinds that each world does, as bits. Switches of the simulator choose next
 * hops by topo_path() alone; services, marks, pauses and sessions are nobody's
 * here. What of these kinds the kernel cannot do is refused by
 * netns_faults_apply(), with the switch. */
enum {
	BY_TUN = FAULT_BIT(DROP) | FAULT_BIT(LATENCY) |
	    FAULT_BIT(BLACK_HOLE_1) | FAULT_BIT(BLACK_HOLE_2) |
	    FAULT_BIT(HOST_OFF) | FAULT_BIT(POD_OFF),
	BY_NETNS = BY_TUN | FAULT_ROUTE_KINDS,
};

int cmd_lab_check_world(const struct cmd_lab *lab, struct sim_err *e)
{
	const struct scene_params *s = &lab->config.scene;
	const unsigned able = lab->tun ? BY_TUN : BY_NETNS;
	if (s->congestion.racks > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s: congestion: no buffer is made full in a network that "
		    "is held up; --set congestion.racks=0 leaves it out.",
		    lab->spec.yaml.name);
	for (size_t i = 0; !lab->bare && i < s->n_groups; i++) {
		const uint32_t kind = s->group[i].kind;
		if (able >> kind & 1)
			continue;
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s: faults: kind %s is not done in a network that is held "
		    "up%s; --no-faults has the network without any.",
		    lab->spec.yaml.name, fault_kind_names[kind],
		    BY_NETNS >> kind & 1 ? " with --tun" : "");
	}
	return 0;
}

int cmd_lab_is_faulty(const struct cmd_lab *lab)
{
	const struct truth *t = &lab->scene.truth;
	return t->n_faults + t->n_holes + t->n_routes > 0 ||
	    scene_noise_most(&lab->scene.loss.noise) > 0;
}

/* --- what is told --------------------------------------------------------- */

enum { FEW = 10 };

static void print_fault(const struct cmd_lab *lab, const struct truth_fault *f)
{
	char name[64];
	topo_link_name(&lab->topo, f->link, name);
	if (f->of_hole)
		printf("  %-24s leads into a hole", name);
	else if (f->of_route)
		printf("  %-24s is chosen wrongly", name);
	else if (truth_is_slow(f))
		printf("  %-24s adds %g us", name, f->delay_us);
	else
		printf("  %-24s loses %g %%", name, 100 * f->rate);
	if (f->from_ns > 0)
		printf(", from %g s", 1e-9 * (double)f->from_ns);
	if (f->to_ns != SIM_NEVER)
		printf(", to %g s", 1e-9 * (double)f->to_ns);
	printf("\n");
}

void cmd_lab_print_faults(const struct cmd_lab *lab)
{
	const struct truth *truth = &lab->scene.truth;
	printf("%zu faults\n", truth->n_faults);
	for (size_t i = 0; i < truth->n_faults && (lab->list || i < FEW); i++)
		print_fault(lab, &truth->fault[i]);
	if (truth->n_faults > FEW && !lab->list)
		printf("  and %zu more: --list\n", truth->n_faults - FEW);
}

/* Whether the section KEY is done here, or says how a spec is swept and told. A
 * delay of a hop is the simulator's, options of namespaces are theirs. */
static int is_of_network(const struct cmd_lab *lab, const char *key)
{
	static const char *const always[] = {"topology", "congestion", "figure",
	    "title", "paper", "seed", "runs", "smoke", "sweep", "claims", NULL};
	static const char *const unless_bare[] = {"noise", "faults", NULL};
	if (unless_bare[sim_word_find(unless_bare, key)])
		return !lab->bare;
	return always[sim_word_find(always, key)] ||
	    strcmp(key, lab->tun ? "latency" : "netns") == 0;
}

void cmd_lab_print_idle(const struct cmd_lab *lab)
{
	const struct sim_yaml_node *root = lab->spec.yaml.root;
	unsigned n = 0;
	for (size_t i = 0; root && i < root->n; i++)
		if (!is_of_network(lab, root->key[i]))
			printf("%s%s", n++ ? ", " : "left out of the spec: ",
			    root->key[i]);
	if (n > 0)
		printf("\n");
}

void cmd_lab_print_lost(const struct cmd_lab *lab, topo_link l, uint64_t lost,
    uint64_t offered)
{
	char name[64];
	if (lost == 0)
		return;
	topo_link_name(&lab->topo, l, name);
	printf("  %-24s lost %" PRIu64 " of %" PRIu64 "\n", name, lost,
	    offered);
}

/* --- the end -------------------------------------------------------------- */

int cmd_lab_open_end(int *fd, struct sim_err *e)
{
	sigset_t end;
	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGHUP);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if ((*fd = signalfd(-1, &end, SFD_CLOEXEC)) < 0)
		return sim_fail(e, SIM_EIO, "Signals cannot be waited for: %s.",
		    strerror(errno));
	printf("^C ends it.\n");
	return fflush(stdout) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "stdout cannot be written.");
}
