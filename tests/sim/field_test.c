/* tests/sim/field_test.c -- fields: ranges, lists, round trips.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/field_format.h"
#include "tests/test.h"

#include <ctype.h>

#include "sim/field.h"

static const char *const patterns[] = {"uniform", "skewed", "hot", NULL};

struct thing {
	uint32_t n_pods;
	uint64_t seed;
	double drop_rate;
	uint32_t on, pattern, algorithms;
	char name[8];
	struct sim_dist delay, n_links;
	double bias;
};

enum { N_PODS, SEED, DROP, ON, PATTERN, ALGOS, NAME, DELAY, LINKS, BIAS };

static const struct sim_field fields[] = {[N_PODS] = {"n_pods", SIM_F_U32,
					      offsetof(struct thing, n_pods),
					      .def = "2", .min = 1, .max = 4096,
					      .unit = "pods", .doc = "pods"},
    [SEED] = {"seed", SIM_F_U64, offsetof(struct thing, seed), .def = "0",
	.unit = "1", .doc = "names every stream"},
    [DROP] = {"drop_rate", SIM_F_F64, offsetof(struct thing, drop_rate),
	.min = 0, .max = 1, .unit = "1", .doc = "packets lost"},
    [ON] = {"on", SIM_F_BOOL, offsetof(struct thing, on), .def = "true",
	.doc = "switch"},
    [PATTERN] = {"pattern", SIM_F_ENUM, offsetof(struct thing, pattern),
	.names = patterns, .def = "skewed", .doc = "who talks to whom"},
    [ALGOS] = {"algorithms", SIM_F_SET, offsetof(struct thing, algorithms),
	.names = patterns, .def = "[hot, uniform]", .doc = "which"},
    [NAME] = {"name", SIM_F_STR, offsetof(struct thing, name), .size = 8,
	.def = "none", .doc = "short"},
    [DELAY] = {"delay", SIM_F_DIST, offsetof(struct thing, delay), .min = 0,
	.max = 1e9, .unit = "ns", .def = "{uniform: [1, 2.5]}",
	.doc = "one way"},
    [LINKS] = {"n_links", SIM_F_DIST, offsetof(struct thing, n_links), .min = 0,
	.max = 100, .unit = "links", .whole = 1, .def = "1", .doc = "broken"},
    [BIAS] = {"bias", SIM_F_F64, offsetof(struct thing, bias), .def = "-0.5",
	.unit = "ns", .doc = "any number"},
    {0}};

static void refuses(int which, const char *text, int code, const char *message)
{
	struct thing t, before;
	struct sim_err e = {0};
	memset(&t, 0x5a, sizeof(t));
	before = t;
	int rc = sim_field_set(&fields[which], &t, text, &e);
	if (rc != code || strcmp(e.msg, message) != 0)
		fail_msg("\"%s\": %s \"%s\", wanted \"%s\"", text,
		    sim_err_text(rc), e.msg, message);
	assert_memory_equal(&t, &before, sizeof(t));
	assert_int_equal(sim_field_set(&fields[which], &t, text, NULL), code);
}

static void ranges_include_both_ends_and_name_the_unit(void **state)
{
	(void)state;
	struct thing t;
	assert_ok(sim_field_set(&fields[N_PODS], &t, "1", test_err()));
	assert_ok(sim_field_set(&fields[N_PODS], &t, "4096", test_err()));
	assert_int_equal(t.n_pods, 4096);
	assert_ok(sim_field_set(&fields[DROP], &t, "1", test_err()));
	assert_ok(sim_field_set(&fields[DROP], &t, "0", test_err()));
	refuses(N_PODS, "0", SIM_ERANGE, "n_pods 0 is not in [1, 4096] pods.");
	refuses(N_PODS, "-1", SIM_ERANGE,
	    "n_pods -1 is not in [1, 4096] pods.");
	refuses(N_PODS, "4097", SIM_ERANGE,
	    "n_pods 4097 is not in [1, 4096] pods.");
	refuses(N_PODS, "99999999999999999999", SIM_ERANGE,
	    "n_pods 99999999999999999999 is not in [1, 4096] pods.");
	refuses(N_PODS, "1e3", SIM_EINVAL,
	    "n_pods: \"1e3\" is not a whole number; write 1000.");
	refuses(DROP, "1.5", SIM_ERANGE, "drop_rate 1.5 is not in [0, 1].");
	refuses(DROP, "-1e-9", SIM_ERANGE, "drop_rate -1e-9 is not in [0, 1].");
	refuses(DROP, "1%", SIM_EINVAL,
	    "drop_rate: \"1%\" is not a number; write 0.01.");
}

static void without_a_range_the_type_sets_it(void **state)
{
	(void)state;
	struct thing t;
	struct sim_field any = fields[N_PODS];
	any.min = any.max = 0;
	assert_ok(sim_field_set(&any, &t, "4294967295", test_err()));
	assert_true(t.n_pods == UINT32_MAX);
	struct sim_err e;
	assert_int_equal(sim_field_set(&any, &t, "4294967296", &e), SIM_ERANGE);
	assert_string_equal(e.msg,
	    "n_pods 4294967296 is not in [0, 4294967295] pods.");
	assert_ok(sim_field_set(&fields[SEED], &t, "18446744073709551615",
	    test_err()));
	assert_true(t.seed == UINT64_MAX);
	refuses(SEED, "18446744073709551616", SIM_ERANGE,
	    "seed 18446744073709551616 is not in [0, 18446744073709551615].");
	assert_ok(sim_field_set(&fields[BIAS], &t, "-1e300", test_err()));
	refuses(BIAS, "1e309", SIM_ERANGE, "bias: \"1e309\" is too large.");
	/* A range above 2^53 is still compared as integers. */
	struct sim_field wide = fields[SEED];
	wide.max = 0x1p63;
	assert_ok(sim_field_set(&wide, &t, "9223372036854775808", test_err()));
	assert_int_equal(sim_field_set(&wide, &t, "9223372036854775809", &e),
	    SIM_ERANGE);
	/* An open end. */
	struct sim_field open = fields[BIAS];
	open.min = 1;
	open.max = INFINITY;
	assert_int_equal(sim_field_set(&open, &t, "0.5", &e), SIM_ERANGE);
	assert_string_equal(e.msg, "bias 0.5 is below 1 ns.");
	open.min = -INFINITY;
	open.max = 1;
	assert_int_equal(sim_field_set(&open, &t, "2", &e), SIM_ERANGE);
	assert_string_equal(e.msg, "bias 2 is above 1 ns.");
}

static void booleans_are_true_or_false(void **state)
{
	(void)state;
	struct thing t;
	assert_ok(sim_field_set(&fields[ON], &t, "true", test_err()));
	assert_int_equal(t.on, 1);
	assert_ok(sim_field_set(&fields[ON], &t, "false", test_err()));
	assert_int_equal(t.on, 0);
	refuses(ON, "yes", SIM_EINVAL,
	    "on: \"yes\" is not true or false; write true.");
	refuses(ON, "0", SIM_EINVAL,
	    "on: \"0\" is not true or false; write false.");
	refuses(ON, "TRUE", SIM_EINVAL,
	    "on: \"TRUE\" is not true or false; write true.");
	refuses(ON, "maybe", SIM_EINVAL, "on: \"maybe\" is not true or false.");
}

static void names_come_with_a_suggestion(void **state)
{
	(void)state;
	struct thing t;
	assert_ok(sim_field_set(&fields[PATTERN], &t, "hot", test_err()));
	assert_int_equal(t.pattern, 2);
	refuses(PATTERN, "unifrom", SIM_EINVAL,
	    "pattern: \"unifrom\" is not one of uniform, skewed, hot; did you "
	    "mean \"uniform\"?");
	refuses(PATTERN, "Uniform", SIM_EINVAL,
	    "pattern: \"Uniform\" is not one of uniform, skewed, hot; did you "
	    "mean \"uniform\"?");
	refuses(PATTERN, "cold", SIM_EINVAL,
	    "pattern: \"cold\" is not one of uniform, skewed, hot.");
	refuses(PATTERN, "", SIM_EINVAL,
	    "pattern: \"\" is not one of uniform, skewed, hot.");
}

static void sets_are_lists_of_names(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t mask;
	} good[] = {{"[]", 0}, {" [ ] ", 0}, {"[hot]", 4},
	    {"[hot, uniform]", 5}, {"[hot,skewed,uniform]", 7},
	    {"[ hot , ]", 4}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct thing t;
		assert_ok(sim_field_set(&fields[ALGOS], &t, good[i].text,
		    test_err()));
		assert_int_equal(t.algorithms, good[i].mask);
	}
	refuses(ALGOS, "hot", SIM_EINVAL,
	    "algorithms: \"hot\" is not a list; write [uniform].");
	refuses(ALGOS, "[hot", SIM_EINVAL,
	    "algorithms: \"[hot\" is not a list; write [uniform].");
	refuses(ALGOS, "[hot skewed]", SIM_EINVAL,
	    "algorithms: \"[hot skewed]\" is not a list; write [uniform].");
	refuses(ALGOS, "[,]", SIM_EINVAL,
	    "algorithms: \"[,]\" is not a list; write [uniform].");
	refuses(ALGOS, "[hot] x", SIM_EINVAL,
	    "algorithms: \"[hot] x\" is not a list; write [uniform].");
	refuses(ALGOS, "[hot, hot]", SIM_EINVAL,
	    "algorithms: \"hot\" is given twice.");
	/* A name of 127 bytes is looked for, of 128 it is none. */
	for (int n = 127; n <= 129; n++) {
		char text[132];
		struct thing t;
		struct sim_err e;
		snprintf(text, sizeof(text), "[%0*d]", n, 0);
		assert_int_equal(sim_field_set(&fields[ALGOS], &t, text, &e),
		    SIM_EINVAL);
		assert_int_equal(strstr(e.msg, "not one of") != NULL, n < 128);
	}
	refuses(ALGOS, "[hto]", SIM_EINVAL,
	    "algorithms: \"hto\" is not one of uniform, skewed, hot; did you "
	    "mean \"hot\"?");
}

static void text_must_fit(void **state)
{
	(void)state;
	struct thing t;
	assert_ok(sim_field_set(&fields[NAME], &t, "seven_7", test_err()));
	assert_string_equal(t.name, "seven_7");
	refuses(NAME, "eight__8", SIM_ERANGE,
	    "name: \"eight__8\" has 8 bytes, not at most 7.");
}

static void a_distribution_is_a_number_or_a_draw(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		struct sim_dist d;
	} good[] = {{"3.5", {SIM_FIXED, 3.5, 3.5}},
	    {"{uniform: [0, 9]}", {SIM_UNIFORM, 0, 9}},
	    {"{ uniform : [ 2 , 2 ] }", {SIM_UNIFORM, 2, 2}},
	    {"{log_uniform: [1e-6, 1.0e-4]}", {SIM_LOG_UNIFORM, 1e-6, 1e-4}}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct thing t;
		assert_ok(sim_field_set(&fields[DELAY], &t, good[i].text,
		    test_err()));
		assert_int_equal(t.delay.kind, good[i].d.kind);
		assert_true(t.delay.a == good[i].d.a);
		assert_true(t.delay.b == good[i].d.b);
	}
	refuses(DELAY, "-1", SIM_ERANGE,
	    "delay -1 is not in [0, 1000000000] ns.");
	refuses(DELAY, "{uniform: [5, -1]}", SIM_ERANGE,
	    "delay -1 is not in [0, 1000000000] ns.");
	refuses(DELAY, "{uniform: [5, 1]}", SIM_ERANGE,
	    "delay: 5 is above 1 in [5, 1].");
	refuses(DELAY, "{log_uniform: [0, 1]}", SIM_ERANGE,
	    "delay: log_uniform must start above 0, not at 0.");
	refuses(DELAY, "{unifrom: [0, 1]}", SIM_EINVAL,
	    "delay: \"unifrom\" is not one of uniform, log_uniform; did you "
	    "mean \"uniform\"?");
	refuses(DELAY, "{uniform: [0, 1%]}", SIM_EINVAL,
	    "delay: \"1%\" is not a number; write 0.01.");
	refuses(DELAY, "{uniform: [0, 1, 2]}", SIM_EINVAL,
	    "delay: \"{uniform: [0, 1, 2]}\" is not a number, {uniform: "
	    "[a, b]} or {log_uniform: [a, b]}.");
	refuses(DELAY, "{uniform: [0, 1]} ", SIM_EINVAL,
	    "delay: \"{uniform: [0, 1]} \" is not a number, {uniform: "
	    "[a, b]} or {log_uniform: [a, b]}.");
	refuses(LINKS, "1.5", SIM_EINVAL, "n_links 1.5 is not a whole number.");
	refuses(LINKS, "{uniform: [1, 1.5]}", SIM_EINVAL,
	    "n_links 1.5 is not a whole number.");
	refuses(LINKS, "101", SIM_ERANGE,
	    "n_links 101 is not in [0, 100] links.");
}

static void defaults_leave_required_fields_alone(void **state)
{
	(void)state;
	struct thing t = {.drop_rate = 0.125};
	assert_ok(sim_field_defaults(fields, &t, test_err()));
	assert_int_equal(t.n_pods, 2);
	assert_int_equal(t.on, 1);
	assert_int_equal(t.pattern, 1);
	assert_int_equal(t.algorithms, 5);
	assert_string_equal(t.name, "none");
	assert_true(t.delay.b == 2.5);
	assert_true(t.drop_rate == 0.125);
	const struct sim_field wrong[] = {{"x", SIM_F_BOOL, 0, .def = "on"},
	    {0}};
	struct sim_err e;
	assert_int_equal(sim_field_defaults(wrong, &t, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "default: x: \"on\" is not true or false; write true.");
	assert_ptr_equal(sim_field_find(fields, "delay"), &fields[DELAY]);
	assert_null(sim_field_find(fields, "dela"));
}

/* Bit patterns drawn at random: every finite double. */
static double any_double(struct sim_rng *r)
{
	for (;;) {
		uint64_t bits = (uint64_t)sim_rng_u32(r) << 32 | sim_rng_u32(r);
		double x;
		memcpy(&x, &bits, sizeof(x));
		if (isfinite(x))
			return x;
	}
}

static void parameters_are_taken_or_the_defaults(void **state)
{
	(void)state;
	struct thing given, got, defaults;
	memset(&given, 0x5a, sizeof(given));
	memset(&got, 0, sizeof(got));
	assert_ok(
	    sim_field_take(fields, &given, sizeof(given), &got, test_err()));
	assert_memory_equal(&got, &given, sizeof(got));
	defaults = given;
	assert_ok(sim_field_defaults(fields, &defaults, test_err()));
	assert_ok(
	    sim_field_take(fields, NULL, sizeof(given), &got, test_err()));
	assert_memory_equal(&got, &defaults, sizeof(got));
	struct sim_field bad[] = {fields[N_PODS], {0}};
	bad[0].def = "0";
	assert_int_equal(sim_field_take(bad, NULL, sizeof(given), &got,
			     test_err()),
	    SIM_ERANGE);
	assert_ok(sim_field_take(bad, &given, sizeof(given), &got, test_err()));
}

static void each_type_has_its_words(void **state)
{
	(void)state;
	static const char *const words[] = {"whole number", "whole number",
	    "number", "true or false", "one of", "list of", "text",
	    "number or draw", "number or draw", "number"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(sim_field_type_name(&fields[i]), words[i]);
}

static void doubles_come_back_from_the_fewest_digits(void **state)
{
	(void)state;
	static const struct {
		double x;
		const char *text;
	} known[] = {{0.1, "0.1"}, {1e-6, "1e-06"}, {4160, "4160"}, {0, "0"},
	    {-0.0, "0"}, {1e15, "1e+15"}, {123456789012345, "123456789012345"},
	    {1.0 / 3, "0.3333333333333333"},
	    {0.1 + 0.2, "0.30000000000000004"}};
	char text[32], shorter[32];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_string_equal(sim_format_f64(text, known[i].x),
		    known[i].text);
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		double x = any_double(&r), back;
		assert_ok(
		    sim_parse_f64(sim_format_f64(text, x), &back, test_err()));
		int n_digits = 0;
		for (const char *p = text; *p && *p != 'e'; p++)
			n_digits += isdigit((unsigned char)*p) &&
			    (n_digits > 0 || *p != '0');
		snprintf(shorter, sizeof(shorter), "%.*e", n_digits - 2, x);
		/* Whole numbers are written out. */
		int whole = x == floor(x) && fabs(x) < 1e15;
		if (back != x ||
		    (!whole && n_digits > 1 && strtod(shorter, NULL) == x))
			fail_msg("seed %llu run %u: %.17g as %s",
			    (unsigned long long)test_seed(), run, x, text);
	}
}

static void what_is_formatted_reads_back_equal(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 5000; run++) {
		struct sim_rng r;
		struct thing t = {0}, back = {0};
		test_rng(&r, run);
		double a = sim_rng_u32(&r) / 8.0, b = a + sim_rng_u32(&r) / 16.;
		t.n_pods = 1 + sim_rng_below(&r, 4096);
		t.seed = (uint64_t)sim_rng_u32(&r) << 32 | sim_rng_u32(&r);
		t.drop_rate = sim_rng_u32(&r) * 0x1p-32;
		t.on = sim_rng_below(&r, 2);
		t.pattern = sim_rng_below(&r, 3);
		t.algorithms = sim_rng_below(&r, 8);
		snprintf(t.name, sizeof(t.name), "n%u", sim_rng_below(&r, 9));
		t.delay = (struct sim_dist){SIM_UNIFORM, a, b};
		t.n_links = (struct sim_dist){SIM_FIXED, 7, 7};
		t.bias = any_double(&r);
		for (const struct sim_field *f = fields; f->name; f++) {
			char text[128], cut[5] = "????";
			int n = field_format(f, &t, text, sizeof(text));
			assert_int_equal(n, strlen(text));
			assert_int_equal(field_format(f, &t, cut, 4), n);
			assert_memory_equal(cut, text, n < 3 ? n : 3);
			assert_int_equal(cut[4], '\0');
			assert_int_equal(field_format(f, &t, NULL, 0), n);
			if (f == &fields[DELAY] && b > 1e9)
				back.delay = t.delay;
			else
				assert_ok(
				    sim_field_set(f, &back, text, test_err()));
		}
		assert_memory_equal(&t, &back, sizeof(t));
	}
}

static void formats_look_as_written(void **state)
{
	(void)state;
	struct thing t = {0};
	char text[64];
	assert_ok(sim_field_defaults(fields, &t, test_err()));
	field_format(&fields[ALGOS], &t, text, sizeof(text));
	assert_string_equal(text, "[uniform, hot]");
	field_format(&fields[DELAY], &t, text, sizeof(text));
	assert_string_equal(text, "{uniform: [1, 2.5]}");
	field_format(&fields[ON], &t, text, sizeof(text));
	assert_string_equal(text, "true");
	strcpy(t.name, "a: \"b\"");
	field_format(&fields[NAME], &t, text, sizeof(text));
	assert_string_equal(text, "\"a: \\\"b\\\"\"");
}

static void help_is_one_aligned_line_a_field(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	sim_field_help(fields, out);
	fclose(out);
	assert_string_equal(text,
	    "  n_pods      whole number    "
	    "[1, 4096] pods        2                    pods\n"
	    "  seed        whole number    "
	    "                      0                    names every stream\n"
	    "  drop_rate   number          "
	    "[0, 1]                (required)           packets lost\n"
	    "  on          true or false   "
	    "                      true                 switch\n"
	    "  pattern     one of          "
	    "uniform, skewed, hot  skewed               who talks to whom\n"
	    "  algorithms  list of         "
	    "uniform, skewed, hot  [hot, uniform]       which\n"
	    "  name        text            "
	    "at most 7 bytes       none                 short\n"
	    "  delay       number or draw  "
	    "[0, 1000000000] ns    {uniform: [1, 2.5]}  one way\n"
	    "  n_links     number or draw  "
	    "[0, 100] links        1                    broken\n"
	    "  bias        number          "
	    "ns                    -0.5                 any number\n");
	free(text);
}

/* Each form of a condition, on each type that it may be about. */
static void a_field_counts_when_its_condition_holds(void **state)
{
	struct thing {
		uint32_t n, on, kind, it;
		double x;
		struct sim_dist d;
		char text[8];
	} t = {.kind = 1, .d = {SIM_FIXED, 0, 0}};
	static const char *const kinds[] = {"a", "b", "c", NULL};
	struct sim_field table[] = {
	    {"n", SIM_F_U32, offsetof(struct thing, n), .size = 0},
	    {"on", SIM_F_BOOL, offsetof(struct thing, on), .size = 0},
	    {"kind", SIM_F_ENUM, offsetof(struct thing, kind), .names = kinds},
	    {"x", SIM_F_F64, offsetof(struct thing, x), .size = 0},
	    {"d", SIM_F_DIST, offsetof(struct thing, d), .size = 0},
	    {"text", SIM_F_STR, offsetof(struct thing, text), .size = 8},
	    {"it", SIM_F_U32, offsetof(struct thing, it), .size = 0},
	    {0},
	};
	static const struct {
		const char *when, *why; /* NULL: it counts */
	} cases[] = {
	    {NULL, NULL},
	    {"kind=b", NULL},
	    {"kind=a|b", NULL},
	    {"kind=a|c", "it counts only with kind: a or c"},
	    {"kind!=b", "it counts only with kind other than b"},
	    {"n=0", NULL},
	    {"n!=0", "it counts only with n other than 0"},
	    {"on=true", "it counts only with on: true"},
	    {"x=0", NULL},
	    {"x!=0", "it counts only with x other than 0"},
	    {"d!=0", "it counts only with d other than 0"},
	    {"d=0", NULL},
	    {"text!=", "it counts only with text"},
	    {"text=", NULL},
	    {"text=own|none", "it counts only with text: own or none"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[160] = "";
		table[6].when = cases[i].when;
		const int counts = sim_field_counts(table, &table[6], &t, why);
		assert_int_equal(counts, cases[i].why == NULL);
		assert_string_equal(why, cases[i].why ? cases[i].why : "");
	}
	/* All letters of one word, and no more than these. */
	snprintf(t.text, sizeof(t.text), "own");
	table[6].when = "text=own";
	assert_true(sim_field_counts(table, &table[6], &t, (char[160]){0}));
	table[6].when = "text=new|owns|ow";
	assert_false(sim_field_counts(table, &table[6], &t, (char[160]){0}));
	t.d.b = 1;
	table[6].when = "d!=0";
	assert_true(sim_field_counts(table, &table[6], &t, (char[160]){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_include_both_ends_and_name_the_unit),
	    cmocka_unit_test(without_a_range_the_type_sets_it),
	    cmocka_unit_test(booleans_are_true_or_false),
	    cmocka_unit_test(names_come_with_a_suggestion),
	    cmocka_unit_test(sets_are_lists_of_names),
	    cmocka_unit_test(text_must_fit),
	    cmocka_unit_test(a_distribution_is_a_number_or_a_draw),
	    cmocka_unit_test(defaults_leave_required_fields_alone),
	    cmocka_unit_test(parameters_are_taken_or_the_defaults),
	    cmocka_unit_test(each_type_has_its_words),
	    cmocka_unit_test(doubles_come_back_from_the_fewest_digits),
	    cmocka_unit_test(what_is_formatted_reads_back_equal),
	    cmocka_unit_test(formats_look_as_written),
	    cmocka_unit_test(help_is_one_aligned_line_a_field),
	    cmocka_unit_test(a_field_counts_when_its_condition_holds),
	};
	return cmocka_run_group_tests_name("sim/field", tests, NULL, NULL);
}
