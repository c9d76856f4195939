/* tests/rigs/random_cube.h -- random cubes, and the exact comparison of two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_RANDOM_CUBE_H
#define TESTS_RANDOM_CUBE_H

#include "results/cube.h"

/* A cube of 0 to 3 axes, some with zip coordinates, some that a cell is read
 * along, texts with and without accents, NaN, every status, 0 to 2 claims, with
 * and without the metrics that are optional. Numerators never exceed their
 * denominators. Draws from run RUN of the test's stream. */
void random_cube(struct res_cube *c, uint32_t run);

/* The same with the cells of shard I of N alone: all shards of one RUN are of
 * one sweep. */
void random_shard(struct res_cube *c, uint32_t run, uint32_t i, uint32_t n);

/* A small one with one axis of N_POINTS; each metric of each cell is
 * 1000 * column + 10 * point + run. */
void plain_cube(struct res_cube *c, size_t n_points, size_t n_runs);

/* Makes each number X. */
void all_alike(struct res_cube *c, double x);

/* Makes the metrics that are optional NaN. */
void without_optional(struct res_cube *c);

/* Fails the test, naming what differs, unless the two are equal; NaN equals
 * NaN. */
void assert_same_cube(const struct res_cube *a, const struct res_cube *b);

#endif
