/* experiments/everflow/judge.c -- a debugger on evidence, once, and what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/judge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "experiments/everflow/tell.h"
#include "results/json.h"
#include "sim/vec.h"

static const char *judge_node(const struct topo *net,
    const struct algo_finding *f, char buf[64])
{
	*buf = '\0';
	if (f->node != TOPO_NONE)
		topo_node_name(net, f->node, buf);
	return buf;
}

static void judge_put(FILE *out, const struct topo *net,
    const struct algo_finding *f)
{
	char link[XP_TELL_NAME], node[64];
	fprintf(out, "%s  link %s", algo_cause_words[f->cause],
	    xp_tell_link(net, f->link, link));
	if (f->node != TOPO_NONE)
		fprintf(out, "  at %s", judge_node(net, f, node));
	if (f->rate > 0)
		fprintf(out, "  rate %.3g (%.3g to %.3g)", f->rate, f->lo,
		    f->hi);
	if (f->excess_us > 0)
		fprintf(out, "  %.0f us late", f->excess_us);
	fprintf(out, "  %.3f to %.3f s%s%s\n", (double)f->from_ns / 1e9,
	    (double)f->to_ns / 1e9, f->persistent ? ", persistent" : "",
	    f->intermittent ? ", intermittent" : "");
	for (unsigned i = 0; i < f->n_cycle; i++) {
		topo_node_name(net, f->cycle[i], node);
		fprintf(out, "%s%s%s", i ? " -> " : "  cycle ", node,
		    i + 1 == f->n_cycle ? "\n" : "");
	}
}

static void judge_put_json(FILE *out, const struct topo *net,
    const struct algo_finding *f)
{
	char link[XP_TELL_NAME], node[64];
	fprintf(out, "{\"cause\": ");
	res_json_text(out, algo_cause_words[f->cause]);
	res_json_text_of(out, "link", xp_tell_link(net, f->link, link));
	res_json_text_of(out, "node", judge_node(net, f, node));
	res_json_number_of(out, "score", f->score);
	res_json_number_of(out, "rate", f->rate);
	res_json_number_of(out, "lo", f->lo);
	res_json_number_of(out, "hi", f->hi);
	res_json_number_of(out, "excess_us", f->excess_us);
	fprintf(out,
	    ", \"from_ns\": %" PRIu64 ", \"to_ns\": %" PRIu64
	    ", \"persistent\": %s, \"intermittent\": %s, \"cycle\": [",
	    f->from_ns, f->to_ns, f->persistent ? "true" : "false",
	    f->intermittent ? "true" : "false");
	for (unsigned i = 0; i < f->n_cycle; i++) {
		topo_node_name(net, f->cycle[i], node);
		fprintf(out, "%s", i ? ", " : "");
		res_json_text(out, node);
	}
	fprintf(out, "]}");
}

static void judge_put_all(FILE *out, const char *name, int json,
    const struct algo_debug_in *in, const struct algo_debug_out *o)
{
	const struct topo *net = in->routing.topo;
	if (json)
		fprintf(out, "{\"debugger\": \"%s\", \"findings\": [", name);
	else
		fprintf(out,
		    "%s: %zu traces, %zu guided probes, %zu finding%s\n", name,
		    in->traces->traces.n, in->sent->n, o->n_findings,
		    o->n_findings == 1 ? "" : "s");
	for (size_t i = 0; i < o->n_findings; i++)
		if (json) {
			fprintf(out, "%s", i ? ", " : "");
			judge_put_json(out, net, &o->finding[i]);
		} else
			judge_put(out, net, &o->finding[i]);
	if (json)
		fprintf(out, "]}\n");
}

int xp_judge(const struct xp_everflow *p, unsigned which,
    const struct algo_debug_in *in, int json, FILE *out, struct sim_err *e)
{
	const struct algo_debugger *d = xp_everflow_debugger(which);
	struct algo_debug_out o = {0};
	void *state = NULL;
	int rc = sim_zalloc(&state, 1, d->state_size, e);
	if (rc == 0)
		rc = d->step(state, xp_everflow_params(p, which), in, &o, e);
	if (rc == 0)
		judge_put_all(out, xp_everflow_debuggers[which], json, in, &o);
	if (state && d->free)
		d->free(state);
	free(state);
	algo_debug_free(&o);
	return rc;
}
