/* tests/speed/erspan.c -- mirrored packets: bytes to a record, and matching.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "algos/everflow/erspan.h"
#include "algos/everflow/mirror_rule.h"
#include "tests/rigs/packets.h"
#include "tests/speed/bench.h"

enum { N = 4096, ROUNDS = 64, BYTES = 192, COUNTED = 4 };

struct subject {
	uint8_t bytes[N][BYTES];
	size_t n[N];
	struct obs_packet packet[N];
	struct algo_mirror_table table;
};

static void must(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "bench: %s\n", what);
		exit(1);
	}
}

static uint64_t read_each(const struct subject *s)
{
	struct algo_erspan_copy c;
	uint64_t sum = 0;
	for (int i = 0; i < N; i++) {
		algo_erspan_read(OBS_ETH_IPV4, s->bytes[i], s->n[i], 0, &c);
		sum += c.packet.digest;
	}
	return sum;
}

static void read_all(void *arg)
{
	uint64_t sum = 0;
	for (int round = 0; round < ROUNDS; round++)
		sum += read_each(arg);
	bench_sink += sum;
}

/* The long way, header by header. */
static void read_all_any(void *arg)
{
	const struct subject *s = arg;
	struct algo_erspan_copy c;
	uint64_t sum = 0;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < N; i++) {
			algo_erspan_read_any(OBS_ETH_IPV4, s->bytes[i], s->n[i],
			    0, &c);
			sum += c.packet.digest;
		}
	bench_sink += sum;
}

static void match_all(void *arg)
{
	const struct subject *s = arg;
	uint64_t sum = 0;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < N; i++)
			sum += (uint64_t)obs_match(s->table.row, s->table.n,
			    &s->packet[i], 0);
	bench_sink += sum;
}

/* ALIKE: TCP in one IP header each, as most of what is mirrored. */
static void open_subject(struct subject *s, int alike)
{
	struct algo_mirror_params params;
	struct algo_erspan_copy c = {.switch_ip = 1, .collector_ip = 2};
	struct sim_seed seed = {.seed = 1};
	struct sim_rng r;
	struct sim_err e;
	uint8_t *out = malloc(ALGO_ERSPAN_MAX);
	must(out != NULL, "no memory");
	sim_rng_init(&r, &seed, SIM_STREAM_TEST, 0);
	for (int i = 0; i < N; i++) {
		do
			packets_any(&c.packet, &r);
		while (alike &&
		    (c.packet.ip.proto != TOPO_PROTO_TCP ||
			c.packet.n_outer > 0));
		s->packet[i] = c.packet;
		s->n[i] = algo_erspan_write(&c, 128, out);
		memcpy(s->bytes[i], out, s->n[i]);
	}
	free(out);
	must(sim_field_defaults(algo_mirror_fields, &params, &e) == 0 &&
		algo_mirror_table(&s->table, &params, &e) == 0,
	    "no table");
}

/* What is timed reads what was written. */
static void check_subject(const struct subject *s)
{
	for (int i = 0; i < N; i++) {
		struct algo_erspan_copy c;
		must(algo_erspan_read(OBS_ETH_IPV4, s->bytes[i], s->n[i], 0,
			 &c) == ALGO_ERSPAN_FINE &&
			memcmp(&c.packet, &s->packet[i], sizeof(c.packet)) == 0,
		    "a copy is read as another");
	}
}

static struct subject *new_subject(int alike)
{
	struct subject *s = calloc(1, sizeof(*s));
	must(s != NULL, "no memory");
	open_subject(s, alike);
	return s;
}

/* --- instructions ----------------------------------------------------------*/
void bench_erspan_read(uint32_t alike, uint64_t k)
{
	struct subject *s = new_subject(alike == 1);
	for (uint64_t i = 0; i < k; i++)
		bench_sink += read_each(s);
	free(s);
}

static void count_instructions(void)
{
	const double once = bench_instructions("erspan-read", 1, COUNTED);
	const double more =
	    once < 0 ? -1 : bench_instructions("erspan-read", 1, 2 * COUNTED);
	if (more < 0)
		printf("%-48s %10s\n", "erspan instructions", "skipped");
	else
		bench_row("erspan: instructions to read a copy",
		    (more - once) / COUNTED / N, "Ir", '<', 160);
}

void bench_erspan(void)
{
	const double n = (double)N * ROUNDS;
	struct subject *s = new_subject(1);
	check_subject(s);
	const struct bench_pair p =
	    bench_against(9, read_all_any, s, read_all, s);
	bench_row("erspan: a copy's bytes to its packet", p.b_s * 1e9 / n, "ns",
	    '<', 12);
	bench_row("erspan: the same, header by header", p.a_s * 1e9 / n, "ns",
	    '-', 0);
	bench_row("erspan: the second against the first", p.ratio, "x", '>',
	    1.5);
	count_instructions();
	open_subject(s, 0);
	check_subject(s);
	bench_row("erspan: a copy's bytes, of all kinds at random",
	    bench_best(9, read_all, s) * 1e9 / n, "ns", '-', 0);
	bench_row("erspan: a packet against all rules",
	    bench_best(9, match_all, s) * 1e9 / n, "ns", '-', 0);
	free(s);
}
