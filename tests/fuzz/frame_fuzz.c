/* tests/fuzz/frame_fuzz.c -- any bytes as a captured frame, whole and cut.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An input is an EtherType and what is behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/millisampler/frame.h"
#include "models/obs_buckets.h"
#include "tests/fuzz/fuzz.h"

/* Of a copy, so that a step behind what was captured is seen. */
static struct xp_frame frame_of(uint16_t type, const uint8_t bytes[], size_t n,
    size_t whole)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);
	must(copy != NULL);
	memcpy(copy, bytes, n);
	const struct xp_captured x = {.unix_ns = 1,
	    .bytes = copy,
	    .n = n,
	    .ethertype = type,
	    .n_frame = (uint32_t)whole + 14,
	    .n_behind = (uint32_t)whole};
	const struct xp_frame f = xp_frame_read(&x);
	free(copy);
	return f;
}

static int is_same(const struct xp_frame *a, const struct xp_frame *b)
{
	return memcmp(&a->key, &b->key, sizeof(a->key)) == 0 &&
	    a->seq == b->seq && a->n_payload == b->n_payload &&
	    a->proto == b->proto && a->ttl == b->ttl && a->tos == b->tos &&
	    a->tcp_flags == b->tcp_flags && a->has_ports == b->has_ports &&
	    a->has_tcp == b->has_tcp;
}

/* What is captured in part tells the same, or that it is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct xp_frame_region region = {.mask4 = 0xff};
	if (n < 2 || n > 600)
		return 0;
	const uint16_t type = (uint16_t)(bytes[0] << 8 | bytes[1]);
	const struct xp_frame f = frame_of(type, bytes + 2, n - 2, n - 2);
	must(f.key.version == 0 || f.key.version == 4 || f.key.version == 6);
	must(f.n_payload <= n && f.bytes == n + 12);
	must(!f.has_tcp || f.has_ports);
	for (int out = 0; out < 2; out++) {
		const struct obs_seen s = xp_frame_seen(&f, out, &region);
		must(s.bit < OBS_SKETCH_BITS && s.bytes == f.bytes);
		must(s.has_bit == (f.key.version != 0));
	}
	for (size_t k = 0; k < n - 2; k++) {
		const struct xp_frame cut = frame_of(type, bytes + 2, k, n - 2);
		must(cut.is_cut || is_same(&cut, &f));
	}
	return 0;
}
