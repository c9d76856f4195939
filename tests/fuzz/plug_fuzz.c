/* tests/fuzz/plug_fuzz.c -- any bytes from a child: an answer, a description.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte chooses what is due; what is behind it is what came.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/about.h"
#include "experiments/plug/answer.h"
#include "experiments/plug/library.h"
#include "tests/fuzz/fuzz.h"

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

/* A word of the bytes, which a plug-in names things by. */
static const char *fuzz_word(const uint8_t **at, size_t *n, char word[64])
{
	size_t k = *n > 0 ? **at % 62u : 0;
	if (k > *n)
		k = *n;
	memcpy(word, *at, k);
	word[k] = '\0';
	*at += k;
	*n -= k;
	return word;
}

/* A plug-in says what it likes: it never gets more than one line by it, nor a
 * parameter that does not allow its default. */
static void fuzz_plugin(const uint8_t *bytes, size_t n)
{
	static char out[PLUG_ABOUT_BYTES];
	char word[6][64];
	struct culprit_param p[2];
	struct culprit_plugin x = {.size = sizeof(x),
	    .param_stride = sizeof(p[0]),
	    .n_params = 2,
	    .param = p};
	struct sim_text t = {out, sizeof(out), 0};
	if (n < 16 + sizeof(p))
		return;
	memcpy(p, bytes, sizeof(p));
	memcpy(&x.needs, bytes + sizeof(p), 8);
	memcpy(&x.says, bytes + sizeof(p) + 8, 8);
	bytes += 16 + sizeof(p);
	n -= 16 + sizeof(p);
	x.name = fuzz_word(&bytes, &n, word[0]);
	x.doc = n % 3 ? fuzz_word(&bytes, &n, word[1]) : NULL;
	x.paper = fuzz_word(&bytes, &n, word[2]);
	for (int i = 0; i < 2; i++) {
		p[i].name = fuzz_word(&bytes, &n, word[3 + i]);
		p[i].unit = p[i].doc = fuzz_word(&bytes, &n, word[5]);
	}
	sim_put(&t, "culprit 1\n");
	plug_probe_put(&t, &x);
	sim_put(&t, "end\n");
	must(t.n < sizeof(out));
	size_t lines = 0;
	for (size_t i = 0; i < t.n; i++)
		lines += out[i] == '\n';
	must(lines >= 9 && lines <= 11);
	fuzz_about((const uint8_t *)out, t.n);
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
	if (bytes[0] & 32)
		fuzz_plugin(bytes + 1, n - 1);
	else if (bytes[0] & 16)
		fuzz_about(bytes + 1, n - 1);
	else
		fuzz_answer(bytes + 1, n - 1, bytes[0]);
	return 0;
}
