/* experiments/cmd/man.c -- culprit man and culprit --cite: what to read, to name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/manual.h"
#include "experiments/cmd/program.h"
#include "experiments/cmd/subverb.h"
#include "results/provenance.h"
#include "sim/text.h"

struct args {
	const char *page;
	int list;
};

static const struct cmd_option man_options[] = {
    {"list", 0, NULL, "the names of all pages, as files", .take = cmd_take_flag,
	.at = CMD_AT(list)},
    {0},
};

static const struct cmd_line man_line = {
    .options = man_options,
    .word = {"PAGE", .take = cmd_take_one, .at = CMD_AT(page)},
    .args_doc = "[PAGE]",
    .doc = "Print a manual page as mdoc, for man and mandoc: that of a verb, "
	   "of specs (spec.5), or by default that of the program. `make "
	   "install` puts all of them where man looks.",
};

/* "culprit-run.1", "culprit-run" and "run" are one page. */
static void page_name(const char *page, char name[64])
{
	if (strncmp(page, "culprit-", 8) == 0)
		page += 8;
	const size_t n = strlen(page);
	const int is_1 = n > 2 && strcmp(page + n - 2, ".1") == 0;
	snprintf(name, 64, "%.*s", (int)(is_1 ? n - 2 : n), page);
}

static void list_pages(void)
{
	printf("culprit.1\nculprit-spec.5\n");
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		if (v->doc)
			printf("culprit-%s.1\n", v->name);
		for (const struct cmd_verb *s = cmd_subverbs(v->name); s->name;
		     s++)
			printf("culprit-%s-%s.1\n", v->name, s->name);
	}
}

static int no_page(const char *name)
{
	const char *names[64] = {"spec.5"}, *near;
	char shown[64];
	size_t n = 1;
	for (const struct cmd_verb *v = cmd_verbs; v->name && n < 64; v++)
		if (v->doc)
			names[n++] = v->name;
	near = sim_did_you_mean(name, names, n);
	fprintf(stderr, "culprit: there is no page %s%s%s%s\n",
	    sim_quote(shown, name), near ? "; did you mean \"" : "",
	    near ? near : "; `culprit man --list` has their names.",
	    near ? "\"?" : "");
	return CMD_USAGE;
}

/* The verb of a page, "run" or "trace-get", whose name as it is typed goes to
 * TITLE; NULL: there is none. */
static const struct cmd_verb *man_page(const char *name, char title[80])
{
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		const size_t n = strlen(v->name);
		if (strncmp(name, v->name, n) != 0 || !v->doc)
			continue;
		snprintf(title, 80, "culprit %s", v->name);
		if (name[n] == '\0')
			return v;
		for (const struct cmd_verb *s = cmd_subverbs(v->name); s->name;
		     s++) {
			snprintf(title, 80, "culprit %s %s", v->name, s->name);
			if (name[n] == '-' &&
			    strcmp(name + n + 1, s->name) == 0)
				return s;
		}
	}
	return NULL;
}

int cmd_man(int argc, char **argv)
{
	char name[64] = "culprit", title[80], ask[] = "--man";
	struct args a = {0};
	cmd_parse(&man_line, argc, argv, &a);
	if (a.list) {
		list_pages();
		return CMD_GOOD;
	}
	if (a.page)
		page_name(a.page, name);
	if (strcmp(name, "culprit") == 0) {
		cmd_manual_program(stdout);
		return CMD_GOOD;
	}
	if (strcmp(name, "spec.5") == 0) {
		cmd_manual_spec(stdout);
		return CMD_GOOD;
	}
	const struct cmd_verb *page = man_page(name, title);
	if (page)
		return page->main(2, (char *[]){title, ask, NULL});
	return no_page(name);
}

/* --- cite ------------------------------------------------------------------ */

#define TITLE                                                                  \
	"culprit: fault localisation in Clos networks, simulated and scored"

static void print_bibtex(const char *version, int n, const char *commit,
    const char *year)
{
	printf("@software{culprit,\n"
	       "  author  = {{The culprit authors}},\n"
	       "  title   = {{" TITLE "}},\n"
	       "  version = {%.*s},\n",
	    n, version);
	if (*year)
		printf("  year    = {%s},\n", year);
	printf("  note    = {Commit %s}\n}\n", commit);
}

static void print_cff(const char *version, int n, const char *commit,
    const char *day)
{
	printf("cff-version: 1.2.0\n"
	       "message: If you use this software, please cite it as below.\n"
	       "type: software\n"
	       "title: '" TITLE "'\n"
	       "authors:\n"
	       "  - name: The culprit authors\n"
	       "version: '%.*s'\n"
	       "commit: '%s'\n",
	    n, version, commit);
	if (*day)
		printf("date-released: '%s'\n", day);
	printf("license: GPL-3.0-or-later\n");
}

/* The commit stands second in that list. */
int cmd_cite(int argc, char **argv)
{
	const char *form = argc > 1 ? argv[1] : "", *version = res_version();
	const int n = (int)strcspn(version, " ");
	const char *commit = res_provenance()[1].value;
	const int bibtex = strcmp(form, "bibtex") == 0;
	const int cff = strcmp(form, "cff") == 0;
	const time_t t = (time_t)cmd_epoch;
	char day[16] = "", year[8] = "";
	struct tm tm;
	if (argc > 2 || (argc == 2 && !bibtex && !cff)) {
		fprintf(stderr,
		    "culprit: --cite takes one word, bibtex or cff, or "
		    "none.\n");
		return CMD_USAGE;
	}
	if (t > 0 && gmtime_r(&t, &tm)) {
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
		strftime(year, sizeof(year), "%Y", &tm);
	}
	if (!cff)
		print_bibtex(version, n, commit, year);
	if (!cff && !bibtex)
		printf("\n# CITATION.cff\n");
	if (!bibtex)
		print_cff(version, n, commit, day);
	return CMD_GOOD;
}
