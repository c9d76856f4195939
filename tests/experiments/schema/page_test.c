/* tests/experiments/schema/page_test.c -- the keys of a spec, told: all of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/page.h"

#include "experiments/spec/plane.h"
#include "sim/text.h"
#include "tests/test.h"

/* What WORD is told as; to be freed. */
static char *told(const char *word)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	assert_ok(xp_page_tell(word, out, test_err()));
	fclose(out);
	return text;
}

static void assert_told(const char *word, const char *want)
{
	char *text = told(word);
	assert_string_equal(text, want);
	free(text);
}

/* --- one key and one section ---------------------------------------------- */

#define RATE                                                                   \
	"faults.rate: {uniform: [1e-4, 1e-2]}\n"                               \
	"                          drop rate of a failed link\n"               \
	"                          number or draw [0, 1]\n"                    \
	"                          counts only with kind: drop\n"

static void a_key_is_told_like_this(void **state)
{
	(void)state;
	assert_told("faults.rate", RATE);
	assert_told("latency.hop",
	    "latency.hop: 5            time that a link takes one way\n"
	    "                          number [0, 1000000] us\n"
	    "                          counts only with report_over other than "
	    "0\n");
	assert_told("figure",
	    "figure:                   (required) name of the figure and its "
	    "files: a-z,\n"
	    "                          0-9, _\n"
	    "                          text at most 63 bytes\n");
}

/* Places in lists, and the ends of a draw, are told with their key. */
static void a_path_of_a_sweep_is_its_key(void **state)
{
	static const char *const path[] = {"faults.3.rate", "faults.12.rate",
	    "faults.rate.uniform", "faults.rate.uniform.1",
	    "faults.0.rate.log_uniform.0"};
	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		assert_told(path[i], RATE);
}

static void a_section_is_told_like_this(void **state)
{
	(void)state;
	assert_told("latency",
	    "latency: round-trip times, of plane exact\n"
	    "\n"
	    "  hop: 5                  time that a link takes one way\n"
	    "                          number [0, 1000000] us\n"
	    "                          counts only with report_over other than "
	    "0\n"
	    "  queue: 50               mean time in queues, both ways\n"
	    "                          number [0, 1000000] us\n"
	    "                          counts only with report_over other than "
	    "0\n"
	    "  report_over: 0          smoothed RTT above which a flow is "
	    "reported; 0: no\n"
	    "                          RTTs\n"
	    "                          number [0, 1000000000] us\n"
	    "\n"
	    "  For example:\n"
	    "\n"
	    "    latency: { report_over: 1000 } # us\n"
	    "    faults: { kind: latency, count: 1 }\n");
}

static void a_map_within_a_section_is_told_like_this(void **state)
{
	(void)state;
	assert_told("agents.icmp",
	    "agents.icmp:\n"
	    "  t_max: 100              ICMP messages a switch may send; 0: any "
	    "number\n"
	    "                          number [0, 1000000000] 1/s\n"
	    "  burst: 50               how many of these at once\n"
	    "                          whole number [1, 1000000] messages\n"
	    "                          counts only with t_max other than 0\n"
	    "  source: ingress         address they come from: names the link, "
	    "or the\n"
	    "                          switch alone\n"
	    "                          one of ingress, loopback\n"
	    "  latency: {uniform: [20, 200]}\n"
	    "                          time a switch takes to answer\n"
	    "                          number or draw [0, 10000000] us\n");
}

/* The keys of a map stand below its name, two columns further in. */
static void maps_of_a_section_are_headed_by_their_names(void **state)
{
	char *text = told("traffic");
	(void)state;
	assert_non_null(strstr(text, "\n  tcp:\n    resend: 0"));
	const char *window = strstr(text, "\n    window: ");
	assert_non_null(window);
	assert_null(strstr(strstr(text, "\n  tcp:\n") + 1, "\n  tcp:\n"));
	free(text);
}

/* A word that two sections have is told of both, with a line between. */
static void a_word_is_told_of_all_that_have_it(void **state)
{
	(void)state;
	assert_told("t_max",
	    "agents.icmp.t_max: 100    ICMP messages a switch may send; 0: any "
	    "number\n"
	    "                          number [0, 1000000000] 1/s\n"
	    "\n"
	    "pingmesh.trace.t_max: 100 ICMP messages a switch may send; 0: any "
	    "number\n"
	    "                          number [0, 1000000000] 1/s\n"
	    "                          counts only with on: true\n");
}

static void planes_and_fabrics_have_a_line_each(void **state)
{
	char *plane = told("plane"), *fabric = told("fabric"),
	     *top = told("top");
	(void)state;
	for (size_t i = 0; xp_planes[i]; i++) {
		char want[64];
		snprintf(want, sizeof(want), "\n    %-14s%.20s",
		    xp_planes[i]->name, xp_planes[i]->doc);
		assert_non_null(strstr(plane, want));
		assert_non_null(strstr(top, want));
		assert_null(strstr(fabric, want));
	}
	assert_non_null(strstr(fabric, "\n    netns         "));
	assert_non_null(strstr(top, "\n    netns         "));
	assert_null(strstr(plane, "\n    netns         "));
	assert_memory_equal(top, "At the top: ", 12);
	free(plane);
	free(fabric);
	free(top);
}

static void a_word_that_there_is_not_is_met_with_the_near_one(void **state)
{
	static const char *const t[][2] = {
	    {"trafic", "\"trafic\"; did you mean \"traffic\"?"},
	    {"traffic.con", "\"traffic.con\"; did you mean \"traffic.conns\"?"},
	    {"faults.rate.foo",
		"\"faults.rate.foo\"; did you mean \"faults.rate\"?"},
	    {"zzzzzz", "\"zzzzzz\"; `culprit spec` lists them."},
	    {"top.x", "\"top.x\"; `culprit spec` lists them."},
	    {".rate", "\".rate\"; `culprit spec` lists them."},
	    {"3.4", "\"3.4\"; `culprit spec` lists them."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sim_err e;
		char want[256], *text = NULL;
		size_t n;
		FILE *out = open_memstream(&text, &n);
		assert_non_null(out);
		assert_int_equal(xp_page_tell(t[i][0], out, &e), SIM_EINVAL);
		fclose(out);
		assert_int_equal(n, 0);
		free(text);
		snprintf(want, sizeof(want), "a spec has no key %s", t[i][1]);
		assert_string_equal(e.msg, want);
	}
}

/* --- all of them ---------------------------------------------------------- */

struct seen {
	size_t n;
	char names[4096]; /* as the overview has them */
	struct sim_text to;
	char map[64];
};

/* A key by its path is one entry, which begins with it. */
static void key_is_told(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct seen *s = arg;
	const char *name = own ? own->name : field->name;
	const char *doc = own ? own->doc : field->doc;
	char path[256];
	snprintf(path, sizeof(path), "%s%s%s%s%s", p->name, *p->name ? "." : "",
	    map, *map ? "." : "", name);
	char *text = told(path);
	const size_t n = strlen(path);
	assert_memory_equal(text, path, n);
	assert_int_equal(text[n], ':');
	if (*p->name)
		assert_null(strstr(text, "\n\n"));
	assert_non_null(
	    strstr(text, own ? own->type : sim_field_type_name(field)));
	char begin[16];
	snprintf(begin, sizeof(begin), "%.12s", doc);
	assert_non_null(strstr(text, begin));
	free(text);
	s->n++;

	if (strcmp(map, s->map) != 0)
		sim_put(&s->to, "%s%s%s {%s", *s->map ? "}" : "",
		    s->to.n ? ", " : "", map, name);
	else
		sim_put(&s->to, "%s%s", s->to.n ? ", " : "", name);
	snprintf(s->map, sizeof(s->map), "%s", map);
}

/* Lines that were broken are one again. */
static void unfill(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++)
		if (*at == '\n' && strncmp(at, "\n    ", 5) == 0) {
			*to++ = ' ';
			at += 4;
		} else {
			*to++ = *at;
		}
	*to = '\0';
}

static void each_key_is_found_by_its_path_and_named_at_a_glance(void **state)
{
	char *overview = NULL;
	size_t n, n_keys = 0;
	struct xp_page p;
	FILE *out = open_memstream(&overview, &n);
	(void)state;
	assert_non_null(out);
	xp_page_overview(out);
	fclose(out);
	unfill(overview);
	for (size_t i = 0; xp_page_at(i, &p); i++) {
		struct seen s = {.n = 0};
		char want[6000];
		s.to = (struct sim_text){s.names, sizeof(s.names), 0};
		xp_page_visit(&p, key_is_told, &s);
		n_keys += s.n;
		if (*p.name)
			snprintf(want, sizeof(want), "\n%s%s%s%s%s: %s %s%s\n",
			    p.name, p.owner ? ", on " : "",
			    p.owner ? p.owner : "", p.owner ? " " : "",
			    p.owner ? p.name : "", p.doc,
			    s.n ? s.names : "keys of the root",
			    *s.map ? "}" : "");
		else
			snprintf(want, sizeof(want), "\nAt the top: %s %s\n",
			    p.doc, s.names);
		if (!strstr(overview, want))
			fail_msg("no \"%s\" in %s", want, overview);
	}
	assert_true(n_keys > 150);
	free(overview);
}

/* No line is longer than 78 columns or ends with a blank, and each section is
 * what it is by itself. */
static void all_pages_are_those_of_the_sections(void **state)
{
	char *all = NULL, *want = NULL;
	size_t n, m;
	struct xp_page p;
	(void)state;
	FILE *out = open_memstream(&all, &n);
	assert_non_null(out);
	xp_page_print_all(out);
	fclose(out);
	out = open_memstream(&want, &m);
	assert_non_null(out);
	for (size_t i = 0; xp_page_at(i, &p); i++) {
		char *one = told(*p.name ? p.name : "top");
		fprintf(out, "%s\n", one);
		free(one);
	}
	char *graphml = told("graphml");
	fputs(graphml, out);
	free(graphml);
	fclose(out);
	assert_string_equal(all, want);
	for (const char *line = all; *line; line++) {
		const size_t k = strcspn(line, "\n");
		assert_in_range(k, 0, 78);
		assert_true(k == 0 || line[k - 1] != ' ');
		line += k;
	}
	free(all);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_key_is_told_like_this),
	    cmocka_unit_test(a_path_of_a_sweep_is_its_key),
	    cmocka_unit_test(a_section_is_told_like_this),
	    cmocka_unit_test(a_map_within_a_section_is_told_like_this),
	    cmocka_unit_test(maps_of_a_section_are_headed_by_their_names),
	    cmocka_unit_test(a_word_is_told_of_all_that_have_it),
	    cmocka_unit_test(planes_and_fabrics_have_a_line_each),
	    cmocka_unit_test(a_word_that_there_is_not_is_met_with_the_near_one),
	    cmocka_unit_test(
		each_key_is_found_by_its_path_and_named_at_a_glance),
	    cmocka_unit_test(all_pages_are_those_of_the_sections),
	};
	return cmocka_run_group_tests_name("experiments/schema/page", tests,
	    NULL, NULL);
}
