/* tests/fuzz/slurm_fuzz.c -- any bytes as what squeue says of a plan's jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte is squeue's exit status, the second how many shards there are,
 * the rest what it wrote to stdout, or if it failed to stderr.
 */
#include "experiments/check/program.h"
#include "experiments/cluster/engine.h"
#include "tests/fuzz/fuzz.h"

static struct {
	const uint8_t *bytes;
	size_t n;
	int status;
} said;

int __wrap_xp_program_run(const struct xp_program *p, char **out, char **err,
    int *status, struct sim_err *e);

int __wrap_xp_program_run(const struct xp_program *p, char **out, char **err,
    int *status, struct sim_err *e)
{
	(void)p;
	(void)e;
	*status = said.status;
	char *text = malloc(said.n + 1), *none = calloc(1, 1);
	must(text != NULL && none != NULL);
	memcpy(text, said.bytes, said.n);
	text[said.n] = '\0';
	*out = said.status ? none : text;
	*err = said.status ? text : none;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct xp_plan p = {.figure = "small", .name = "culprit-small-77"};
	struct xp_queue q = {0};
	struct sim_err e = {0};
	size_t n_lines = 1;
	if (n < 2)
		return 0;
	said.status = bytes[0] % 4;
	p.n_shards = bytes[1] % 8u + 1;
	said.bytes = bytes + 2;
	said.n = n - 2;
	for (size_t i = 0; i < said.n; i++)
		n_lines += said.bytes[i] == '\n';
	/* As many as there are, so that one more is seen. */
	q.shard = calloc(p.n_shards, 1);
	must(q.shard != NULL);
	const int rc = xp_engine_slurm.ask(&p, &q, &e);
	must((rc < 0) == (said.status != 0));
	must(rc == 0 || e.msg[0] != '\0');
	must(q.n_jobs <= n_lines);
	must(memchr(q.why, '\0', sizeof(q.why)) != NULL);
	for (uint32_t i = 0; i < p.n_shards; i++)
		must(q.shard[i] <= XP_JOB_RUNS);
	free(q.shard);
	return 0;
}
