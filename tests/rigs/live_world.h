/* tests/rigs/live_world.h -- controllers, a collector and 50 agents in one process.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that decides is what runs in daemons: algo_pingmesh_agent and contact.h of an
 * agent, serve.h and lists.h of a controller, serve.h and batch_store.h of a
 * collector, whose files are in a temporary folder. In place of sockets there is a
 * network that loses, delays, parts and cuts off; in place of clocks, one of the
 * world's, beside which each host's wall clock may be wrong. Nothing else draws or
 * tells the time, so a seed is a world: its hash says so.
 *
 * Not in it is TLS, as GnuTLS draws and tells the time by itself, and a handshake a
 * request would be all that a world does; whose certificate it is, is_for() says.
 *
 *	agent -- contact -->  network  --> controller | collector --> store
 *	  ^----- events <---  (evq)   <--  answers
 *
 * live_world.c           the world: time, the network, what is on
 * live_world_hosts.c     agents, and who carries their requests
 * live_world_serve.c     what controllers and the collector answer
 * live_world_collect.c   the collector, and what its folder keeps
 * live_world_books.c     what everybody did, and what must hold of it
 * live_world_sign.c      signatures, without their arithmetic
 * live_world_steps.c     disasters, as steps of tests/rigs/schedule.h
 */
#ifndef TESTS_LIVE_WORLD_H
#define TESTS_LIVE_WORLD_H

#include "algos/pingmesh/agent.h"
#include "experiments/live/batch_store.h"
#include "experiments/live/contact.h"
#include "experiments/live/lists.h"
#include "experiments/live/serve.h"
#include "sim/evq.h"
#include "tests/rigs/schedule.h"

enum {
	WORLD_AGENTS = 50,
	WORLD_CONTROLLERS = 2,
	WORLD_PLANS = 3,
	/* Places in the network: agents, then controllers, then the
	 * collector. */
	WORLD_CONTROLLER = WORLD_AGENTS,
	WORLD_COLLECTOR = WORLD_CONTROLLER + WORLD_CONTROLLERS,
	WORLD_PLACES,
};

/* Virtual time that it may take, once all is well again, until all agents have
 * the newest list; until all are stopped by the stop file, at the first contact, so
 * within the interval of contacts; and then until the collector has all that they
 * kept. */
#define WORLD_LISTS_WITHIN   (45 * SIM_SEC)
#define WORLD_STOPPED_WITHIN (31 * SIM_SEC)
#define WORLD_RECORDS_WITHIN (90 * SIM_SEC)

/* --- books ---------------------------------------------------------------- */
struct world_probe {
	sim_ns clock, rtt_ns;
	uint32_t dst_ip;
	uint16_t src_port, dst_port;
	uint8_t outcome, told, taken;
};

/* By its number, from 1. */
struct world_batch {
	uint64_t sum; /* of its bytes; 0: never posted */
	uint32_t n;
	uint32_t file; /* where the collector put it; 0: nowhere */
	uint8_t acked, n_stored;
};

struct world_batches {
	struct world_batch *at;
	size_t n, cap;
};

/* An agent from one start to its end. */
struct world_life {
	uint32_t agent;
	sim_ns born; /* wall clock: names its batches */
	struct world_batches batches, windows;
	struct world_probe *probe;
	size_t n_probes, cap_probes;
	struct algo_pingmesh_counters count; /* at its end */
};

/* --- parties -------------------------------------------------------------- */
/* A request of one kind that is under way. */
struct world_transfer {
	int is_busy;
	uint64_t token, turn; /* turn: counts requests, so late answers show */
	sim_ns until;
};

struct world_agent {
	int is_on;
	sim_ns frozen; /* until then it does nothing, and what comes waits */
	sim_ns ends;   /* when its grace is over; 0: it is not told to end */
	uint64_t turn; /* counts starts: what is of an earlier one is void */
	sim_ns started;
	int64_t wall_off; /* of its wall clock */
	unsigned char *state;
	struct sim_rng rng;
	struct xp_contact contact;
	struct world_transfer get, post, push;
	uint32_t life; /* of world.life */
	uint64_t version;
	uint64_t issued_s, of_version; /* of the newest list that was taken */
	sim_ns last[WORLD_AGENTS];
};

enum world_impostor { HONEST, UNSIGNED, FORGER, REPLAYER };

struct world_controller {
	int is_on, is_stopped;
	uint32_t plan;
	sim_ns since;
	enum world_impostor impostor;
	struct xp_list_signer *signer;
	struct xp_http_lists lists;
	int has_lists;
};

enum { WORLD_FILES = 2048 };

struct world_file {
	char name[64];
	uint32_t number;
	int64_t day; /* since 1970 */
	uint64_t n_bytes;
};

struct world_files {
	size_t n;
	uint64_t n_bytes;
	struct world_file at[WORLD_FILES]; /* by number */
};

struct world_collector {
	int is_on, is_full;
	int64_t off_s; /* of its wall clock */
	struct xp_batch_store_params params;
	struct xp_batch_store *store;
	/* What its folder had when it was looked at, and what the store said
	 * then; whether somebody else took files since it was opened. */
	struct world_files files;
	struct xp_batch_held held;
	int is_by_hand;
	uint8_t is_gone[WORLD_FILES];               /* by number */
	unsigned char last[ALGO_PINGMESH_WIRE_MAX]; /* the last batch posted */
	size_t n_last;
};

struct world {
	struct sim_evq *q;
	struct sim_rng rng;
	sim_ns t;
	uint64_t hash;
	const char *broken;
	struct schedule_tally *tally;
	struct algo_pingmesh_params params;
	/* The network. */
	uint32_t loss, cut; /* of 65536: of messages, of bodies cut off */
	sim_ns delay;       /* the longest */
	uint8_t side[WORLD_PLACES];
	struct world_agent agent[WORLD_AGENTS];
	struct world_controller controller[WORLD_CONTROLLERS];
	int64_t controllers_off; /* of their wall clocks */
	struct world_collector collector;
	struct world_life *life;
	size_t n_lives, cap_lives;
};

#define world_must(w, cond, sentence)                                          \
	do {                                                                   \
		if (!(cond) && !(w)->broken)                                   \
			(w)->broken = (sentence);                              \
	} while (0)

/* What is counted. */
#define WORLD_SEEN(X)                                                          \
	X(PROBES, "probes sent")                                               \
	X(CONNECTED, "of these, connected")                                    \
	X(LISTS, "lists that came")                                            \
	X(SAME, "times that the list was the one before")                      \
	X(REFUSED_LISTS, "lists refused for what their signature is")          \
	X(FUTURE, "lists taken in place of one of the future")                 \
	X(CLOSED, "times that peers were dropped")                             \
	X(POSTED, "batches posted, each try")                                  \
	X(TAKEN, "batches taken")                                              \
	X(KNOWN, "batches taken before")                                       \
	X(NOT_STORED, "batches that could not be stored")                      \
	X(NO_ROOM, "batches for which there was no room")                      \
	X(TOO_OLD, "files that went for their age")                            \
	X(MADE_ROOM, "files that went to make room")                           \
	X(BAD, "bodies that are no batch")                                     \
	X(FORBIDDEN, "requests for another's address")                         \
	X(DISCARDED, "records given up")                                       \
	X(LOST, "messages lost")                                               \
	X(CUT, "bodies cut off")                                               \
	X(STARTS, "starts of agents")                                          \
	X(ENDED, "ends of agents that had handed all over")                    \
	X(LEFT, "ends of agents whose grace was over")                         \
	X(TORN, "stores cut where a batch was torn")                           \
	X(RECORDS, "records in the store")                                     \
	X(GONE, "records that went with their files")

enum {
#define X(name, text) WORLD_##name,
	WORLD_SEEN(X)
#undef X
};

static inline void world_saw(struct world *w, int what, uint64_t n)
{
	w->tally->seen[what] += n;
}

/* --- the world ------------------------------------------------------------ */
/* Made once for the process, in FOLDER: plans, keys. Returns 0 if there is no
 * GnuTLS: then lists are not signed. */
int world_set_up(const char *folder);
int world_is_signed(void);

/* From the set-up on, what is signed costs next to nothing; or else it is Ed25519,
 * as outside of worlds. No world may be another for it. */
void world_sign_cheaply(int is_cheap);
const struct algo_pinglist *world_plan(uint32_t i);
const char *world_path(const char *name);

sim_ns world_wall(const struct world *w, int64_t off);
uint32_t world_below(struct world *w, uint32_t n);
void world_note(struct world *w, uint64_t what); /* into its hash */

/* A message from one place to another: how long it takes, or SIM_NEVER if it is
 * lost on its way. */
sim_ns world_way(struct world *w, uint32_t from, uint32_t to);

/* Call FN in BY. What it is given says by itself whether it is still of use. */
void world_in(struct world *w, sim_ns by, sim_event_fn *fn, void *arg,
    uint64_t aux);
void world_pass(struct world *w, sim_ns by);

/* --- hosts ---------------------------------------------------------------- */
void world_agent_start(struct world *w, uint32_t i);
void world_agent_stop(struct world *w, uint32_t i);
void world_agent_end(struct world *w, uint32_t i); /* and hand over */
struct algo_pingmesh_status world_agent_status(const struct world *w,
    uint32_t i);

/* --- servers -------------------------------------------------------------- */
/* A request on its way, and its answer on the way back. To be freed. */
struct world_message {
	struct world *w;
	uint32_t from, to; /* places */
	uint64_t agent_turn, turn;
	int what; /* enum world_what */
	char target[64], tag[XP_FETCH_TAG];
	/* The answer. */
	long status;
	char etag[64], mark[XP_LIST_MARK];
	int is_cut;
	enum world_impostor impostor;
	uint64_t issued_s, of_version; /* of the list */
	size_t n;
	unsigned char body[];
};
enum world_what { WORLD_GET, WORLD_POST, WORLD_PUSH };

/* The server at M->to answers: M is freed, and what is returned has the answer, or
 * NULL if nobody listens. Room for the body of an answer is its own. */
struct world_message *world_serve(struct world *w, struct world_message *m);

void world_controller_start(struct world *w, uint32_t i, uint32_t plan,
    enum world_impostor impostor);
void world_controller_stop(struct world *w, uint32_t i);

/* With no more than ROOM bytes beyond what is there; 0: as it is to keep. */
void world_collector_start(struct world *w, uint64_t room);
void world_collector_stop(struct world *w, uint32_t torn);

/* From now on; and whatever is too old or too much goes with time. */
void world_collector_keep_so(struct world *w, uint32_t days, uint64_t total,
    int make_room);
void world_collector_lose(struct world *w); /* the oldest file, by hand */
void world_collector_keep(struct world *w, struct world_message *m,
    struct xp_http_answer *a);

/* --- books ---------------------------------------------------------------- */
uint32_t world_life_begin(struct world *w, uint32_t agent, sim_ns born);
void world_book_probe(struct world *w, struct world_life *l, sim_ns clock,
    const struct topo_tuple *t);
void world_book_outcome(struct world *w, struct world_life *l, size_t probe,
    uint8_t outcome, sim_ns rtt_ns);
void world_book_batch(struct world *w, struct world_life *l,
    const struct algo_pingmesh_batch *b, const unsigned char *wire, size_t n);
void world_book_window(struct world *w, struct world_life *l, uint64_t number,
    const unsigned char *wire, size_t n);
void world_book_kept(struct world *w, const struct algo_pingmesh_wire_id *id,
    uint32_t file);
void world_book_acked(struct world *w, struct world_life *l, uint64_t number);

/* Read the store: each batch is in it once, as it was posted; and all that were
 * taken are, but for those whose files went. */
void world_check_store(struct world *w);
void world_books_free(struct world *w);

extern const struct schedule_machine live_world;

#endif
