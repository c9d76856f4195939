/* tests/topo/graph_test.c -- GraphML there and back, faulty files, and what
 * igraph says of the builders.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <igraph.h>
#include <unistd.h>

#include "tests/test.h"
#include "topo/graph.h"
#include "topo/mesh.h"

#define JELLYFISH "tests/data/jellyfish.graphml"

static const struct topo_clos vigil = {.n_pods = 2,
    .n_tors = 20,
    .n_t1 = 8,
    .n_t2 = 10,
    .n_hosts = 40};

static void open_clos(struct topo *t, uint32_t n_pods, uint32_t n_tors,
    uint32_t n_t1, uint32_t n_t2, uint32_t n_hosts)
{
	struct topo_clos shape = {.n_pods = n_pods,
	    .n_tors = n_tors,
	    .n_t1 = n_t1,
	    .n_t2 = n_t2,
	    .n_hosts = n_hosts};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static void open_fat_tree(struct topo *t, uint32_t k)
{
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, k, 0, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* --- what igraph says of the builders ------------------------------------- */

static struct topo_graph_report check(const struct topo *t, uint32_t max_pairs)
{
	struct topo_graph_report r, again;
	assert_ok(topo_graph_check(t, max_pairs, &r, test_err()));
	assert_ok(topo_graph_check(t, max_pairs, &again, test_err()));
	assert_memory_equal(&r, &again, sizeof(r));
	assert_int_equal(r.connected, 1);
	return r;
}

static void a_clos_has_n_t1_disjoint_paths_between_any_two_tors(void **state)
{
	(void)state;
	struct topo t;
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	struct topo_graph_report r = check(&t, 20);
	assert_int_equal(r.diameter, 6);
	assert_int_equal(r.min_tor_degree, 8);
	assert_int_equal(r.disjoint_intra, 8);
	assert_int_equal(r.disjoint_inter, 8);
	topo_close(&t);
	/* All pairs of an uneven one; its T2s do not limit a cut of cables. */
	open_clos(&t, 3, 4, 5, 2, 1);
	r = check(&t, UINT32_MAX);
	assert_int_equal(r.disjoint_intra, 5);
	assert_int_equal(r.disjoint_inter, 5);
	topo_close(&t);
}

static void a_fat_tree_has_half_k_disjoint_paths(void **state)
{
	(void)state;
	for (uint32_t k = 4; k <= 8; k += 2) {
		struct topo t;
		open_fat_tree(&t, k);
		struct topo_graph_report r = check(&t, 50);
		assert_int_equal(r.diameter, 6);
		assert_int_equal(r.min_tor_degree, k / 2);
		assert_int_equal(r.disjoint_intra, k / 2);
		assert_int_equal(r.disjoint_inter, k / 2);
		topo_close(&t);
	}
}

static void degenerate_shapes_have_no_pairs_to_check(void **state)
{
	(void)state;
	struct topo t;
	open_clos(&t, 1, 3, 2, 0, 2); /* a leaf-spine has one pod */
	struct topo_graph_report r = check(&t, 20);
	assert_int_equal(r.diameter, 4);
	assert_int_equal(r.disjoint_intra, 2);
	assert_int_equal(r.disjoint_inter, TOPO_NONE);
	topo_close(&t);
	open_clos(&t, 4, 1, 2, 3, 1); /* pods of one ToR */
	r = check(&t, 20);
	assert_int_equal(r.disjoint_intra, TOPO_NONE);
	assert_int_equal(r.disjoint_inter, 2);
	topo_close(&t);
	open_clos(&t, 1, 1, 0, 0, 3); /* one switch */
	r = check(&t, 20);
	assert_int_equal(r.diameter, 2);
	assert_int_equal(r.min_tor_degree, 0);
	assert_int_equal(r.disjoint_intra, TOPO_NONE);
	topo_close(&t);
}

/* Two triangles of switches joined by one cable, a host at each switch. */
static void a_bridge_is_found(void **state)
{
	(void)state;
	static const struct topo_cable cable[] = {{0, 6}, {1, 7}, {2, 8},
	    {3, 9}, {4, 10}, {5, 11}, {6, 7}, {7, 8}, {6, 8}, {9, 10}, {10, 11},
	    {9, 11}, {8, 9}};
	struct topo_mesh_input in = {.n_hosts = 6,
	    .n_switches = 6,
	    .n_cables = 13,
	    .cable = cable};
	struct topo_mesh *m;
	struct topo t;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	struct topo_graph_report r = check(&t, UINT32_MAX);
	assert_int_equal(r.diameter, 5);
	assert_int_equal(r.min_tor_degree, 2);
	assert_int_equal(r.disjoint_intra, 1);
	assert_int_equal(r.disjoint_inter, 1);
	topo_close(&t);
}

/* These checks would notice a builder that forgets one cable of a ToR. */
static void a_missing_cable_is_found(void **state)
{
	(void)state;
	struct topo whole, t;
	struct topo_mesh *m;
	static struct topo_cable cable[1000];
	size_t n = 0;
	open_clos(&whole, 2, 4, 3, 3, 2);
	for (topo_link l = 0; l < whole.n_links; l += 2)
		if (l != topo_clos_link_tor(&whole.clos, 5, 1, TOPO_UP)) {
			topo_link_ends(&whole, l, &cable[n].a, &cable[n].b);
			n++;
		}
	struct topo_mesh_input in = {.n_hosts = whole.n_hosts,
	    .n_switches = whole.n_switches,
	    .n_cables = n,
	    .cable = cable};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	struct topo_graph_report r = check(&t, UINT32_MAX);
	assert_int_equal(r.min_tor_degree, 2);
	assert_int_equal(r.disjoint_inter, 2);
	topo_close(&t);
	topo_close(&whole);
}

static void checks_beyond_the_limits_are_refused(void **state)
{
	(void)state;
	struct topo t;
	struct topo_graph_report r;
	struct sim_err e;
	open_clos(&t, 1, 1, 0, 0, 3);
	assert_int_equal(topo_graph_check(&t, 1, &r, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "max_pairs 1"));
	topo_close(&t);
	open_clos(&t, 1, 1 << 15, 1 << 10, 0, 1);
	assert_int_equal(topo_graph_check(&t, 2, &r, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "33554432 cables"));
	topo_close(&t);
}

/* --- there and back ------------------------------------------------------- */

/* A scratch file with TEXT in it. PATH of 32 bytes. */
static void write_file(char path[32], const char *text)
{
	strcpy(path, P_tmpdir "/culprit-graph-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	size_t n = strlen(text);
	assert_true(write(fd, text, n) == (ssize_t)n);
	close(fd);
}

static char *to_text(const struct topo *t)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	assert_non_null(f);
	assert_ok(topo_graph_write(t, f, test_err()));
	fclose(f);
	return text;
}

static void read_text(struct topo *t, const char *text)
{
	char path[32];
	write_file(path, text);
	int rc = topo_graph_read(t, path, test_err());
	unlink(path);
	assert_ok(rc);
}

static void assert_same(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->n_hosts, b->n_hosts);
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->n_links, b->n_links);
	for (topo_host h = 0; h < a->n_hosts; h++)
		assert_int_equal(topo_tor_of(a, h), topo_tor_of(b, h));
	for (topo_link l = 0; l < a->n_links; l++) {
		topo_node p, q, x, y;
		char name[64], other[64];
		topo_link_ends(a, l, &p, &q);
		topo_link_ends(b, l, &x, &y);
		assert_true(p == x && q == y);
		assert_int_equal(topo_class_of(a, l), topo_class_of(b, l));
		topo_link_name(a, l, name);
		topo_link_name(b, l, other);
		assert_string_equal(name, other);
	}
	struct sim_rng r;
	test_rng(&r, 1);
	for (int i = 0; i < 500; i++) {
		topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
		topo_host src = sim_rng_below(&r, a->n_hosts);
		topo_host dst = sim_rng_below(&r, a->n_hosts);
		uint32_t d = sim_rng_u32(&r);
		unsigned n = topo_path(a, 5, src, dst, d, p);
		assert_int_equal(topo_path(b, 5, src, dst, d, q), n);
		assert_memory_equal(p, q, n * sizeof(p[0]));
	}
}

/* Also that a file written from what was read is the same, byte for byte. */
static void assert_round_trip(struct topo *t)
{
	struct topo back;
	char *text = to_text(t);
	read_text(&back, text);
	assert_same(t, &back);
	char *again = to_text(&back);
	assert_string_equal(text, again);
	free(again);
	free(text);
	topo_close(&back);
	topo_close(t);
}

static void what_is_written_reads_back_to_the_same_ids(void **state)
{
	(void)state;
	struct topo t;
	open_clos(&t, 2, 20, 8, 10, 4);
	assert_round_trip(&t);
	open_clos(&t, 1, 6, 4, 0, 3);
	assert_round_trip(&t);
	open_clos(&t, 1, 1, 0, 0, 1);
	assert_round_trip(&t);
	open_fat_tree(&t, 6);
	assert_round_trip(&t);
	assert_ok(topo_graph_read(&t, JELLYFISH, test_err()));
	assert_round_trip(&t);
}

static void a_file_of_another_kind_of_network_is_read(void **state)
{
	(void)state;
	struct topo t;
	char name[64];
	topo_link l, path[TOPO_MAX_HOPS];
	assert_ok(topo_graph_read(&t, JELLYFISH, test_err()));
	assert_int_equal(t.n_hosts, 12);
	assert_int_equal(t.n_switches, 10);
	assert_int_equal(t.n_links, 2 * (12 + 15));
	topo_node_name(&t, 4, name);
	assert_string_equal(name, "coral-1");
	topo_node_name(&t, 12 + 9, name);
	assert_string_equal(name, "jade");
	assert_int_equal(topo_tor_of(&t, 4), 2);
	/* The second cable of the file is given from the far end. */
	assert_ok(topo_link_parse(&t, "amber->coral", &l, test_err()));
	assert_int_equal(l, topo_link_of(12 + 1, TOPO_UP));
	assert_int_equal(topo_class_of(&t, l), TOPO_FABRIC);
	assert_int_equal(topo_path(&t, 1, 0, 11, 2, path), 4);
	struct topo_graph_report r = check(&t, UINT32_MAX);
	assert_int_equal(r.diameter, 5);
	assert_int_equal(r.min_tor_degree, 3);
	assert_int_equal(r.disjoint_inter, 3);
	topo_close(&t);
}

static void names_that_xml_must_escape_survive(void **state)
{
	(void)state;
	static const struct topo_cable cable[] = {{0, 1}};
	static const char *const name[] = {"<a & \"b\">", "Z\xc3\xbcrich ]]>"};
	struct topo_mesh_input in = {.n_hosts = 1,
	    .n_switches = 1,
	    .n_cables = 1,
	    .cable = cable,
	    .name = name};
	struct topo_mesh *m;
	struct topo t;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	assert_round_trip(&t);
}

static void an_xml_parser_of_others_accepts_what_is_written(void **state)
{
	(void)state;
	struct topo t;
	char path[32], command[80];
	if (system("command -v xmllint >/dev/null 2>&1") != 0)
		skip();
	open_clos(&t, 2, 3, 2, 2, 2);
	char *text = to_text(&t);
	write_file(path, text);
	snprintf(command, sizeof(command), "xmllint --noout %s", path);
	int rc = system(command);
	unlink(path);
	free(text);
	assert_int_equal(rc, 0);
	topo_close(&t);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	struct topo t;
	struct sim_err e = {0};
	FILE *f = fopen("/dev/full", "w");
	if (!f)
		skip();
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	assert_int_equal(topo_graph_write(&t, f, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "space"));
	fclose(f);
	topo_close(&t);
}

/* --- faulty files --------------------------------------------------------- */

#define HEAD                                                                   \
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"            \
	"<key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>" \
	"<key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>"
#define TIER(type)                                                             \
	"<key id=\"t\" for=\"node\" attr.name=\"tier\" attr.type=\"" type "\"" \
	"/>"
#define GRAPH "<graph edgedefault=\"undirected\">"
#define END   "</graph></graphml>"
#define H(id) "<node id=\"" id "\"><data key=\"k\">host</data></node>"
#define S(id) "<node id=\"" id "\"><data key=\"k\">switch</data></node>"
#define N(id, kind, key, value)                                                \
	"<node id=\"" id "\"><data key=\"k\">" kind "</data>"                  \
	"<data key=\"" key "\">" value "</data></node>"
#define E(a, b) "<edge source=\"" a "\" target=\"" b "\"/>"

static const struct {
	const char *text;
	int rc;
	const char *part;
} bad[] = {
    {"", SIM_EPARSE, "igraph: "},
    {"pods: 2\n", SIM_EPARSE, "igraph: "},
    {"<graphml><graph", SIM_EPARSE, "igraph: "},
    {"<html><body/></html>", SIM_EPARSE, "holds no graph"},
    {HEAD GRAPH H("a") S("b") E("a", "b"), SIM_EPARSE, "igraph: "},
    {HEAD "<graph edgedefault=\"directed\">" H("a") S("b") E("a", "b") END,
	SIM_EPARSE, "edgedefault=\"undirected\""},
    {"<graphml>" GRAPH "<node id=\"a\"/>" END, SIM_EPARSE,
	"no attribute \"kind\""},
    {"<graphml><key id=\"k\" for=\"node\" attr.name=\"kind\" "
     "attr.type=\"int\"/>" GRAPH N("a", "1", "k", "1") END,
	SIM_EPARSE, "\"kind\" must be a string"},
    {HEAD GRAPH H("a") S("b") "<node id=\"c\"/>" E("a", "b") END, SIM_EPARSE,
	"vertex 2 (id \"c\") has no \"kind\""},
    {HEAD GRAPH H("a") S("b") N("c", "router", "n", "core7") E("a", "b") END,
	SIM_EPARSE,
	"vertex 2 (id \"c\", name \"core7\") is of kind \"router\""},
    {HEAD GRAPH H("a") S("b") E("a", "b") E("b", "z") END, SIM_EPARSE, "z"},
    {HEAD TIER("string") GRAPH H("a") N("b", "switch", "t", "0") E("a", "b")
	    END,
	SIM_EPARSE, "\"tier\" must be an int"},
    {HEAD TIER("double") GRAPH H("a") N("b", "switch", "t", "0.5") E("a", "b")
	    END,
	SIM_EPARSE, "vertex 1 (id \"b\") needs a \"tier\""},
    {HEAD TIER("int") GRAPH H("a") N("b", "switch", "t", "0") S("c") E("a", "b")
	    E("b", "c") END,
	SIM_EPARSE, "vertex 2 (id \"c\") needs a \"tier\""},
    {HEAD TIER("int") GRAPH H("a") N("b", "switch", "t", "-1") E("a", "b") END,
	SIM_EPARSE, "vertex 1 (id \"b\") needs a \"tier\""},
    {HEAD GRAPH H("a") S("b") S("c") E("a", "b") E("b", "c") E("c", "a") END,
	SIM_EPARSE, "vertex 0 (id \"a\") has two cables"},
    {HEAD GRAPH H("a") H("b") S("c") E("a", "c") END, SIM_EPARSE,
	"vertex 1 (id \"b\") has no cable"},
    /* An "id" of the file's own that is no string. */
    {HEAD "<key id=\"i\" for=\"node\" attr.name=\"id\" "
	  "attr.type=\"int\"/>" GRAPH N("a", "host", "i", "7") END,
	SIM_EPARSE, "vertex 0 (id \"\") has no cable"},
    {HEAD GRAPH H("a") H("b") S("c") E("a", "b") END, SIM_EPARSE,
	"vertex 0 (id \"a\") and vertex 1 (id \"b\")"},
    {HEAD GRAPH H("a") S("b") N("c", "switch", "n", "far") E("a", "b") END,
	SIM_EINVAL, "no way leads from switch 0 (b) to switch 1 (far)"},
    {HEAD GRAPH H("a") S("b") E("a", "b") E("b", "b") END, SIM_EINVAL,
	"switch 0 (b) to itself"},
    {HEAD GRAPH H("a") S("b") S("c") E("a", "b") E("b", "c") E("c", "b") END,
	SIM_EINVAL, "Two cables join switch 0 (b) and switch 1 (c)"},
    {HEAD GRAPH N("a", "host", "n", "x") N("b", "switch", "n", "x") E("a", "b")
	    END,
	SIM_EINVAL, "Two nodes are called \"x\""},
    {HEAD GRAPH S("b") END, SIM_EINVAL, "0 hosts"},
    {HEAD GRAPH END, SIM_EINVAL, "0 hosts and 0 switches"},
};

/* Whatever a library says must come as our error, not on the screen. */
static void faulty_files_are_refused_in_silence(void **state)
{
	(void)state;
	char loud[32];
	write_file(loud, "");
	fflush(stderr);
	int screen = dup(2);
	FILE *f = freopen(loud, "a", stderr);
	assert_non_null(f);
	size_t n = sizeof(bad) / sizeof(bad[0]), fault = n;
	struct sim_err e[sizeof(bad) / sizeof(bad[0])];
	for (size_t i = 0; i < n && fault == n; i++) {
		char path[32];
		struct topo t;
		e[i] = (struct sim_err){0};
		write_file(path, bad[i].text);
		int rc = topo_graph_read(&t, path, &e[i]);
		size_t length = strlen(e[i].msg);
		if (rc != bad[i].rc || !strstr(e[i].msg, bad[i].part) ||
		    strncmp(e[i].msg, path, strlen(path)) != 0 ||
		    strchr(e[i].msg, '\n') || e[i].msg[length - 1] != '.' ||
		    strchr(". ", e[i].msg[length - 2]) ||
		    strstr(e[i].msg, "unknown failure") ||
		    topo_graph_read(&t, path, NULL) != rc || t.mesh)
			fault = i;
		unlink(path);
	}
	fflush(stderr);
	long said = ftell(stderr);
	dup2(screen, 2);
	close(screen);
	unlink(loud);
	if (fault < n)
		fail_msg("case %zu says: %s (%s)", fault, e[fault].msg,
		    sim_err_text(e[fault].code));
	assert_int_equal(said, 0);
}

static void a_file_that_is_not_there_is_named(void **state)
{
	(void)state;
	struct topo t;
	struct sim_err e = {0};
	assert_int_equal(topo_graph_read(&t, "tests/data/none.graphml", &e),
	    SIM_EIO);
	assert_string_equal(e.msg,
	    "tests/data/none.graphml: No such file or directory.");
	assert_int_equal(topo_graph_read(&t, "tests/data", &e), SIM_EPARSE);
	topo_close(&t);
}

/* --- failed allocations (of ours: igraph's are out of reach) -------------- */

static int read_and_close(void *arg, struct sim_err *e)
{
	(void)arg;
	struct topo t;
	int rc = topo_graph_read(&t, JELLYFISH, e);
	topo_close(&t);
	return rc;
}

static int check_fat_tree(void *arg, struct sim_err *e)
{
	struct topo_graph_report r;
	return topo_graph_check(arg, 2, &r, e);
}

static void every_failed_allocation_is_an_error(void **state)
{
	(void)state;
	struct topo t;
	test_each_alloc_fails(read_and_close, NULL);
	open_fat_tree(&t, 4);
	test_each_alloc_fails(check_fat_tree, &t);
	topo_close(&t);
}

/* Names that GraphML takes for no ids: nodes are then numbered, each sort from 0
 * on, and keep their names. */
static void nodes_whose_names_are_no_ids_are_numbered(void **state)
{
	static const struct topo_cable cable[] = {{0, 2}, {1, 3}, {2, 3}};
	static const char *const name[] = {"web 1", "web 2", "left", "right"};
	static const char *const want[] = {"<node id=\"host0\">",
	    "<node id=\"host1\">", "<node id=\"sw0\">", "<node id=\"sw1\">",
	    "source=\"host1\" target=\"sw1\"", "source=\"sw0\" target=\"sw1\"",
	    ">web 1<", ">right<"};
	const struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = 2,
	    .n_cables = 3,
	    .cable = cable,
	    .name = name};
	struct topo t = {0};
	struct topo_mesh *m;
	char *text;
	size_t n;
	(void)state;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	FILE *f = open_memstream(&text, &n);
	assert_ok(topo_graph_write(&t, f, test_err()));
	fclose(f);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (!strstr(text, want[i]))
			fail_msg("no %s in\n%s", want[i], text);
	free(text);
	topo_close(&t);
}

static void others_fatal(const char *reason, const char *file, int line)
{
	(void)reason, (void)file, (void)line;
}

/* Who else uses the library finds it as it was, after what went well and after
 * what did not. */
static void handlers_of_others_are_put_back(void **state)
{
	struct topo t = {0};
	const igraph_attribute_table_t none = {0};
	igraph_error_handler_t *error =
	    igraph_set_error_handler(igraph_error_handler_ignore);
	igraph_warning_handler_t *warning =
	    igraph_set_warning_handler(igraph_warning_handler_ignore);
	igraph_fatal_handler_t *fatal = igraph_set_fatal_handler(others_fatal);
	igraph_attribute_table_t *table = igraph_set_attribute_table(&none);
	(void)state;
	for (int good = 0; good < 2; good++) {
		const int rc =
		    topo_graph_read(&t, good ? JELLYFISH : "/dev/null", NULL);
		assert_int_equal(rc == 0, good);
		assert_ptr_equal(igraph_set_attribute_table(&none), &none);
		assert_ptr_equal(igraph_set_fatal_handler(others_fatal),
		    others_fatal);
		assert_ptr_equal(igraph_set_warning_handler(
				     igraph_warning_handler_ignore),
		    igraph_warning_handler_ignore);
		assert_ptr_equal(igraph_set_error_handler(
				     igraph_error_handler_ignore),
		    igraph_error_handler_ignore);
	}
	igraph_set_attribute_table(table);
	igraph_set_fatal_handler(fatal);
	igraph_set_warning_handler(warning);
	igraph_set_error_handler(error);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_clos_has_n_t1_disjoint_paths_between_any_two_tors),
	    cmocka_unit_test(a_fat_tree_has_half_k_disjoint_paths),
	    cmocka_unit_test(degenerate_shapes_have_no_pairs_to_check),
	    cmocka_unit_test(a_bridge_is_found),
	    cmocka_unit_test(a_missing_cable_is_found),
	    cmocka_unit_test(checks_beyond_the_limits_are_refused),
	    cmocka_unit_test(what_is_written_reads_back_to_the_same_ids),
	    cmocka_unit_test(a_file_of_another_kind_of_network_is_read),
	    cmocka_unit_test(names_that_xml_must_escape_survive),
	    cmocka_unit_test(an_xml_parser_of_others_accepts_what_is_written),
	    cmocka_unit_test(a_full_disk_is_an_error),
	    cmocka_unit_test(faulty_files_are_refused_in_silence),
	    cmocka_unit_test(a_file_that_is_not_there_is_named),
	    cmocka_unit_test(every_failed_allocation_is_an_error),
	    cmocka_unit_test(nodes_whose_names_are_no_ids_are_numbered),
	    cmocka_unit_test(handlers_of_others_are_put_back),
	};
	return cmocka_run_group_tests_name("topo/graph", tests, NULL, NULL);
}
