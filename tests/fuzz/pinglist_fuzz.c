/* tests/fuzz/pinglist_fuzz.c -- any bytes as a pinglist; what is kept is safe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/pinglist_xml.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 24 };

/* No entry that could harm the network or this server, none twice. */
static void check(const struct algo_pinglist_doc *d, uint32_t self)
{
	must(d->n_entries <= MOST);
	for (uint32_t i = 0; i < d->n_entries; i++) {
		const struct algo_pinglist_entry *a = &d->entry[i];
		uint32_t n_same = 0;
		must(a->address != self);
		const struct topo_ip ip =
		    topo_ip_book_look(d->book, a->address);
		must(topo_ip_is_target(&ip));
		must(topo_ip_is_number(a->address) == topo_ip_is_number(self));
		must(a->payload <= ALGO_PINGLIST_MAX_PAYLOAD);
		must(a->port > 0 && a->class < ALGO_PINGLIST_MAX_CLASSES);
		must(a->level < ALGO_PINGLIST_N_LEVELS);
		for (uint32_t k = 0; k < d->n_entries; k++) {
			const struct algo_pinglist_entry *b = &d->entry[k];
			if (b->address != a->address)
				continue;
			n_same++;
			must(k == i || b->port != a->port ||
			    b->class != a->class || !b->payload != !a->payload);
		}
		must(a->interval_s >= n_same * ALGO_PINGLIST_MIN_INTERVAL_S);
	}
}

/* With an allow-list the same is kept, or nothing as one entry is beyond it. */
static void check_allowed(struct algo_pinglist_doc *d, uint32_t self, int rc,
    const char *bytes, size_t n)
{
	struct algo_pinglist_allow a = {0};
	const uint32_t n_before = d->n_entries;
	must(algo_pinglist_allow_nets(&a, "10.0.0.0/30,fd00::/120", NULL) == 0);
	must(algo_pinglist_allow_ports(&a, "80,8000-9000", NULL) == 0);
	d->allow = &a;
	const int again = algo_pinglist_xml_read(d, self, bytes, n, NULL);
	must(again == 0 ? rc == 0 && d->n_entries == n_before
			: d->n_entries == 0);
	must(again == rc || d->n[ALGO_PINGLIST_BEYOND] == 1);
	for (uint32_t i = 0; i < d->n_entries; i++) {
		const struct topo_ip ip =
		    topo_ip_book_look(d->book, d->entry[i].address);
		must(algo_pinglist_allows(&a, &ip, d->entry[i].port));
	}
}

/* Any bytes as an allow-list: what is read is sound. */
static void check_allow(const uint8_t *bytes, size_t n)
{
	struct algo_pinglist_allow a = {0};
	char *text = malloc(n + 1);
	must(text != NULL);
	if (n > 0)
		memcpy(text, bytes, n);
	text[n] = '\0';
	algo_pinglist_allow_nets(&a, text, NULL);
	algo_pinglist_allow_ports(&a, text, NULL);
	must(a.n_nets <= ALGO_PINGLIST_ALLOW_MOST &&
	    a.n_ports <= ALGO_PINGLIST_ALLOW_MOST);
	for (uint32_t i = 0; i < a.n_nets; i++)
		must(topo_ip_net_has(&a.net[i], &a.net[i].first));
	for (uint32_t i = 0; i < a.n_ports; i++)
		must(a.first[i] > 0 && a.first[i] <= a.last[i] &&
		    (a.first[i] >= ALGO_PINGLIST_WELL_KNOWN ||
			a.first[i] == a.last[i]));
	free(text);
}

/* As the server SELF reads it. */
static void read_as(uint32_t self, struct topo_ip_book *book,
    const uint8_t *bytes, size_t n)
{
	struct algo_pinglist_doc d = {.max_entries = MOST,
	    .max_bytes = 1 << 16,
	    .book = book};
	struct sim_err e = {0};
	uint32_t refused = 0;
	/* Blocks of just these sizes let ASan see a write past them. */
	d.entry = malloc(MOST * sizeof(*d.entry));
	d.work = malloc(algo_pinglist_xml_work(MOST) * sizeof(*d.work));
	must(d.entry && d.work);
	const int rc =
	    algo_pinglist_xml_read(&d, self, (const char *)bytes, n, &e);
	for (int i = 0; i < ALGO_PINGLIST_SELF; i++)
		refused += d.n[i];
	must(refused == (rc < 0));
	must(rc == 0 || (e.msg[0] != '\0' && d.n_entries == 0));
	check(&d, self);
	check_allowed(&d, self, rc, (const char *)bytes, n);
	free(d.entry);
	free(d.work);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct topo_ip six = {{0xfd, [15] = 1}};
	struct topo_ip_book book;
	must(topo_ip_book_open(&book, 3 * MOST, NULL) == 0);
	read_as(topo_addr_of_host(0), NULL, bytes, n);
	read_as(topo_ip_book_note(&book, &six), &book, bytes, n);
	topo_ip_book_close(&book);
	check_allow(bytes, n);
	return 0;
}
