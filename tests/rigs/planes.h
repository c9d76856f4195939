/* tests/rigs/planes.h -- both bulk data planes behind one function.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_PLANES_H
#define TESTS_PLANES_H

#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"

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

/* Means that differ by more standard errors are not equal (6e-7), nor are
 * histograms whose chi-square is less likely. */
#define PLANES_ERRORS 5
#define PLANES_LEVEL  1e-6

enum { PLANES_HISTOGRAM = 64, PLANES_FEATURES = TOPO_N_LINK_CLASSES + 10 };

/* Differences of the features between planes on the same scenes. */
struct planes_comparison {
	struct law_mean difference[PLANES_FEATURES];
	struct law_mean failed;           /* of bulk */
	struct law_mean naive_difference; /* bulk against naive skip */
	uint64_t histogram[2][PLANES_HISTOGRAM];
};

/* Run both planes on the scenes of epochs 0 .. n_epochs - 1. */
void planes_compare(struct planes *p, struct scenes *s, uint32_t n_epochs,
    struct planes_comparison *c);

/* Fail, telling WHAT was compared, unless the planes have one law: so it seems
 * wrongly in at most 1 of 700 comparisons. */
void planes_assert_equal_laws(const struct planes_comparison *c,
    const char *what);

#endif
