/* tests/sim/yaml_test.c -- strict YAML: every mistake at its exact place.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/field_format.h"
#include "tests/test.h"

#include <unistd.h>

#include "sim/vec.h"
#include "sim/yaml.h"

static const char *const patterns[] = {"uniform", "skewed", "hot", NULL};

struct thing {
	uint32_t n_pods, on, pattern, algorithms;
	double drop_rate;
	char name[8];
	struct sim_dist delay;
};

static const struct sim_field fields[] = {{"n_pods", SIM_F_U32,
					      offsetof(struct thing, n_pods),
					      .def = "2", .min = 1, .max = 4096,
					      .unit = "pods"},
    {"on", SIM_F_BOOL, offsetof(struct thing, on), .def = "true"},
    {"pattern", SIM_F_ENUM, offsetof(struct thing, pattern), .names = patterns,
	.def = "skewed"},
    {"algorithms", SIM_F_SET, offsetof(struct thing, algorithms),
	.names = patterns, .def = "[hot]"},
    {"drop_rate", SIM_F_F64, offsetof(struct thing, drop_rate), .max = 1},
    {"name", SIM_F_STR, offsetof(struct thing, name), .size = 8, .def = "none"},
    {"delay", SIM_F_DIST, offsetof(struct thing, delay), .max = 100,
	.unit = "ns", .def = "1"},
    {0}};

static void parse(struct sim_yaml *y, const char *text)
{
	assert_ok(sim_yaml_parse(y, "f.yaml", text, strlen(text), test_err()));
}

static void breaks_off(const char *text, const char *message)
{
	struct sim_yaml y;
	struct sim_err e = {0};
	int rc = sim_yaml_parse(&y, "f.yaml", text, strlen(text), &e);
	if (rc != SIM_EPARSE || strcmp(e.msg, message) != 0)
		fail_msg("%s: %s \"%s\", wanted \"%s\"", text, sim_err_text(rc),
		    e.msg, message);
	sim_yaml_free(&y);
	rc = sim_yaml_parse(&y, "f.yaml", text, strlen(text), NULL);
	assert_int_equal(rc, SIM_EPARSE);
	sim_yaml_free(&y);
}

/* Reading TEXT gives exactly these mistakes, one a line. */
static void is_mistaken(const char *text, const char *mistakes)
{
	struct sim_yaml y;
	struct thing t;
	struct sim_err e = {0};
	static const char *const also[] = {"seed", NULL};
	parse(&y, text);
	assert_ok(
	    sim_yaml_read(&y, y.root, NULL, fields, also, &t, test_err()));
	assert_int_equal(sim_yaml_verdict(&y, &e), *mistakes ? SIM_EINVAL : 0);
	if (strcmp(e.msg, mistakes) != 0)
		fail_msg("%s\n\"%s\", wanted\n\"%s\"", text, e.msg, mistakes);
	sim_yaml_free(&y);
}

static void is_written(const struct sim_yaml_node *node, const char *want)
{
	char text[512], cut[5] = "????";
	int n = sim_yaml_format(node, text, sizeof(text));
	assert_string_equal(text, want);
	assert_int_equal(n, strlen(want));
	assert_int_equal(sim_yaml_format(node, NULL, 0), n);
	assert_int_equal(sim_yaml_format(node, cut, 4), n);
	assert_memory_equal(cut, want, n < 3 ? n : 3);
}

static void reads_as(const char *text, const char *want)
{
	struct sim_yaml y;
	parse(&y, text);
	assert_int_equal(y.n_mistakes, 0);
	is_written(y.root, want);
	sim_yaml_free(&y);
}

static void block_and_flow_give_the_same_tree(void **state)
{
	(void)state;
	reads_as("a:\n- 1\n- x: 2\n  y: \"3\"\nb: {c: [d, e]}\n",
	    "{a: [1, {x: 2, y: \"3\"}], b: {c: [d, e]}}");
	reads_as("- a\n- [b]\n- {}\n- []\n", "[a, [b], {}, []]");
	reads_as("t: |\n  two\n  lines\n", "{t: \"two\\nlines\\n\"}");
	reads_as("t: 'it''s'\n", "{t: \"it's\"}");
	reads_as("t: a, b # comment\n", "{t: \"a, b\"}");
	reads_as("faults.drop_rate: 1\n", "{faults.drop_rate: 1}");
	reads_as("a:\nb: {c: }\n", "{a: , b: {c: }}");
	reads_as("--- 5\n...\n", "5");
	reads_as("a: \"\\x07\\u2028\\uFEFF\xc3\xa4\xe2\x82\xac\"\n",
	    "{a: \"\\u0007\\u2028\\ufeff\xc3\xa4\xe2\x82\xac\"}");
}

static void nothing_is_an_empty_map(void **state)
{
	(void)state;
	reads_as("", "{}");
	reads_as("\n# only a comment\n", "{}");
	reads_as("---\n", "{}");
	reads_as("---\n...\n", "{}");
}

static void nodes_know_their_place(void **state)
{
	(void)state;
	struct sim_yaml y;
	parse(&y, "a: 1\nlist:\n  - x\n  - {k: \"v\"}\n");
	const struct sim_yaml_node *list = sim_yaml_get(y.root, "list");
	const struct sim_yaml_node *map = list->child[1];
	const struct sim_yaml_node *v = sim_yaml_get(map, "k");
	assert_int_equal(y.root->line, 1);
	assert_int_equal(y.root->key_line[1], 2);
	assert_int_equal(y.root->key_col[1], 1);
	assert_int_equal(list->line, 3);
	assert_int_equal(list->col, 3);
	assert_int_equal(map->col, 5);
	assert_int_equal(v->line, 4);
	assert_int_equal(v->col, 9);
	assert_int_equal(v->quoted, 1);
	assert_string_equal(v->text, "v");
	assert_null(sim_yaml_get(list, "k"));
	assert_null(sim_yaml_get(y.root, "b"));
	assert_null(sim_yaml_get(NULL, "a"));
	sim_yaml_free(&y);
}

static void what_makes_a_tree_doubtful_ends_parsing(void **state)
{
	(void)state;
	breaks_off("a: &x 1\n", "f.yaml:1:4: anchors (&name) are not allowed.");
	breaks_off("a: &x [1]\n",
	    "f.yaml:1:4: anchors (&name) are not allowed.");
	breaks_off("a: 1\nb: *a\n",
	    "f.yaml:2:4: aliases (*name) are not allowed.");
	breaks_off("a: !!int 5\n", "f.yaml:1:4: tags (!name) are not allowed.");
	breaks_off("a: ! \"5\"\n", "f.yaml:1:4: tags (!name) are not allowed.");
	breaks_off("a: !t {}\n", "f.yaml:1:4: tags (!name) are not allowed.");
	breaks_off("a: 1\n---\nb: 2\n",
	    "f.yaml:2:1: a second document is not allowed.");
	breaks_off("a: [1,\n 2, , 3]\n",
	    "f.yaml:2:5: did not find expected node content while parsing a "
	    "flow node.");
	breaks_off("- a\n-\n", "f.yaml:2:2: an item of a list is empty.");
	breaks_off("? [a]\n: 1\n", "f.yaml:1:3: a key must be text.");
	breaks_off("\"\": 1\n", "f.yaml:1:1: a key may not be empty.");
	breaks_off("a: \"x\\0y\"\n", "f.yaml:1:4: text may not hold a NUL.");
	breaks_off("a: b: c\n",
	    "f.yaml:1:5: mapping values are not allowed in this context.");
	breaks_off("a: 1\nb: \"c\n",
	    "f.yaml:3:1: found unexpected end of stream while scanning a "
	    "quoted scalar that starts at 2:4.");
	breaks_off("a:\n\tb: 1\n",
	    "f.yaml:2:1: found character that cannot start any token while "
	    "scanning for the next token; indent with spaces, not tabs.");
	breaks_off("a: 1\nb:\n  \tc: 1\n",
	    "f.yaml:3:3: found character that cannot start any token while "
	    "scanning for the next token; indent with spaces, not tabs.");
	/* A tab elsewhere is not what is wrong. */
	breaks_off("a: \"b\n\tc\"\nd: @\n",
	    "f.yaml:3:4: found character that cannot start any token while "
	    "scanning for the next token.");
	breaks_off("a: 1\nb: \xff\n",
	    "f.yaml:2:4: invalid leading UTF-8 octet.");
	breaks_off("\nb: \xff\n", "f.yaml:2:4: invalid leading UTF-8 octet.");
	breaks_off("a: 1\nb: \xc3",
	    "f.yaml:2:4: incomplete UTF-8 octet sequence.");
}

static void nesting_ends_at_32(void **state)
{
	(void)state;
	char text[128] = "";
	for (int i = 0; i < 32; i++)
		strcat(text, "[");
	strcat(text, "1");
	for (int i = 0; i < 32; i++)
		strcat(text, "]");
	reads_as(text, text);
	memset(text, '[', 33);
	breaks_off(text, "f.yaml:1:33: nested deeper than 32.");
}

static void a_key_has_at_most_128_bytes(void **state)
{
	(void)state;
	struct sim_yaml y;
	char text[140];
	memset(text, 'k', sizeof(text));
	strcpy(text + 129, ": 1");
	breaks_off(text, "f.yaml:1:1: a key has over 128 bytes.");
	parse(&y, text + 1);
	assert_int_equal(y.root->n, 1);
	sim_yaml_free(&y);
}

static void files_hold_at_most_a_mebibyte(void **state)
{
	(void)state;
	enum { LIMIT = 1 << 20 };
	struct sim_yaml y;
	struct sim_err e;
	char *text = malloc(LIMIT + 1);
	assert_non_null(text);
	memset(text, '#', LIMIT + 1);
	assert_ok(sim_yaml_parse(&y, "f.yaml", text, LIMIT, test_err()));
	sim_yaml_free(&y);
	assert_int_equal(sim_yaml_parse(&y, "f.yaml", text, LIMIT + 1, &e),
	    SIM_EPARSE);
	assert_string_equal(e.msg,
	    "f.yaml:1:1: the file has 1048577 bytes, more than 1048576.");
	sim_yaml_free(&y);
	free(text);
}

/* Looking for duplicates must not take the square of the keys. */
static void a_map_of_many_keys_is_read_quickly(void **state)
{
	(void)state;
	enum { N = 100000 };
	struct sim_yaml y;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	for (int i = 0; i < N; i++)
		fprintf(out, "%x: \n", i * 7919 % N);
	fclose(out);
	parse(&y, text);
	assert_int_equal(y.root->n, N);
	assert_int_equal(y.n_mistakes, 0);
	sim_yaml_free(&y);
	free(text);
}

static void keys_given_twice_are_all_found(void **state)
{
	(void)state;
	is_mistaken("seed: 1\ndrop_rate: 0\nseed: 2\nseed: 3\nname: x\n",
	    "f.yaml:3:1: key \"seed\" is given twice, first on line 1.\n"
	    "f.yaml:4:1: key \"seed\" is given twice, first on line 1.");
	struct sim_yaml y;
	parse(&y, "a: {b: 1, c: 2, b: 3}\n");
	assert_int_equal(y.n_mistakes, 1);
	assert_string_equal(y.mistake[0],
	    "f.yaml:1:17: key \"b\" is given twice, first on line 1.");
	assert_string_equal(sim_yaml_get(sim_yaml_get(y.root, "a"), "b")->text,
	    "1");
	sim_yaml_free(&y);
}

static void a_map_fills_its_struct(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct thing t;
	static const char *const also[] = {"sub", NULL};
	parse(&y,
	    "drop_rate: 1.0e-4\nn_pods: 7\non: false\n"
	    "pattern: \"hot\"\nalgorithms: [hot, uniform]\n"
	    "name: '5'\ndelay: {uniform: [1, 2.5]}\nsub: {}\n");
	assert_ok(
	    sim_yaml_read(&y, y.root, NULL, fields, also, &t, test_err()));
	assert_ok(sim_yaml_verdict(&y, test_err()));
	assert_int_equal(t.n_pods, 7);
	assert_int_equal(t.on, 0);
	assert_int_equal(t.pattern, 2);
	assert_int_equal(t.algorithms, 5);
	assert_true(t.drop_rate == 1e-4);
	assert_string_equal(t.name, "5");
	assert_int_equal(t.delay.kind, SIM_UNIFORM);
	assert_true(t.delay.a == 1 && t.delay.b == 2.5);
	sim_yaml_free(&y);
}

static void defaults_stand_where_no_key_is(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct thing t;
	parse(&y, "drop_rate: 0.5\ndelay: 7\n");
	assert_ok(
	    sim_yaml_read(&y, y.root, NULL, fields, NULL, &t, test_err()));
	assert_ok(sim_yaml_verdict(&y, test_err()));
	assert_int_equal(t.n_pods, 2);
	assert_int_equal(t.algorithms, 4);
	assert_string_equal(t.name, "none");
	assert_int_equal(t.delay.kind, SIM_FIXED);
	assert_true(t.delay.a == 7);
	sim_yaml_free(&y);
}

static void each_mistake_is_told_at_its_place(void **state)
{
	(void)state;
	is_mistaken("drop_rate: 1%\n",
	    "f.yaml:1:12: drop_rate: \"1%\" is not a number; write 0.01.");
	is_mistaken("drop_rate: 0\nn_pods: 0\n",
	    "f.yaml:2:9: n_pods 0 is not in [1, 4096] pods.");
	is_mistaken("drop_rate: \"0.5\"\n",
	    "f.yaml:1:12: drop_rate: \"0.5\" is text; write it without "
	    "quotes.");
	is_mistaken("{drop_rate: 0, on: 'true'}\n",
	    "f.yaml:1:20: on: \"true\" is text; write it without quotes.");
	is_mistaken("drop_rate: [0]\n",
	    "f.yaml:1:12: drop_rate must be one value, not a list.");
	is_mistaken("drop_rate: {a: 0}\n",
	    "f.yaml:1:12: drop_rate must be one value, not a map.");
	is_mistaken("drop_rate:\n", "f.yaml:1:11: drop_rate has no value.");
	is_mistaken("drop_rate: 0\nname:\n", "f.yaml:2:6: name has no value.");
	is_mistaken("drop_rate: 0\nname: ''\n", "");
	is_mistaken("drop_rate: 0\nalgorithms:\n",
	    "f.yaml:2:12: algorithms has no value.");
	is_mistaken("drop_rate: 0\nalgorithms: hot\n",
	    "f.yaml:2:13: algorithms must be a list, not a value; write "
	    "[hot].");
	is_mistaken("drop_rate: 0\nalgorithms: [hto, [hot], hot, hot]\n",
	    "f.yaml:2:14: algorithms: \"hto\" is not one of uniform, skewed, "
	    "hot; did you mean \"hot\"?\n"
	    "f.yaml:2:19: algorithms must be one value, not a list.\n"
	    "f.yaml:2:31: algorithms: \"hot\" is given twice.");
	is_mistaken("drop_rate: 0\nname: eight__8\n",
	    "f.yaml:2:7: name: \"eight__8\" has 8 bytes, not at most 7.");
	is_mistaken("n_pods: 3\nseed: 1\n",
	    "f.yaml:1:1: drop_rate is missing.");
	is_mistaken("drop_rate: 0\n  \nn_pds: 3\n",
	    "f.yaml:3:1: unknown key \"n_pds\"; did you mean \"n_pods\"?");
	is_mistaken("drop_rate: 0\nsede: 3\n",
	    "f.yaml:2:1: unknown key \"sede\"; did you mean \"seed\"?");
	is_mistaken("drop_rate: 0\ncolour: 3\n",
	    "f.yaml:2:1: unknown key \"colour\"; known are n_pods, on, "
	    "pattern, algorithms, drop_rate, name, delay, seed.");
	is_mistaken("[1]\n", "f.yaml:1:1: a map is needed here, not a list.");
	is_mistaken("word\n",
	    "f.yaml:1:1: a map is needed here, not a value, such as {n_pods: "
	    "...}.");
}

static void a_mistaken_draw_is_told_at_its_end(void **state)
{
	(void)state;
	is_mistaken("drop_rate: 0\ndelay: {uniform: [1, 101]}\n",
	    "f.yaml:2:22: delay 101 is not in [0, 100] ns.");
	is_mistaken("drop_rate: 0\ndelay: {uniform: [x, '2']}\n",
	    "f.yaml:2:19: delay: \"x\" is not a number.\n"
	    "f.yaml:2:22: delay: \"2\" is text; write it without quotes.");
	is_mistaken("drop_rate: 0\ndelay: {uniform: [2, 1]}\n",
	    "f.yaml:2:9: delay: 2 is above 1 in [2, 1].");
	is_mistaken("drop_rate: 0\ndelay: {log_uniform: [0, 1]}\n",
	    "f.yaml:2:9: delay: log_uniform must start above 0, not at 0.");
	is_mistaken("drop_rate: 0\ndelay:\n  unifrom: [0, 1]\n",
	    "f.yaml:3:3: delay: \"unifrom\" is not one of uniform, "
	    "log_uniform; did you mean \"uniform\"?");
	is_mistaken("drop_rate: 0\ndelay: {uniform: [1]}\n",
	    "f.yaml:2:18: delay must be a number, {uniform: [a, b]} or "
	    "{log_uniform: [a, b]}.");
	is_mistaken("drop_rate: 0\ndelay: {uniform: 1}\n",
	    "f.yaml:2:18: delay must be a number, {uniform: [a, b]} or "
	    "{log_uniform: [a, b]}.");
	is_mistaken("drop_rate: 0\ndelay: [1, 2]\n",
	    "f.yaml:2:8: delay must be a number, {uniform: [a, b]} or "
	    "{log_uniform: [a, b]}, not a list.");
	is_mistaken("drop_rate: 0\ndelay: {uniform: [1, 2], x: 1}\n",
	    "f.yaml:2:8: delay must be a number, {uniform: [a, b]} or "
	    "{log_uniform: [a, b]}, not a map.");
}

static void all_mistakes_are_collected_in_one_reading(void **state)
{
	(void)state;
	is_mistaken("on: yes\nn_pods: 010\npattern: cold\nx: 1\n",
	    "f.yaml:1:5: on: \"yes\" is not true or false; write true.\n"
	    "f.yaml:2:9: n_pods: \"010\" is not a whole number; write 10.\n"
	    "f.yaml:3:10: pattern: \"cold\" is not one of uniform, skewed, "
	    "hot.\n"
	    "f.yaml:4:1: unknown key \"x\"; known are n_pods, on, pattern, "
	    "algorithms, drop_rate, name, delay, seed.\n"
	    "f.yaml:1:1: drop_rate is missing.");
}

static void a_missing_map_is_placed_where_the_caller_says(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct thing t;
	parse(&y, "a: 1\nb: 2\n");
	const struct sim_yaml_node *b = sim_yaml_get(y.root, "b");
	assert_ok(sim_yaml_read(&y, NULL, b, fields, NULL, &t, test_err()));
	assert_ok(sim_yaml_read(&y, NULL, NULL, fields, NULL, &t, test_err()));
	assert_ok(sim_yaml_mistake(&y, b, "%d is odd.", 2));
	assert_int_equal(y.n_mistakes, 3);
	assert_string_equal(y.mistake[0], "f.yaml:2:4: drop_rate is missing.");
	assert_string_equal(y.mistake[1], "f.yaml: drop_rate is missing.");
	assert_string_equal(y.mistake[2], "f.yaml:2:4: 2 is odd.");
	assert_int_equal(t.n_pods, 2);
	sim_yaml_free(&y);
}

static void a_table_without_fields_knows_no_key(void **state)
{
	(void)state;
	static const struct sim_field none[] = {{0}};
	struct sim_yaml y;
	parse(&y, "a: 1\n");
	assert_ok(sim_yaml_read(&y, y.root, NULL, none, NULL, &y, test_err()));
	assert_int_equal(y.n_mistakes, 1);
	assert_string_equal(y.mistake[0], "f.yaml:1:1: unknown key \"a\".");
	sim_yaml_free(&y);
}

static void a_verdict_counts_what_does_not_fit(void **state)
{
	(void)state;
	for (int n = 1; n < 100; n++) {
		struct sim_yaml y;
		struct sim_err e = {0};
		char last[64];
		int shown = 0, more = 0;
		parse(&y, "");
		for (int i = 1; i <= n; i++)
			assert_ok(sim_yaml_mistake(&y, y.root,
			    "mistake number %d of many.", i));
		assert_int_equal(sim_yaml_verdict(&y, &e), SIM_EINVAL);
		for (const char *p = e.msg; p; p = strchr(p + 1, '\n'))
			shown++;
		const char *tail = strrchr(e.msg, '\n');
		if (tail && sscanf(tail, "\nand %d more.", &more) == 1)
			shown--;
		assert_int_equal(shown + more, n);
		assert_true(e.msg[strlen(e.msg) - 1] == '.');
		snprintf(last, sizeof(last), "number %d of many.", shown);
		assert_non_null(strstr(e.msg, last));
		/* Mistakes are left out only where the message is full. */
		assert_true(!more || strlen(e.msg) > sizeof(e.msg) - 100);
		assert_int_equal(sim_yaml_verdict(&y, NULL), SIM_EINVAL);
		sim_yaml_free(&y);
	}
}

/* Mistakes of these lengths in the message, the last one filled up. */
static void verdict_of(size_t n, const size_t length[], struct sim_err *e)
{
	struct sim_yaml y;
	struct sim_err one;
	char x[sizeof(e->msg)];
	memset(x, 'x', sizeof(x));
	parse(&y, "");
	assert_ok(sim_yaml_mistake(&y, y.root, "."));
	assert_int_equal(sim_yaml_verdict(&y, &one), SIM_EINVAL);
	sim_yaml_free(&y);
	const size_t place = strlen(one.msg);
	parse(&y, "");
	for (size_t i = 0; i < n; i++)
		assert_ok(sim_yaml_mistake(&y, y.root, "%.*s.",
		    (int)(length[i] - place), x));
	assert_int_equal(sim_yaml_verdict(&y, e), SIM_EINVAL);
	sim_yaml_free(&y);
}

/* The last mistake may fill the message to its last byte; one that others
 * follow leaves 40 bytes for the line that counts them. */
static void a_mistake_is_shown_while_there_is_room(void **state)
{
	enum { CAP = sizeof(((struct sim_err *)0)->msg), FIRST = 60 };
	struct sim_err e;
	(void)state;
	const size_t room = CAP - 1 - FIRST - 1;
	verdict_of(2, (size_t[]){FIRST, room}, &e);
	assert_int_equal(strlen(e.msg), CAP - 1);
	assert_int_equal(strcspn(e.msg, "\n"), FIRST);
	assert_null(strstr(e.msg, "more."));
	verdict_of(2, (size_t[]){FIRST, room + 1}, &e);
	assert_string_equal(e.msg + FIRST, "\nand 1 more.");
	verdict_of(3, (size_t[]){FIRST, room - 40, 50}, &e);
	assert_int_equal(strlen(e.msg), CAP - 1 - 40 + strlen("\nand 1 more."));
	assert_string_equal(strrchr(e.msg, '\n'), "\nand 1 more.");
	verdict_of(3, (size_t[]){FIRST, room - 39, 50}, &e);
	assert_string_equal(e.msg + FIRST, "\nand 2 more.");
	/* Nor does the first one, where others follow, take that line's room. */
	verdict_of(2, (size_t[]){CAP - 1, 50}, &e);
	assert_string_equal(e.msg + CAP - 1 - 40, "\nand 1 more.");
}

static void a_giant_mistake_is_cut_not_lost(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct sim_err e = {0};
	char name[1500];
	memset(name, 'n', sizeof(name));
	name[1499] = '\0';
	assert_ok(sim_yaml_parse(&y, name, "", 0, test_err()));
	assert_ok(sim_yaml_mistake(&y, NULL, "a."));
	assert_ok(sim_yaml_mistake(&y, NULL, "b."));
	assert_int_equal(sim_yaml_verdict(&y, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "nnn\nand 1 more."));
	sim_yaml_free(&y);
}

static void set_replaces_or_creates(void **state)
{
	(void)state;
	static const struct {
		const char *set, *want;
	} good[] = {
	    {"a=2", "{a: 2, l: [x, {k: v}]}"},
	    {"a={b: [1, 2]}", "{a: {b: [1, 2]}, l: [x, {k: v}]}"},
	    {"l.0=y", "{a: 1, l: [y, {k: v}]}"},
	    {"l.1.k='7'", "{a: 1, l: [x, {k: \"7\"}]}"},
	    {"l.1.m.n=3", "{a: 1, l: [x, {k: v, m: {n: 3}}]}"},
	    {"p.q.r=a=b", "{a: 1, l: [x, {k: v}], p: {q: {r: \"a=b\"}}}"},
	    {"l=[]", "{a: 1, l: []}"},
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct sim_yaml y;
		parse(&y, "a: 1\nl: [x, {k: v}]\n");
		assert_ok(sim_yaml_set(&y, good[i].set, test_err()));
		is_written(y.root, good[i].want);
		sim_yaml_free(&y);
	}
	struct sim_yaml y = {0};
	assert_ok(sim_yaml_set(&y, "a.b=1", test_err()));
	is_written(y.root, "{a: {b: 1}}");
	sim_yaml_free(&y);
}

static void set_refuses_what_has_no_place(void **state)
{
	(void)state;
	static const struct {
		const char *set;
		int code;
		const char *message;
	} bad[] = {
	    {"a", SIM_EINVAL, "--set \"a\" is not path=value."},
	    {"=1", SIM_EINVAL, "--set \"=1\" is not path=value."},
	    {"a= ", SIM_EINVAL, "--set \"a= \" is not path=value."},
	    {"a.b=1", SIM_EINVAL,
		"--set \"a.b=1\": path \"a.b\": no key \"b\" in the value 1."},
	    {"l.2=1", SIM_EINVAL,
		"--set \"l.2=1\": path \"l.2\": \"2\" is not an index of a "
		"list of 2."},
	    {"l.01=1", SIM_EINVAL,
		"--set \"l.01=1\": path \"l.01\": \"01\" is not an index of a "
		"list of 2."},
	    {"l.x.y=1", SIM_EINVAL,
		"--set \"l.x.y=1\": path \"l.x.y\": \"x\" is not an index of "
		"a list of 2."},
	    {"a..b=1", SIM_EINVAL,
		"--set \"a..b=1\": path \"a..b\" has an empty part."},
	    {".a=1", SIM_EINVAL,
		"--set \".a=1\": path \".a\" has an empty part."},
	    {"b.=1", SIM_EINVAL,
		"--set \"b.=1\": path \"b.\" has an empty part."},
	    {"a=[1", SIM_EPARSE,
		"--set \"a=[1\": a:2:1: did not find expected ',' or ']' while "
		"parsing a flow sequence that starts at 1:1."},
	    {"a={b: 1, b: 2}", SIM_EINVAL,
		"--set \"a={b: 1, b: 2}\": a:1:8: key \"b\" is given twice, "
		"first on line 1."},
	    {"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19.20.21.22.23.24."
	     "25.26.27.28.29.30.31.32=[]",
		SIM_EINVAL,
		"--set \"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.1...\": path "
		"\"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.1...\": nested "
		"deeper than 32."},
	    {"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19.20.21.22.23.24."
	     "25.26.27.28.29.30.31.32.33=1",
		SIM_EINVAL,
		"--set \"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.1...\": path "
		"\"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.1...\" has more "
		"than 32 parts."},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_yaml y;
		struct sim_err e = {0};
		parse(&y, "a: 1\nl: [x, {k: v}]\n");
		assert_int_equal(sim_yaml_set(&y, bad[i].set, &e), bad[i].code);
		assert_string_equal(e.msg, bad[i].message);
		is_written(y.root, "{a: 1, l: [x, {k: v}]}");
		sim_yaml_free(&y);
	}
}

/* As the text of a file in which the same maps and lists stand. */
static void a_path_with_its_value_is_as_deep_as_a_file_may_be(void **state)
{
	(void)state;
	for (int n = 1; n <= SIM_YAML_DEPTH; n++)
		for (int lists = 0; lists <= SIM_YAML_DEPTH; lists++) {
			struct sim_yaml y;
			char set[4 * SIM_YAML_DEPTH + 8] = "";
			char *to = set;
			for (int i = 0; i < n; i++)
				to += sprintf(to, "%sp", i ? "." : "");
			to += sprintf(to, "=");
			for (int i = 0; i < lists; i++)
				to += sprintf(to, "[");
			to += sprintf(to, "1");
			for (int i = 0; i < lists; i++)
				to += sprintf(to, "]");
			parse(&y, "");
			assert_int_equal(sim_yaml_set(&y, set, NULL),
			    n + lists <= SIM_YAML_DEPTH ? 0 : SIM_EINVAL);
			sim_yaml_free(&y);
		}
}

static void mistakes_say_where_a_value_came_from(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct thing t;
	parse(&y, "sweep: [x, 2]\nt: {drop_rate: 0}\n");
	assert_ok(sim_yaml_set(&y, "t.n_pods=0", test_err()));
	assert_ok(sim_yaml_set(&y, "t.nope={}", test_err()));
	/* A value that is taken from elsewhere in the file is still reported
	 * at its own line. */
	assert_ok(sim_yaml_put(&y, "t.drop_rate",
	    sim_yaml_get(y.root, "sweep")->child[1], test_err()));
	assert_ok(sim_yaml_read(&y, sim_yaml_get(y.root, "t"), NULL, fields,
	    NULL, &t, test_err()));
	assert_int_equal(y.n_mistakes, 3);
	assert_string_equal(y.mistake[0],
	    "f.yaml:1:12: drop_rate 2 is not in [0, 1].");
	assert_string_equal(y.mistake[1],
	    "--set: n_pods 0 is not in [1, 4096] pods.");
	assert_non_null(strstr(y.mistake[2], "--set: unknown key \"nope\""));
	sim_yaml_free(&y);
}

/* Keys with dots, as those of a sweep, are found where they stand; the longest
 * counts, and where there is none, maps are made. */
static void a_path_finds_keys_that_have_dots(void **state)
{
	static const char text[] =
	    "{grid: {a.b: 1, a.b.c: 2, a: {b: 3}}, x: {y: 4}}";
	static const struct {
		const char *set, *want;
	} cases[] = {
	    {"grid.a.b=7", "{grid: {a.b: 7, a.b.c: 2, a: {b: 3}}, x: {y: 4}}"},
	    {"grid.a.b.c=7",
		"{grid: {a.b: 1, a.b.c: 7, a: {b: 3}}, x: {y: 4}}"},
	    {"grid.a.d=7",
		"{grid: {a.b: 1, a.b.c: 2, a: {b: 3, d: 7}}, x: {y: 4}}"},
	    {"x.y=7", "{grid: {a.b: 1, a.b.c: 2, a: {b: 3}}, x: {y: 7}}"},
	    {"x.z.w=7",
		"{grid: {a.b: 1, a.b.c: 2, a: {b: 3}}, x: {y: 4, z: {w: "
		"7}}}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_yaml y;
		char got[200];
		assert_ok(
		    sim_yaml_parse(&y, "x", text, strlen(text), test_err()));
		assert_ok(sim_yaml_set(&y, cases[i].set, test_err()));
		sim_yaml_format(y.root, got, sizeof(got));
		assert_string_equal(got, cases[i].want);
		sim_yaml_free(&y);
	}
}

static void a_node_can_be_put_over_its_own_parent(void **state)
{
	(void)state;
	struct sim_yaml y;
	parse(&y, "a: {b: {c: 1}}\n");
	const struct sim_yaml_node *a = sim_yaml_get(y.root, "a");
	assert_ok(sim_yaml_put(&y, "a", sim_yaml_get(a, "b"), test_err()));
	is_written(y.root, "{a: {c: 1}}");
	sim_yaml_free(&y);
}

/* --- random trees -------------------------------------------------------- */
/* Text of characters that mean something to YAML, and some that do not. */
static char *random_text(struct sim_rng *r, uint32_t most)
{
	static const char *const bits[] = {"a", "b", "1", "0", " ", "\t", "\n",
	    ":", "#", "-", "?", ",", "[", "]", "{", "}", "&", "*", "!", "|",
	    ">", "'", "\"", "%", "@", "`", "\\", "~", ".", "=", "\r", "\x01",
	    "\x7f", "\xc2\x85", "\xc2\xa0", "\xc3\xa9", "\xe2\x80\xa8",
	    "\xef\xbb\xbf", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"};
	char text[64] = "", *copy = NULL;
	for (uint32_t n = sim_rng_below(r, most + 1); n > 0; n--)
		strcat(text,
		    bits[sim_rng_below(r, sizeof(bits) / sizeof(bits[0]))]);
	assert_ok(sim_dup(&copy, text, test_err()));
	return copy;
}

static struct sim_yaml_node *random_node(struct sim_rng *r, int depth)
{
	struct sim_yaml_node *node = NULL;
	uint32_t kind = sim_rng_below(r, depth > 0 ? 3 : 1);
	assert_ok(sim_yaml_node_new(&node, kind, 1, 1, test_err()));
	if (kind == SIM_YAML_SCALAR) {
		node->quoted = sim_rng_below(r, 2) != 0;
		node->text = random_text(r, 8);
		if (!*node->text)
			node->quoted = 1;
		return node;
	}
	for (uint32_t n = sim_rng_below(r, 5); n > 0; n--) {
		char *key = NULL;
		if (kind == SIM_YAML_MAP) {
			/* A number in front makes keys differ. */
			char *text = random_text(r, 8);
			assert_true(asprintf(&key, "%u%s", n, text) > 0);
			free(text);
		}
		assert_ok(sim_yaml_append(node, key, 1, 1,
		    random_node(r, depth - 1), test_err()));
	}
	return node;
}

/* Quotes may be added, because plain text cannot hold everything, but a plain
 * number or name stays plain. */
static int same(const struct sim_yaml_node *a, const struct sim_yaml_node *b)
{
	if (a->kind != b->kind || a->n != b->n)
		return 0;
	if (a->kind == SIM_YAML_SCALAR) {
		size_t n = strspn(a->text, "ab10.~");
		int simple = a->text[n] == '\0' && *a->text != '.';
		return strcmp(a->text, b->text) == 0 &&
		    (a->quoted ? b->quoted : !simple || !b->quoted);
	}
	for (size_t i = 0; i < a->n; i++)
		if (!same(a->child[i], b->child[i]) ||
		    (a->kind == SIM_YAML_MAP &&
			strcmp(a->key[i], b->key[i]) != 0))
			return 0;
	return 1;
}

static void any_tree_is_written_so_that_it_reads_back(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		struct sim_yaml y;
		struct sim_err e;
		char text[8192];
		test_rng(&r, run);
		struct sim_yaml_node *tree = random_node(&r, 3), *copy = NULL;
		int n = sim_yaml_format(tree, text, sizeof(text));
		assert_in_range(n, 1, sizeof(text) - 1);
		if (sim_yaml_parse(&y, "t", text, (size_t)n, &e) < 0)
			fail_msg("seed %llu run %u: %s\n%s",
			    (unsigned long long)test_seed(), run, e.msg, text);
		if (y.n_mistakes > 0 || !same(tree, y.root))
			fail_msg("seed %llu run %u differs: %s",
			    (unsigned long long)test_seed(), run, text);
		assert_null(strchr(text, '\n'));
		assert_ok(sim_yaml_copy(&copy, tree, test_err()));
		assert_true(same(tree, copy) && same(copy, tree));
		sim_yaml_node_free(copy);
		sim_yaml_node_free(tree);
		sim_yaml_free(&y);
	}
}

static void text_fields_come_back_through_a_tree(void **state)
{
	(void)state;
	static const struct sim_field text_field[] = {{"text", SIM_F_STR, 0,
							  .size = 64},
	    {0}};
	for (uint32_t run = 0; run < 5000; run++) {
		struct sim_rng r;
		struct sim_yaml y;
		char in[64] = "", out[64], text[512] = "text: ";
		test_rng(&r, run);
		char *random = random_text(&r, 12);
		strcpy(in, random);
		free(random);
		field_format(text_field, in, text + 6, sizeof(text) - 6);
		parse(&y, text);
		assert_ok(sim_yaml_read(&y, y.root, NULL, text_field, NULL, out,
		    test_err()));
		assert_int_equal(y.n_mistakes, 0);
		assert_string_equal(in, out);
		sim_yaml_free(&y);
	}
}

/* --- files and memory ---------------------------------------------------- */
static void files_are_loaded_by_name(void **state)
{
	(void)state;
	struct sim_yaml y;
	struct sim_err e;
	char path[] = "/tmp/sim_yaml_test.XXXXXX", want[128];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	assert_ok(sim_yaml_load(&y, path, test_err()));
	is_written(y.root, "{a: 1}");
	assert_string_equal(y.name, path);
	sim_yaml_free(&y);
	/* As many bytes as there may be, the last of which is read, too. */
	static char line[4096];
	memset(line, '#', sizeof(line));
	for (off_t at = 5; at < 1 << 20; at += 4096)
		assert_int_equal(pwrite(fd, line, sizeof(line), at), 4096);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(pwrite(fd, "\n\xff", 2, (1 << 20) - 2), 2);
	assert_int_equal(sim_yaml_load(&y, path, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, ":3:1: invalid leading UTF-8 octet."));
	sim_yaml_free(&y);
	assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
	assert_int_equal(sim_yaml_load(&y, path, &e), SIM_EPARSE);
	sim_yaml_free(&y);
	close(fd);
	unlink(path);
	assert_int_equal(sim_yaml_load(&y, path, &e), SIM_EIO);
	snprintf(want, sizeof(want),
	    "%s cannot be opened: No such file or directory.", path);
	assert_string_equal(e.msg, want);
	sim_yaml_free(&y);
	assert_int_equal(sim_yaml_load(&y, "/", &e), SIM_EIO);
	assert_string_equal(e.msg, "/ cannot be read: Is a directory.");
	sim_yaml_free(&y);
}

static int whole_way(void *arg, struct sim_err *e)
{
	static const char text[] =
	    "n_pods: 010\nalgorithms: [hot, hto, hot]\nx: {y: [1, 2, 3]}\n"
	    "delay: {uniform: [1, 2]}\nx: 2\nname: 'q'\n";
	struct sim_yaml y;
	struct thing t;
	(void)arg;
	int rc = sim_yaml_parse(&y, "f.yaml", text, strlen(text), e);
	if (rc == 0)
		rc = sim_yaml_set(&y, "a.b.c={d: [1, 2]}", e);
	if (rc == 0)
		rc = sim_yaml_put(&y, "x.y.1", y.root, e);
	if (rc == 0)
		rc = sim_yaml_read(&y, y.root, NULL, fields, NULL, &t, e);
	if (rc == 0 && y.n_mistakes != 8)
		rc = sim_fail(e, SIM_EINVAL, "%zu mistakes", y.n_mistakes);
	sim_yaml_free(&y);
	return rc;
}

static int load(void *arg, struct sim_err *e)
{
	struct sim_yaml y;
	int rc = sim_yaml_load(&y, arg, e);
	sim_yaml_free(&y);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(whole_way, NULL);
	char path[] = "/dev/null";
	test_each_alloc_fails(load, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(block_and_flow_give_the_same_tree),
	    cmocka_unit_test(nothing_is_an_empty_map),
	    cmocka_unit_test(nodes_know_their_place),
	    cmocka_unit_test(what_makes_a_tree_doubtful_ends_parsing),
	    cmocka_unit_test(nesting_ends_at_32),
	    cmocka_unit_test(a_key_has_at_most_128_bytes),
	    cmocka_unit_test(files_hold_at_most_a_mebibyte),
	    cmocka_unit_test(a_map_of_many_keys_is_read_quickly),
	    cmocka_unit_test(keys_given_twice_are_all_found),
	    cmocka_unit_test(a_map_fills_its_struct),
	    cmocka_unit_test(defaults_stand_where_no_key_is),
	    cmocka_unit_test(each_mistake_is_told_at_its_place),
	    cmocka_unit_test(a_mistaken_draw_is_told_at_its_end),
	    cmocka_unit_test(all_mistakes_are_collected_in_one_reading),
	    cmocka_unit_test(a_missing_map_is_placed_where_the_caller_says),
	    cmocka_unit_test(a_table_without_fields_knows_no_key),
	    cmocka_unit_test(a_verdict_counts_what_does_not_fit),
	    cmocka_unit_test(a_mistake_is_shown_while_there_is_room),
	    cmocka_unit_test(a_giant_mistake_is_cut_not_lost),
	    cmocka_unit_test(set_replaces_or_creates),
	    cmocka_unit_test(set_refuses_what_has_no_place),
	    cmocka_unit_test(a_path_with_its_value_is_as_deep_as_a_file_may_be),
	    cmocka_unit_test(mistakes_say_where_a_value_came_from),
	    cmocka_unit_test(a_path_finds_keys_that_have_dots),
	    cmocka_unit_test(a_node_can_be_put_over_its_own_parent),
	    cmocka_unit_test(any_tree_is_written_so_that_it_reads_back),
	    cmocka_unit_test(text_fields_come_back_through_a_tree),
	    cmocka_unit_test(files_are_loaded_by_name),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("sim/yaml", tests, NULL, NULL);
}
