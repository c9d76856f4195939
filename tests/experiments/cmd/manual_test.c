/* tests/experiments/cmd/manual_test.c -- the manual page of a verb of the test's.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program that pages speak of is declared here, as main.c does of the real one.
 */
#include "experiments/cmd/manual.h"

#include "experiments/cmd/program.h"
#include "results/provenance.h"
#include "tests/test.h"

const struct cmd_verb cmd_verbs[] = {{"run", "run a sweep", NULL},
    {"algos", "the algorithms", NULL}, {"table", "results as rows", NULL},
    {"trace", "copies of packets", NULL}, {"odd", NULL, NULL},
    {"tab", "none of those", NULL}, {0}};
const struct cmd_verb cmd_options[] = {{"--help", "the verbs", NULL},
    {"--version", "version of it", NULL}, {0}};
const char cmd_program_doc[] = "Do things.";
const char cmd_exit_codes[] = "0 good; 3 it failed.";
const long long cmd_epoch = 86400 * 30 + 1;

static char page[8192];

static const char *verb_page(const char *verb, const char *args_doc,
    const char *doc, const struct cmd_option *options)
{
	const struct cmd_option *row[8];
	const struct cmd_line line = {.args_doc = args_doc, .doc = doc};
	struct cmd_table t = {.verb = verb, .line = &line, .row = row};
	for (; options[t.n].name || options[t.n].doc; t.n++)
		row[t.n] = &options[t.n];
	*page = '\0';
	FILE *out = fmemopen(page, sizeof(page), "w");
	assert_non_null(out);
	cmd_manual_verb(out, &t);
	assert_int_equal(fclose(out), 0);
	return page;
}

static void must_have(const char *want)
{
	if (!strstr(page, want))
		fail_msg("no \"%s\" in\n%s", want, page);
}

static void must_not_have(const char *what)
{
	if (strstr(page, what))
		fail_msg("\"%s\" is in\n%s", what, page);
}

#define HELP                                                                   \
	".Bl -tag -width Ds\n"                                                 \
	".It Fl ? , Fl \\-help\n"                                              \
	"what this page says, in short\n"                                      \
	".It Fl \\-usage\n"                                                    \
	"all options in a few lines\n"                                         \
	".El\n"

static void a_page_has_all_that_help_says(void **state)
{
	static const struct cmd_option options[] = {
	    {.doc = "What to do: now"},
	    {"quick", 'q', NULL, "be quick", .take = NULL},
	    {"output", 'o', "FILE", "where to. Not here", .take = NULL},
	    {"count", 0, "N", "so often", .take = NULL},
	    {.doc = "And else:"},
	    {"dry-run", 0, NULL, "nothing", .take = NULL},
	    {0},
	};
	char want[4096];
	(void)state;
	verb_page("table", "FILE [WORD]\nall [X...]",
	    "Print FILE.\vSee `culprit run`, culprit table and "
	    "culprit algosx.\n\n"
	    "Exit codes: 0 good; 1 bad; or worse; 2 the rest.\n\n"
	    "It writes results/out.",
	    options);
	snprintf(want, sizeof(want),
	    ".\\\" Made by culprit man.\n"
	    ".Dd January 31, 1970\n"
	    ".Dt CULPRIT-TABLE 1\n"
	    ".Os culprit %.*s\n"
	    ".Sh NAME\n"
	    ".Nm culprit-table\n"
	    ".Nd results as rows\n"
	    ".Sh SYNOPSIS\n"
	    ".Nm culprit table\n"
	    ".Op Ar option ...\n"
	    ".Ar FILE\n"
	    ".Op Ar WORD\n"
	    ".Nm culprit table\n"
	    ".Op Ar option ...\n"
	    ".Cm all\n"
	    ".Op Ar X...\n"
	    ".Sh DESCRIPTION\n"
	    "Print FILE.\n"
	    ".Pp\n"
	    "See \\fBculprit run\\fP, culprit table and culprit algosx.\n"
	    ".Pp\n"
	    "It writes results/out.\n"
	    ".Sh OPTIONS\n"
	    ".Ss What to do\n"
	    ".Bl -tag -width Ds\n"
	    ".It Fl q , Fl \\-quick\n"
	    "be quick\n"
	    ".It Fl o Ar FILE , Fl \\-output Ns = Ns Ar FILE\n"
	    "where to.\n"
	    "Not here\n"
	    ".It Fl \\-count Ns = Ns Ar \\&N\n"
	    "so often\n"
	    ".El\n"
	    ".Ss \\&And else\n"
	    ".Bl -tag -width Ds\n"
	    ".It Fl \\-dry\\-run\n"
	    "nothing\n"
	    ".El\n"
	    ".Ss Help\n" HELP ".Sh FILES\n"
	    ".Bl -tag -width Ds\n"
	    ".It Pa results/out/FIGURE.h5\n"
	    "results, as HDF5\n"
	    ".El\n"
	    ".Sh EXIT STATUS\n"
	    ".Bl -tag -width Ds\n"
	    ".It 0\n"
	    "good\n"
	    ".It 1\n"
	    "bad; or worse\n"
	    ".It 2\n"
	    "the rest.\n"
	    ".El\n"
	    ".Sh EXAMPLES\n",
	    (int)strcspn(res_version(), " "), res_version());
	if (strncmp(page, want, strlen(want)) != 0)
		assert_string_equal(page, want);
	must_have(".It Li \"culprit table vigil_fig05a | column \\-t\"\n"
		  "a row a point\n");
	must_have("\n.El\n.Sh SEE ALSO\n"
		  ".Xr culprit 1 ,\n"
		  ".Xr culprit-run 1 ,\n"
		  ".Xr culprit-spec 5\n");
}

/* Without options, words, examples or files there are no such parts; codes are
 * the program's, and a tail in a display makes its own room. */
static void a_page_lacks_what_there_is_not(void **state)
{
	static const struct cmd_option none[] = {{0}};
	(void)state;
	verb_page("tab", NULL, "Go.\v  as it is", none);
	must_have(".Nd none of those\n.Sh SYNOPSIS\n.Nm culprit tab\n"
		  ".Op Ar option ...\n.Sh DESCRIPTION\nGo.\n"
		  ".Bd -literal -offset indent\nas it is\n.Ed\n"
		  ".Sh OPTIONS\n" HELP ".Sh EXIT STATUS\n"
		  ".Bl -tag -width Ds\n.It 0\ngood\n.It 3\nit failed.\n.El\n"
		  ".Sh SEE ALSO\n.Xr culprit 1 ,\n.Xr culprit-spec 5\n");
	verb_page("nobody", NULL, "Go.", none);
	must_have(".Nd a verb of culprit\n");
	must_not_have(".Pp");
	/* The codes may be all that there is, or the last. */
	verb_page("tab", NULL, "Go.\vExit codes: 0 good", none);
	must_have("\nGo.\n.Sh OPTIONS\n");
	must_have("\n.It 0\ngood\n.El\n");
	must_not_have("it failed");
}

/* What a page speaks of is named in the order of the alphabet, itself not. */
static void a_page_names_the_verbs_of_its_text(void **state)
{
	static const struct cmd_option with[] = {{"x", 0, NULL,
						     "as culprit trace",
						     .take = NULL},
	    {0}};
	(void)state;
	verb_page("run", "[culprit table]",
	    "Before culprit run, culprit algos; not culprit tables, culprit "
	    "odd, culprittrace.",
	    with);
	must_have("\n.Sh SEE ALSO\n"
		  ".Xr culprit 1 ,\n"
		  ".Xr culprit-algos 1 ,\n"
		  ".Xr culprit-table 1 ,\n"
		  ".Xr culprit-trace 1 ,\n"
		  ".Xr culprit-spec 5\n");
}

/* "trace get" is a verb of trace's. */
static void verbs_of_a_verb_have_their_pages(void **state)
{
	static const struct cmd_option none[] = {{0}};
	(void)state;
	verb_page("trace get", NULL, "Go.", none);
	must_have(".Dt CULPRIT-TRACE-GET 1\n");
	must_have(".Nm culprit-trace-get\n");
	must_have(".Nm culprit trace get\n");
	must_have(".Nd traces of a file that fit an expression\n");
	must_have("packets that were lost for certain\n");
	must_not_have("a verb of culprit");
	must_not_have("copies of packets");
}

static void the_program_lists_its_verbs(void **state)
{
	*page = '\0';
	FILE *out = fmemopen(page, sizeof(page), "w");
	(void)state;
	assert_non_null(out);
	cmd_manual_program(out);
	fclose(out);
	must_have(".Dt CULPRIT 1\n");
	must_have(".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar option ...\n"
		  ".Op Ar word ...\n.Sh DESCRIPTION\nDo things.\n.Pp\n"
		  "The verbs, each with a page of its own:\n"
		  ".Bl -tag -width Ds\n"
		  ".It Cm run\nrun a sweep\n"
		  ".It Cm algos\nthe algorithms\n"
		  ".It Cm table\nresults as rows\n"
		  ".It Cm trace\ncopies of packets\n"
		  ".It Cm tab\nnone of those\n"
		  ".El\n.Sh OPTIONS\n.Bl -tag -width Ds\n"
		  ".It Fl \\-help\nthe verbs\n"
		  ".It Fl \\-version\nversion of it\n.El\n"
		  ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev PATH\n"
		  "where gnuplot is found, which draws\n.El\n"
		  ".Sh FILES\n");
	must_have(".It Pa plots/NAME.gp\ngnuplot scripts\n");
	must_have(".Sh EXAMPLES\n.Bl -tag -width Ds\n"
		  ".It Li \"culprit run vigil_fig05a \\-\\-smoke\"\n");
	must_have("\n.Sh SEE ALSO\n"
		  ".Xr culprit-algos 1 ,\n"
		  ".Xr culprit-run 1 ,\n"
		  ".Xr culprit-tab 1 ,\n"
		  ".Xr culprit-table 1 ,\n"
		  ".Xr culprit-trace 1 ,\n"
		  ".Xr culprit-spec 5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_page_has_all_that_help_says),
	    cmocka_unit_test(a_page_lacks_what_there_is_not),
	    cmocka_unit_test(a_page_names_the_verbs_of_its_text),
	    cmocka_unit_test(verbs_of_a_verb_have_their_pages),
	    cmocka_unit_test(the_program_lists_its_verbs),
	};
	return cmocka_run_group_tests_name("experiments/cmd/manual", tests,
	    NULL, NULL);
}
