/* experiments/cmd/bounds.c -- culprit bounds: what 007's theorems promise.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/bounds.h"
#include "experiments/cmd/cmd.h"

struct args {
	struct topo_clos c;
	double t_max, k, p_bad, p_good, c_low, c_high, flows;
	int table, json;
};

/* --- reading ------------------------------------------------------------- */

static double cmd_bounds_read_number(const char *text, const char *what,
    double min, double max, struct argp_state *state)
{
	struct sim_err e = {0};
	double x = 0;
	if (sim_parse_f64(text, &x, &e) < 0)
		argp_error(state, "%s: %s", what, e.msg);
	if (!(x >= min && x <= max))
		argp_error(state, "%s %s is not in [%g, %g]", what, text, min,
		    max);
	return x;
}

/* Counts are doubles here, as formulas take them and N may be 1e18. */
static double read_whole(const char *text, const char *what, double min,
    double max, struct argp_state *state)
{
	const double x = cmd_bounds_read_number(text, what, min, max, state);
	if (x != floor(x))
		argp_error(state, "%s %s is not a whole number", what, text);
	return x;
}

static void take_rate(void *to, char *arg, const struct cmd_given *g)
{
	*(double *)to =
	    cmd_bounds_read_number(arg, g->option->name, 0, 1, g->state);
}

static void take_t_max(void *to, char *arg, const struct cmd_given *g)
{
	*(double *)to =
	    cmd_bounds_read_number(arg, g->option->name, 1e-9, 1e12, g->state);
}

static void take_whole(void *to, char *arg, const struct cmd_given *g)
{
	*(double *)to = read_whole(arg, g->option->name, 1,
	    (double)g->option->max, g->state);
}

static void take_packets(void *to, char *text, const struct cmd_given *g)
{
	struct args *a = to;
	char *comma = strchr(text, ',');
	if (!comma)
		argp_error(g->state, "packets \"%s\" is not LO,HI", text);
	*comma = '\0';
	a->c_low = read_whole(text, "packets", 1, 1e9, g->state);
	a->c_high = read_whole(comma + 1, "packets", a->c_low, 1e9, g->state);
}

/* By the descriptors of a spec's topology, so that ranges and messages are the
 * same. */
static void set_shape(struct topo_clos *c, const char *key, const char *value,
    struct argp_state *state)
{
	struct sim_err e = {0};
	const struct sim_field *f = sim_field_find(topo_clos_fields, key);
	if (!f)
		argp_error(state,
		    "there is no \"%s\"; there are n_pods, n_tors, n_t1, n_t2 "
		    "and n_hosts",
		    key);
	if (sim_field_set(f, c, value, &e) < 0)
		argp_error(state, "%s", e.msg);
}

/* Options by the paper's names stand for keys of a topology. */
static void take_size(void *to, char *arg, const struct cmd_given *g)
{
	set_shape(to, g->option->with, arg, g->state);
}

static void take_pair(void *to, char *text, const struct cmd_given *g)
{
	char *equals = strchr(text, '=');
	if (!equals)
		argp_error(g->state, "\"%s\" is not KEY=VALUE", text);
	*equals = '\0';
	set_shape(to, text, equals + 1, g->state);
}

static const struct cmd_option cmd_bounds_options[] = {
    {.doc = "Network (defaults: 007's simulation):"},
    {"n-pod", 0, "N", "pods (2)", .take = take_size, .at = CMD_AT(c),
	.with = "n_pods"},
    {"n0", 0, "N", "ToRs in each pod (20)", .take = take_size, .at = CMD_AT(c),
	.with = "n_tors"},
    {"n1", 0, "N", "tier-1 switches in each pod (8)", .take = take_size,
	.at = CMD_AT(c), .with = "n_t1"},
    {"n2", 0, "N", "tier-2 switches in all (10)", .take = take_size,
	.at = CMD_AT(c), .with = "n_t2"},
    {"hosts", 0, "N", "hosts under each ToR (40)", .take = take_size,
	.at = CMD_AT(c), .with = "n_hosts"},
    {"set", 's', "KEY=VALUE",
	"the same by the keys of a spec's topology: n_pods, n_tors, n_t1, "
	"n_t2, n_hosts",
	.take = take_pair, .at = CMD_AT(c)},
    {.doc = "Theorem 1:"},
    {"t-max", 0, "RATE", "ICMP answers a second that a switch may give (100)",
	.take = take_t_max, .at = CMD_AT(t_max)},
    {.doc = "Theorems 2 and 3:"},
    {"k", 0, "N", "bad links (1)", .take = take_whole, .at = CMD_AT(k),
	.max = 1000000000},
    {"p-bad", 0, "RATE", "drop rate of a bad link, per packet (5e-4)",
	.take = take_rate, .at = CMD_AT(p_bad)},
    {"p-good", 0, "RATE", "greatest drop rate of a good link (1e-6)",
	.take = take_rate, .at = CMD_AT(p_good)},
    {"packets", 0, "LO,HI", "packets a connection (1,100)",
	.take = take_packets},
    {"flows", 0, "N",
	"connections that vote (60 a host, an epoch of 007's simulation)",
	.take = take_whole, .at = CMD_AT(flows),
	.max = UINT64_C(1000000000000000000)},
    {.doc = "Output:"},
    {"table", 0, NULL,
	"the chance to misrank for 1e2 to 1e10 connections, as TSV",
	.take = cmd_take_flag, .at = CMD_AT(table)},
    {"json", 0, NULL, "one JSON object; null: no statement",
	.take = cmd_take_flag, .at = CMD_AT(json)},
    {0},
};

static const struct cmd_line cmd_bounds_line = {
    .options = cmd_bounds_options,
    .doc = "What the theorems of 007 (NSDI'18) promise for a Clos: how many "
	   "path discoveries hosts may start (1), and when and how surely "
	   "votes rank bad links above good ones (2, 3). Values that the "
	   "paper's formulas get wrong stand beside the corrected ones."
	   "\vReadings of theorems 2 and 3:\n"
	   "  paper      four links a path, bad links below the source at "
	   "worst\n"
	   "  any pods   four links a path, bad links at their true worst "
	   "place\n"
	   "  simulated  six, as `culprit run` has it: links of hosts drop "
	   "too, and\n"
	   "             votes are 1/h",
};

/* --- theorems 2 and 3, in each reading ----------------------------------- */

enum { N_FORMS = ALGO_BOUNDS_SIMULATED + 1 };

struct reading {
	double max_bad, alpha, good_max;
	double weight;
	struct algo_bounds_votes votes;
	struct algo_bounds_error error;
	int says;
};

/* What a form of the theorems says of this network. Bad links drop as seldom as
 * they may, on the shortest connections, and good ones as often, on the
 * longest: that is the worst case of theorem 2. */
static struct reading read_form(const struct args *a, enum algo_bounds_form f)
{
	const double r_bad = algo_bounds_drop(a->p_bad, a->c_low),
		     r_good = algo_bounds_drop(a->p_good, a->c_high);
	const double alpha = algo_bounds_alpha(&a->c, f, a->k);
	struct reading r = {
	    .max_bad = algo_bounds_max_bad(&a->c, f),
	    .alpha = alpha,
	    .good_max =
		algo_bounds_good_max(alpha, a->p_bad, a->c_low, a->c_high),
	    .weight = algo_bounds_weight(&a->c, f),
	    .says = algo_bounds_says(&a->c, f),
	    .votes =
		{
		    .bad = algo_bounds_vote_bad(&a->c, r_bad),
		    .good =
			algo_bounds_vote_good(&a->c, f, a->k, r_bad, r_good),
		    .n_bad = a->k,
		    .n_good = algo_bounds_links(&a->c, f) - a->k,
		    .spread =
			f == ALGO_BOUNDS_SIMULATED ? ALGO_BOUNDS_SPREAD : 1,
		},
	};
	/* Beyond its greatest k a form says nothing about good links' votes. */
	if (!(a->k < r.max_bad))
		r.votes.good = NAN;
	r.error = algo_bounds_error(&r.votes, a->flows);
	return r;
}

/* A chance from its logarithm; a bound above 1 says as much as 1. */
static double chance(double log_p)
{
	return isnan(log_p) ? NAN : exp(fmin(log_p, 0));
}

/* --- for people ---------------------------------------------------------- */

/* Print X with four digits in WIDTH columns; "-" where nothing is said. */
static void cmd_bounds_cell(int width, double x)
{
	if (isnan(x))
		printf(" %*s", width, "-");
	else if (x < 1000)
		printf(" %#*.4g", width, x);
	else
		printf(" %*.4g", width, x);
}

static void print_load(const char *tier, double paper, double real,
    double t_max)
{
	printf("    %-4s", tier);
	cmd_bounds_cell(8, paper);
	cmd_bounds_cell(8, real);
	/* A hair above T_max is rounding, as C_t was chosen to meet it. */
	printf("%s\n", real > t_max * (1 + 1e-9) ? "   above T_max" : "");
}

/* Formula (1) of 007 bounds the answers of each switch by T_max, but leaves out
 * ToRs and some answers of the others (algos/vigil/bounds.h). So what it
 * promises stands beside what switches would really send at its C_t. */
static void print_theorem_1(const struct args *a)
{
	const double paper = algo_bounds_ct_paper(&a->c, a->t_max);
	const struct algo_bounds_load claimed =
					  algo_bounds_load_paper(&a->c, paper),
				      real = algo_bounds_load(&a->c, paper);
	printf("Theorem 1: path discoveries a host may start a second, when a "
	       "switch may\nanswer T_max = %g times a second\n",
	    a->t_max);
	/* Theorem 1 is about paths between ToRs. */
	if (isnan(paper)) {
		printf("  There is one ToR in all: no path leaves it.\n\n");
		return;
	}
	printf("  C_t =");
	cmd_bounds_cell(0, paper);
	printf("   formula (1)\n  C_t =");
	cmd_bounds_cell(0, algo_bounds_ct(&a->c, a->t_max));
	printf("  corrected: every answer counts\n"
	       "  answers a second of one switch at the C_t of (1):\n"
	       "            paper   really\n");
	print_load("ToR", claimed.tor, real.tor, a->t_max);
	print_load("T1", claimed.t1, real.t1, a->t_max);
	print_load("T2", claimed.t2, real.t2, a->t_max);
	printf("\n");
}

static void cmd_bounds_print_row(const char *name, const char *unit,
    const double x[])
{
	printf("  %-30s %-7s", name, unit);
	for (int f = 0; f < N_FORMS; f++)
		cmd_bounds_cell(9, x[f]);
	printf("\n");
}

/* Print one row: VALUE is an expression in r, the reading of each column. */
#define ROW(name, unit, value)                                                 \
	do {                                                                   \
		double x_[N_FORMS];                                            \
		for (int f = 0; f < N_FORMS; f++) {                            \
			const struct reading *r = &reading[f];                 \
			x_[f] = (value);                                       \
		}                                                              \
		cmd_bounds_print_row(name, unit, x_);                          \
	} while (0)

static void print_ranking(const struct args *a, const struct reading reading[])
{
	printf("Theorems 2 and 3: votes rank bad links, k = %g, above all "
	       "good ones\n",
	    a->k);
	printf("  p_bad %g, p_good up to %g, %g to %g packets\n", a->p_bad,
	    a->p_good, a->c_low, a->c_high);
	printf("  %-30s %-7s %9s %9s %9s\n", "", "unit",
	    /* The star leads to the notes below the table. */
	    reading[0].says ? "paper" : "paper*", "any pods", "simulated");
	ROW("k must be below", "links", r->max_bad);
	ROW("alpha = least r_bad / r_good", "1", r->alpha);
	ROW("p_good at most", "1/pkt", r->good_max);
	ROW("least votes of a bad link", "1/conn", r->votes.bad);
	ROW("most votes of a good link", "1/conn", r->votes.good);
	printf("  after N = %g connections\n", a->flows);
	ROW("eps, one bad and one good link", "1", chance(r->error.log_pair));
	ROW("eps, all links", "1", chance(r->error.log_all));
	ROW("eps, all, best threshold", "1", chance(r->error.log_best));
}

/* Tell which conditions of the theorems fail here, and only the first reason
 * why no statement is left. */
static void print_notes(const struct args *a, const struct reading reading[])
{
	const struct topo_clos *c = &a->c;
	const double pods = algo_bounds_pods(c), all = algo_bounds_pods_all(c);
	printf("\n");
	/* Of a single pod there are no links between pods to rank, and
	 * theorem 2 says nothing. */
	if (c->n_pods < 2) {
		printf("* With one pod there is no level-2 link and no "
		       "statement.\n");
		return;
	}
	printf("Pods: theorem 2 needs n_pod >= 1 + n0/n1 = %g: %s with %u.\n",
	    pods, c->n_pods >= pods ? "met" : "fails", c->n_pods);
	/* Theorem 3 has conditions of its own, on tiers and on pods. */
	if (isnan(all))
		printf("Theorem 3 needs n0 >= n2: fails with %u and %u.\n",
		    c->n_tors, c->n_t2);
	else
		printf("Theorem 3 needs n_pod >= %g: %s.\n", all,
		    c->n_pods >= all ? "met" : "fails");
	if (!reading[0].says)
		printf("* Its conditions fail here: these are what the "
		       "formulas give, and not bounds.\n");
	/* All forms lean on (10a), which promises bad links of level 2 no fewer
	 * votes than those of level 1 get at least. */
	if (!algo_bounds_level2_busier(c)) {
		printf("A level-2 link carries fewer flows than a level-1 "
		       "link, so (10a) fails for bad\nlinks of level 2 and no "
		       "reading says anything.\n");
		return;
	}
	if (!reading[ALGO_BOUNDS_SIMULATED].says)
		printf("With %u hosts a ToR, links of hosts may get more votes "
		       "than (10b) allows:\nno statement on what is "
		       "simulated.\n",
		    c->n_hosts);
	/* From here on the network is fine, and it is the rates and the number
	 * of bad links that leave no statement. */
	if (!(a->k < reading[ALGO_BOUNDS_ANY_PODS].max_bad))
		printf("k = %g is too many: bad links together may give a good "
		       "one the votes of one of\nthem.\n",
		    a->k);
	else if (!(a->p_good <= reading[ALGO_BOUNDS_ANY_PODS].good_max))
		printf("Good links that drop %g may get as many votes as bad "
		       "ones.\n",
		    a->p_good);
	else if (!(a->p_good <= reading[ALGO_BOUNDS_SIMULATED].good_max))
		printf("Links of hosts that drop %g too leave no bound on what "
		       "is simulated.\n",
		    a->p_good);
}

static void print_shape(const struct topo_clos *c)
{
	printf("Clos: n_pod = %u; n0 = %u ToRs and n1 = %u T1s a pod; n2 = %u "
	       "T2s; H = %u hosts a ToR\n\n",
	    c->n_pods, c->n_tors, c->n_t1, c->n_t2, c->n_hosts);
}

/* --- for programs -------------------------------------------------------- */

/* JSON has neither NaN nor infinity. */
static void json_number(const char *key, double x)
{
	if (isfinite(x))
		printf(", \"%s\": %.12g", key, x);
	else
		printf(", \"%s\": null", key);
}

static void cmd_bounds_print_json(const struct args *a,
    const struct reading reading[])
{
	static const char *const names[] = {"paper", "any_pods", "simulated"};
	const struct topo_clos *c = &a->c;
	const double ct = algo_bounds_ct_paper(c, a->t_max);
	const struct algo_bounds_load claimed = algo_bounds_load_paper(c, ct),
				      real = algo_bounds_load(c, ct);
	printf("{\"n_pods\": %u, \"n_tors\": %u, \"n_t1\": %u, \"n_t2\": %u, "
	       "\"n_hosts\": %u",
	    c->n_pods, c->n_tors, c->n_t1, c->n_t2, c->n_hosts);
	json_number("t_max", a->t_max);
	json_number("n_bad", a->k);
	json_number("p_bad", a->p_bad);
	json_number("p_good", a->p_good);
	json_number("packets_low", a->c_low);
	json_number("packets_high", a->c_high);
	json_number("n_flows", a->flows);
	json_number("ct_paper", ct);
	json_number("ct", algo_bounds_ct(c, a->t_max));
	json_number("load_paper_t1", claimed.t1);
	json_number("load_paper_t2", claimed.t2);
	json_number("load_tor", real.tor);
	json_number("load_t1", real.t1);
	json_number("load_t2", real.t2);
	json_number("pods_theorem_2", algo_bounds_pods(c));
	json_number("pods_theorem_3", algo_bounds_pods_all(c));
	for (int f = 0; f < N_FORMS; f++) {
		const struct reading *r = &reading[f];
		printf(", \"%s\": {\"holds\": %s", names[f],
		    r->says ? "true" : "false");
		json_number("weight", r->weight);
		json_number("max_bad", r->max_bad);
		json_number("alpha", r->alpha);
		json_number("p_good_max", r->good_max);
		json_number("votes_bad", r->votes.bad);
		json_number("votes_good", r->votes.good);
		json_number("log_eps_pair", r->error.log_pair);
		json_number("log_eps_all", r->error.log_all);
		json_number("log_eps_best", r->error.log_best);
		printf("}");
	}
	printf("}\n");
}

static void tsv_number(double x)
{
	if (isnan(x))
		printf("\tNaN");
	else
		printf("\t%.6g", x);
}

/* The chances to misrank over 1e2 to 1e10 connections, ten rows a decade. */
static void cmd_bounds_print_table(const struct reading reading[])
{
	printf("n_flows\tpaper:pair\tpaper:all\tpaper:best\tany_pods:pair\t"
	       "any_pods:all\tany_pods:best\tsimulated:pair\tsimulated:all\t"
	       "simulated:best\n");
	for (int i = 20; i <= 100; i++) {
		const double n = pow(10, i / 10.0);
		printf("%.6g", n);
		for (int f = 0; f < N_FORMS; f++) {
			const struct algo_bounds_error e =
			    algo_bounds_error(&reading[f].votes, n);
			tsv_number(chance(e.log_pair));
			tsv_number(chance(e.log_all));
			tsv_number(chance(e.log_best));
		}
		printf("\n");
	}
}

int cmd_bounds(int argc, char **argv)
{
	struct args a = {.t_max = 100,
	    .k = 1,
	    .p_bad = 5e-4,
	    .p_good = 1e-6,
	    .c_low = 1,
	    .c_high = 100};
	struct reading reading[N_FORMS];
	struct sim_err e = {0};
	int rc = sim_field_defaults(topo_clos_fields, &a.c, &e);
	cmd_parse(&cmd_bounds_line, argc, argv, &a);
	if (rc == 0)
		rc = topo_clos_init(&a.c, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	/* 60 connections a host, as in an epoch of 007's simulation. */
	if (a.flows == 0)
		a.flows = 60.0 * a.c.all_hosts;
	for (int f = 0; f < N_FORMS; f++)
		reading[f] = read_form(&a, (enum algo_bounds_form)f);
	if (a.table) {
		cmd_bounds_print_table(reading);
	} else if (a.json) {
		cmd_bounds_print_json(&a, reading);
	} else {
		print_shape(&a.c);
		print_theorem_1(&a);
		print_ranking(&a, reading);
		print_notes(&a, reading);
	}
	return CMD_GOOD;
}
