/* experiments/cmd/trace_sonic.h -- mirror rules as a configuration of SONiC.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Written are the tables MIRROR_SESSION, POLICER, ACL_TABLE_TYPE, ACL_TABLE and
 * ACL_RULE of config_db.json, with the keys and values of SONiC's YANG models
 * sonic-mirror-session and sonic-acl (sonic-buildimage), so one file for each
 * switch: its address is in it.
 *
 * A rule of SONiC has no IP ID, TTL, ECN or GRE protocol, and of inner headers
 * only addresses, protocol and ports. Rows that need more are left out, and told.
 */
#ifndef EXPERIMENTS_CMD_TRACE_SONIC_H
#define EXPERIMENTS_CMD_TRACE_SONIC_H

#include <stdio.h>

#include "algos/everflow/mirror_rule.h"
#include "models/mirror/mirror.h"

struct cmd_sonic {
	const struct algo_mirror_table *table;
	const struct mirror_params *mirror; /* truncate, policer */
	const char *source, *collector;     /* addresses, dotted */
	const char *ports;                  /* "Ethernet0,Ethernet4"; or NULL */
};

/* Write it as JSON to OUT, and to NOTES a line for each row that SONiC can't
 * have, or has in a narrower form. Returns how many rows are left out. */
unsigned cmd_sonic_write(const struct cmd_sonic *s, FILE *out, FILE *notes);

#endif
