/* experiments/sweep/answer.c -- one algorithm's answer: asked for, and printed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/answer.h"

int xp_answer(const struct xp_algo *a, void *work, const struct sim_seed *where,
    uint32_t number, const struct obs *w, struct algo_verdicts *out,
    struct sim_err *e)
{
	struct sim_rng tie;
	sim_rng_init(&tie, where, SIM_STREAM_TIE, number);
	const int rc = a->ops->diagnose(work, w, &tie, out, e);
	return rc < 0 ? sim_wrap(e, rc, "algorithm %s", a->label) : 0;
}

void xp_answer_name(const struct topo *t, const struct algo_verdicts *v,
    uint32_t id, char name[64])
{
	const struct algo_part p = algo_verdicts_part(v, id);
	if (p.is_switch)
		topo_node_name(t, t->n_hosts + p.id, name);
	else
		topo_link_name(t, p.id, name);
}

int xp_answer_is_faulty(const struct truth *truth,
    const struct algo_verdicts *v, uint32_t id)
{
	const struct algo_part p = algo_verdicts_part(v, id);
	return p.is_switch ? truth_is_failed_switch(truth, p.id)
			   : truth_is_faulty(truth, p.id);
}

uint32_t xp_answer_culprit(const struct truth *truth,
    const struct algo_verdicts *v, size_t flow, topo_link culprit)
{
	struct algo_part p = algo_verdicts_blamed(v, flow);
	if (culprit == TOPO_NONE || !p.is_switch)
		return culprit;
	p.id = truth_switch_of(truth, culprit, p.id);
	return p.id == TOPO_NONE ? p.id : algo_verdicts_id(v, p);
}

/* Only the head of a long verdict is shown, the most suspicious first. */
static void answer_print_links(const struct topo *t, const struct truth *truth,
    struct algo_verdicts *v, FILE *out)
{
	enum { SHOWN = 10 };
	algo_verdicts_sort(v);
	size_t n_more = 0;
	for (size_t i = 0; i < v->n; i++) {
		char name[64];
		/* What is full and did not fail stands last. */
		if (i >= SHOWN && v->way[i] != ALGO_WAY_BURSTS) {
			n_more++;
			continue;
		}
		xp_answer_name(t, v, v->link[i], name);
		fprintf(out, "  %3zu %-24s score %-10.4g%s%s%s%s\n", i + 1,
		    name, v->score[i], i < v->n_flagged ? " accused" : "",
		    truth && xp_answer_is_faulty(truth, v, v->link[i])
			? " FAULTY"
			: "",
		    v->way[i] ? " " : "", algo_way_words[v->way[i]]);
	}
	if (n_more > 0)
		fprintf(out, "      and %zu more\n", n_more);
}

void xp_answer_print(const char *label, const struct topo *t,
    const struct truth *truth, const struct res_algo_metrics *m,
    struct algo_verdicts *v, FILE *out)
{
	fprintf(out, "%s\n", label);
#define X(name, num, den, doc)                                                 \
	if (m && m->den > 0)                                                   \
		fprintf(out, "  %-18s %.4f (%g/%g)\n", #name, m->num / m->den, \
		    m->num, m->den);
	RES_RATIOS(X)
#undef X
	answer_print_links(t, truth, v, out);
}
