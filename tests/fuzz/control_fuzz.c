/* tests/fuzz/control_fuzz.c -- any bytes as requests of a running controller.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An input is lines, each a method, a blank and a target, asked one after the
 * other of one controller, which keeps a trace.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/everflow/control.h"
#include "tests/fuzz/fuzz.h"
#include "topo/topo.h"

static struct xp_control *open_one(const struct topo *t)
{
	static const struct xp_everflow everflow;
	const struct algo_hop hop = {.node = 0};
	const struct algo_trace trace = {.n_hops = 1, .proto = 6};
	struct xp_control_params p = {.routing = {.topo = t},
	    .everflow = &everflow,
	    .keep_bytes = 1 << 20};
	struct algo_counters rows = {0};
	struct xp_control *c;
	must(sim_field_defaults(algo_control_fields, &p.control, NULL) == 0);
	must(sim_field_defaults(algo_admission_fields, &p.capacity, NULL) == 0);
	must(xp_control_open(&c, &p, NULL) == 0);
	const struct algo_counter row = {.t_ns = SIM_SEC, .id = 1};
	must(algo_counters_add(&rows, &row, NULL) == 0);
	must(xp_control_step(c, SIM_SEC, SIM_SEC, &rows, NULL) == 0);
	algo_counters_free(&rows);
	xp_control_trace(c, &trace, &hop);
	return c;
}

static void ask_one(struct xp_control *c, const char *method,
    const char *target)
{
	static const struct xp_http_site site;
	static struct xp_http_answer a;
	const struct xp_http_request q = {.method = method, .target = target};
	char buf[512];
	memset(&a, 0, offsetof(struct xp_http_answer, text));
	memset(a.text, 0xa5, sizeof(a.text));
	xp_control_answer(c, &site, &q, &a);
	must(a.status >= 200 && a.status < 600 && a.type != NULL);
	must((a.status == 405) == (a.allow != NULL));
	must((a.stream == NULL) == (a.bytes != NULL));
	must(a.status < 300 || (a.bytes && a.text[0] == '{'));
	must(!a.bytes || strlen(a.text) == a.n_bytes);
	while (a.stream && a.stream->read(a.stream, buf, sizeof(buf)) > 0)
		;
	if (a.stream)
		a.stream->rest(a.stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct topo t;
	struct topo_clos shape;
	if (!t.n_hosts) {
		must(sim_field_defaults(topo_clos_fields, &shape, NULL) == 0);
		must(topo_open_clos(&t, &shape, NULL) == 0);
	}
	struct xp_control *c = open_one(&t);
	while (n > 0) {
		const uint8_t *end = memchr(bytes, '\n', n);
		const size_t length = end ? (size_t)(end - bytes) : n;
		char *line = malloc(length + 1);
		must(line != NULL);
		memcpy(line, bytes, length);
		line[length] = '\0';
		char *blank = strchr(line, ' ');
		if (blank) {
			*blank = '\0';
			ask_one(c, line, blank + 1);
		}
		free(line);
		bytes += length + (end != NULL);
		n -= length + (end != NULL);
	}
	xp_control_close(c);
	return 0;
}
