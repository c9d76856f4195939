/* tests/speed/pinglist.c -- pinglists of 100,000 servers: peers, XML, reading.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/pinglist_xml.h"
#include "tests/speed/bench.h"

/* 2500 ToRs of 40 servers: 2538 peers each, 253.8 million in all. */
static const struct topo_clos shape = {125, 20, 8, 10, 40, .n_cables = 0};

enum { N_SERVERS = 400, STRIDE = 249 }; /* of those timed against sprintf */

struct subject {
	struct algo_pinglist plan;
	struct algo_pinglist_xml xml;
	char *text;
	size_t size, n_bytes, n_last; /* all lists', the last list's */
	uint64_t n_entries;
	struct algo_pinglist_doc doc;
	FILE *null;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static void walk(void *arg)
{
	struct subject *s = arg;
	struct algo_pinglist_server server;
	struct sim_err e;
	uint64_t sum = 0;
	s->n_entries = 0;
	for (uint32_t i = 0; i < s->plan.n_servers; i += STRIDE) {
		must(algo_pinglist_server(&server, &s->plan, i, &e), &e);
		for (uint32_t k = 0; k < server.n_peers; k++)
			sum += algo_pinglist_at(&server, k).address;
		s->n_entries += server.n_peers;
	}
	bench_sink += sum;
}

static void write_fast(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	s->n_bytes = s->n_entries = 0;
	for (uint32_t i = 0; i < N_SERVERS; i++) {
		size_t n, at = 0;
		must(algo_pinglist_xml_start(&s->xml, i * STRIDE, &e), &e);
		while ((n = algo_pinglist_xml_next(&s->xml, s->text + at,
			    s->size - at)) > 0)
			at += n;
		s->n_bytes += at;
		s->n_last = at;
		s->n_entries += algo_pinglist_n_entries(&s->xml.server);
	}
	bench_sink += s->n_bytes;
}

static size_t sprint_list(char *text, const struct algo_pinglist *l,
    uint32_t id)
{
	struct algo_pinglist_server server;
	struct sim_err e;
	char address[16], *p = text;
	must(algo_pinglist_server(&server, l, id, &e), &e);
	topo_addr_format(topo_addr_of_host(id), address);
	p += sprintf(p,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<pinglist server=\"%s\" version=\"%016" PRIx64
	    "\" count=\"%u\">\n",
	    address, l->version, algo_pinglist_n_entries(&server));
	for (uint32_t k = 0; k < server.n_peers; k++) {
		const struct algo_pinglist_peer peer =
		    algo_pinglist_at(&server, k);
		for (uint32_t i = 0; i < l->n_kinds[peer.level]; i++) {
			const struct algo_pinglist_entry x =
			    algo_pinglist_entry(l, peer, i);
			p += sprintf(p,
			    "  <peer address=\"%u.%u.%u.%u\" port=\"%u\" "
			    "level=\"%s\" class=\"%u\" interval_s=\"%u\" "
			    "payload=\"%u\"/>\n",
			    x.address >> 24, x.address >> 16 & 0xff,
			    x.address >> 8 & 0xff, x.address & 0xff, x.port,
			    algo_pinglist_levels[x.level], x.class,
			    x.interval_s, x.payload);
		}
	}
	p += sprintf(p, "</pinglist>\n");
	return (size_t)(p - text);
}

static void write_sprintf(void *arg)
{
	struct subject *s = arg;
	s->n_bytes = 0;
	for (uint32_t i = 0; i < N_SERVERS; i++)
		s->n_bytes += sprint_list(s->text, &s->plan, i * STRIDE);
	bench_sink += s->n_bytes;
}

static void write_all(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	must(algo_pinglist_xml_write_all(&s->xml, s->null, &e), &e);
}

/* The same list again and again: the last one written. */
static void read_lists(void *arg)
{
	struct subject *s = arg;
	const uint32_t self = topo_addr_of_host((N_SERVERS - 1) * STRIDE);
	struct sim_err e;
	for (uint32_t i = 0; i < N_SERVERS; i++) {
		must(algo_pinglist_xml_read(&s->doc, self, s->text, s->n_last,
			 &e),
		    &e);
		bench_sink += s->doc.n_entries;
	}
}

static void open_subject(struct subject *s)
{
	struct algo_pinglist_params params;
	struct sim_err e;
	must(sim_field_defaults(algo_pinglist_fields, &params, &e), &e);
	must(algo_pinglist_open(&s->plan, &params, &shape, 1, &e), &e);
	algo_pinglist_xml_open(&s->xml, &s->plan);
	s->size = 1 << 20;
	s->text = malloc(s->size);
	s->doc.max_entries = 5000;
	s->doc.max_bytes = s->size;
	s->doc.entry = calloc(5000, sizeof(*s->doc.entry));
	s->doc.work = calloc(algo_pinglist_xml_work(5000), sizeof(uint32_t));
	s->null = fopen("/dev/null", "w");
	if (!s->text || !s->doc.entry || !s->doc.work || !s->null) {
		fprintf(stderr, "bench: no memory or no /dev/null\n");
		exit(1);
	}
}

static void check_same(struct subject *s)
{
	struct sim_err e;
	size_t n, at = 0;
	char *want = malloc(s->size);
	must(algo_pinglist_xml_start(&s->xml, 99999, &e), &e);
	while ((n = algo_pinglist_xml_next(&s->xml, s->text + at,
		    s->size - at)) > 0)
		at += n;
	if (!want || sprint_list(want, &s->plan, 99999) != at ||
	    memcmp(want, s->text, at) != 0) {
		fprintf(stderr, "bench: two writers of a pinglist differ\n");
		exit(1);
	}
	free(want);
}

void bench_pinglist(void)
{
	struct subject *s = calloc(1, sizeof(*s));
	if (!s)
		exit(1);
	open_subject(s);
	check_same(s);
	const double walk_s = bench_best(5, walk, s);
	bench_row("pinglist: a peer, computed",
	    walk_s * 1e9 / (double)s->n_entries, "ns", '-', 0);
	const struct bench_pair xml =
	    bench_against(7, write_sprintf, s, write_fast, s);
	const double n = (double)s->n_entries, bytes = (double)s->n_bytes;
	bench_row("pinglist: an entry as XML", xml.b_s * 1e9 / n, "ns", '-', 0);
	bench_row("pinglist: XML to memory", bytes / xml.b_s * 1e-9, "GB/s",
	    '-', 0);
	bench_row("pinglist: the same by sprintf", xml.a_s * 1e9 / n, "ns", '-',
	    0);
	bench_row("pinglist: against sprintf", xml.ratio, "x", '>', 25);
	write_fast(s);
	bench_row("pinglist: an entry read and checked",
	    bench_best(5, read_lists, s) * 1e9 / n, "ns", '-', 0);
	bench_row("pinglist: 100,000 lists to /dev/null",
	    bench_best(1, write_all, s), "s", '-', 0);
	bench_row("pinglist: peak memory",
	    (double)bench_peak_bytes() / (1 << 20), "MiB", '<', 1024);
	fclose(s->null);
	free(s->doc.entry);
	free(s->doc.work);
	free(s->text);
	free(s);
}
