/* experiments/report/claims_table.c -- what papers claim, and ours, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "experiments/report/page.h"
#include "experiments/report/reasons.h"

static const char *claims_class_of(enum xp_claim_verdict v)
{
	switch (v) {
	case XP_AGREES:
		return "agrees";
	case XP_DIFFERS:
		return "differs";
	case XP_DEPENDS:
		return "depends";
	case XP_UNDECIDED:
		return "undecided";
	default:
		return "other";
	}
}

static const char *certainty_of(const struct xp_claim *c)
{
	switch (c->certainty) {
	case XP_STATED:
		return "stated in the paper";
	case XP_MEASURED:
		return "another simulator's";
	default:
		return "unconfirmed";
	}
}

static void put_ours(FILE *out, const struct xp_reading *r)
{
	if (r->verdict == XP_NOT_RUN || r->verdict == XP_NOT_COMPARABLE ||
	    isnan(r->lo))
		return;
	if (isnan(r->ours))
		fprintf(out, "%.4g to %.4g", r->lo, r->hi);
	else
		fprintf(out, "%.4g<br><small>[%.4g, %.4g]</small>", r->ours,
		    r->lo, r->hi);
	if (r->n_points > 1 && *r->where) {
		fputs("<br><small>at ", out);
		mark_text(out, r->where);
		fputs("</small>", out);
	}
	if (r->n_points > 1 && *r->where && r->n_outside > 0)
		fprintf(out, "<br><small>%zu of %zu points differ</small>",
		    r->n_outside, r->n_points);
}

static void put_verdict(FILE *out, const struct xp_finding *f, int which)
{
	if ((size_t)which < f->n_readings)
		fprintf(out, "<span class=\"verdict %s\">%s</span>",
		    claims_class_of(f->verdict[which]),
		    xp_claim_verdict_names[f->verdict[which]]);
}

/* Of many cases the range stands for them until it is opened. */
static void open_cases(FILE *out, const struct xp_finding *f, int which)
{
	double lo = INFINITY, hi = -INFINITY;
	for (size_t i = 0; i < f->n_cases; i++) {
		lo = fmin(lo, f->cases[i].by[which].ours);
		hi = fmax(hi, f->cases[i].by[which].ours);
	}
	fputs("<details class=\"cases\"><summary>", out);
	if (lo <= hi)
		fprintf(out, "%.4g to %.4g ", lo, hi);
	fprintf(out, "<span>%zu cases</span></summary>", f->n_cases);
}

static void claims_put_case(FILE *out, const struct xp_case *x, int which,
    int several)
{
	if (several) {
		fputs("<small>", out);
		mark_format(out, "%s:", x->guess);
		fputs("</small> ", out);
	}
	put_ours(out, &x->by[which]);
}

static void put_readings(FILE *out, const struct xp_finding *f, int which)
{
	const size_t n = (size_t)which < f->n_readings ? f->n_cases : 0;
	const int several = n > 1;
	fputs("<td class=\"num\" data-v=\"", out);
	if (n > 0 && isfinite(f->cases[0].by[which].ours))
		fprintf(out, "%.6g", f->cases[0].by[which].ours);
	fputs("\">", out);
	if (which != XP_OWN)
		put_verdict(out, f, which);
	if (which != XP_OWN && n > 0 && !several)
		fputs("<br>", out);
	if (several)
		open_cases(out, f, which);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "<br>" : "", out);
		claims_put_case(out, &f->cases[i], which, several);
	}
	fputs(several ? "</details></td>" : "</td>", out);
}

/* Below the claim's words. */
static void put_remark(FILE *out, const struct xp_claim *c,
    const struct xp_finding *f, unsigned reason)
{
	const char *remark = *f->why ? f->why : c->note;
	int differs = 0;
	for (size_t i = 0; i < f->n_readings; i++)
		differs |=
		    f->verdict[i] == XP_DIFFERS || f->verdict[i] == XP_DEPENDS;
	if (!*remark && !(differs && reason > 0))
		return;
	fputs("<span class=\"remark\">", out);
	mark_text(out, remark);
	if (differs && reason > 0)
		fprintf(out, "%s<a href=\"#why-%u\">why it differs</a>",
		    *remark ? " " : "", reason);
	fputs("</span>", out);
}

void xp_page_claim(FILE *out, const struct xp_claim *c,
    const struct xp_finding *f, const char *figure_id, unsigned reason)
{
	fprintf(out, "<tr data-verdict=\"%s\"><th scope=\"row\">",
	    claims_class_of(f->verdict[XP_OWN]));
	if (figure_id)
		fprintf(out, "<a href=\"#%s\">", figure_id);
	mark_text(out, c->figure);
	fputs(figure_id ? "</a></th><td>" : "</th><td>", out);
	mark_text(out, c->text);
	fprintf(out, "<br><small>%s", certainty_of(c));
	if (*c->metric) {
		fputs("; <code>", out);
		mark_text(out, c->metric);
		fputs("</code>", out);
	}
	if (*c->algorithm)
		mark_format(out, " of %s%s%s%s%s", c->algorithm,
		    *c->minus ? " less that of " : "", c->minus,
		    *c->per ? " over that of " : "", c->per);
	fputs("</small>", out);
	put_remark(out, c, f, reason);
	fputs("</td><td class=\"num\" data-v=\"", out);
	if (*c->printed)
		fprintf(out, "%.6g", c->value);
	fputs("\">", out);
	mark_format(out, "%s%s%s", xp_relation_names[c->relation],
	    *c->printed ? " " : "", c->printed);
	fputs("</td>", out);
	put_readings(out, f, XP_OWN);
	fputs("<td>", out);
	put_verdict(out, f, XP_OWN);
	fputs("</td>", out);
	put_readings(out, f, XP_HIT);
	fputs("</tr>\n", out);
}

static void put_filters(FILE *out, const size_t n[])
{
	static const struct {
		enum xp_claim_verdict of;
		const char *name;
	} shown[] = {{XP_AGREES, "agrees"}, {XP_DIFFERS, "differs"},
	    {XP_DEPENDS, "depends"}, {XP_UNDECIDED, "undecided"}};
	size_t all = 0, other;
	for (unsigned i = 0; i < XP_N_CLAIM_VERDICTS; i++)
		all += n[i];
	other = all;
	fprintf(out,
	    "<div class=\"bar\" id=\"verdicts\" role=\"group\" "
	    "aria-label=\"Claims by verdict\" hidden>\n<button type=\"button\" "
	    "data-verdict=\"\">all %zu</button>\n",
	    all);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		other -= n[shown[i].of];
		if (n[shown[i].of] > 0)
			fprintf(out,
			    "<button type=\"button\" data-verdict=\"%s\">"
			    "<span class=\"verdict %s\">%s</span> "
			    "%zu</button>\n",
			    shown[i].name, shown[i].name, shown[i].name,
			    n[shown[i].of]);
	}
	if (other > 0)
		fprintf(out,
		    "<button type=\"button\" data-verdict=\"other\">no "
		    "comparison %zu</button>\n",
		    other);
	fputs("<span class=\"soft\" id=\"claims-told\" aria-live=\"polite\">"
	      "</span></div>\n",
	    out);
}

void xp_page_claims(FILE *out, const char *rows, const size_t n_verdicts[],
    const char *reasons)
{
	fputs("<section id=\"claims\"><h2>What the paper says, and what we "
	      "have</h2>\n"
	      "<p class=\"note\">Ours with its 95 % interval between runs. A "
	      "claim agrees when that meets what the printed number can have "
	      "been rounded from, and a deviation of 5 points would have been "
	      "seen; it differs when all of the interval violates it. "
	      "007's accuracy is of the flows that it does not set aside as "
	      "noise; beside it stands that of the flows a fault hit.</p>\n",
	    out);
	put_filters(out, n_verdicts);
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">"
	      "\n<thead><tr><th scope=\"col\">figure</th>"
	      "<th scope=\"col\">claim</th>"
	      "<th scope=\"col\" class=\"num\">paper</th>"
	      "<th scope=\"col\" class=\"num\">ours</th>"
	      "<th scope=\"col\">verdict</th>"
	      "<th scope=\"col\" class=\"num\">by flows a fault hit</th>"
	      "</tr></thead>\n<tbody>\n",
	    out);
	fputs(rows, out);
	fputs("</tbody></table></div>\n", out);
	if (reasons && strstr(reasons, "## ")) {
		fputs("<details class=\"why\"><summary>Why they differ"
		      "</summary>\n",
		    out);
		xp_reasons_put(out, reasons);
		fputs("</details>\n", out);
	}
	fputs("</section>\n", out);
}
