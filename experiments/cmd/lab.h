/* experiments/cmd/lab.h -- culprit lab up, in its two kinds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_LAB_H
#define EXPERIMENTS_CMD_LAB_H

#include <signal.h>

#include "experiments/spec/config.h"

struct cmd_lab {
	struct xp_spec spec;
	struct xp_config config; /* of its first point */
	struct topo topo;
	uint32_t run; /* of that point */
	int list;     /* all nodes and faults, not just a few */
	int as_user;  /* root in a namespace of users */
};

/* Make the hosts, say what there is, be their network with the faults of that
 * run until ^C, then say what was lost where. */
int cmd_lab_up_tun(struct cmd_lab *lab, struct sim_err *e);

/* A line that says how to enter node N, whose namespace is NS. */
void cmd_lab_print_node(const struct cmd_lab *lab, topo_node n, int ns);

/* Say how to end it. The signals that do are in *END: they are held before it
 * is said, so that whoever acts on the words, as a script does, finds a program
 * that ends in good order and takes the network down. Errors SIM_EIO if nobody can read it. */
int cmd_lab_say_end(sigset_t *end, struct sim_err *e);

#endif
