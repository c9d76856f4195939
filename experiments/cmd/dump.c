/* experiments/cmd/dump.c -- culprit dump: one epoch as a file for anybody.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/epoch/dump.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "sim/text.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run;
	int smoke, all, force;
};

enum { DUMP_MAX_SET = 255 }; /* one less than there is room for */

static const struct cmd_option cmd_dump_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT64_MAX},
    {"all", 0, NULL,
	"with the flows that lost nothing also where plane auto would skip "
	"them: as with --set plane=exact, by whose draws the epoch then is",
	.take = cmd_take_flag, .at = CMD_AT(all)},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. traffic.conns=30; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = DUMP_MAX_SET},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"output", 'o', "FILE", "epoch (default: results/out/FIGURE.epoch.h5)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it is no epoch, or damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static const struct cmd_line cmd_dump_line = {
    .options = cmd_dump_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "no spec",
    .args_doc = "SPEC",
    .doc =
	"Simulate one cell of a spec of flows, the one that `culprit run SPEC "
	"--point P --run R` shows, and write the epoch as HDF5: the network, "
	"each flow as it was seen, and the truth.\v"
	"Planes exact and vigil_matlab write every flow. Plane skip draws "
	"those alone that lost something, and so do auto and agents where "
	"skipping fits and pays (little noise); the attribute "
	"all_flows says which it is. `culprit diagnose` runs algorithms on the "
	"file. results/epoch.h describes it; with Python,\n\n"
	"  f = h5py.File(\"epoch.h5\")\n"
	"  link = f[\"hops/link\"][:]\n"
	"  off = f[\"offsets/first_hop\"][:]\n"
	"  for i in numpy.flatnonzero(f[\"flows/failed\"][:]):\n"
	"      print(i, link[off[i]:off[i + 1]])",
};

/* Whether the cell's plane is auto, which may skip. */
static int is_auto(struct xp_spec *s, size_t point, int *out, struct sim_err *e)
{
	struct xp_config c = {0};
	const int rc = xp_spec_point(s, point, &c, e);
	*out = rc == 0 && xp_plane_of(&c) == &xp_plane_auto;
	xp_config_free(&c);
	return rc;
}

/* With --all the spec is read again with its plane put, after what the user has
 * set, so that the file's spec says so too. */
static int cmd_dump_load(struct xp_spec *s, struct args *a, struct sim_err *e)
{
	int by_auto = 0;
	int rc =
	    cmd_load_spec(s, a->spec, a->smoke, a->set.set, a->set.n_set, e);
	if (rc == 0 && (rc = cmd_check_cell(s, a->point, a->run, e)) == 0 &&
	    a->all)
		rc = is_auto(s, a->point, &by_auto, e);
	if (!by_auto)
		return rc;
	xp_spec_free(s);
	size_t n = 0;
	/* In place of the user's own plane=auto, of which nothing is left. */
	for (size_t i = 0; i < a->set.n_set; i++)
		if (!cmd_is_set("plane", &a->set.set[i], 1))
			a->set.set[n++] = a->set.set[i];
	a->set.set[n++] = "plane=exact";
	a->set.n_set = n;
	rc = cmd_load_spec(s, a->spec, a->smoke, a->set.set, n, e);
	return rc < 0 ? sim_wrap(e, rc, "with --all") : rc;
}

static int cmd_dump_write(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	struct xp_dumped d;
	char *out = NULL;
	int rc = cmd_choose_output(&out, a->output, s, "epoch", a->force, e);
	if (rc == 0 && s->is_real)
		rc = xp_fabrics_usable(s->takes, e);
	if (rc == 0)
		rc = xp_dump_cell(s, a->point, (uint32_t)a->run, out, a->all,
		    &d, e);
	if (rc == 0)
		printf("%s: %llu flows ran, %llu are written (%s), %llu "
		       "failed, %llu shown to algorithms -> %s\n",
		    s->figure, (unsigned long long)d.n_ran,
		    (unsigned long long)d.n,
		    d.all ? "all" : "those that lost something",
		    (unsigned long long)d.n_failed,
		    (unsigned long long)d.n_seen, out);
	free(out);
	return rc;
}

int cmd_dump(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	int code, rc;
	cmd_parse(&cmd_dump_line, argc, argv, &a);
	if ((rc = cmd_dump_load(&s, &a, &e)) < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else
		code = (rc = cmd_dump_write(&s, &a, &e)) < 0
		    ? cmd_fail(cmd_exit_of(rc), &e)
		    : CMD_GOOD;
	xp_spec_free(&s);
	return code;
}
