/* tests/cli/lib/wait_plugin.c -- a plug-in that takes its time, and no CPU.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With it a sweep lasts as long as a test needs to stop it half-way, however fast
 * cells are otherwise. It accuses nobody.
 */
#include <time.h>

#include "algos/plugin.h"

static const struct culprit_param wait_params[] = {
    {"ms", "ms", "how long a window takes", CULPRIT_U32, 0, 0, 1000, 3},
};

static int wait_open(void **work, const struct culprit_topo *topo, char *error,
    uint64_t error_bytes)
{
	static uint32_t ms;
	(void)error, (void)error_bytes;
	ms = topo->value[0].u32;
	*work = &ms;
	return 0;
}

static void wait_close(void *work)
{
	(void)work;
}

static int wait_diagnose(void *work, const struct culprit_window *w,
    struct culprit_answer *out, char *error, uint64_t error_bytes)
{
	const uint32_t ms = *(uint32_t *)work;
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	(void)w, (void)error, (void)error_bytes;
	nanosleep(&t, NULL);
	out->n = out->n_flagged = 0;
	return 0;
}

static const struct culprit_plugin wait_plugin = {
    sizeof(struct culprit_plugin),
    sizeof(struct culprit_param),
    "wait",
    "nobody, after a while",
    "none",
    CULPRIT_NEEDS_FLOWS,
    CULPRIT_SAYS_FLAGS,
    1,
    wait_params,
    wait_open,
    wait_diagnose,
    wait_close,
};

const struct culprit_plugin *culprit_plugin_1(void)
{
	return &wait_plugin;
}
