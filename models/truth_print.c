/* models/truth_print.c -- what was really broken, for people.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>

#include "models/truth.h"
#include "topo/topo.h"

enum { SHOWN = 50 }; /* of each sort: a pod has hundreds of links */

static double seconds(sim_ns t)
{
	return (double)t / (double)SIM_SEC;
}

/* Ends the line; says nothing of the whole time. */
static void print_span(sim_ns from, sim_ns to, FILE *out)
{
	if (from > 0)
		fprintf(out, ", from %g s", seconds(from));
	if (to != SIM_NEVER)
		fprintf(out, "%s to %g s", from > 0 ? "" : ",", seconds(to));
	fputc('\n', out);
}

static void print_rest(size_t n, FILE *out)
{
	if (n > SHOWN)
		fprintf(out, "  and %zu more\n", n - SHOWN);
}

/* Those that holes have on their links are told with the holes. */
static void print_faults(const struct truth *truth, const struct topo *t,
    FILE *out)
{
	size_t n = 0, shown = 0;
	for (size_t i = 0; i < truth->n_faults; i++)
		n += !truth->fault[i].of_hole;
	fprintf(out, "%zu faults\n", n);
	for (size_t i = 0; i < truth->n_faults && shown < SHOWN; i++) {
		const struct truth_fault *f = &truth->fault[i];
		char name[64];
		if (f->of_hole)
			continue;
		shown++;
		topo_link_name(t, f->link, name);
		fprintf(out, "  %-24s link %-8u rate %.4g", name, f->link,
		    f->rate);
		if (f->delay_us > 0)
			fprintf(out, ", delay %.4g us", f->delay_us);
		print_span(f->from_ns, f->to_ns, out);
	}
	print_rest(n, out);
}

static void print_holes(const struct truth *truth, const struct topo *t,
    FILE *out)
{
	if (truth->n_holes > 0)
		fprintf(out, "%zu black holes\n", truth->n_holes);
	for (size_t i = 0; i < truth->n_holes && i < SHOWN; i++) {
		const struct truth_hole *h = &truth->hole[i];
		char name[64];
		topo_node_name(t, t->n_hosts + h->at, name);
		fprintf(out, "  %-24s type %d, %.4g of its entries", name,
		    (int)h->rule.type, (double)h->rule.below * 0x1p-32);
		print_span(h->from_ns, h->to_ns, out);
	}
	print_rest(truth->n_holes, out);
}

static void print_outage(const struct truth_outage *o, FILE *out)
{
	static const char *const kinds[] = {"host", "pod ", "controller",
	    "collector"};
	static const char *const modes[] = {"down", "slow", "without documents",
	    "sending garbage"};
	const int service = o->kind >= TRUTH_CONTROLLER;
	char name[32];
	if (service)
		snprintf(name, sizeof(name), "%s", kinds[o->kind]);
	else
		snprintf(name, sizeof(name), "%s%" PRIu32, kinds[o->kind],
		    o->id);
	fprintf(out, "  %-24s %s", name, service ? modes[o->mode] : "off");
	if (o->delay_us > 0)
		fprintf(out, " by %.4g us", o->delay_us);
	print_span(o->from_ns, o->to_ns, out);
}

void truth_print(const struct truth *truth, const struct topo *t, FILE *out)
{
	print_faults(truth, t, out);
	print_holes(truth, t, out);
	if (truth->n_outages > 0)
		fprintf(out, "%zu outages\n", truth->n_outages);
	for (size_t i = 0; i < truth->n_outages && i < SHOWN; i++)
		print_outage(&truth->outage[i], out);
	print_rest(truth->n_outages, out);
}
