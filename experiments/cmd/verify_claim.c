/* experiments/cmd/verify_claim.c -- a claim and what came of it, printed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/verify_claim.h"

#include <math.h>
#include <stdio.h>

#include "results/json.h"
#include "sim/text.h"

/* Beside the claims: why they differ, a section each. */
#define REASONS "differs.md"

/* "agrees    0.9931 [0.9925, 0.9937] sees 0.001" */
static void format_reading(const struct xp_reading *r, char *buf, size_t size)
{
	struct sim_text t = {buf, size, 0};
	*buf = '\0';
	sim_put(&t, "%-9s", xp_claim_verdict_names[r->verdict]);
	if (r->verdict == XP_NOT_RUN)
		return;
	if (isnan(r->ours))
		sim_put(&t, " %.4f to %.4f", r->lo, r->hi);
	else
		sim_put(&t, " %.4f [%.4f, %.4f] sees %.1g", r->ours, r->lo,
		    r->hi, r->seen);
}

/* ">= 96 %" */
static void format_claim(const struct xp_claim *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", xp_relation_names[c->relation],
	    *c->printed ? " " : "", c->printed);
}

/* A line of the table: NAME, what is claimed, both readings. */
static void print_case(const char *name, const char *claim,
    const struct xp_case *x, size_t n_readings)
{
	char own[96], hit[96] = "";
	format_reading(&x->by[XP_OWN], own, sizeof(own));
	if (n_readings > 1)
		format_reading(&x->by[XP_HIT], hit, sizeof(hit));
	printf("%-28s %-9s %-45s%s%s\n", name, claim, own, *hit ? " " : "",
	    hit);
}

/* Of several points the one with the least room is told, and how many of them
 * violate the claim. */
static void print_point(const struct xp_reading *r, const char *name)
{
	if (r->n_blank > 0)
		printf("    %s%zu of %zu points measured nothing\n", name,
		    r->n_blank, r->n_blank + r->n_points);
	if (r->n_points < 2 || !*r->where)
		return;
	printf("    %sat %s", name, r->where);
	if (r->n_outside > 0)
		printf("; %zu of %zu points differ", r->n_outside, r->n_points);
	printf("\n");
}

/* Where values of a guess are told apart, a line each. */
static void print_cases(const struct xp_finding *f)
{
	for (size_t i = 0; i < f->n_cases; i++) {
		const struct xp_case *x = &f->cases[i];
		if (f->n_cases > 1) {
			char name[160];
			snprintf(name, sizeof(name), "  %s", x->guess);
			print_case(name, "", x, f->n_readings);
		}
		print_point(&x->by[XP_OWN], "");
		if (f->n_readings > 1)
			print_point(&x->by[XP_HIT], "hit by a fault: ");
	}
}

/* A difference in either reading has a paragraph of reasons. */
static int has_reason(const struct xp_finding *f)
{
	int yes = 0;
	for (size_t i = 0; i < f->n_readings; i++)
		yes |=
		    f->verdict[i] == XP_DIFFERS || f->verdict[i] == XP_DEPENDS;
	return yes;
}

void cmd_claim_print(const struct xp_claim *c, const struct xp_finding *f,
    const char *folder, const char *left)
{
	char claim[64];
	format_claim(c, claim, sizeof(claim));
	if (f->n_cases == 1)
		print_case(c->id, claim, &f->cases[0], f->n_readings);
	else
		printf("%-28s %-9s %s%s%s\n", c->id, claim,
		    xp_claim_verdict_names[f->verdict[XP_OWN]],
		    f->n_readings > 1 ? " | " : "",
		    f->n_readings > 1
			? xp_claim_verdict_names[f->verdict[XP_HIT]]
			: "");
	if (c->certainty == XP_STATED)
		printf("    stated: %s\n", c->text);
	else if (c->certainty == XP_MEASURED)
		printf("    another simulator: %s\n", c->text);
	else
		printf("    unconfirmed, %s: %s\n",
		    xp_certainty_names[c->certainty], c->text);
	print_cases(f);
	if (f->n_cases > 0 && *left)
		printf("    partial: %s\n", left);
	if (*f->why || *c->note)
		printf("    %s\n", *f->why ? f->why : c->note);
	if (has_reason(f))
		printf("    why: %s%s, %s\n", folder, REASONS, c->id);
}

static void json_reading(const char *key, const struct xp_reading *r)
{
	printf(", \"%s\": {\"verdict\": ", key);
	res_json_text(stdout, xp_claim_verdict_names[r->verdict]);
	res_json_number_of(stdout, "ours", r->ours);
	res_json_number_of(stdout, "lo", r->lo);
	res_json_number_of(stdout, "hi", r->hi);
	res_json_number_of(stdout, "seen", r->seen);
	printf(", \"points\": %zu, \"unmeasured\": %zu, \"outside\": %zu",
	    r->n_points, r->n_blank, r->n_outside);
	res_json_text_of(stdout, "where", r->where);
	printf("}");
}

static void json_cases(const struct xp_finding *f)
{
	printf(", \"cases\": [");
	for (size_t i = 0; i < f->n_cases; i++) {
		printf("%s{\"guess\": ", i ? ", " : "");
		res_json_text(stdout, f->cases[i].guess);
		json_reading("own", &f->cases[i].by[XP_OWN]);
		if (f->n_readings > 1)
			json_reading("accuracy_fault", &f->cases[i].by[XP_HIT]);
		printf("}");
	}
	printf("]");
}

void cmd_claim_json(const struct xp_claim *c, const struct xp_finding *f,
    int first)
{
	printf("%s{\"id\": ", first ? "\n" : ",\n");
	res_json_text(stdout, c->id);
	res_json_text_of(stdout, "figure", c->figure);
	res_json_text_of(stdout, "certainty", xp_certainty_names[c->certainty]);
	res_json_text_of(stdout, "text", c->text);
	res_json_text_of(stdout, "metric", c->metric);
	res_json_text_of(stdout, "algorithm", c->algorithm);
	res_json_text_of(stdout, "relation", xp_relation_names[c->relation]);
	res_json_text_of(stdout, "printed", c->printed);
	if (*c->printed) {
		res_json_number_of(stdout, "value", c->value);
		res_json_number_of(stdout, "rounding", c->rounding);
	}
	res_json_text_of(stdout, "verdict",
	    xp_claim_verdict_names[f->verdict[XP_OWN]]);
	if (f->n_readings > 1)
		res_json_text_of(stdout, "verdict_accuracy_fault",
		    xp_claim_verdict_names[f->verdict[XP_HIT]]);
	json_cases(f);
	res_json_text_of(stdout, "why", f->why);
	res_json_text_of(stdout, "note", c->note);
	printf(", \"must\": %s}", c->must ? "true" : "false");
}
