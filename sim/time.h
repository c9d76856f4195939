/* sim/time.h -- the clock's type: whole nanoseconds since the start of a run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_TIME_H
#define SIM_TIME_H

#include <stdint.h>

typedef uint64_t sim_ns;

#define SIM_NEVER UINT64_MAX
#define SIM_US    ((sim_ns)1000)
#define SIM_MS    ((sim_ns)1000000)
#define SIM_SEC   ((sim_ns)1000000000)

/* Domain  0 <= SECONDS < 2^64 / 1e9. Cut, not rounded. */
static inline sim_ns sim_ns_of(double seconds)
{
	return (sim_ns)(seconds * 1e9);
}

#endif
