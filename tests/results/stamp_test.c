/* tests/results/stamp_test.c -- files say where their data come from.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/stamp.h"

#include <inttypes.h>

#include "sim/bytes.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static const char svg[] = "<?xml version=\"1.0\"?>\n<svg\n width=\"6\"\n>\n\n"
			  "<title>Gnuplot</title>\n<g/>\n</svg>\n";

/* Cairo's, without its page. */
static const char pdf[] =
    "%PDF-1.5\n1 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n"
    "2 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\n"
    "xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n"
    "0000000061 00000 n \n"
    "trailer\n<< /Size 3\n   /Root 2 0 R\n>>\nstartxref\n110\n%%EOF\n";

static const char png[] =
    "\x89PNG\r\n\x1a\n"
    "\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0\x3a\x7e\x9b\x55"
    "\0\0\0\0IEND\xae\x42\x60\x82";

static struct res_stamp make_stamp(void)
{
	return (
	    struct res_stamp){.title = "A <title> (\xc3\xbc\xf0\x9f\x98\x80)",
	    .n = 2,
	    .item = {{"culprit", "1.0 (abc)"}, {"date", "2026 \\ & \xc3\xa9"}}};
}

static char *stamped(const char *bytes, size_t n, size_t *n_out)
{
	const struct res_stamp s = make_stamp();
	char *out = NULL;
	assert_ok(res_stamp_image(&out, n_out, bytes, n, &s, test_err()));
	return out;
}

static void an_svg_has_metadata_and_its_title(void **state)
{
	(void)state;
	size_t n;
	char *out = stamped(svg, sizeof(svg) - 1, &n);
	assert_string_equal(out,
	    "<?xml version=\"1.0\"?>\n<svg\n width=\"6\"\n>\n"
	    "<title>A &lt;title&gt; (\xc3\xbc\xf0\x9f\x98\x80)</title>\n"
	    "<metadata>\nculprit: 1.0 (abc)\n"
	    "date: 2026 \\ &amp; \xc3\xa9\n</metadata>\n\n\n<g/>\n</svg>\n");
	free(out);
}

/* By a table, as the code under test does it by bits. */
static uint32_t crc_of(const unsigned char *b, size_t n)
{
	uint32_t table[256], crc = 0xffffffffu;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] & 1 ? 0xedb88320u ^ table[i] >> 1
						: table[i] >> 1;
	}
	for (size_t i = 0; i < n; i++)
		crc = table[(crc ^ b[i]) & 255] ^ crc >> 8;
	return ~crc;
}

static uint32_t be32(const char *at)
{
	uint32_t x;
	memcpy(&x, at, sizeof(x));
	return be32toh(x);
}

/* The least of a PNG is its header: texts come behind that. */
static void of_a_png_the_header_is_enough(void **state)
{
	enum { HEADER = 33 };
	const struct res_stamp s = make_stamp();
	struct sim_err e;
	size_t n;
	char *out = stamped(png, HEADER, &n);
	(void)state;
	assert_true(n > HEADER);
	assert_memory_equal(out, png, HEADER);
	free(out);
	assert_true(res_stamp_image(&out, &n, png, HEADER - 1, &s, &e) < 0);
}

static void a_png_has_whole_chunks(void **state)
{
	(void)state;
	static const char *const want[] = {"IHDR", "iTXtTitle", "tEXtculprit",
	    "iTXtdate", "IEND"};
	size_t n, at = 8, chunk = 0;
	char *out = stamped(png, sizeof(png) - 1, &n);
	/* The standard gives this one. */
	assert_int_equal(crc_of((const unsigned char *)"123456789", 9),
	    0xcbf43926u);
	for (; at < n; chunk++) {
		const size_t length = be32(out + at);
		assert_true(chunk < 5 && at + length + 12 <= n);
		assert_int_equal(strncmp(out + at + 4, want[chunk],
				     strlen(want[chunk])),
		    0);
		assert_int_equal(be32(out + at + 8 + length),
		    crc_of((unsigned char *)out + at + 4, length + 4));
		if (chunk == 2)
			assert_memory_equal(out + at + 8,
			    "culprit\0001.0 (abc)", length);
		at += length + 12;
	}
	assert_int_equal(chunk, 5);
	free(out);
}

static void a_pdf_has_an_update_that_reads_from_its_end(void **state)
{
	(void)state;
	size_t n;
	unsigned long table = 0, object = 0;
	char *out = stamped(pdf, sizeof(pdf) - 1, &n);
	assert_memory_equal(out, pdf, sizeof(pdf) - 1);
	assert_int_equal(memcmp(pdf + 110, "xref", 4), 0);
	const char *start = strstr(out + sizeof(pdf) - 1, "startxref\n");
	assert_non_null(start);
	assert_int_equal(sscanf(start, "startxref %lu", &table), 1);
	assert_true(table < n);
	assert_int_equal(sscanf(out + table, "xref 3 1 %lu 00000 n", &object),
	    1);
	assert_true(object < n);
	assert_int_equal(strncmp(out + object, "3 0 obj\n", 8), 0);
	assert_non_null(strstr(out + table, "/Size 4"));
	assert_non_null(strstr(out + table, "/Root 2 0 R"));
	assert_non_null(strstr(out + table, "/Info 3 0 R"));
	assert_non_null(strstr(out + table, "/Prev 110\n"));
	/* U+FC, and U+1F600 as a pair. */
	assert_non_null(strstr(out + object, "002800FCD83DDE000029>"));
	assert_non_null(strstr(out + object, "/culprit (1.0 \\(abc\\))"));
	free(out);
}

/* Newer versions of cairo compress the table. */
static void a_pdf_without_a_plain_table_has_comments(void **state)
{
	(void)state;
	static const char other[] = "%PDF-1.7\nstartxref\n9\n%%EOF\n";
	size_t n;
	char *out = stamped(other, sizeof(other) - 1, &n);
	assert_memory_equal(out, other, sizeof(other) - 1);
	assert_string_equal(out + sizeof(other) - 1,
	    "%culprit: 1.0 (abc)\n%date: 2026 \\ & \xc3\xa9\n");
	free(out);
}

static void a_table_has_columns_behind_its_own(void **state)
{
	(void)state;
	const struct res_stamp s = make_stamp();
	char *out = NULL;
	size_t n;
	assert_ok(
	    res_stamp_table(&out, &n, "a\tb\n1\t2\n\t\n", &s, test_err()));
	assert_string_equal(out,
	    "a\tb\tculprit\tdate\n1\t2\t1.0 (abc)\t2026 \\ & \xc3\xa9\n"
	    "\t\t1.0 (abc)\t2026 \\ & \xc3\xa9\n");
	free(out);
}

/* Whatever it is, it is no more than a message. */
static void what_is_cut_short_is_refused_or_passed(void **state)
{
	(void)state;
	const struct {
		const char *bytes;
		size_t n;
	} images[] = {{svg, sizeof(svg) - 1}, {pdf, sizeof(pdf) - 1},
	    {png, sizeof(png) - 1}};
	const struct res_stamp s = make_stamp();
	for (size_t i = 0; i < 3; i++)
		for (size_t n = 0; n <= images[i].n; n++) {
			/* Memory of just that size, for sanitizers. */
			char *bytes = malloc(n ? n : 1), *out;
			size_t n_out;
			struct sim_err e;
			memcpy(bytes, images[i].bytes, n);
			int rc =
			    res_stamp_image(&out, &n_out, bytes, n, &s, &e);
			assert_true(rc == 0 || rc == SIM_EPARSE);
			assert_true((rc == 0) == (out != NULL));
			if (n == 0)
				assert_int_equal(rc, SIM_EPARSE);
			free(out);
			free(bytes);
		}
}

/* --- what it says ----------------------------------------------------------*/

static const char *item(const struct res_stamp *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->item[i].name, name) == 0)
			return s->item[i].value;
	return NULL;
}

static void the_date_is_that_of_the_run_if_the_record_is_of_it(void **state)
{
	(void)state;
	char path[256], body[512];
	struct res_cube c;
	struct res_stamp s;
	plain_cube(&c, 2, 2);
	snprintf(path, sizeof(path), "%s", test_path("x.h5"));
	assert_ok(res_stamp_fill(&s, &c, path, test_err()));
	assert_null(item(&s, "date"));
	assert_string_equal(item(&s, "culprit"), c.version);
	snprintf(body, sizeof(body),
	    "{\n \"argv\": [\"a\\n\"],\n \"build\": \"%s\",\n"
	    " \"end_unix_s\": 1000000000.7\n}\n",
	    c.build);
	test_write("x.run.json", body);
	assert_ok(res_stamp_fill(&s, &c, path, test_err()));
	assert_string_equal(item(&s, "date"), "2001-09-09T01:46:40Z");
	for (const char *other[] = {"{\"build\": \"0\", \"end_unix_s\": 1}",
		 "{\"build\": 7", "[]", "", "{\"end_unix_s\": 1}"},
			**o = other;
	     o < other + 5; o++) {
		test_write("x.run.json", *o);
		assert_ok(res_stamp_fill(&s, &c, path, test_err()));
		assert_null(item(&s, "date"));
	}
	res_cube_free(&c);
}

static void the_spec_is_known_by_its_bytes(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_stamp s, t;
	char want[128];
	plain_cube(&c, 2, 2);
	free(c.overrides);
	c.overrides = strdup("--smoke\nruns=3\n");
	assert_ok(res_stamp_fill(&s, &c, "none", test_err()));
	snprintf(want, sizeof(want), "%s %016" PRIx64, c.figure,
	    sim_fnv(SIM_FNV_START, c.spec, c.spec_bytes));
	assert_string_equal(item(&s, "spec"), want);
	assert_string_equal(item(&s, "overrides"), "--smoke;runs=3");
	c.spec[0] ^= 1;
	assert_ok(res_stamp_fill(&t, &c, "none", test_err()));
	assert_string_not_equal(item(&s, "spec"), item(&t, "spec"));
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_svg_has_metadata_and_its_title),
	    cmocka_unit_test(of_a_png_the_header_is_enough),
	    cmocka_unit_test(a_png_has_whole_chunks),
	    cmocka_unit_test(a_pdf_has_an_update_that_reads_from_its_end),
	    cmocka_unit_test(a_pdf_without_a_plain_table_has_comments),
	    cmocka_unit_test(a_table_has_columns_behind_its_own),
	    cmocka_unit_test(what_is_cut_short_is_refused_or_passed),
	    cmocka_unit_test(
		the_date_is_that_of_the_run_if_the_record_is_of_it),
	    cmocka_unit_test(the_spec_is_known_by_its_bytes),
	};
	return cmocka_run_group_tests_name("results/stamp", tests,
	    test_folder_make, test_folder_remove);
}
