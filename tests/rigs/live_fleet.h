/* tests/rigs/live_fleet.h -- a collector's folder, filled by agents of a drawn world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_LIVE_FLEET_H
#define TESTS_LIVE_FLEET_H

#include "experiments/live/windows.h"
#include "topo/dc.h"

/* Two data centres of 2 x 2 x 3 = 12 servers. Each server probes somebody each
 * PERIOD, a SYN is lost now and then, ToR 1 of the first data centre has a black
 * hole, and each 5 minutes what is known is sent. */
enum { LIVE_DC_HOSTS = 12, LIVE_HOSTS = 2 * LIVE_DC_HOSTS };

/* 2026-02-03T22:00:00Z */
#define LIVE_BEGIN (UINT64_C(1770156000) * SIM_SEC)

struct live_fleet {
	const char *dir;
	sim_ns period;
	uint64_t n_sent; /* records in the folder, each counted once */
	uint64_t number[LIVE_HOSTS], n_windows[LIVE_HOSTS];
};

/* Where servers stand. SERVICE is borrowed, and may be NULL. */
#define LIVE_SERVICES "web=0-5; db=14-17"
struct res_recording_info live_info(const char *service);

/* Have all servers send what they saw in [FROM, TO) of whole 5 minutes. Files are
 * of the day of TO, 64 KiB each. */
void live_fill(struct live_fleet *w, sim_ns from, sim_ns to);

/* One record of server SRC at time AT, in a batch of its own that comes at CAME. */
void live_late(struct live_fleet *w, uint32_t src, sim_ns at, sim_ns came);

/* The batch that came last stands in the newest file once more. */
void live_repeat(struct live_fleet *w);

#endif
