/* experiments/report/draw_parts.h -- what the files of a drawing share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_REPORT_DRAW_PARTS_H
#define EXPERIMENTS_REPORT_DRAW_PARTS_H

#include "experiments/report/draw.h"

/* The network with all that happened in it, l->height px high. */
void draw_map(FILE *out, const struct xp_picture *p, const struct xp_layout *l,
    const struct xp_drawing *d);

/* The badge of part I, around (X, Y). */
void draw_badge(FILE *out, const struct xp_picture *p, size_t i, double x,
    double y);

/* 1 to 5, the width of a line that N_FLOWS failed flows cross. */
unsigned draw_width_class(uint64_t n_flows);

#endif
