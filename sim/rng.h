/* sim/rng.h -- random streams by name: Philox4x32-10 counters as a gsl_rng.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every draw belongs to a stream named by (seed, point, run, epoch, stream,
 * entity). Streams never share state, so adding a model, an algorithm or a
 * worker shifts no other's numbers, and any one flow, link or run can be
 * repeated alone.
 *
 *	key     = mix(seed, stream, epoch)                64 bits
 *	counter = { block, entity, run, point }           4 x 32 bits
 *
 * A stream holds 2^34 words. Generator: Salmon et al., "Parallel Random
 * Numbers: As Easy as 1, 2, 3" (SC'11), as shipped in Random123.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* Numbers are part of the results format: never reuse or renumber one. */
#define SIM_STREAMS(X)                                                         \
	X(FAULT_PLACE, 1, "which links fail")                                  \
	X(FAULT_RATE, 2, "drop rates of failed links")                         \
	X(NOISE, 3, "drop rates of good links; entity = link")                 \
	X(TRAFFIC, 4, "connections a host, hot ToRs")                          \
	X(ECMP, 5, "hash seeds of switches")                                   \
	X(FLOW, 6, "destination, size, ports, loss; entity = flow")            \
	X(LOSS, 7, "where a lossy flow lost how much; entity = flow")          \
	X(SKIP_FAILED, 8, "flows on failed links; entity = ToR")               \
	X(SKIP_NOISE, 9, "flows that may lose to noise")                       \
	X(TIE, 10, "tie breaks inside an algorithm; entity = algorithm")       \
	X(AGENT, 20, "an agent's own draws; entity = host")                    \
	X(RETX, 21, "when segments are sent again; entity = tuple digest")     \
	X(PROBE, 22, "loss and delay of probes; entity = sender")              \
	X(SLB, 23, "VIPs and their queries; entity = tuple digest")            \
	X(FLAP, 24, "which cables flap, and when")                             \
	X(RTT, 30, "round trips of probes; entity = sender")                   \
	X(CONNECT, 31, "SYNs and SYN-ACKs lost; entity = sender")              \
	X(LATENCY, 25, "round-trip times; entity = flow")                      \
	X(CONNECTS, 32, "connects in bulk; entity = window")                   \
	X(OUTAGE, 40, "what is off or slow, and when; entity = group")         \
	X(HOLE, 41, "which switches are black holes, and salts")               \
	X(DELAY, 42, "what faults add to a packet's time; entity = sender")    \
	X(SERVICE, 43, "what controller and collector take; entity = host")    \
	X(TRACE, 44, "who is traced, and how probes fare; entity = window")    \
	X(TUN, 50, "fates of packets through TUN; entity = link")              \
	X(CONN, 60, "packets of connections; entity = flow")                   \
	X(RDMA, 61, "queue pairs: who, when, losses; entity = pair")           \
	X(PAUSE, 62, "pause frames; entity = place")                           \
	X(MIRROR, 63,                                                          \
	    "what switches mirror by chance, and lose; entity = switch")       \
	X(BGP, 64, "BGP sessions; entity = cable")                             \
	X(ROUTE, 70, "which switches route wrongly, and how; entity = group")  \
	X(BURST, 71, "queues that come and go; counter = episode and link")    \
	X(MUX, 72, "who balances load, and how long that takes")               \
	X(CLOCK, 73, "clocks of switches; entity = switch")                    \
	X(CONTROL, 74, "whose packets are asked for")                          \
	X(RACK, 80, "what a rack drops; counter = draw and connections")       \
	X(RACK_TRAFFIC, 81, "bursts of a rack; entity = server")               \
	X(RACK_STALL, 82, "whose NIC stalls, and when")                        \
	X(HOT_RACK, 85, "which racks have full buffers; entity = ToR")         \
	X(BUSY_RACK, 86, "when they have; counter = time, ToR")                \
	X(FULL_PORT, 87, "which of their ports, what is lost; = time, link")   \
	X(SIGNS, 88, "signs of slopes, in tests of them")                      \
	X(RACK_CROSS, 89, "bursts with other regions; entity = server")        \
	X(TELEMETRY, 90, "flows as sums; entity = flows, probes, times")       \
	X(SAMPLE_HOST, 91, "when hosts sample, their bursts; entity = host")   \
	X(SAMPLE_FLOW, 92, "when a flow sends again; entity = tuple digest")   \
	X(PLANNER, 95, "which probes, and their losses; entity = search")      \
	X(TEST, 99, "tests")

enum sim_stream {
#define X(name, value, doc) SIM_STREAM_##name = value,
	SIM_STREAMS(X)
#undef X
};

/* Where in an experiment we are: the part of a name that callers pass on. */
struct sim_seed {
	uint64_t seed;
	uint32_t point, run, epoch;
};

/* Blocks that are made at once, but for a stream's first: many have no other. */
enum { SIM_PHILOX_BLOCKS = 4, SIM_PHILOX_WORDS = 4 * SIM_PHILOX_BLOCKS };

struct sim_philox {
	uint32_t key[2], ctr[4];
	unsigned n_left; /* unread words at the end of out[] */
	uint32_t out[SIM_PHILOX_WORDS];
};

/* Not copyable once initialised: gsl.state points into the same struct. */
struct sim_rng {
	gsl_rng gsl;
	struct sim_philox state;
};

/* Start R at the head of its stream. R needs no freeing. Cost O(1). */
void sim_rng_init(struct sim_rng *r, const struct sim_seed *where,
    enum sim_stream stream, uint32_t entity);

/* The key of a stream, for code that runs the counter itself. */
void sim_rng_key(uint32_t key[2], const struct sim_seed *where,
    enum sim_stream stream);

/* One block of a stream: out = Philox4x32-10(key, ctr). */
void sim_philox_block(const uint32_t key[2], const uint32_t ctr[4],
    uint32_t out[4]);

/* The next blocks of a stream of which all words are read. */
void sim_philox_refill(struct sim_philox *p);

/* Next 32 bits; U in [0, 1) with 53 bits. */
static inline uint32_t sim_philox_next(struct sim_philox *p)
{
	if (p->n_left == 0)
		sim_philox_refill(p);
	return p->out[SIM_PHILOX_WORDS - p->n_left--];
}

static inline double sim_philox_u01(struct sim_philox *p)
{
	uint64_t hi = sim_philox_next(p), lo = sim_philox_next(p);
	return (double)(hi << 21 | lo >> 11) * 0x1p-53;
}

/* The same two, drawn from a stream. */
static inline uint32_t sim_rng_u32(struct sim_rng *r)
{
	return sim_philox_next(&r->state);
}

static inline double sim_rng_u01(struct sim_rng *r)
{
	return sim_philox_u01(&r->state);
}

/* U in (0, 1) with 53 bits. */
static inline double sim_rng_u01_open(struct sim_rng *r)
{
	double u;
	do
		u = sim_rng_u01(r);
	while (u == 0.0);
	return u;
}

/* Uniform in [0, n), n > 0. Lemire's multiply-and-reject: exact, with one
 * division in rare cases. */
static inline uint32_t sim_rng_below(struct sim_rng *r, uint32_t n)
{
	uint64_t m = (uint64_t)sim_rng_u32(r) * n;
	if ((uint32_t)m < n) {
		const uint32_t least = (0 - n) % n;
		while ((uint32_t)m < least)
			m = (uint64_t)sim_rng_u32(r) * n;
	}
	return (uint32_t)(m >> 32);
}

extern const gsl_rng_type *const sim_rng_philox;

#endif
