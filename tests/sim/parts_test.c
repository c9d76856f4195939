/* tests/sim/parts_test.c -- sections that several tables of fields read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/parts.h"

#include "tests/test.h"

struct pipe {
	uint32_t width, length;
};
struct house {
	uint32_t doors, lamps;
	struct pipe pipe;
	double heat;
};

static const struct sim_field own_fields[] = {
    {"doors", SIM_F_U32, offsetof(struct house, doors), .def = "1", .max = 9},
    {0},
};
static const struct sim_field lamp_fields[] = {
    {"lamps", SIM_F_U32, offsetof(struct house, lamps), .def = "2"},
    {0},
};
static const struct sim_field pipe_fields[] = {
    {"width", SIM_F_U32, offsetof(struct pipe, width), .def = "3"},
    {"length", SIM_F_U32, offsetof(struct pipe, length), .def = "4"},
    {0},
};
static const struct sim_field heat_fields[] = {
    {"heat", SIM_F_F64, offsetof(struct house, heat), .def = "20"},
    {0},
};
static const struct sim_part parts[] = {
    {"", own_fields, .offset = 0},
    {"", lamp_fields, .offset = 0},
    {"pipe", pipe_fields, .offset = offsetof(struct house, pipe)},
    {"pipe", heat_fields, .offset = 0},
    {0},
};

/* The text of the mistakes, "" if there is none. */
static const char *read_house(struct house *h, const char *text)
{
	static struct sim_err e;
	struct sim_yaml y;
	e.msg[0] = '\0';
	assert_ok(sim_yaml_parse(&y, "x", text, strlen(text), test_err()));
	assert_ok(sim_parts_read(&y, "house", parts, h, test_err()));
	sim_yaml_verdict(&y, &e);
	sim_yaml_free(&y);
	return e.msg;
}

static void assert_house(const char *text, struct house want)
{
	struct house h = {0};
	assert_string_equal(read_house(&h, text), "");
	assert_int_equal(h.doors, want.doors);
	assert_int_equal(h.lamps, want.lamps);
	assert_int_equal(h.pipe.width, want.pipe.width);
	assert_int_equal(h.pipe.length, want.pipe.length);
	assert_true(h.heat == want.heat);
}

static void keys_reach_their_tables(void **state)
{
	(void)state;
	assert_house("house: {doors: 5, lamps: 6, "
		     "pipe: {length: 8, width: 7, heat: 9.5}}",
	    (struct house){5, 6, {7, 8}, 9.5});
	assert_house("house: {pipe: {length: 8}}",
	    (struct house){1, 2, {3, 8}, 20});
	assert_house("house: {lamps: 6}", (struct house){1, 6, {3, 4}, 20});
	assert_house("other: 1", (struct house){1, 2, {3, 4}, 20});
}

static void mistakes_are_told_once_and_from_all_tables(void **state)
{
	(void)state;
	struct house h;
	const char *msg = read_house(&h, "house: {door: 5, pipe: {heart: 1}}");
	const char *first = strstr(msg, "doors");
	assert_non_null(first);
	assert_null(strstr(first + 1, "doors"));
	assert_non_null(strstr(msg, "heat"));
	assert_non_null(strstr(read_house(&h, "house: {doors: 10}"), "9"));
	assert_non_null(strstr(read_house(&h, "house: {pipe: 3}"), "x:1:"));
	assert_non_null(strstr(read_house(&h, "house: 3"), "x:1:"));
}

static void a_path_finds_its_field(void **state)
{
	(void)state;
	assert_ptr_equal(sim_parts_find(parts, "doors"), own_fields);
	assert_ptr_equal(sim_parts_find(parts, "lamps"), lamp_fields);
	assert_ptr_equal(sim_parts_find(parts, "pipe.length"), &pipe_fields[1]);
	assert_ptr_equal(sim_parts_find(parts, "pipe.heat"), heat_fields);
	assert_null(sim_parts_find(parts, "length"));
	assert_null(sim_parts_find(parts, "pipe"));
	assert_null(sim_parts_find(parts, "pipe.doors"));
	assert_null(sim_parts_find(parts, "pipes.heat"));
	assert_null(sim_parts_find(parts, ""));
}

/* Parts of one map are one table, and of some only some fields count. */
static void parts_are_joined_by_maps(void **state)
{
	static const char *const of_pipe[] = {"length", NULL};
	const struct sim_part some[] = {{"pipe", pipe_fields, .offset = 0,
					    .only = of_pipe},
	    {0}};
	struct sim_field all[SIM_PARTS_MAX];
	const char *const order[] = {"doors", "lamps", "width", "length",
	    "heat"};
	size_t n = 0;
	(void)state;
	for (const struct sim_part *p = parts; p->fields;) {
		p = sim_parts_join(p, all);
		for (size_t i = 0; all[i].name; i++) {
			assert_true(n < 5);
			assert_string_equal(all[i].name, order[n++]);
		}
	}
	assert_int_equal(n, 5);
	assert_null(sim_parts_join(some, all)->fields);
	assert_string_equal(all[0].name, "length");
	assert_null(all[1].name);
	assert_non_null(sim_parts_find(some, "pipe.length"));
	assert_null(sim_parts_find(some, "pipe.width"));
	/* What one part leaves out another may have. */
	const struct sim_part both[] = {some[0],
	    {"pipe", pipe_fields, .offset = 0}, {0}};
	assert_ptr_equal(sim_parts_find(both, "pipe.width"), &pipe_fields[0]);
}

/* A part's condition is that of all its fields, and of no other's. */
static void a_condition_of_a_part_is_of_its_fields(void **state)
{
	static const struct sim_field own[] = {{.name = "a", .when = "b=1"},
	    {.name = "b"}, {0}},
				      other[] = {{.name = "c"}, {.name = "d"},
					  {0}};
	const struct sim_part some[] = {{"", own, .offset = 0},
	    {"", other, .offset = 0, .when = "b=2"}, {"", own, .offset = 0},
	    {0}};
	static const char *const want[] = {"b=1", NULL, "b=2", "b=2", "b=1",
	    NULL};
	struct sim_field all[SIM_PARTS_MAX];
	(void)state;
	assert_null(sim_parts_join(some, all)->fields);
	for (size_t i = 0; i < 6; i++)
		assert_ptr_equal(all[i].when, want[i]);
	assert_null(all[6].name);
}

static void fields_are_joined_with_their_offset(void **state)
{
	(void)state;
	static const char *const only[] = {"length", "none", NULL};
	struct sim_field all[4];
	size_t n = sim_field_join(all, 0, 4, own_fields, 0, NULL);
	n = sim_field_join(all, n, 4, pipe_fields, offsetof(struct house, pipe),
	    only);
	assert_int_equal(n, 2);
	assert_string_equal(all[1].name, "length");
	assert_int_equal(all[1].offset, offsetof(struct house, pipe.length));
	assert_null(all[2].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_reach_their_tables),
	    cmocka_unit_test(mistakes_are_told_once_and_from_all_tables),
	    cmocka_unit_test(a_path_finds_its_field),
	    cmocka_unit_test(parts_are_joined_by_maps),
	    cmocka_unit_test(a_condition_of_a_part_is_of_its_fields),
	    cmocka_unit_test(fields_are_joined_with_their_offset),
	};
	return cmocka_run_group_tests_name("sim/parts", tests, NULL, NULL);
}
