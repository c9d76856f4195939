/* tests/fuzz/plug_fuzz.c -- any bytes from a child: an answer, a description.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte chooses what is due; what is behind it is what came.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/about.h"
#include "experiments/plug/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void fuzz_about(const uint8_t *bytes, size_t n)
{
	unsigned char params[sizeof(struct plug_params) + 8 * PLUG_MAX_PARAMS];
	struct plug_about a;
	if (plug_about_read(&a, (const char *)bytes, n, NULL) == 0) {
		must(a.params_size <= sizeof(params));
		/* A default that it gives is one that it allows. */
		must(sim_field_defaults(a.field, params, NULL) == 0);
	}
	plug_about_free(&a);
}

static void fuzz_answer(const uint8_t *bytes, size_t n, uint8_t what)
{
	enum { LINKS = 12, IDS = 15, FLOWS = 4 };
	const struct plug_limits l = {what & 8 ? PLUG_OPENED : PLUG_ANSWER,
	    LINKS, IDS, FLOWS, what & 7u};
	uint32_t names[IDS] = {0};
	struct plug_seen seen = {names, 0};
	struct algo_verdicts v = {0};
	size_t size;
	if (plug_frame_size(bytes, n, &l, &size, NULL) < 0 || size == 0 ||
	    size > n)
		return;
	uint8_t *exact = malloc(size);
	must(exact != NULL);
	memcpy(exact, bytes, size);
	if (plug_frame_take(exact, &l, &seen, &v, NULL) == 0) {
		must(v.n_flagged <= v.n && v.n <= IDS);
		must(v.n_flows == 0 || v.n_flows == FLOWS);
		for (size_t i = 0; i < v.n; i++)
			must(v.link[i] < (what & 4 ? IDS : LINKS));
	}
	algo_verdicts_free(&v);
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n == 0 || n > 4096)
		return 0;
	if (bytes[0] & 16)
		fuzz_about(bytes + 1, n - 1);
	else
		fuzz_answer(bytes + 1, n - 1, bytes[0]);
	return 0;
}
