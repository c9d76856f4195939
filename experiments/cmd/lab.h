/* experiments/cmd/lab.h -- culprit lab up, in its two kinds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_LAB_H
#define EXPERIMENTS_CMD_LAB_H

#include "experiments/spec/config.h"
#include "models/scene/scene.h"

struct cmd_lab {
	struct xp_spec spec;
	struct xp_config config; /* of its first point */
	struct topo topo;
	struct scene scene; /* of that run; empty if bare */
	uint32_t run;       /* of that point */
	int seeded;         /* RUN was given */
	int list;           /* all nodes and faults, not just a few */
	int tun;            /* only hosts are real */
	int bare;           /* without noise and faults */
	int as_user;        /* root in a namespace of users */
};

/* Make the network, say what there is, hold it up with the faults of that run
 * until ^C, then say what was lost where: with switches that are namespaces,
 * too, or with hosts alone. */
int cmd_lab_up_netns(struct cmd_lab *lab, struct sim_err *e);
int cmd_lab_up_tun(struct cmd_lab *lab, struct sim_err *e);

/* --- what both say (lab_world.c) ------------------------------------------ */

/* Refuse what the spec says of its network that LAB would not be. Errors
 * SIM_EUNSUPPORTED. */
int cmd_lab_check_world(const struct cmd_lab *lab, struct sim_err *e);

/* 1 if anything is lost, late or sent wrongly in the scene of LAB at any time. */
int cmd_lab_is_faulty(const struct cmd_lab *lab);

/* The noise and the faults, a line each, and the sections of the spec that are
 * not of a network. */
void cmd_lab_print_faults(const struct cmd_lab *lab);
void cmd_lab_print_idle(const struct cmd_lab *lab);

/* What link L lost of what was sent over it; nothing if it lost nothing. */
void cmd_lab_print_lost(const struct cmd_lab *lab, topo_link l, uint64_t lost,
    uint64_t offered);

/* A line that says how to enter node N, whose namespace is NS. */
void cmd_lab_print_node(const struct cmd_lab *lab, topo_node n, int ns);

/* 1 for a few nodes to begin with: the first and last host, and switch. */
int cmd_lab_is_shown(const struct topo *t, topo_node n);

/* Say how to end it. *FD can be read when a signal that does came. They are held
 * before it is said, so that whoever acts on the words, as a script does, finds
 * a program that ends in good order and takes the network down. Errors SIM_EIO,
 * also if nobody can read it. */
int cmd_lab_open_end(int *fd, struct sim_err *e);

#endif
