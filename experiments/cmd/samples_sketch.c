/* experiments/cmd/samples_sketch.c -- culprit samples sketch: what a sketch tells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "algos/millisampler/sketch.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "results/rows.h"

struct args {
	uint32_t most;
	int json;
};

static const struct cmd_option samples_sketch_options[] = {
    {"most", 'n', "N", "up to so many connections (default: 1000)",
	.take = cmd_take_u32, .at = CMD_AT(most), .min = 1, .max = 5000},
    {"json", 0, NULL, "JSON, an array of objects", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static const struct cmd_line samples_sketch_line = {
    .options = samples_sketch_options,
    .doc =
	"What hosts tell of N connections by a sketch of 128 bits: the exact "
	"law of the estimate, a line for each N from 1 on."
	"\vconns, how many there are; mean of the estimate; lo and hi, between "
	"which it is in 95 % of cases or more; full, the probability that all "
	"bits are set, when the estimate is 621 and only a lower bound. "
	"Connections fall on bits alike and independently, which hashes of "
	"theirs are tested for.\n ",
};

static void samples_sketch_row(struct res_rows *r, uint32_t n)
{
	struct algo_sketch_told t;
	algo_sketch_tell(n, 0.95, &t);
	res_rows_number(r, (struct res_name){.what = "conns"}, n);
	res_rows_number(r, (struct res_name){.what = "mean"}, t.mean);
	res_rows_number(r, (struct res_name){.what = "lo"}, t.lo);
	res_rows_number(r, (struct res_name){.what = "hi"}, t.hi);
	res_rows_number(r, (struct res_name){.what = "full"}, t.full);
}

int cmd_samples_sketch(int argc, char **argv)
{
	struct args a = {.most = 1000};
	struct sim_err e = {0};
	struct res_rows r;
	cmd_parse(&samples_sketch_line, argc, argv, &a);
	int rc = res_rows_open(&r, stdout, a.json ? RES_JSON : RES_TSV, &e);
	if (rc == 0) {
		samples_sketch_row(&r, 1);
		rc = res_rows_head(&r, NULL, 0);
	}
	for (uint32_t n = 1; rc == 0 && n <= a.most; n++) {
		samples_sketch_row(&r, n);
		res_rows_end(&r);
	}
	if (rc == 0)
		rc = res_rows_close(&r);
	res_rows_free(&r);
	return rc < 0 && !ferror(stdout) ? cmd_fail(CMD_TROUBLE, &e)
	    : rc < 0                     ? CMD_TROUBLE
					 : CMD_GOOD;
}
