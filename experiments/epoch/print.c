/* experiments/epoch/print.c -- what algorithms said of an epoch, in three forms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>

#include "experiments/epoch/replay.h"
#include "experiments/sweep/answer.h"
#include "results/json.h"

static const struct truth *replay_truth(const struct xp_replay *r)
{
	return r->epoch.has_truth ? &r->epoch.truth : NULL;
}

static uint64_t count_failed(const struct obs *w)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->flows.n; i++)
		n += w->flows.n_retx[i] > 0;
	return n;
}

void xp_replay_print(struct xp_replay *r, FILE *out)
{
	const struct topo *t = &r->epoch.topo;
	const struct obs *w = &r->epoch.window;
	fprintf(out, "%u hosts, %u switches, %u directed links\n", t->n_hosts,
	    t->n_switches, t->n_links);
	fprintf(out,
	    "%" PRIu64 " flows, of which algorithms see %zu, %" PRIu64
	    " of them failed\n",
	    w->n_flows, w->flows.n, count_failed(w));
	if (r->epoch.has_truth)
		truth_print(&r->epoch.truth, t, out);
	else
		fprintf(out, "without the truth: nothing is scored\n");
	for (size_t i = 0; i < r->n; i++)
		if (r->one[i].failed.code < 0)
			fprintf(out, "no answer of %s\n", r->one[i].failed.msg);
		else
			xp_answer_print(r->one[i].algo.label, t,
			    replay_truth(r),
			    r->epoch.has_truth ? &r->one[i].metrics : NULL,
			    &r->one[i].verdicts, out);
}

/* --- JSON ------------------------------------------------------------------*/

static void print_ranked(const struct xp_replay *r, struct algo_verdicts *v,
    FILE *out)
{
	char name[64];
	algo_verdicts_sort(v);
	fprintf(out, "   \"kind\": \"%s\",\n   \"ranked\": [",
	    algo_kind_names[v->kind]);
	for (size_t i = 0; i < v->n; i++) {
		fprintf(out, "%s\n    {\"id\": %u, \"name\": ", i ? "," : "",
		    v->link[i]);
		xp_answer_name(&r->epoch.topo, v, v->link[i], name);
		res_json_text(out, name);
		res_json_number_of(out, "score", v->score[i]);
		fprintf(out, ", \"accused\": %s",
		    i < v->n_flagged ? "true" : "false");
		if (v->way[i] != ALGO_WAY_UNSAID) {
			fprintf(out, ", \"way\": ");
			res_json_text(out, algo_way_words[v->way[i]]);
		}
		if (r->epoch.has_truth)
			fprintf(out, ", \"faulty\": %s",
			    xp_answer_is_faulty(&r->epoch.truth, v, v->link[i])
				? "true"
				: "false");
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void print_metrics(const struct res_algo_metrics *m, FILE *out)
{
	const double *x = (const double *)m;
	fprintf(out, ",\n   \"metrics\": {");
	for (unsigned i = 0; i < RES_N_ALGO_METRICS; i++) {
		fprintf(out, "%s\"%s\": ", i ? ", " : "",
		    res_algo_metrics[i].name);
		res_json_number(out, x[i]);
	}
	fprintf(out, "},\n   \"ratios\": {");
	const char *comma = "";
#define X(name, num, den, doc)                                                 \
	fprintf(out, "%s\"%s\": ", comma, #name);                              \
	res_json_number(out, m->den > 0 ? m->num / m->den : NAN);              \
	comma = ", ";
	RES_RATIOS(X)
#undef X
	fprintf(out, "}");
}

void xp_replay_print_json(struct xp_replay *r, FILE *out)
{
	const struct topo *t = &r->epoch.topo;
	const struct obs *w = &r->epoch.window;
	fprintf(out,
	    "{\"hosts\": %u, \"switches\": %u, \"links\": %u,\n \"flows\": "
	    "%" PRIu64 ", \"seen\": %zu, \"failed\": %" PRIu64
	    ", \"scored\": %s,\n \"algorithms\": [",
	    t->n_hosts, t->n_switches, t->n_links, w->n_flows, w->flows.n,
	    count_failed(w), r->epoch.has_truth ? "true" : "false");
	for (size_t i = 0; i < r->n; i++) {
		fprintf(out, "%s\n  {\"label\": ", i ? "," : "");
		res_json_text(out, r->one[i].algo.label);
		res_json_text_of(out, "name", r->one[i].algo.ops->name);
		if (r->one[i].failed.code < 0)
			res_json_text_of(out, "failed", r->one[i].failed.msg);
		fprintf(out, ",\n");
		print_ranked(r, &r->one[i].verdicts, out);
		if (r->epoch.has_truth && r->one[i].failed.code == 0)
			print_metrics(&r->one[i].metrics, out);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
}

/* --- blame -----------------------------------------------------------------*/

/* Two cells: a name and an id; nothing of nobody. */
static void print_component(const struct xp_replay *r,
    const struct algo_verdicts *v, uint32_t id, FILE *out)
{
	char name[64];
	if (id == TOPO_NONE) {
		fprintf(out, "\t\t");
		return;
	}
	xp_answer_name(&r->epoch.topo, v, id, name);
	fprintf(out, "\t%s\t%u", name, id);
}

static void print_blamed(const struct xp_replay *r, const struct xp_replayed *x,
    size_t i, FILE *out)
{
	const struct obs_flows *f = &r->epoch.window.flows;
	const struct algo_verdicts *v = &x->verdicts;
	uint32_t culprit = r->epoch.has_truth ? r->epoch.culprit[i] : TOPO_NONE;
	culprit = xp_answer_culprit(&r->epoch.truth, v, i, culprit);
	fprintf(out, "%s\t%" PRIu64 "\t%u\t%u\t%u", x->algo.label,
	    r->epoch.row[i], f->src_host[i], f->dst_host[i], f->n_retx[i]);
	print_component(r, v, v->blame[i], out);
	print_component(r, v, culprit, out);
	fprintf(out, "\n");
}

void xp_replay_print_blame(const struct xp_replay *r, FILE *out)
{
	const struct obs *w = &r->epoch.window;
	fprintf(out,
	    "algorithm\tflow\tsrc_host\tdst_host\tn_retx\tblamed\tblamed_id\t"
	    "culprit\tculprit_id\n");
	for (size_t k = 0; k < r->n; k++)
		/* Some algorithms blame nobody at all. */
		for (size_t i = 0; i < r->one[k].verdicts.n_flows; i++)
			if (w->flows.n_retx[i] > 0)
				print_blamed(r, &r->one[k], i, out);
}
