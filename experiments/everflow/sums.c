/* experiments/everflow/sums.c -- counters of analyzers, summed up and told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/sums.h"

#include <string.h>

#include "results/json.h"
#include "sim/text.h"

/* --- which ------------------------------------------------------------------ */

/* What names are of. */
struct sums_where {
	const struct topo *topo;
	const struct res_counter_names *names;
};

/* Kinds of counters, by what they are about. */
struct xp_sums_group {
	const char *word;
	uint32_t kinds; /* bits of enum algo_counter_kind */
	int (*parse)(const struct sums_where *x, const char *name, uint32_t *id,
	    struct sim_err *e);
};

static int sums_no_net(const char *what, const char *name, struct sim_err *e)
{
	return sim_fail(e, SIM_EINVAL,
	    "the file does not tell its network, so %s are numbers; %.80s is "
	    "none.",
	    what, name);
}

static int sums_number(const char *name, uint32_t *id)
{
	uint64_t n;
	if (sim_parse_u64(name, &n, NULL) < 0 || n >= TOPO_NONE)
		return 0;
	*id = (uint32_t)n;
	return 1;
}

static int sums_link(const struct sums_where *x, const char *name, uint32_t *id,
    struct sim_err *e)
{
	if (x->topo)
		return topo_link_parse(x->topo, name, id, e);
	return sums_number(name, id) ? 0 : sums_no_net("links", name, e);
}

static int sums_node(const struct sums_where *x, const char *name, uint32_t *id,
    int host, struct sim_err *e)
{
	topo_node n;
	if (!x->topo)
		return sums_number(name, id)
		    ? 0
		    : sums_no_net(host ? "hosts" : "switches", name, e);
	const int rc = topo_node_parse(x->topo, name, &n, e);
	if (rc < 0)
		return rc;
	if ((n < x->topo->n_hosts) != host)
		return sim_fail(e, SIM_EINVAL, "%.60s is no %s.", name,
		    host ? "host" : "switch");
	*id = host ? n : n - x->topo->n_hosts;
	return 0;
}

static int sums_switch(const struct sums_where *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	return sums_node(x, name, id, 0, e);
}

static int sums_mux(const struct sums_where *x, const char *name, uint32_t *id,
    struct sim_err *e)
{
	return sums_node(x, name, id, 1, e);
}

static int sums_custom(const struct sums_where *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	char shown[64];
	size_t i = x->names ? x->names->n : 0;
	/* A name that was removed may have been given again. */
	while (i > 0)
		if (strcmp(x->names->name[--i].text, name) == 0) {
			*id = x->names->id[i];
			return 0;
		}
	return sums_number(name, id)
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "there is no counter of the name %s; its number would do, "
		  "too.",
		  sim_quote(shown, name));
}

static const struct xp_sums_group sums_groups[] =
    {{"link",
	 1 << ALGO_COUNTER_LINK_PACKETS | 1 << ALGO_COUNTER_LINK_BYTES |
	     1 << ALGO_COUNTER_LINK_FLOWS | 1 << ALGO_COUNTER_LINK_LATENCY,
	 sums_link},
	{"switch",
	    1 << ALGO_COUNTER_MIRROR_SENT | 1 << ALGO_COUNTER_MIRROR_LOST,
	    sums_switch},
	{"mux", 1 << ALGO_COUNTER_MUX_LATENCY, sums_mux},
	{"custom", 1 << ALGO_COUNTER_CUSTOM, sums_custom}};
enum { N_GROUPS = sizeof(sums_groups) / sizeof(sums_groups[0]) };

int xp_sums_parse(struct xp_sums *s, const struct topo *t,
    const struct res_counter_names *names, const char *what, struct sim_err *e)
{
	const struct sums_where x = {t, names};
	const char *words[N_GROUPS], *colon = strchr(what, ':');
	char word[64], shown[64];
	snprintf(word, sizeof(word), "%.*s",
	    (int)(colon ? colon - what : (ptrdiff_t)strlen(what)), what);
	for (size_t i = 0; i < N_GROUPS; i++) {
		words[i] = sums_groups[i].word;
		if (colon && strcmp(word, words[i]) == 0) {
			s->group = &sums_groups[i];
			return s->group->parse(&x, colon + 1, &s->id, e);
		}
	}
	const char *near =
	    colon ? sim_did_you_mean(word, words, N_GROUPS) : NULL;
	return sim_fail(e, SIM_EINVAL, "%s is no counter%s%s%s",
	    sim_quote(shown, what),
	    near ? "; did you mean \""
		 : "; there are link:FROM->TO, switch:NAME, mux:HOST and "
		   "custom:NAME.",
	    near ? near : "", near ? ":\"?" : "");
}

/* --- sums ------------------------------------------------------------------- */

static const struct {
	const char *name, *unit;
} sums_kinds[] = {
#define X(kind, name, unit, text) {name, unit},
    ALGO_COUNTER_KINDS(X)
#undef X
};

void xp_sums_add(struct xp_sums *s, const struct algo_counters *c, sim_ns from,
    sim_ns to)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->t_ns[i] > from && c->t_ns[i] <= to &&
		    s->group->kinds >> c->kind[i] & 1 && c->id[i] == s->id &&
		    c->sub[i] < XP_SUMS_SUBS) {
			s->sum[c->kind[i]][c->sub[i]] += c->value[i];
			s->n_rows++;
		}
}

static int sums_is_binned(unsigned kind)
{
	return kind == ALGO_COUNTER_LINK_LATENCY ||
	    kind == ALGO_COUNTER_MUX_LATENCY;
}

static double sums_total(const double sum[])
{
	double total = 0;
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++)
		total += sum[i];
	return total;
}

/* The bin in which a share P of all lies below its end. */
static unsigned sums_quantile(const double sum[], double total, double p)
{
	double below = 0;
	unsigned i = 0;
	for (; i + 1 < ALGO_LATENCY_BINS; i++)
		if ((below += sum[i]) >= p * total)
			break;
	return i;
}

/* --- for people ------------------------------------------------------------- */

static double sums_bin_us(unsigned bin)
{
	return 1e-3 * (double)algo_latency_bin_ns(bin);
}

static void sums_put_bins(FILE *out, const char *name, const char *unit,
    const double sum[])
{
	const double total = sums_total(sum);
	fprintf(out, "  %-14s %.0f %s", name, total, unit);
	if (total <= 0) {
		putc('\n', out);
		return;
	}
	fprintf(out, ", p50 %.4g us, p99 %.4g us\n",
	    sums_bin_us(sums_quantile(sum, total, 0.5)),
	    sums_bin_us(sums_quantile(sum, total, 0.99)));
	fprintf(out, "  %14s %12s %12s\n", "us from", "to", "number");
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++) {
		char end[32] = "any";
		if (i + 1 < ALGO_LATENCY_BINS)
			snprintf(end, sizeof(end), "%.5g", sums_bin_us(i));
		if (sum[i] > 0)
			fprintf(out, "  %14.5g %12s %12.0f\n",
			    i > 0 ? sums_bin_us(i - 1) : 0, end, sum[i]);
	}
}

void xp_sums_put(const struct xp_sums *s, const char *what, FILE *out)
{
	fprintf(out, "%s\n", what);
	for (unsigned k = 0; k < ALGO_N_COUNTER_KINDS; k++) {
		const char *name = sums_kinds[k].name;
		if (!(s->group->kinds >> k & 1))
			continue;
		if (sums_is_binned(k))
			sums_put_bins(out, name, sums_kinds[k].unit, s->sum[k]);
		else
			fprintf(out, "  %-14s %.0f %s\n", name, s->sum[k][0],
			    sums_kinds[k].unit);
		if (k == ALGO_COUNTER_CUSTOM)
			fprintf(out, "  %-14s %.0f bytes\n", name,
			    s->sum[k][1]);
	}
	const double *m[] = {s->sum[ALGO_COUNTER_MIRROR_SENT],
	    s->sum[ALGO_COUNTER_MIRROR_LOST]};
	if (*m[0] + *m[1] > 0)
		fprintf(out, "  %-14s %.3g\n", "lost share",
		    *m[1] / (*m[0] + *m[1]));
}

/* --- for programs ----------------------------------------------------------- */

static void sums_json_bins(FILE *out, const double sum[])
{
	const double total = sums_total(sum);
	const char *comma = "";
	fprintf(out, "{\"n\": ");
	res_json_number(out, total);
	if (total > 0)
		fprintf(out, ", \"p50_us\": %.9g, \"p99_us\": %.9g",
		    sums_bin_us(sums_quantile(sum, total, 0.5)),
		    sums_bin_us(sums_quantile(sum, total, 0.99)));
	fprintf(out, ", \"bins\": [");
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++)
		if (sum[i] > 0) {
			fprintf(out, "%s{\"to_us\": %.9g, \"n\": ", comma,
			    sums_bin_us(i));
			res_json_number(out, sum[i]);
			fprintf(out, "}");
			comma = ", ";
		}
	fprintf(out, "]}");
}

void xp_sums_put_json(const struct xp_sums *s, const char *what, FILE *out)
{
	fprintf(out, "{\"counter\": ");
	res_json_text(out, what);
	fprintf(out, ", \"rows\": %zu", s->n_rows);
	for (unsigned k = 0; k < ALGO_N_COUNTER_KINDS; k++) {
		if (!(s->group->kinds >> k & 1))
			continue;
		fprintf(out, ", \"%s\": ", sums_kinds[k].name);
		if (sums_is_binned(k))
			sums_json_bins(out, s->sum[k]);
		else
			res_json_number(out, s->sum[k][0]);
		if (k == ALGO_COUNTER_CUSTOM)
			res_json_number_of(out, "custom_bytes", s->sum[k][1]);
	}
	fprintf(out, "}\n");
}
