/* tests/rigs/bulk.h -- the exact data plane with its window, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_BULK_H
#define TESTS_BULK_H

#include "models/bulk/bulk.h"

struct plane {
	struct bulk *bulk;
	struct obs window;
	struct losses lost;
};

void plane_open(struct plane *p);
void plane_close(struct plane *p);

/* An epoch whose window is sound, and complete if ALL. */
void run_epoch(struct plane *p, struct scene *s, int all);

#endif
