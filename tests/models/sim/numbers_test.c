/* tests/models/sim/numbers_test.c -- epochs are numbered, and numbers start again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an epoch makes of a host's streams is marked with the epoch's number, so
 * that nothing need be cleared. After 2^32 epochs the numbers are those of old
 * marks, which here takes two.
 */
#include "models/sim/impl.h"
#include "tests/rigs/rig.h"
#include "tests/test.h"

enum { N = 60, MOST = 4 * N };

/* Of each outcome what depends on streams and noise. */
struct seen {
	size_t n;
	struct rig_event event[MOST];
};

/* Scene RUN, in which links lose a fifth, and all that hosts have streams for. */
static void run_epoch(struct rig *g, uint32_t run, struct seen *s)
{
	s->n = 0;
	g->scene = scenes_draw(&g->s, run);
	rig_begin(g);
	for (uint16_t i = 0; i < N; i++) {
		const topo_host from = i % 6, to = 12 + i % 9;
		const struct topo_tuple t = rig_tuple(from, to, 1000 + i);
		const struct agent_action more[] = {{.kind = AGENT_FETCH,
							.token = i},
		    {.kind = AGENT_PROBE,
			.tuple = rig_tuple(from, to, 9000),
			.ttl = (uint8_t)(1 + i % 4),
			.ip_id = i}};
		rig_connect(g, &t, 0, i);
		rig_act(g, from, &more[0]);
		rig_act(g, from, &more[1]);
	}
	while (rig_next(g, SIM_NEVER, &s->event[s->n])) {
		s->event[s->n].ev.data = NULL;
		assert_true(++s->n < MOST);
	}
	assert_true(s->n > 2 * N); /* probes are lost too */
}

static int differ(const struct seen *a, const struct seen *b)
{
	unsigned n = a->n != b->n;
	for (size_t i = 0; i < a->n && i < b->n; i++)
		n += a->event[i].at != b->event[i].at ||
		    a->event[i].host != b->event[i].host ||
		    a->event[i].ev.kind != b->event[i].ev.kind ||
		    a->event[i].ev.outcome != b->event[i].ev.outcome ||
		    a->event[i].ev.rtt_ns != b->event[i].ev.rtt_ns;
	return n > 0;
}

static void open_noisy(struct rig *g)
{
	rig_open(g);
	g->s.params.noise.rate = (struct sim_dist){SIM_UNIFORM, 0, 0.1};
}

static void an_epoch_is_the_same_after_all_numbers_were_used(void **state)
{
	static struct seen old, fresh, again;
	struct rig g, h;
	(void)state;
	open_noisy(&g);
	open_noisy(&h);
	run_epoch(&h, 1, &fresh);
	run_epoch(&g, 0, &old);
	assert_true(differ(&old, &fresh));
	g.sim->now_living = UINT32_MAX;
	run_epoch(&g, 1, &again);
	assert_true(g.sim->now_living != 0); /* which marks of none have */
	assert_false(differ(&fresh, &again));
	/* And the one after it, as any two that follow each other. */
	run_epoch(&h, 2, &fresh);
	run_epoch(&g, 2, &again);
	assert_false(differ(&fresh, &again));
	rig_close(&g);
	rig_close(&h);
}

/* A fabric whose first epoch has the last number of all, too. */
static void so_is_one_that_begins_with_it(void **state)
{
	static struct seen fresh, again;
	struct rig g, h;
	(void)state;
	open_noisy(&g);
	open_noisy(&h);
	run_epoch(&h, 3, &fresh);
	assert_ok(fabric_sim_open(&g.sim, &g.s.topo, &g.params, test_err()));
	g.sim->now_living = UINT32_MAX;
	run_epoch(&g, 3, &again);
	assert_false(differ(&fresh, &again));
	rig_close(&g);
	rig_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_epoch_is_the_same_after_all_numbers_were_used),
	    cmocka_unit_test(so_is_one_that_begins_with_it),
	};
	return cmocka_run_group_tests_name("models/sim: epochs' numbers", tests,
	    NULL, NULL);
}
