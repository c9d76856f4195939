/* tests/algos/pingmesh/agent_memory_test.c -- what an agent touches of its block.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ten thousand agents live in one process, so what counts is not the size of
 * their blocks but how much of them is ever written: only that is memory.
 */
#include "algos/pingmesh/agent.h"
#include "tests/test.h"

enum { GARBAGE = 0xa5, PAGE = 4096, PEERS = 100, TEXT = 1 << 16 };

struct rig {
	struct algo_pingmesh_params params;
	unsigned char *state;
	char text[TEXT];
	sim_ns now, wake;
	uint64_t n_probes;
	struct sim_rng rng;
};

static void memory_step(struct rig *g, struct agent_event ev);

/* Every probe connects at once, and every upload is taken. */
static void memory_answer(struct rig *g, const struct agent_action *a)
{
	struct agent_event ev = {.token = a->token, .ok = 1};
	switch (a->kind) {
	case AGENT_SET_TIMER:
		g->wake = a->at_ns;
		return;
	case AGENT_COUNTERS:
		return;
	case AGENT_CONNECT:
		g->n_probes++;
		ev.kind = AGENT_CONNECT_DONE;
		ev.outcome = AGENT_CONNECTED;
		ev.rtt_ns = 268 * SIM_US;
		break;
	case AGENT_FETCH:
		ev.kind = AGENT_FETCH_DONE;
		ev.data = g->text;
		ev.n = strlen(g->text);
		break;
	default:
		ev.kind = AGENT_UPLOAD_DONE;
	}
	memory_step(g, ev);
}

static void memory_step(struct rig *g, struct agent_event ev)
{
	struct agent_out out = {.n = 0};
	assert_ok(algo_pingmesh_agent.step(g->state, g->now, &ev, &g->rng, &out,
	    test_err()));
	for (size_t i = 0; i < out.n; i++)
		memory_answer(g, &out.action[i]);
}

static void memory_list(struct rig *g)
{
	int at = snprintf(g->text, TEXT,
	    "<pinglist server=\"10.0.0.1\" version=\"%016x\" count=\"%d\">", 1,
	    PEERS);
	for (int i = 0; i < PEERS; i++)
		at += snprintf(g->text + at, (size_t)(TEXT - at),
		    "<peer address=\"10.0.1.%d\" port=\"80\" level=\"dc\" "
		    "class=\"0\" interval_s=\"10\" payload=\"0\"/>",
		    i);
	snprintf(g->text + at, (size_t)(TEXT - at), "</pinglist>");
}

/* Bytes of the pages in which anything but garbage stands after a life of
 * SECONDS. */
static size_t memory_touched(unsigned seconds, uint64_t *n_probes)
{
	struct rig *g = calloc(1, sizeof(*g));
	const size_t size = algo_pingmesh_agent.state_size;
	size_t n = 0;
	assert_non_null(g);
	assert_ok(sim_field_defaults(algo_pingmesh_agent_fields, &g->params,
	    test_err()));
	assert_non_null(g->state = malloc(size));
	memset(g->state, GARBAGE, size);
	memory_list(g);
	test_rng(&g->rng, 0);
	assert_ok(
	    algo_pingmesh_agent.init(g->state, 0, &g->params, test_err()));
	memory_step(g, (struct agent_event){.kind = AGENT_START});
	while (g->wake < seconds * SIM_SEC) {
		g->now = g->wake;
		memory_step(g, (struct agent_event){.kind = AGENT_TIMER});
	}
	for (size_t at = 0; at < size; at += PAGE) {
		size_t i = at;
		while (i < size && i < at + PAGE && g->state[i] == GARBAGE)
			i++;
		n += i < size && i < at + PAGE ? PAGE : 0;
	}
	*n_probes = g->n_probes;
	free(g->state);
	free(g);
	return n;
}

/* Of 16,384 records that could wait, those of one upload interval do: 600, in
 * the ring and once more in the batch, 48 bytes each. All else is tables of 100
 * entries, each on a page or two of its own. */
static void an_agent_touches_no_more_in_two_hours_than_in_ten_minutes(
    void **state)
{
	uint64_t n_short, n_long;
	(void)state;
	const size_t early = memory_touched(600, &n_short);
	const size_t late = memory_touched(7200, &n_long);
	assert_true(n_long > 11 * n_short && n_long > 65536);
	assert_int_equal(late, early);
	assert_true(late <= 2 * 600 * 48 + 16 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		an_agent_touches_no_more_in_two_hours_than_in_ten_minutes),
	};
	return cmocka_run_group_tests_name("algos/pingmesh_agent_memory", tests,
	    NULL, NULL);
}
