/* tests/fuzz/pinglist_fuzz.c -- any bytes as a pinglist; what is kept is safe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "algos/pingmesh/pinglist_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST = 24 };

static void must(int holds)
{
	if (!holds)
		abort();
}

/* No entry that could harm the network or this server, none twice. */
static void check(const struct algo_pinglist_doc *d, uint32_t self)
{
	must(d->n_entries <= MOST);
	for (uint32_t i = 0; i < d->n_entries; i++) {
		const struct algo_pinglist_entry *a = &d->entry[i];
		uint32_t n_same = 0;
		must(a->address != self);
		must(algo_pinglist_is_target(a->address));
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint32_t self = topo_addr_of_host(0);
	struct algo_pinglist_doc d = {.max_entries = MOST,
	    .max_bytes = 1 << 16};
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
	free(d.entry);
	free(d.work);
	return 0;
}
