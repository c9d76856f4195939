/* tests/rigs/live_world_sign_none.c -- without GnuTLS nothing is signed in a world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/live_world.h"

void world_sign_cheaply(int is_cheap)
{
	(void)is_cheap;
}
