/* tests/rigs/live_world_steps.c -- disasters of a world, and how it gets over them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "tests/rigs/live_world.h"
#include "tests/test.h"
#include "topo/addr.h"

enum world_kind {
	PASS,
	NETWORK,
	PART,
	CONTROLLER,
	ROLL_OUT,
	STOP_FILE,
	COLLECTOR,
	DISK,
	KEEPING,
	CALENDAR,
	HAND,
	CRASH,
	START,
	ENDING,
	FREEZE,
	POWER,
	CLOCK,
	TIME,
	STRANGER
};
static const struct schedule_kind world_kinds[] = {
    [PASS] = {"time passes", 40},
    [NETWORK] = {"the network loses, delays and cuts off so much", 8},
    [PART] = {"the network is parted, or whole", 6},
    [CONTROLLER] = {"a controller stops, or starts, or is an impostor", 8},
    [ROLL_OUT] = {"all controllers have another plan", 3},
    [STOP_FILE] = {"the stop file is made, or removed", 2},
    [COLLECTOR] = {"the collector is killed, or starts", 8},
    [DISK] = {"the collector's disk is full, or has room", 4},
    [KEEPING] = {"the collector is to keep so much, for so long", 4},
    [CALENDAR] = {"the collector's clock is set, days off", 4},
    [HAND] = {"somebody takes the store's oldest file away", 1},
    [CRASH] = {"an agent is killed", 6},
    [START] = {"an agent starts", 6},
    [ENDING] = {"an agent is told to end", 4},
    [FREEZE] = {"an agent gets no processor", 4},
    [POWER] = {"a rack loses power, and has it again", 2},
    [CLOCK] = {"a host's clock is set", 4},
    [TIME] = {"all clocks are set, years off or right", 8},
    [STRANGER] = {"an agent speaks for another", 4},
    {0},
};
static const char *const world_seen[] = {
#define X(name, text) text,
    WORLD_SEEN(X)
#undef X
	NULL};

#define UNLIMITED (UINT64_C(1) << 40)

/* --- beginning and end ---------------------------------------------------- */
static void empty_store(void)
{
	const char *folder = world_path("store");
	char path[512];
	DIR *dir = opendir(folder);
	for (struct dirent *f; dir && (f = readdir(dir));) {
		snprintf(path, sizeof(path), "%s/%s", folder, f->d_name);
		unlink(path); /* not "." and "..", which are folders */
	}
	if (dir)
		closedir(dir);
}

static const char *world_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	static const uint64_t file_bytes[] = {1 << 12, 1 << 14, 1 << 18};
	struct world *w = life;
	struct algo_pingmesh_params *p = &w->params;
	unsigned char *states = (unsigned char *)life + sizeof(*w);
	memset(w, 0, sizeof(*w));
	w->tally = tally;
	w->hash = 1;
	w->delay = 5 * SIM_MS;
	sim_rng_init(&w->rng, where, SIM_STREAM_TEST, 1);
	assert_ok(sim_evq_open(&w->q, test_err()));
	assert_ok(
	    sim_field_defaults(algo_pingmesh_agent_fields, p, test_err()));
	p->max_entries = 200;
	p->fetch_interval_s = 30;
	p->fetch_retry_s = 5;
	p->fetch_timeout_s = 4;
	p->batch = 1 + world_below(w, 200);
	p->upload_interval_s = 15;
	p->upload_timeout_s = 5;
	p->upload_backoff_s = 1;
	p->upload_tries = 1 + world_below(w, 6);
	p->perf_window_s = 60;
	empty_store();
	w->collector.params =
	    (struct xp_batch_store_params){.file_bytes =
					       file_bytes[world_below(w, 3)],
		.total_bytes = UNLIMITED,
		.max_runs = 1 << 16};
	for (uint32_t i = 0; i < WORLD_CONTROLLERS; i++)
		world_controller_start(w, i, 0, HONEST);
	world_collector_start(w, 0);
	for (uint32_t i = 0; i < WORLD_AGENTS; i++) {
		w->agent[i].state = states + (size_t)i * ALGO_PINGMESH_STATE;
		sim_rng_init(&w->agent[i].rng, where, SIM_STREAM_AGENT, i);
		world_agent_start(w, i);
	}
	return w->broken;
}

/* What is still under way is void, and frees itself. */
static void world_close(void *life)
{
	struct world *w = life;
	if (!w->broken)
		w->broken = "the world is over";
	world_pass(w, SIM_NEVER - 1 - w->t);
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		world_agent_stop(w, i);
	for (uint32_t i = 0; i < WORLD_CONTROLLERS; i++)
		world_controller_stop(w, i);
	world_collector_stop(w, 0);
	world_books_free(w);
	sim_evq_close(w->q);
}

/* --- disasters ------------------------------------------------------------ */
static void world_network(struct world *w, uint32_t x, uint32_t y)
{
	static const uint32_t losses[] = {0, 0, 655, 6553, 32768};
	static const uint32_t cuts[] = {0, 0, 655, 6553};
	w->loss = losses[x % 5];
	w->cut = cuts[x / 5 % 4];
	w->delay = schedule_time(y, 6 * SIM_SEC);
}

/* Some agents, a server, or both are apart from the rest. */
static void world_part(struct world *w, uint32_t x, uint32_t y)
{
	for (uint32_t i = 0; i < WORLD_PLACES; i++) {
		const int is_server = i >= WORLD_CONTROLLER;
		w->side[i] = x % 4 == 0 ? 0
		    : x % 4 == 1        ? !is_server && i < y % WORLD_AGENTS
		    : x % 4 == 2 ? is_server && (y >> (i - WORLD_AGENTS) & 1)
				 : (y >> i % 29 & 1);
	}
}

static void world_controller(struct world *w, uint32_t x, uint32_t y)
{
	const uint32_t i = x % WORLD_CONTROLLERS;
	if (y % 4 == 0)
		world_controller_stop(w, i);
	else
		world_controller_start(w, i, x / 2 % WORLD_PLANS,
		    y % 4 == 1 ? 1 + (y >> 8) % 3 : HONEST);
}

static void world_collector(struct world *w, uint32_t x, uint32_t y)
{
	if (w->collector.is_on)
		world_collector_stop(w, x);
	else
		world_collector_start(w, y % 4 ? 0 : 1 + y % 20000);
}

/* What has to fit beside the newest file, always does. */
static void world_keeping(struct world *w, uint32_t x, uint32_t y)
{
	const uint64_t least =
	    w->collector.params.file_bytes + 2 * ALGO_PINGMESH_WIRE_MAX;
	world_collector_keep_so(w, x % 4,
	    y % 3 ? least + schedule_time(x, 1 << 18) : UNLIMITED, y / 4 % 2);
}

/* Servers, with a certificate of agent I: its own list, or data, or another's. */
static long speak(struct world *w, uint32_t i, uint32_t to, const char *target,
    const void *body, size_t n)
{
	struct world_message *m = calloc(1, sizeof(*m) + n);
	assert_non_null(m);
	*m = (struct world_message){.w = w, .from = i, .to = to, .n = n};
	snprintf(m->target, sizeof(m->target), "%s", target);
	memcpy(m->body, body, n);
	m = world_serve(w, m);
	const long status = m ? m->status : 403; /* nobody listens */
	free(m);
	return status;
}

static void world_stranger(struct world *w, uint32_t x, uint32_t y)
{
	const uint32_t i = x % WORLD_AGENTS;
	const uint32_t whom = (i + 1 + y % (WORLD_AGENTS - 1)) % WORLD_AGENTS;
	static struct algo_pingmesh_batch b;
	unsigned char wire[ALGO_PINGMESH_WIRE_HEAD + ALGO_PINGMESH_WIRE_RECORD +
	    ALGO_PINGMESH_WIRE_CHECK];
	char target[64] = "/pinglist/";
	topo_addr_format(topo_addr_of_host(whom), target + strlen(target));
	world_must(w,
	    speak(w, i, WORLD_CONTROLLER + y / 64 % 2, target, "", 0) == 403,
	    "nobody gets another's list");
	b = (struct algo_pingmesh_batch){.born_ns = x,
	    .number = 1,
	    .src_ip = topo_addr_of_host(whom),
	    .n = 1};
	b.record[0] = (struct algo_pingmesh_record){.sent_ns = x,
	    .src_ip = b.src_ip,
	    .dst_ip = topo_addr_of_host(i),
	    .src_port = 40000,
	    .dst_port = 8765,
	    .outcome = AGENT_TIMEOUT};
	const size_t n = algo_pingmesh_wire_encode(&b, NULL, wire);
	world_must(w, speak(w, i, WORLD_COLLECTOR, "/results", wire, n) == 403,
	    "nobody posts what another saw");
}

static void world_power(struct world *w, uint32_t x)
{
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		if (i / 5 == x % 10)
			world_agent_start(w, i);
}

/* Minutes off, seldom hours, either way. */
static void world_clock(struct world *w, uint32_t x, uint32_t y)
{
	const int64_t off = (int64_t)schedule_time(y, 10000 * SIM_SEC);
	w->agent[x % WORLD_AGENTS].wall_off = x >> 31 ? off : -off;
}

/* By a time server, which tells it to all. */
static void world_time(struct world *w, uint32_t x)
{
	static const int years[] = {0, 10, -10, 1};
	const int64_t off_s = INT64_C(365) * 86400 * years[x % 4];
	w->controllers_off = off_s * (int64_t)SIM_SEC;
	w->collector.off_s = off_s;
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		w->agent[i].wall_off = w->controllers_off;
}

static const char *world_step(void *life, struct schedule_step s)
{
	struct world *w = life;
	const uint32_t i = s.x % WORLD_AGENTS;
	/* Nobody starts twice in one nanosecond, as starts name batches. */
	world_pass(w, SIM_MS);
	switch ((enum world_kind)s.kind) {
	case PASS:
		world_pass(w, schedule_time(s.x, 120 * SIM_SEC));
		break;
	case NETWORK:
		world_network(w, s.x, s.y);
		break;
	case PART:
		world_part(w, s.x, s.y);
		break;
	case CONTROLLER:
		world_controller(w, s.x, s.y);
		break;
	case ROLL_OUT:
		for (uint32_t k = 0; k < WORLD_CONTROLLERS; k++)
			world_controller_start(w, k, s.x % WORLD_PLANS, HONEST);
		break;
	case STOP_FILE:
		for (uint32_t k = 0; k < WORLD_CONTROLLERS; k++)
			w->controller[k].is_stopped ^= 1;
		break;
	case COLLECTOR:
		world_collector(w, s.x, s.y);
		break;
	case DISK:
		w->collector.is_full = s.x % 2;
		break;
	case KEEPING:
		world_keeping(w, s.x, s.y);
		break;
	case CALENDAR:
		w->collector.off_s = ((int64_t)(s.x % 12) - 3) * 86400;
		break;
	case HAND:
		world_collector_lose(w);
		break;
	case CRASH:
		world_agent_stop(w, i);
		break;
	case START:
		world_agent_start(w, i);
		break;
	case ENDING:
		world_agent_end(w, i);
		break;
	case FREEZE:
		w->agent[i].frozen = w->t + schedule_time(s.y, 300 * SIM_SEC);
		break;
	case POWER:
		world_power(w, s.x);
		break;
	case CLOCK:
		world_clock(w, s.x, s.y);
		break;
	case TIME:
		world_time(w, s.x);
		break;
	case STRANGER:
		world_stranger(w, s.x, s.y);
		break;
	}
	return w->broken;
}

/* --- all is well again ---------------------------------------------------- */
static void heal(struct world *w, uint32_t plan)
{
	w->loss = w->cut = 0;
	w->delay = 5 * SIM_MS;
	memset(w->side, 0, sizeof(w->side));
	world_time(w, 0);
	for (uint32_t i = 0; i < WORLD_CONTROLLERS; i++)
		world_controller_start(w, i, plan, HONEST);
	world_collector_stop(w, 0);
	w->collector.is_full = 0;
	/* Who makes room refuses nobody, so that may stay. */
	if (!w->collector.params.make_room)
		w->collector.params.total_bytes = UNLIMITED;
	world_collector_start(w, 0);
	for (uint32_t i = 0; i < WORLD_AGENTS; i++) {
		if (!w->agent[i].is_on || w->agent[i].ends > 0)
			world_agent_start(w, i);
	}
}

static uint64_t n_discarded(const struct world *w)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < WORLD_AGENTS; i++) {
		const struct algo_pingmesh_counters c =
		    world_agent_status(w, i).count;
		n += c.n_discarded + c.n_overrun;
	}
	return n;
}

static void check_lists(struct world *w, uint32_t plan)
{
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		world_must(w, w->agent[i].version == world_plan(plan)->version,
		    "once all is well, all agents have the newest list in "
		    "time");
}

/* The stop file ends all probing, and what is held then arrives. */
static void check_records(struct world *w)
{
	const uint64_t n = n_discarded(w);
	for (uint32_t i = 0; i < WORLD_CONTROLLERS; i++)
		w->controller[i].is_stopped = 1;
	world_pass(w, WORLD_STOPPED_WITHIN);
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		world_must(w, w->agent[i].version == 0,
		    "the stop file stops all agents");
	world_pass(w, WORLD_RECORDS_WITHIN);
	for (uint32_t i = 0; i < WORLD_AGENTS && !w->broken; i++) {
		const struct algo_pingmesh_status s = world_agent_status(w, i);
		world_must(w, s.n_in_flight == 0 && s.n_held == 0,
		    "once all is well, all records arrive in time");
	}
	world_must(w, n_discarded(w) == n,
	    "once all is well, no record is given up");
}

static const char *world_end(void *life)
{
	struct world *w = life;
	const uint32_t plan = world_below(w, WORLD_PLANS);
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		if (w->agent[i].frozen > w->t)
			world_pass(w, w->agent[i].frozen - w->t);
	heal(w, plan);
	world_pass(w, WORLD_LISTS_WITHIN);
	check_lists(w, plan);
	if (!w->broken)
		check_records(w);
	if (w->broken)
		return w->broken;
	for (uint32_t i = 0; i < WORLD_AGENTS; i++)
		world_agent_stop(w, i);
	world_collector_stop(w, 0);
	world_check_store(w);
	return w->broken;
}

static uint64_t world_hash(const void *life)
{
	const struct world *w = life;
	return w->hash;
}

const struct schedule_machine live_world = {
    .name = "Pingmesh, live",
    .kind = world_kinds,
    .seen = world_seen,
    .n_least = 10,
    .n_most = 60,
    .n_tries = 600,
    .size = sizeof(struct world) + (size_t)WORLD_AGENTS * ALGO_PINGMESH_STATE,
    .begin = world_begin,
    .step = world_step,
    .end = world_end,
    .hash = world_hash,
    .close = world_close,
};
