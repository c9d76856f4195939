/* models/truth_print.c -- what was really broken, for people.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>

#include "models/truth.h"
#include "topo/addr.h"
#include "topo/topo.h"

enum { SHOWN = 50 }; /* of each sort: a pod has hundreds of links */

static double seconds(sim_ns t)
{
	return (double)t / (double)SIM_SEC;
}

/* End the line with when it holds; a whole run needs no words. */
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

/* Whether an outage of that kind and id has exactly the span from FROM to TO:
 * then its own line tells what another would repeat. */
static int is_told(const struct truth *truth, enum truth_outage_kind kind,
    uint32_t id, sim_ns from, sim_ns to)
{
	const struct truth_outage *o = truth_outage_at(truth, kind, id, from);
	return o && o->from_ns == from && o->to_ns == to;
}

/* Faults of holes and routes are told with these, and a cut cable with the host that
 * is off. Host h has the links 2h and 2h + 1, so a link's half is the number of
 * its cable, and that of its host if it is below n_hosts. */
static int truth_print_is_shown(const struct truth *truth, const struct topo *t,
    const struct truth_fault *f)
{
	const topo_host host = f->link / 2;
	if (truth_is_mark(f))
		return 0;
	return f->rate < 1 || host >= t->n_hosts ||
	    !is_told(truth, TRUTH_HOST_OFF, host, f->from_ns, f->to_ns);
}

static void print_burst(const struct burst *b, FILE *out)
{
	fprintf(out,
	    " on average: queues up to %.4g us, in %.4g of episodes of %.4g s",
	    b->depth.b, b->duty, seconds(b->episode_ns));
}

static void print_faults(const struct truth *truth, const struct topo *t,
    FILE *out)
{
	size_t n = 0, i;
	for (i = 0; i < truth->n_faults; i++)
		n += truth_print_is_shown(truth, t, &truth->fault[i]);
	fprintf(out, "%zu faults\n", n);
	for (size_t shown = i = 0; i < truth->n_faults && shown < SHOWN; i++) {
		const struct truth_fault *f = &truth->fault[i];
		char name[64];
		if (!truth_print_is_shown(truth, t, f))
			continue;
		shown++;
		topo_link_name(t, f->link, name);
		fprintf(out, "  %-24s link %-8u rate %.4g", name, f->link,
		    f->rate);
		if (f->delay_us > 0)
			fprintf(out, ", delay %.4g us", f->delay_us);
		if (f->law == TRUTH_BURST)
			print_burst(&truth->burst[f->burst], out);
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

/* Which destinations: hosts of a range, all that there are, or addresses. */
static void print_destinations(const struct route_rule *r, const struct topo *t,
    FILE *out)
{
	char first[16], last[16];
	topo_addr_format(r->first_ip, first);
	topo_addr_format(r->last_ip, last);
	if (r->first_ip == 0 && r->last_ip == UINT32_MAX)
		fputs("all packets", out);
	else if (topo_addr_to_host(r->first_ip, t->n_hosts) != TOPO_NONE &&
	    topo_addr_to_host(r->last_ip, t->n_hosts) != TOPO_NONE)
		fprintf(out, "packets to host%u..%u",
		    r->first_ip - TOPO_ADDR_HOST_BASE,
		    r->last_ip - TOPO_ADDR_HOST_BASE);
	else
		fprintf(out, "packets to %s..%s", first, last);
	if (r->flows.below < UINT64_C(1) << 32)
		fprintf(out, ", %.4g of the flows,",
		    (double)r->flows.below * 0x1p-32);
}

static void print_route(const struct route_rule *r, const struct topo *t,
    FILE *out)
{
	char name[64];
	print_destinations(r, t, out);
	switch (r->kind) {
	case ROUTE_RULE_LINK:
		topo_link_name(t, r->link, name);
		fprintf(out, " go by %s", name);
		break;
	case ROUTE_RULE_NARROW:
		fprintf(out, " have %u next hops at most", r->n_left);
		break;
	case ROUTE_RULE_WEIGHTS:
		fprintf(out, " prefer one next hop %.4g to 1", r->weight);
		break;
	case ROUTE_RULE_SEED:
		fprintf(out, " are hashed with seed %#x", r->salt);
		break;
	default:
		fprintf(out, " are hashed to %u bits", r->bits);
	}
}

static void print_routes(const struct truth *truth, const struct topo *t,
    FILE *out)
{
	if (truth->n_routes > 0)
		fprintf(out, "%zu wrong routes\n", truth->n_routes);
	for (size_t i = 0; i < truth->n_routes && i < SHOWN; i++) {
		const struct truth_route *r = &truth->route[i];
		char name[64];
		topo_node_name(t, t->n_hosts + r->at, name);
		fprintf(out, "  %-24s ", name);
		print_route(&r->rule, t, out);
		print_span(r->from_ns, r->to_ns, out);
	}
	print_rest(truth->n_routes, out);
}

/* By kind: what its id is of, and what it does; NULL: by its mode. */
static const struct {
	const char *of, *does;
} outage_words[TRUTH_N_OUTAGES] = {
    [TRUTH_HOST_OFF] = {"host", "off"},
    [TRUTH_POD_OFF] = {"pod ", "off"},
    [TRUTH_CONTROLLER] = {"controller", NULL},
    [TRUTH_COLLECTOR] = {"collector", NULL},
    [TRUTH_MUX_LOOP] = {"host", "sends back what muxes send"},
    [TRUTH_STORM] = {"host", "pauses its ToR without end"},
    [TRUTH_BGP_FLAP] = {"", "its BGP session flaps"},
};

static void print_outage(const struct truth_outage *o, const struct topo *t,
    FILE *out)
{
	static const char *const modes[] = {"down", "slow", "without documents",
	    "sending garbage"};
	const char *of = outage_words[o->kind].of;
	const char *does = outage_words[o->kind].does;
	char name[64];
	if (o->kind == TRUTH_BGP_FLAP)
		topo_link_name(t, topo_link_of(o->id, TOPO_UP), name);
	else if (does)
		snprintf(name, sizeof(name), "%s%" PRIu32, of, o->id);
	else
		snprintf(name, sizeof(name), "%s", of);
	fprintf(out, "  %-24s %s", name, does ? does : modes[o->mode]);
	if (o->delay_us > 0)
		fprintf(out, " by %.4g us", o->delay_us);
	print_span(o->from_ns, o->to_ns, out);
}

/* Hosts of a pod that is off are told with it. */
static int is_outage_shown(const struct truth *truth, const struct topo *t,
    const struct truth_outage *o)
{
	return o->kind != TRUTH_HOST_OFF ||
	    !is_told(truth, TRUTH_POD_OFF, topo_pod_of(t, o->id), o->from_ns,
		o->to_ns);
}

static void print_outages(const struct truth *truth, const struct topo *t,
    FILE *out)
{
	size_t n = 0, i;
	for (i = 0; i < truth->n_outages; i++)
		n += is_outage_shown(truth, t, &truth->outage[i]);
	if (n > 0)
		fprintf(out, "%zu outages\n", n);
	for (size_t shown = i = 0; i < truth->n_outages && shown < SHOWN; i++)
		if (is_outage_shown(truth, t, &truth->outage[i])) {
			shown++;
			print_outage(&truth->outage[i], t, out);
		}
	print_rest(n, out);
}

void truth_print(const struct truth *truth, const struct topo *t, FILE *out)
{
	print_faults(truth, t, out);
	print_holes(truth, t, out);
	print_routes(truth, t, out);
	print_outages(truth, t, out);
}
