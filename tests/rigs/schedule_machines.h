/* tests/rigs/schedule_machines.h -- the agents, each in a world that does it no favours.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SCHEDULE_MACHINES_H
#define TESTS_SCHEDULE_MACHINES_H

#include "tests/rigs/schedule.h"

/* Pingmesh's agent, 007's path agent, Everflow's prober, when Millisampler
 * samples. */
extern const struct schedule_machine schedule_pingmesh, schedule_path,
    schedule_prober, schedule_sampler;

#endif
