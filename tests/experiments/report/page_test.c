/* tests/experiments/report/page_test.c -- articles of a page, and all drawings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each number in a drawing might be another one and nobody would see it, so the
 * last test holds the bytes of many drawings, and of articles with their tables, to
 * those of before: tests/golden/pages.tsv has their lengths and sums. GOLDEN=write
 * writes it anew, on purpose only, and with PAGES=FOLDER each text goes to a file
 * there, to be looked at.
 */
#include "experiments/report/page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "experiments/report/draw.h"
#include "experiments/report/numbers.h"
#include "experiments/sweep/trial.h"
#include "sim/bytes.h"
#include "tests/rigs/random_cube.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* --- pages ---------------------------------------------------------------- */

static void page_open(struct xp_report_page *p, size_t n_files,
    const struct xp_claims *claims)
{
	const struct xp_page_asks asks = {.n_files = n_files,
	    .max_bytes = SIZE_MAX,
	    .claims = claims,
	    .reasons = claims ? "## About `a`\nIt does.\n" : NULL};
	assert_ok(xp_page_open(p, &asks, test_err()));
}

static struct xp_page_file file_of(const struct res_cube *c)
{
	return (struct xp_page_file){.path = "x/<f>.h5",
	    .cube = c,
	    .no_svg = "no gnuplot",
	    .explain = "f.yaml",
	    .folder = "",
	    .date = "2026-01-02 03:04 UTC"};
}

static void rename_to(struct res_cube *c, const char *figure)
{
	free(c->figure);
	c->figure = strdup(figure);
	assert_non_null(c->figure);
}

/* Of letters, digits and _; later files of one figure have numbers. */
static void ids_are_of_figures_and_differ(void **state)
{
	static const struct {
		const char *figure, *id;
	} files[] = {{"f_1", "f_1"}, {"F-1", "__1"}, {"f_1", "f_1-2"},
	    {"f", "f"}, {"f_1", "f_1-3"}, {"", "figure"}, {"", "figure-2"},
	    {"az09{`/:", "az09____"},
	    {"0123456789012345678901234567890123456789012345678901234567890123"
	     "x",
		"012345678901234567890123456789012345678901234567890123456789"
		"012"}};
	enum { N = sizeof(files) / sizeof(files[0]) };
	struct xp_report_page p;
	struct res_cube c;
	(void)state;
	plain_cube(&c, 1, 1);
	all_alike(&c, 1);
	page_open(&p, N, NULL);
	for (size_t i = 0; i < N; i++) {
		char head[256];
		rename_to(&c, files[i].figure);
		const struct xp_page_file f = file_of(&c);
		assert_ok(xp_page_add(&p, &f, test_err()));
		assert_string_equal(p.id[i], files[i].id);
		snprintf(head, sizeof(head),
		    "<article id=\"%s\" aria-labelledby=\"%s-title\">\n",
		    files[i].id, files[i].id);
		assert_memory_equal(p.article[i].text, head, strlen(head));
	}
	assert_int_equal(p.n_added, N);
	xp_page_close(&p);
	res_cube_free(&c);
}

/* Each once: by its figure's first file, and at last those of none. */
static void claims_are_told_once(void **state)
{
	struct xp_claims claims;
	struct xp_report_page p;
	struct res_cube c;
	char *text;
	size_t n;
	(void)state;
	spec_write("c.yaml",
	    "claims:\n- {id: a, figure: f, certainty: S, text: t1, note: n}\n"
	    "- {id: b, figure: g, certainty: S, text: t2, note: n}\n"
	    "- {id: c, figure: f, certainty: S, text: t3, metric: recall, "
	    "algorithm: nobody, relation: \">=\", value: 1}\n"
	    "- {id: d, figure: f, certainty: S, text: t4, metric: recall, "
	    "algorithm: vote, relation: \">=\", value: 1}\n");
	assert_ok(xp_claims_load(&claims, spec_path("c.yaml"), test_err()));
	plain_cube(&c, 1, 1);
	all_alike(&c, 1);
	rename_to(&c, "f");
	for (int all = 0; all < 2; all++) {
		page_open(&p, 2, &claims);
		p.asks.all_claims = all;
		const struct xp_page_file f = file_of(&c);
		for (int i = 0; i < 2; i++)
			assert_ok(xp_page_add(&p, &f, test_err()));
		assert_int_equal(p.n_verdicts[XP_NOT_COMPARABLE], 1);
		assert_int_equal(p.n_verdicts[XP_NOT_RUN], 1);
		assert_true(p.told[0] && !p.told[1] && p.told[2] && p.told[3]);
		assert_int_equal(p.n_verdicts[XP_UNDECIDED] +
			p.n_verdicts[XP_AGREES],
		    1);
		assert_ok(xp_page_write(&p, &text, &n, test_err()));
		assert_int_equal(strlen(text), n);
		assert_int_equal(p.n_verdicts[XP_NOT_COMPARABLE], 1 + all);
		assert_non_null(strstr(text, ">t1<"));
		assert_int_equal(strstr(text, ">t2<") != NULL, all);
		const char *t3 = strstr(text, ">t3<");
		assert_non_null(t3);
		assert_null(strstr(t3 + 1, ">t3<"));
		free(text);
		xp_page_close(&p);
	}
	xp_claims_free(&claims);
	res_cube_free(&c);
}

static void what_is_no_whole_sweep_is_counted(void **state)
{
	struct xp_report_page p;
	struct res_cube c, part;
	(void)state;
	plain_cube(&c, 2, 2);
	plain_cube(&part, 2, 2);
	all_alike(&c, 1);
	all_alike(&part, 1);
	res_cube_put(&part, 1, 1, RES_FAILED, NULL);
	page_open(&p, 3, NULL);
	const struct xp_page_file whole = file_of(&c), some = file_of(&part);
	assert_ok(xp_page_add(&p, &whole, test_err()));
	assert_ok(xp_page_add(&p, &some, test_err()));
	assert_int_equal(p.n_partial, 1);
	c.shard_n = 2;
	assert_ok(xp_page_add(&p, &whole, test_err()));
	assert_int_equal(p.n_partial, 2);
	assert_int_equal(p.n_bytes,
	    p.article[0].n + p.article[1].n + p.article[2].n);
	c.shard_n = 1;
	xp_page_close(&p);
	res_cube_free(&c);
	res_cube_free(&part);
}

/* --- bytes ---------------------------------------------------------------- */

struct sums {
	FILE *out;
	char *text;
	size_t n;
};

static void sums_add(struct sums *s, const char *what, unsigned i,
    const char *text)
{
	const char *folder = getenv("PAGES");
	const size_t n = strlen(text);
	char path[512];
	FILE *f;
	fprintf(s->out, "%s\t%u\t%zu\t%016" PRIx64 "\n", what, i, n,
	    sim_fnv(SIM_FNV_START, text, n));
	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s-%u", folder, what, i);
	assert_non_null(f = fopen(path, "w"));
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

#define CLOS                                                                   \
	"figure: f\ntitle: \"a & b\"\ntopology: {n_pods: 2, n_tors: 4, n_t1: " \
	"3, n_t2: 2, n_hosts: 3}\ntraffic: {conns: 40, packets: 40}\n"
#define ALGOS "algorithms: [vote, alg1, {name: cover, label: \"<b>'c\"}]\n"

static const char *const pages_specs[] = {
    CLOS ALGOS "noise: {rate: 1e-5}\nfaults: {count: 2, rate: 0.02}\n",
    CLOS ALGOS "noise: {rate: 1e-3}\nfaults: {count: 30, rate: 0.01}\n",
    CLOS ALGOS "plane: agents\nfaults: {count: 2, rate: 0.02}\n",
    CLOS ALGOS,
    "figure: f\ntopology: {kind: fat_tree, k: 4}\nfaults: {rate: 0.05}\n" ALGOS,
    "figure: f\ntopology: {kind: region, n_dcs: 2, n_borders: 1, n_pods: 2, "
    "n_tors: 2, n_t1: 2, n_t2: 1, n_hosts: 2}\nfaults: {rate: 0.05}\n" ALGOS,
    "figure: f\ntopology: {n_pods: 1, n_tors: 3, n_t1: 2, n_hosts: 2}\n"
    "faults: {rate: 0.05, classes: [host-tor, tor-host]}\n" ALGOS,
    CLOS "algorithms: [{name: alg1, on: switch, adjust: removal}, vote, "
	 "{name: vote, label: b}, {name: vote, label: c}, {name: vote, label: "
	 "d}]\nfaults: {switches: 1, tiers: [t1], share: 0.5, rate: 0.05}\n",
    CLOS ALGOS "plane: exact\nfaults: [{kind: black_hole_1, at: [tor1], "
	       "entries: 0.5}, {links: [\"t1.0->t2.0\"], rate: 0.3}]\n",
    "figure: f\ntopology: {n_pods: 12, n_tors: 20, n_t1: 6, n_t2: 8, n_hosts: "
    "2}\ntraffic: {conns: 10, packets: 20}\nfaults: {count: 3, rate: "
    "0.05}\n" ALGOS,
};

/* In a page, alone, and alone without algorithms. */
static void sums_draw(struct sums *s, unsigned i)
{
	struct xp_picture p = {0};
	struct xp_layout l;
	struct xp_spec spec;
	struct xp_trial *t;
	struct res_cube c;
	spec_open(&spec, pages_specs[i]);
	assert_ok(xp_spec_cube(&spec, 0, 1, &c, test_err()));
	double *row = calloc(c.cell_doubles, sizeof(*row));
	assert_ok(xp_trial_open(&t, &spec, test_err()));
	assert_ok(xp_picture_take(&p, t, 0, 1, row, test_err()));
	assert_ok(xp_layout_make(&l, &p, 1000, test_err()));
	for (unsigned k = 0; k < 4; k++) {
		struct xp_drawing d = {.where = k ? "a < b" : "",
		    .within = k == 1,
		    .network = NULL};
		struct mark_buffer b;
		for (size_t a = 0;
		     k < 2 && a < p.cell.config->n_algos && a < XP_MAX_COLUMNS;
		     a++)
			d.algo[d.n_algos++] = a;
		assert_ok(mark_open(&b, test_err()));
		if (k < 3)
			xp_draw_cell(b.out, &p, &l, &d);
		else if (xp_layout_is_whole(&l))
			xp_draw_network(b.out, &l, "net");
		assert_ok(mark_close(&b, 0, test_err()));
		sums_add(s, "drawing", 4 * i + k, b.text);
		free(b.text);
	}
	xp_layout_free(&l);
	xp_picture_free(&p);
	xp_trial_close(t);
	free(row);
	res_cube_free(&c);
	xp_spec_free(&spec);
}

static void sums_articles(struct sums *s, unsigned run)
{
	struct xp_report_page p;
	struct res_cube c;
	if (run % 5 == 4)
		random_shard(&c, run, 1, 3);
	else
		random_cube(&c, run);
	/* Of whatever build: that is no matter of the page. */
	free(c.version);
	free(c.build);
	free(c.libraries);
	c.version = strdup("1.2.3");
	c.build = strdup("0123456789abcdef");
	c.libraries = strdup("gsl 2.7");
	struct xp_page_file f = file_of(&c);
	if (run % 2) {
		f.no_svg = NULL;
		f.svg = "<svg id=\"a\"><g id=\"b\"/><use href=\"#b\"/></svg>";
	}
	page_open(&p, 1, NULL);
	assert_ok(xp_page_add(&p, &f, test_err()));
	sums_add(s, "article", run, p.article[0].text);
	xp_page_close(&p);
	res_cube_free(&c);
}

static char *sums_wanted(void)
{
	char *text = NULL;
	size_t n;
	int c;
	FILE *f = fopen("tests/golden/pages.tsv", "r"),
	     *out = open_memstream(&text, &n);
	assert_non_null(out);
	while (f && (c = fgetc(f)) != EOF)
		fputc(c, out);
	fclose(out);
	if (f)
		fclose(f);
	return text;
}

static void bytes_are_those_of_before(void **state)
{
	const char *mode = getenv("GOLDEN");
	struct sums s = {0};
	(void)state;
	/* Cubes are random. */
	if (getenv("TEST_SEED"))
		skip();
	s.out = open_memstream(&s.text, &s.n);
	assert_non_null(s.out);
	for (unsigned i = 0; i < sizeof(pages_specs) / sizeof(pages_specs[0]);
	     i++)
		sums_draw(&s, i);
	for (unsigned run = 0; run < 40; run++)
		sums_articles(&s, run);
	assert_int_equal(fclose(s.out), 0);
	if (mode && strcmp(mode, "write") == 0) {
		FILE *f = fopen("tests/golden/pages.tsv", "w");
		assert_non_null(f);
		fputs(s.text, f);
		assert_int_equal(fclose(f), 0);
	}
	char *want = sums_wanted();
	size_t at = 0, line = 0;
	for (; want[at] && want[at] == s.text[at]; at++)
		line = want[at] == '\n' ? at + 1 : line;
	if (want[at] != s.text[at])
		fail_msg("tests/golden/pages.tsv\n  had %.*s\n  is  %.*s\nIf "
			 "that is meant: GOLDEN=write, and look at it with "
			 "PAGES=FOLDER.",
		    (int)strcspn(want + line, "\n"), want + line,
		    (int)strcspn(s.text + line, "\n"), s.text + line);
	free(want);
	free(s.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ids_are_of_figures_and_differ),
	    cmocka_unit_test(claims_are_told_once),
	    cmocka_unit_test(what_is_no_whole_sweep_is_counted),
	    cmocka_unit_test(bytes_are_those_of_before),
	};
	return cmocka_run_group_tests_name("experiments/report/page", tests,
	    spec_folder_make, spec_folder_remove);
}
