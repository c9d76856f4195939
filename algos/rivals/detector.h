/* algos/rivals/detector.h -- deTector: paths that tell links apart, and hit ratios.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of probes alone. By flows no link is hit often enough: they are of all sizes, and
 * half of those across a link that loses 5 % lose nothing.
 *
 * 1. With `matrix: chosen` only those count that cover each link `cover` times and
 *    tell links apart (algos/rivals/probe_matrix.h): what deTector would send.
 * 2. A row is lossy if it lost more than the share `noise`.
 * 3. A link is a candidate if, of the rows across it, more than `hit` are lossy.
 * 4. The candidate that explains most lost packets, of lossy rows across it that
 *    none explains yet, is accused, until there is none.
 *
 * Scores are the packets that a link explained; of links that are not accused
 * those of rows that nothing explains.
 *
 * DEPARTS: rows are those of the telemetry, which sends as many packets on each
 * path; deTector would send more on few paths. Probes here go one way. Of links that
 * explain as many packets the one with the greater hit ratio is accused, then the
 * one with the least id. Lossy rows are not told from noise by a test of
 * significance.
 *
 * Cost   O(rows * length + links * accused), and that of the choice.
 * Paper  deTector (ATC'17), its localisation PLL, with its `hit` and `noise`; both
 *        as recalled and not confirmed, `cover` is ours.
 */
#ifndef ALGOS_RIVALS_DETECTOR_H
#define ALGOS_RIVALS_DETECTOR_H

#include "algos/algo.h"

enum algo_detector_matrix { ALGO_DETECTOR_ALL, ALGO_DETECTOR_CHOSEN };

struct algo_detector_params {
	uint32_t matrix; /* enum algo_detector_matrix */
	uint32_t cover;
	double noise, hit;
};

extern const struct algo_ops algo_detector;

#endif
