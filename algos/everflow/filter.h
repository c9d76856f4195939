/* algos/everflow/filter.h -- which traces: a small language, as byte code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	expr  := and { "||" and } ;  and := not { "&&" not }
 *	not   := [ "!" ] ( "(" expr ")" | test )
 *	test  := [ "all:" ] field op value | flag | "path" "~" '"' { atom } '"'
 *	op    := == != < <= > >= &
 *	value := number | 0x2f | 10.0.0.0/16 | tor3 | t1.5 | host17 | t2 |
 *	         tor3->t1.5 | 150us | SYN|FIN|RST | "a name with blanks"
 *	atom  := node | tier | "." one hop | "*" any hops | ( atoms | atoms )
 *
 *	ip.proto == 6 && ip.dst == 192.16.0.0/16 && switch == 172.16.0.10
 *	drop && confirmed && last == t1.5
 *	tcp.flags & SYN && path ~ "tor3 . t2 * host17"
 *
 * A test on a field of copies holds if it holds of any copy, and with "all:" if
 * of every one: `ip.ttl < 9 && switch == tor3` may be of two copies, `switch !=
 * tor3` says that some other switch saw it, `!(switch == tor3)` that it did not.
 * A test on a header that the packet has not (tcp.src of UDP) fails whatever is
 * asked. A path runs over the switches of all copies in order; hosts are its
 * ends, by the packet's addresses, and may be left out.
 *
 * A filter is about packets and copies, a condition also about what an analyzer
 * made of them. One pass with forward jumps alone evaluates either: no
 * recursion, no memory.
 *
 * Paper  Everflow (SIGCOMM'15): GetTrace(Filter, Condition, Start,
 *        End), and the first example, whose switch is 10.10.0.10 there. The
 *        rest of the language is ours, path after packet histories (NetSight,
 *        NSDI'14).
 */
#ifndef ALGOS_EVERFLOW_FILTER_H
#define ALGOS_EVERFLOW_FILTER_H

#include "algos/everflow/filter_path.h"
#include "algos/everflow/trace.h"
#include "sim/text.h"
#include "sim/time.h"

/* What a value may be. */
enum algo_filter_type {
	ALGO_FILTER_NUMBER,
	ALGO_FILTER_FLAGS,
	ALGO_FILTER_ADDRESS,
	ALGO_FILTER_NODE,
	ALGO_FILTER_LINK,
	ALGO_FILTER_TIME
};

/* What a field is of. PACKET: a header that all copies have alike. FRAME: the
 * trace has it once, though copies may differ. TRACE: of conditions alone. */
enum algo_filter_scope {
	ALGO_OF_PACKET,
	ALGO_OF_FRAME,
	ALGO_OF_COPY,
	ALGO_OF_TRACE
};

/* X(field, word, type, scope, most, meaning) */
#define ALGO_FILTER_FIELDS(X)                                                  \
	X(ETH_TYPE, "eth.type", NUMBER, PACKET, 0xffff,                        \
	    "2048: IPv4; 34824: a pause frame")                                \
	X(IP_SRC, "ip.src", ADDRESS, PACKET, UINT32_MAX, "innermost source")   \
	X(IP_DST, "ip.dst", ADDRESS, PACKET, UINT32_MAX,                       \
	    "innermost destination")                                           \
	X(IP_PROTO, "ip.proto", NUMBER, PACKET, 255, "6: TCP; 17: UDP")        \
	X(IP_ID, "ip.id", NUMBER, PACKET, 0xffff, "of the innermost header")   \
	X(IP_TTL, "ip.ttl", NUMBER, COPY, 255, "of the outermost header")      \
	X(IP_DSCP, "ip.dscp", NUMBER, COPY, 63, "of the outermost header")     \
	X(IP_ECN, "ip.ecn", NUMBER, COPY, 3, "of the outermost header")        \
	X(IP_LEN, "ip.len", NUMBER, FRAME, UINT32_MAX,                         \
	    "bytes behind the Ethernet header")                                \
	X(TCP_SRC, "tcp.src", NUMBER, PACKET, 0xffff, "source port")           \
	X(TCP_DST, "tcp.dst", NUMBER, PACKET, 0xffff, "destination port")      \
	X(TCP_FLAGS, "tcp.flags", FLAGS, PACKET, 255, "SYN|FIN|RST|PSH|ACK")   \
	X(TCP_SEQ, "tcp.seq", NUMBER, PACKET, UINT32_MAX, "sequence number")   \
	X(UDP_SRC, "udp.src", NUMBER, PACKET, 0xffff, "source port")           \
	X(UDP_DST, "udp.dst", NUMBER, PACKET, 0xffff, "destination port")      \
	X(BTH_OPCODE, "bth.opcode", NUMBER, PACKET, 255, "of RoCE v2")         \
	X(BTH_NAK, "bth.nak", NUMBER, PACKET, 1, "1: an RDMA NACK")            \
	X(OUTER_SRC, "outer.src", ADDRESS, COPY, UINT32_MAX,                   \
	    "outermost source of copies with two headers")                     \
	X(SWITCH, "switch", NODE, COPY, 0, "who saw it")                       \
	X(LINK, "link", LINK, COPY, 0, "directed link it came by")             \
	X(LAYER, "layer", NUMBER, COPY, OBS_MAX_OUTER,                         \
	    "IP headers around the innermost")                                 \
	X(LEN, "len", NUMBER, TRACE, 0xffff, "copies of the trace")            \
	X(FIRST, "first", NODE, TRACE, 0, "switch of the first copy")          \
	X(LAST, "last", NODE, TRACE, 0, "switch of the last copy")             \
	X(VIA, "via", NODE, TRACE, 0, "any switch on its way")                 \
	X(LATENCY, "latency", TIME, TRACE, 0,                                  \
	    "longest time between two copies of one switch")                   \
	X(MIRRORS_LOST, "mirrors_lost", NUMBER, TRACE, 0xffff,                 \
	    "mirrors that are missing for certain")                            \
	X(AGE, "age", TIME, TRACE, 0, "time since the first copy")
enum algo_filter_field {
#define X(field, word, type, scope, most, text) ALGO_FIELD_##field,
	ALGO_FILTER_FIELDS(X)
#undef X
	    ALGO_N_FILTER_FIELDS
};

enum algo_filter_op {
	ALGO_FILTER_EQ,
	ALGO_FILTER_NE,
	ALGO_FILTER_LT,
	ALGO_FILTER_LE,
	ALGO_FILTER_GT,
	ALGO_FILTER_GE,
	ALGO_FILTER_ANY,      /* a bit of the mask is set */
	ALGO_FILTER_TIER,     /* a switch of tier VALUE */
	ALGO_FILTER_NOT_TIER, /* of another one */
	ALGO_FILTER_MARKS,    /* the trace has one of these marks */
	ALGO_FILTER_PATH      /* VALUE: the pattern's first state */
};

enum { ALGO_FILTER_STEPS = 64, ALGO_FILTER_DEPTH = 32 };

/* Where a step leads to, if not to a later one. */
enum { ALGO_FILTER_YES = 254, ALGO_FILTER_NO = 255 };

/* A test: (field & mask) OP value. */
struct algo_filter_step {
	uint8_t op, field, all;
	uint8_t yes, no;      /* the step that follows, or the answer */
	uint16_t from, n;     /* what was written: bytes of the text */
	uint64_t mask, value; /* of EQ to GE; of TIER and so on see there */
};

/* A whole program, to be copied freely. It keeps its topology. */
struct algo_filter {
	const struct topo *topo;
	uint8_t n;            /* steps; 0: everything fits */
	uint8_t header_only;  /* no field but those of PACKET */
	uint8_t is_condition; /* it has a field of TRACE */
	struct algo_filter_step step[ALGO_FILTER_STEPS];
	struct algo_paths paths;
};

enum algo_filter_use { ALGO_IS_FILTER, ALGO_IS_CONDITION };

/* Compile TEXT; empty fits everything. T may be NULL, and is then missed by
 * names of switches and hosts. USE says whether properties of traces are
 * allowed. Errors SIM_EINVAL, SIM_ERANGE, SIM_ELIMIT (more than 64 tests or
 * states, 32 parentheses within each other, or 4,096 bytes), each naming the
 * column, from 1. Cost O(bytes). */
int algo_filter_compile(struct algo_filter *f, const char *text,
    const struct topo *t, enum algo_filter_use use, struct sim_err *e);

/* Does a trace with its n_hops copies fit? NOW is what age counts to.
 * Cost O(steps), times copies for what is of copies. */
int algo_filter_test(const struct algo_filter *f, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now);

/* Whether all copies of a packet give the same answer, each for itself, so that
 * a packet can be sifted before its trace is put together; and that answer, of
 * one copy. Domain of the latter: the former holds. */
static inline int algo_filter_is_header_only(const struct algo_filter *f)
{
	return f->header_only;
}
int algo_filter_test_copy(const struct algo_filter *f,
    const struct obs_copy *c);

/* Whether S looks at each copy. */
int algo_filter_is_of_copies(const struct algo_filter_step *s);

/* The byte code, a line a step, of F compiled from TEXT. */
void algo_filter_put(const struct algo_filter *f, const char *text,
    struct sim_text *out);

/* Fields, as in the list above. */
struct algo_filter_field_info {
	const char *word, *doc;
	uint8_t type, scope;
	uint32_t most;
};
extern const struct algo_filter_field_info algo_filter_fields[];

/* Flags: each mark's word, and "drop" for suspect or confirmed. */
struct algo_filter_flag {
	const char *word;
	uint32_t marks;
};
extern const struct algo_filter_flag algo_filter_flags[]; /* nameless at end */

#endif
