/* tests/fuzz/filter_fuzz.c -- any bytes as a filter; what compiles is safe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "algos/everflow/filter.h"
#include "tests/fuzz/fuzz.h"
#include "topo/addr.h"

enum { COPIES = 9 };

/* Steps lead forward to steps that are there, patterns to states that are. */
static void check(const struct algo_filter *f)
{
	const uint64_t states =
	    f->paths.n == 64 ? UINT64_MAX : (UINT64_C(1) << f->paths.n) - 1;
	must(f->n <= ALGO_FILTER_STEPS && f->paths.n <= ALGO_PATH_STATES);
	for (unsigned i = 0; i < f->n; i++) {
		const struct algo_filter_step *s = &f->step[i];
		must(
		    s->yes >= ALGO_FILTER_YES || (s->yes > i && s->yes < f->n));
		must(s->no >= ALGO_FILTER_YES || (s->no > i && s->no < f->n));
		must(s->op <= ALGO_FILTER_PATH);
		must(s->field < ALGO_N_FILTER_FIELDS);
		if (s->op == ALGO_FILTER_PATH)
			must(s->value < f->paths.n && !(s->mask & ~states));
	}
	for (unsigned i = 0; i < f->paths.n; i++)
		must(!(f->paths.follow[i] & ~states));
}

/* Copies of switches that are not there, too. */
static void run(const struct algo_filter *f, const char *text, const uint8_t *b,
    size_t n)
{
	char out[16384];
	struct sim_text to = {out, sizeof(out), 0};
	struct algo_hop hop[COPIES] = {0};
	struct algo_trace t = {.src_ip = TOPO_ADDR_HOST_BASE + n % 9,
	    .dst_ip = TOPO_ADDR_HOST_BASE + 1,
	    .marks = (uint32_t)n,
	    .proto = n % 2 ? 6 : 17,
	    .dst_port = OBS_PORT_ROCE,
	    .last_node = n % 12,
	    .n_hops = COPIES};
	for (unsigned i = 0; i < COPIES; i++)
		hop[i] = (struct algo_hop){.t_ns = i,
		    .node = n > i ? b[i] % 12 : i,
		    .in_link = i,
		    .layer = i % 3};
	const int fits = algo_filter_test(f, &t, hop, 99);
	must(fits == 0 || fits == 1);
	if (algo_filter_is_header_only(f)) {
		const struct obs_copy c = {.src_ip = t.src_ip,
		    .dst_ip = t.dst_ip,
		    .proto = t.proto,
		    .dst_port = t.dst_port};
		must(algo_filter_test_copy(f, &c) == fits);
	}
	algo_filter_put(f, text, &to);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	struct topo t;
	struct algo_filter f;
	struct sim_err e = {0};
	char *text = malloc(n + 1);
	must(text && topo_open_clos(&t, &shape, &e) == 0);
	memcpy(text, bytes, n);
	text[n] = '\0';
	if (algo_filter_compile(&f, text, &t, ALGO_IS_CONDITION, &e) == 0) {
		check(&f);
		run(&f, text, bytes, n);
	} else {
		must(e.msg[0] != '\0');
	}
	/* Without a topology less compiles, and as safely. */
	if (algo_filter_compile(&f, text, NULL, ALGO_IS_FILTER, &e) == 0) {
		check(&f);
		run(&f, text, bytes, n);
	}
	topo_close(&t);
	free(text);
	return 0;
}
