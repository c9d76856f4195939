/* experiments/cmd/trace_pcap.c -- culprit trace pcap: a capture as traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/everflow/pcap.h"
#include "results/file.h"
#include "topo/addr.h"

struct args {
	const char *capture, *output, *topology, *switches;
	struct algo_analyzer_params analyzer;
	uint32_t gre;
	int cut, force, index;
};

static const struct cmd_option trace_pcap_options[] = {
    {"topology", 't', "SPEC", "whose network it was (its first point)",
	.take = cmd_take_text, .at = CMD_AT(topology)},
    {"switches", 0, "FILE",
	"lines SWITCH=ADDRESS: whose copies come from where (default: "
	"172.16.0.0 "
	"and a switch's number)",
	.take = cmd_take_file, .at = CMD_AT(switches)},
    {"gre", 0, "N",
	"protocol of GRE that carries Ethernet frames, besides those of "
	"ERSPAN, e.g. 35145 (0x8949)",
	.take = cmd_take_u32, .at = CMD_AT(gre), .min = 1, .max = 65535},
    {"index-is-link", 0, NULL,
	"the index of ERSPAN II is the number of the link that a packet came "
	"by, as in copies of `culprit lab`'s networks",
	.take = cmd_take_flag, .at = CMD_AT(index)},
    {"param", 'p', "KEY=VALUE",
	"a key of the analyzer (see below), e.g. store_all=true; may be "
	"repeated",
	.take = cmd_take_key, .at = CMD_AT(analyzer),
	.with = algo_analyzer_fields},
    {"cut", 0, NULL,
	"take what there is of a capture that ends within a packet",
	.take = cmd_take_flag, .at = CMD_AT(cut)},
    {"output", 'o', "FILE", "traces", .take = cmd_take_file,
	.at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no traces, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static void trace_pcap_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->topology)
		argp_error(state, "--topology SPEC: of which network?");
	if (!a->output)
		argp_error(state, "-o FILE: where are traces to be?");
}

static void trace_pcap_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --param:\n");
	cmd_field_help(out, algo_analyzer_fields);
}

static const struct cmd_line trace_pcap_line = {
    .options = trace_pcap_options,
    .word = {"CAPTURE", .take = cmd_take_one, .at = CMD_AT(capture)},
    .without = "no capture",
    .check = trace_pcap_check,
    .more = trace_pcap_more,
    .args_doc = "CAPTURE",
    .doc =
	"Read the copies that switches mirrored from a capture (pcap or "
	"pcapng; - is stdin), put them together as traces, and write what an "
	"analyzer stores. Read are ERSPAN I, II and III, and Ethernet or IP in "
	"GRE, of any vendor."
	"\vTimes of traces begin with the capture's first packet. What is "
	"refused is told by its reason: copies that are cut too short, later "
	"fragments, IPv6, copies of copies. `culprit trace get`, `show` and "
	"`counter` read the file.\n ",
};

/* --- what is said --------------------------------------------------------- */

static void trace_pcap_print(const struct args *a, const struct xp_pcap *p)
{
	const struct xp_copies *c = p->copies;
	char text[16];
	printf("%s: %" PRIu64 " packets, %" PRIu64 " copies of %" PRIu64
	       " packets, %" PRIu64 " traces stored -> %s\n",
	    a->capture, c->n_packets, c->n_copies, p->count.n_traces,
	    p->count.n_stored, a->output);
	if (c->n_back > 0)
		printf("%" PRIu64 " copies are earlier than those before\n",
		    c->n_back);
	if (c->n_bad_index > 0)
		printf("%" PRIu64 " copies have an index that is no link into "
		       "their switch\n",
		    c->n_bad_index);
	if (c->n_unknown > 0) {
		topo_addr_format(c->unknown_ip, text);
		printf("%" PRIu64
		       " copies come from no known switch, the first "
		       "from %s\n",
		    c->n_unknown, text);
	}
}

/* Also where that was the end of it: then it says why there is no trace. */
static void trace_pcap_print_refused(const struct xp_copies *c, FILE *out)
{
	for (int i = ALGO_ERSPAN_FINE + 1; i < ALGO_N_ERSPAN_ENDS; i++)
		if (c->n_end[i] > 0)
			fprintf(out, "%" PRIu64 " refused: %s\n", c->n_end[i],
			    algo_erspan_texts[i]);
}

/* --- the work ------------------------------------------------------------- */

static int trace_pcap_addresses(const struct args *a, struct xp_copies *c,
    struct sim_err *e)
{
	void *text;
	size_t n;
	if (!a->switches)
		return 0;
	int rc = res_file_read(a->switches, &text, &n, e);
	if (rc < 0)
		return rc;
	rc = xp_copies_addresses(c, a->switches, text, e);
	free(text);
	return rc;
}

static int trace_pcap_work(const struct args *a, struct xp_spec *s,
    const struct topo *t, struct sim_err *e)
{
	struct xp_copies copies = {0};
	struct xp_capture *capture = NULL;
	const struct algo_routing routing = {.topo = t};
	char *spec = NULL;
	struct sim_err quiet;
	int rc = cmd_make_room(a->output, "traces", a->force, e);
	if (rc == 0)
		rc = xp_copies_open(&copies, t, (uint16_t)a->gre, e);
	copies.index_is_link = (uint8_t)a->index;
	if (rc == 0 && (rc = trace_pcap_addresses(a, &copies, e)) == 0 &&
	    (rc = xp_spec_cell_text(s, &spec, e)) == 0)
		rc = xp_capture_open(&capture, a->capture, e);
	const struct res_traces_info info = {.spec = spec,
	    .n_hosts = t->n_hosts,
	    .n_switches = t->n_switches,
	    .n_links = t->n_links};
	struct xp_pcap p = {.capture = capture,
	    .copies = &copies,
	    .routing = &routing,
	    .analyzer = &a->analyzer,
	    .info = &info,
	    .output = a->output,
	    .may_be_cut = a->cut};
	if (rc == 0 && (rc = xp_pcap_store(&p, e)) < 0) {
		trace_pcap_print_refused(&copies, stderr);
		rc = sim_wrap(e, rc, "%s", a->capture);
	} else if (rc == 0) {
		trace_pcap_print(a, &p);
		trace_pcap_print_refused(&copies, stdout);
		quiet = p.cut;
		if (p.was_cut)
			cmd_fail(CMD_GOOD, &quiet);
	}
	xp_capture_close(capture);
	xp_copies_free(&copies);
	free(spec);
	return rc;
}

int cmd_trace_pcap(int argc, char **argv)
{
	struct args a = {.capture = NULL};
	struct xp_spec s = {0};
	struct topo t = {0};
	struct sim_err e = {0};
	if (sim_field_defaults(algo_analyzer_fields, &a.analyzer, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&trace_pcap_line, argc, argv, &a);
	int code = CMD_GOOD;
	struct xp_capture *none;
	/* Told before anything else is, which would be in vain. */
	if (!xp_capture_is_built_in()) {
		xp_capture_open(&none, a.capture, &e);
		return cmd_fail(CMD_TROUBLE, &e);
	}
	int rc = cmd_trace_topology(&t, &s, a.topology, &e);
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = trace_pcap_work(&a, &s, &t, &e)) < 0)
		code = cmd_fail(rc == SIM_EINVAL ? CMD_USAGE : CMD_TROUBLE, &e);
	topo_close(&t);
	xp_spec_free(&s);
	return code;
}
