/* experiments/cmd/lab_tun.h -- culprit lab up --tun: hosts alone are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_LAB_TUN_H
#define EXPERIMENTS_CMD_LAB_TUN_H

#include <stddef.h>
#include <stdint.h>

struct cmd_lab_tun {
	const char *spec;
	const char *const *set; /* assignments, of --set */
	size_t n_set;
	uint32_t run; /* of the spec's first point */
	int list;     /* all hosts and faults, not just a few */
};

/* Make the hosts, say what there is, be their network with the faults of that
 * run until ^C, then say what was lost where. Returns an enum cmd_exit. */
int cmd_lab_up_tun(const struct cmd_lab_tun *x);

#endif
