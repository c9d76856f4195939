/* tests/rigs/live_world.c -- controllers, a collector and 50 agents in one process.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/live_world.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "experiments/live/ca.h"
#include "sim/bytes.h"
#include "tests/test.h"

/* Time 0 of the world, by a right clock. */
#define WALL (UINT64_C(1800000000) * SIM_SEC)

static struct {
	unsigned n_paths;
	int is_signed;
	struct algo_pinglist plan[WORLD_PLANS];
} set_up;

static char folder_of_worlds[160], path_of[4][256];

/* --- once ----------------------------------------------------------------- */
static void make_plan(struct algo_pinglist *plan, uint32_t i)
{
	struct algo_pinglist_params p;
	struct topo_clos shape;
	assert_ok(sim_field_defaults(algo_pinglist_fields, &p, test_err()));
	assert_ok(sim_field_defaults(topo_clos_fields, &shape, test_err()));
	shape.n_pods = 2;
	shape.n_tors = 5;
	shape.n_hosts = 5;
	p.tor_interval_s = 10 + 5 * i;
	p.dc_interval_s = 20 + 10 * i;
	p.payload_probes = i == 1;
	assert_ok(algo_pinglist_open(plan, &p, &shape, 1, test_err()));
	assert_int_equal(plan->n_servers, WORLD_AGENTS);
}

/* Keys of two operators: ours, and another's. */
static int make_keys(void)
{
	static const char *const names[] = {"ours", "another"};
	for (int i = 0; i < 2; i++) {
		struct xp_ca *ca;
		int is_new;
		const int rc =
		    xp_ca_open(&ca, world_path(names[i]), &is_new, test_err());
		if (rc == SIM_EUNSUPPORTED)
			return 0;
		assert_ok(rc);
		xp_ca_close(ca);
	}
	return 1;
}

int world_set_up(const char *folder)
{
	snprintf(folder_of_worlds, sizeof(folder_of_worlds), "%s", folder);
	/* A full disk is one whose files may not grow (RLIMIT_FSIZE). */
	signal(SIGXFSZ, SIG_IGN);
	for (uint32_t i = 0; i < WORLD_PLANS; i++)
		make_plan(&set_up.plan[i], i);
	set_up.is_signed = make_keys();
	if (set_up.is_signed)
		world_sign_cheaply(1);
	return set_up.is_signed;
}

int world_is_signed(void)
{
	return set_up.is_signed;
}

const struct algo_pinglist *world_plan(uint32_t i)
{
	return &set_up.plan[i];
}

/* Good until the next but three. */
const char *world_path(const char *name)
{
	char *path = path_of[set_up.n_paths++ % 4];
	snprintf(path, sizeof(path_of[0]), "%s/%s", folder_of_worlds, name);
	return path;
}

/* --- time and chance ------------------------------------------------------ */
sim_ns world_wall(const struct world *w, int64_t off)
{
	return WALL + w->t + (uint64_t)off;
}

uint32_t world_below(struct world *w, uint32_t n)
{
	return sim_rng_below(&w->rng, n);
}

void world_note(struct world *w, uint64_t what)
{
	w->hash = sim_fnv(w->hash ^ w->t, &what, sizeof(what));
}

void world_in(struct world *w, sim_ns by, sim_event_fn *fn, void *arg,
    uint64_t aux)
{
	const struct sim_event ev = {w->t + by, fn, arg, aux};
	assert_ok(sim_evq_put(w->q, &ev, test_err()));
}

/* Also when something is broken, what is under way comes to its end: messages are
 * freed by whom they reach. */
void world_pass(struct world *w, sim_ns by)
{
	const sim_ns until = w->t + by;
	struct sim_event ev;
	while (sim_evq_pop(w->q, until, &ev)) {
		w->t = ev.t;
		ev.fn(w->q, &ev, NULL);
	}
	w->t = until;
}

/* --- the network ---------------------------------------------------------- */
sim_ns world_way(struct world *w, uint32_t from, uint32_t to)
{
	const uint32_t chance = world_below(w, 65536);
	const sim_ns took =
	    50 * SIM_US + (sim_ns)(sim_rng_u01(&w->rng) * (double)w->delay);
	if (w->side[from] == w->side[to] && chance >= w->loss)
		return took;
	world_saw(w, WORLD_LOST, 1);
	return SIM_NEVER;
}
