/* algos/registry.c -- all diagnosers, and one by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "algos/alg1.h"
#include "algos/algo.h"
#include "algos/blackhole_algo.h"
#include "algos/cover.h"
#include "algos/hop_trace_algo.h"
#include "algos/program.h"
#include "algos/vote.h"
#include "algos/vote_ecmp.h"

const struct algo_ops *const algo_registry[] = {
	&algo_vote,
	&algo_vote_ecmp,
	&algo_alg1,
	&algo_cover,
	&algo_binary,
	&algo_integer,
	&algo_blackhole_ops,
	&algo_hop_trace_ops,
	NULL,
};

const struct algo_ops *algo_find(const char *name)
{
	for (const struct algo_ops *const *a = algo_registry; *a; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}
