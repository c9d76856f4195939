/* tests/planes.h -- both bulk data planes behind one function.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_PLANES_H
#define TESTS_PLANES_H

#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"

struct planes {
	struct bulk *bulk;
	struct bulk_skip *skip;
	struct obs window; /* of the last epoch */
	struct losses lost;
};
enum which { BULK, SKIP };

void planes_open(struct planes *p);
void planes_close(struct planes *p);
void planes_run(struct planes *p, enum which which, struct scene *s);

#endif
