/* sim/divisor.h -- the greatest common divisor of two numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_DIVISOR_H
#define SIM_DIVISOR_H

#include <stdint.h>

/* That of A and 0 is A. */
static inline uint32_t sim_divisor(uint32_t a, uint32_t b)
{
	while (b > 0) {
		const uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

#endif
