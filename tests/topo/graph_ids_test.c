/* tests/topo/graph_ids_test.c -- nodes keep the ids that a file gives them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No law is tested here, only equality.
 */
#include "topo/graph_ids.h"

#include <unistd.h>

#include "sim/rng.h"
#include "tests/test.h"
#include "topo/graph.h"
#include "topo/mesh.h"

#define HEAD                                                                   \
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"            \
	"<key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>" \
	"<key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>"
#define GRAPH "<graph edgedefault=\"undirected\">"
#define END   "</graph></graphml>"
#define H(id) "<node id=\"" id "\"><data key=\"k\">host</data></node>"
#define S(id) "<node id=\"" id "\"><data key=\"k\">switch</data></node>"
#define NAMED(id, kind, name)                                                  \
	"<node id=\"" id "\"><data key=\"k\">" kind "</data>"                  \
	"<data key=\"n\">" name "</data></node>"
#define E(a, b) "<edge source=\"" a "\" target=\"" b "\"/>"

static int read_bytes(struct topo *t, const char *bytes, size_t n,
    struct sim_err *e)
{
	char path[] = P_tmpdir "/culprit-graph-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	const int rc = topo_graph_read(t, path, e);
	unlink(path);
	return rc;
}

static void open_text(struct topo *t, const char *text)
{
	assert_ok(read_bytes(t, text, strlen(text), test_err()));
}

static void assert_name(const struct topo *t, topo_node n, const char *want)
{
	char name[64];
	topo_node back;
	topo_node_name(t, n, name);
	assert_string_equal(name, want);
	assert_ok(topo_node_parse(t, want, &back, test_err()));
	assert_int_equal(back, n);
}

static char *written(const struct topo *t)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	assert_ok(topo_graph_write(t, f, test_err()));
	fclose(f);
	return text;
}

/* Written, read and written again it is the same, byte for byte. */
static void assert_comes_back(const struct topo *t)
{
	struct topo back;
	char *text = written(t);
	open_text(&back, text);
	char *again = written(&back);
	assert_string_equal(text, again);
	for (topo_node n = 0; n < t->n_hosts + t->n_switches; n++) {
		char name[64];
		topo_node_name(t, n, name);
		assert_name(&back, n, name);
		assert_string_equal(topo_mesh_id(t->mesh, n),
		    topo_mesh_id(back.mesh, n));
	}
	topo_close(&back);
	free(again);
	free(text);
}

/* --- what a network is called by ------------------------------------------ */

/* A file may count its hosts from 1, and its switches among them. */
static void a_node_without_a_name_is_called_by_its_id(void **state)
{
	struct topo t;
	topo_link l;
	(void)state;
	open_text(&t,
	    HEAD GRAPH H("host1") H("host2") S("3") S("sw1") E("host1", "3")
		E("host2", "sw1") E("3", "sw1") END);
	assert_name(&t, 0, "host1");
	assert_name(&t, 1, "host2");
	assert_name(&t, 2, "3");
	assert_name(&t, 3, "sw1");
	assert_ok(topo_link_parse(&t, "sw1->3", &l, test_err()));
	assert_int_equal(l, topo_link_of(2, TOPO_DOWN));
	/* host0 and sw0 would be other nodes than the file's. */
	topo_node n;
	assert_int_equal(topo_node_parse(&t, "host0", &n, NULL), SIM_EINVAL);
	assert_int_equal(topo_node_parse(&t, "sw0", &n, NULL), SIM_EINVAL);
	assert_comes_back(&t);
	topo_close(&t);
}

static void a_name_counts_more_than_an_id_and_both_are_known(void **state)
{
	struct topo t;
	topo_node n;
	char *text;
	(void)state;
	open_text(&t,
	    HEAD GRAPH NAMED("n0", "host", "web") H("n1") NAMED("n2", "switch",
		"a leaf") E("n0", "n2") E("n1", "n2") END);
	assert_name(&t, 0, "web");
	assert_name(&t, 1, "n1");
	assert_name(&t, 2, "a leaf");
	assert_ok(topo_node_parse(&t, "n0", &n, test_err()));
	assert_int_equal(n, 0);
	/* No id is of the form host17, so these are nodes by number. */
	assert_ok(topo_node_parse(&t, "host1", &n, test_err()));
	assert_int_equal(n, 1);
	text = written(&t);
	assert_non_null(strstr(text, "<node id=\"n0\">"));
	assert_non_null(strstr(text, "<data key=\"name\">web</data>"));
	assert_non_null(strstr(text, "source=\"n0\" target=\"n2\""));
	free(text);
	assert_comes_back(&t);
	topo_close(&t);
}

/* What another program wrote over igraph: the ids are n0, n1, ..., and what
 * they were is an attribute. */
static void ids_that_igraph_has_put_aside_are_taken(void **state)
{
	struct topo t;
	(void)state;
	open_text(&t,
	    HEAD "<key id=\"v_id\" for=\"node\" attr.name=\"id\" "
		 "attr.type=\"string\"/>" GRAPH
		 "<node id=\"n0\"><data key=\"k\">host</data>"
		 "<data key=\"v_id\">rack7-a</data></node>"
		 "<node id=\"n1\"><data key=\"k\">switch</data>"
		 "<data key=\"v_id\">rack7</data></node>" E("n0", "n1") END);
	assert_name(&t, 0, "rack7-a");
	assert_name(&t, 1, "rack7");
	assert_comes_back(&t);
	topo_close(&t);
}

/* Blanks, quotes, letters beyond ASCII, what XML must escape, digits alone. */
static void odd_ids_come_back(void **state)
{
	static const struct {
		const char *xml, *id;
	} odd[] = {
	    {"New York, NY", "New York, NY"},
	    {"Z\xc3\xbcrich", "Z\xc3\xbcrich"},
	    {"a &amp; &lt;b>", "a & <b>"},
	    {"it's &quot;it&quot;", "it's \"it\""},
	    {"&#233;&#x20AC;", "\xc3\xa9\xe2\x82\xac"},
	    {"17", "17"},
	    {"&lt;/node>", "</node>"},
	    {"&amp;#38;&#38;", "&#38;&"},
	    {"-", "-"},
	    {"host7", "host7"},
	    {"a > b -", "a > b -"},
	};
	enum { N = sizeof(odd) / sizeof(odd[0]) };
	char text[4096];
	struct sim_text at = {text, sizeof(text), 0};
	struct topo t;
	topo_link l;
	(void)state;
	sim_put(&at, HEAD GRAPH S("the switch"));
	for (int i = 0; i < N; i++)
		sim_put(&at,
		    H("%s") "<edge source='the switch' target=\"%s\"/>",
		    odd[i].xml, odd[i].xml);
	sim_put(&at, END);
	open_text(&t, text);
	for (int i = 0; i < N; i++) {
		char name[64];
		assert_name(&t, (topo_node)i, odd[i].id);
		snprintf(name, sizeof(name), "the switch->%s", odd[i].id);
		assert_ok(topo_link_parse(&t, name, &l, test_err()));
		assert_int_equal(l, topo_link_of((uint32_t)i, TOPO_DOWN));
	}
	assert_comes_back(&t);
	topo_close(&t);
}

/* An id that is no name needs one beside it, and is then kept as it is. */
static void any_id_is_kept_beside_a_name(void **state)
{
	struct topo t;
	(void)state;
	open_text(&t,
	    HEAD GRAPH NAMED("a->b", "host", "a") NAMED("&#10;x&#9;", "switch",
		"an identifier that is long") E("a->b", "&#10;x&#9;") END);
	assert_string_equal(topo_mesh_id(t.mesh, 0), "a->b");
	assert_string_equal(topo_mesh_id(t.mesh, 1), "\nx\t");
	assert_comes_back(&t);
	topo_close(&t);
}

/* --- files that would be misread ------------------------------------------ */

static void assert_refused(const char *text, int rc, const char *part)
{
	struct sim_err e = {0};
	struct topo t;
	const int got = read_bytes(&t, text, strlen(text), &e);
	if (got != rc || !strstr(e.msg, part) || strchr(e.msg, '\n'))
		fail_msg("wanted \"%s\", got %s: %s", part, sim_err_text(got),
		    e.msg);
}

#define LONG "an-identifier-that-is-too-long-"

static void what_would_be_misread_is_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *part;
	} bad[] = {
	    {HEAD GRAPH "\n" H("a") "\n" S("b") "\n\n" S("b") E("a", "b") END,
		SIM_EPARSE, "have the id \"b\", in lines 3 and 5."},
	    {HEAD GRAPH H("a") S("b") S("&#98;") E("a", "b") END, SIM_EPARSE,
		"3 nodes have only 2 ids"},
	    {HEAD GRAPH H("a") S("b") E("a", "b") "</graph>" GRAPH END,
		SIM_EPARSE, "2 graphs"},
	    {HEAD GRAPH "<node id=\"a\"><data key=\"k\">host</data>" GRAPH
			"</graph></node>" S("b") E("a", "b") END,
		SIM_EPARSE, "within another"},
	    {HEAD GRAPH H("a") NAMED("b", "switch", "a") E("a", "b") END,
		SIM_EINVAL,
		"called \"a\", by name or id: host 0 (a) and switch 0 (a)"},
	    {HEAD GRAPH NAMED("a", "host", "x") NAMED("x", "switch", "b")
		    E("a", "x") END,
		SIM_EINVAL, "called \"x\""},
	    {HEAD GRAPH H("a") S("b->c") E("a", "b->c") END, SIM_EINVAL,
		"The id of switch 0 (b->c) would be mistaken"},
	    {HEAD GRAPH H(LONG) S("b") E(LONG, "b") END, SIM_EINVAL,
		"The id of host 0 (an-identifier-that-is-too-long) has 31 "
		"bytes, which is not in [1, 30]. Give the node a \"name\"."},
	    {HEAD GRAPH H("a&#10;b") S("b") E("a&#10;b", "b") END, SIM_EINVAL,
		"The id of host 0 holds a control character."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].text, bad[i].rc, bad[i].part);
}

/* In UTF-16, which XML may be in, every other byte is NUL here: then the tags
 * are found all the same. Where they are not, that is said. */
static void other_encodings_are_read_or_refused(void **state)
{
	static const char text[] = HEAD GRAPH H("a") S("b") E("a", "b") END;
	static const char ebcdic[] = {0x4c, 0x6f, (char)0xa7, (char)0x94,
	    (char)0x93};
	char wide[2 * sizeof(text)] = "\xff\xfe";
	struct sim_err e;
	struct topo t;
	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i++)
		wide[2 + 2 * i] = text[i];
	assert_ok(read_bytes(&t, wide, 2 * sizeof(text), test_err()));
	assert_name(&t, 1, "b");
	topo_close(&t);
	assert_int_equal(read_bytes(&t, ebcdic, sizeof(ebcdic), &e),
	    SIM_EPARSE);
	struct topo_graph_ids none = {0};
	assert_int_equal(topo_graph_ids_check(&none, 2, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "UTF-8"));
}

/* --- the reader of tags --------------------------------------------------- */

static void feed(struct topo_graph_ids *g, const char *text)
{
	topo_graph_ids_feed(g, text, strlen(text));
}

#define NO "<node id='no'/>"

/* Only tags count, and of these only nodes', whatever stands around them. */
static void only_nodes_are_seen(void **state)
{
	static const char text[] =
	    "<?xml version='1.0'?><? " NO " ?>"
	    "<!DOCTYPE g [<!ELEMENT node (a|b)> <!ATTLIST node id ID>"
	    "<!ENTITY x \"" NO NO "\"> <!ENTITY y \"" NO NO "\">]>\n"
	    "<!-- " NO " - -- " NO "--->" NO "<!-->--><!---->"
	    "<!--x->" NO "-->"
	    "<g:graphml><g:graph\nid=\"node\"><![CDATA[" NO "]] >]]]>"
	    "<nodes id='no'/><anode id='no'/><node ids='no' xml:id='no' "
	    "id = 'a>\"' />"
	    "<g:node\n\tx='/>' id=\"<b'\"><node/></g:node>"
	    "<edge id='no' source='node'/><averyverylongnameofatag id='no'/>"
	    "</g:graph></g:graphml>";
	struct topo_graph_ids g = {0};
	(void)state;
	feed(&g, text);
	assert_int_equal(g.n, 3);
	assert_string_equal(g.id[0].text, "no"); /* between the comments */
	assert_int_equal(g.id[0].line, 2);
	assert_string_equal(g.id[1].text, "a>\"");
	assert_int_equal(g.id[1].line, 3);
	assert_string_equal(g.id[2].text, "<b'");
	assert_int_equal(g.id[2].line, 4);
	assert_int_equal(g.n_graphs, 1);
	assert_int_equal(g.depth, 0);
	assert_int_equal(g.nested, 0);
	topo_graph_ids_free(&g);
	feed(&g, "<graph/><graph />");
	assert_int_equal(g.n_graphs, 2);
	assert_int_equal(g.nested, 0);
	topo_graph_ids_free(&g);
	feed(&g, "<graph><graph/></graph>");
	assert_int_equal(g.nested, 1);
	topo_graph_ids_free(&g);
}

/* However a text is cut, and whatever it is made of. */
static void cuts_change_nothing(void **state)
{
	static const char *const bits[] = {"<", ">", "node", "graph",
	    " id=", "'", "\"", "/", "<!--", "-->", "<![CDATA[", "]]>", "<?",
	    "?>", "a", "\n", "<!X [", "<node id='x'>", "</node>", "<graph>",
	    "]", "-", ":"};
	enum { BITS = sizeof(bits) / sizeof(bits[0]), RUNS = 3000 };
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (unsigned run = 0; run < RUNS; run++) {
		struct topo_graph_ids whole = {0}, cut = {0};
		char text[1024];
		struct sim_text at = {text, sizeof(text), 0};
		for (uint32_t i = sim_rng_below(&r, 80); i > 0; i--)
			sim_put(&at, "%s", bits[sim_rng_below(&r, BITS)]);
		const size_t n = at.n < sizeof(text) ? at.n : sizeof(text) - 1;
		topo_graph_ids_feed(&whole, text, n);
		for (size_t i = 0, k; i < n; i += k) {
			k = 1 + sim_rng_below(&r, 9);
			k = k < n - i ? k : n - i;
			topo_graph_ids_feed(&cut, text + i, k);
		}
		int same = whole.n == cut.n && whole.line == cut.line &&
		    whole.state == cut.state &&
		    whole.n_graphs == cut.n_graphs &&
		    whole.nested == cut.nested;
		for (size_t i = 0; same && i < cut.n; i++)
			same = strcmp(whole.id[i].text, cut.id[i].text) == 0 &&
			    whole.id[i].line == cut.id[i].line;
		if (!same)
			fail_msg("seed %llu, run %u: %s",
			    (unsigned long long)test_seed(), run, text);
		topo_graph_ids_free(&whole);
		topo_graph_ids_free(&cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_node_without_a_name_is_called_by_its_id),
	    cmocka_unit_test(a_name_counts_more_than_an_id_and_both_are_known),
	    cmocka_unit_test(ids_that_igraph_has_put_aside_are_taken),
	    cmocka_unit_test(odd_ids_come_back),
	    cmocka_unit_test(any_id_is_kept_beside_a_name),
	    cmocka_unit_test(what_would_be_misread_is_refused),
	    cmocka_unit_test(other_encodings_are_read_or_refused),
	    cmocka_unit_test(only_nodes_are_seen),
	    cmocka_unit_test(cuts_change_nothing),
	};
	return cmocka_run_group_tests_name("topo/graph_ids", tests, NULL, NULL);
}
