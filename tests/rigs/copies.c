/* tests/rigs/copies.c -- copies of packets that switches would mirror, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/copies.h"

#include <stdio.h>
#include <stdlib.h>

#include "topo/addr.h"

struct obs_copy copies_packet(topo_host src, topo_host dst, uint16_t src_port,
    uint16_t ip_id)
{
	return (struct obs_copy){.in_link = TOPO_NONE,
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = src_port,
	    .dst_port = 80,
	    .proto = TOPO_PROTO_TCP,
	    .seq = 1000 + src_port,
	    .digest = (uint64_t)(1000 + src_port) << 32,
	    .ip_id = ip_id,
	    .ttl = COPIES_TTL,
	    .ttl_in = COPIES_TTL,
	    .flags = OBS_TCP_SYN,
	    .n_bytes = 74,
	    .kind = OBS_COPY_CONTROL};
}

unsigned copies_between(const struct topo *t, const struct obs_copy *like,
    topo_host src, topo_host dst, uint64_t at, struct obs_copy out[])
{
	const int bare = like->layer == 0;
	const struct topo_tuple tuple = {bare ? like->src_ip : like->outer_src,
	    bare ? like->dst_ip : like->outer_dst, bare ? like->src_port : 0,
	    bare ? like->dst_port : 0, bare ? like->proto : OBS_PROTO_IPIP};
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n =
	    topo_path(t, 0, src, dst, topo_tuple_digest(&tuple), path);
	/* The last link leads to the host. */
	for (unsigned i = 0; i + 1 < n; i++) {
		topo_node from, to;
		topo_link_ends(t, path[i], &from, &to);
		out[i] = *like;
		out[i].t_ns = at + (uint64_t)i * COPIES_HOP_NS;
		out[i].node = to - t->n_hosts;
		out[i].in_link = path[i];
		out[i].ttl = (uint8_t)(like->ttl - i);
		if (bare)
			out[i].ttl_in = out[i].ttl;
	}
	return n > 0 ? n - 1 : 0;
}

unsigned copies_of(const struct topo *t, const struct obs_copy *like,
    uint64_t at, struct obs_copy out[])
{
	const uint32_t src = like->layer ? like->outer_src : like->src_ip;
	const uint32_t dst = like->layer ? like->outer_dst : like->dst_ip;
	return copies_between(t, like, topo_addr_to_host(src, t->n_hosts),
	    topo_addr_to_host(dst, t->n_hosts), at, out);
}

void copies_add(struct obs_mirror *m, const struct obs_copy c[], unsigned n,
    uint64_t keep)
{
	for (unsigned i = 0; i < n; i++)
		if (keep >> i & 1 && obs_mirror_add(m, &c[i], NULL) < 0) {
			fprintf(stderr, "copies: no memory\n");
			exit(1);
		}
}

/* Merge sort of row numbers, which is stable. */
static void copies_merge(const uint64_t t[], size_t a[], size_t b[], size_t n)
{
	if (n < 2)
		return;
	const size_t half = n / 2;
	copies_merge(t, a, b, half);
	copies_merge(t, a + half, b, n - half);
	for (size_t i = 0; i < half; i++)
		b[i] = a[i];
	for (size_t i = 0, k = half, out = 0; i < half; out++)
		a[out] = k < n && t[a[k]] < t[b[i]] ? a[k++] : b[i++];
}

void copies_sort(struct obs_mirror *m)
{
	struct obs_mirror sorted = {0};
	size_t *row = malloc((2 * m->n + 1) * sizeof(row[0]));
	if (!row || obs_mirror_reserve(&sorted, m->n, NULL) < 0) {
		fprintf(stderr, "copies: no memory\n");
		exit(1);
	}
	for (size_t i = 0; i < m->n; i++)
		row[i] = i;
	copies_merge(m->t_ns, row, row + m->n, m->n);
	for (size_t i = 0; i < m->n; i++) {
		const struct obs_copy c = obs_mirror_at(m, row[i]);
		copies_add(&sorted, &c, 1, 1);
	}
	free(row);
	obs_mirror_free(m);
	*m = sorted;
}
