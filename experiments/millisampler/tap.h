/* experiments/millisampler/tap.h -- a capture, as what its hosts sent and got.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses say which packets are a host's: from one of its own it goes out, to
 * one it comes in, and a packet of no known host is counted and passed by. A MAC
 * is the better address where the capture is of the host's own link: then what is
 * not IP, and what goes to all, is the host's, too.
 *
 * What is sent again is told by its mark if there is one, and else by sequence
 * numbers (algos/millisampler/resent.h).
 */
#ifndef EXPERIMENTS_MILLISAMPLER_TAP_H
#define EXPERIMENTS_MILLISAMPLER_TAP_H

#include "experiments/millisampler/frame.h"
#include "sim/table.h"
#include "sim/time.h"

enum {
	XP_TAP_MAX_HOSTS = 128,
	XP_TAP_MAX_ADDRESSES = 512,
	XP_TAP_FLOWS = 65536, /* directions of connections, 4 MiB */
};

/* X(name, text): how what is sent again is known. AUTO is TTL if some, but less
 * than half, of TCP's packets of the hosts have that bit; it reads the capture
 * once more beforehand. */
#define XP_TAP_RETX(X)                                                         \
	X(AUTO, "auto")                                                        \
	X(TTL, "ttl")                                                          \
	X(DSCP, "dscp")                                                        \
	X(SEQ, "seq")
enum xp_tap_retx {
#define X(name, text) XP_TAP_##name,
	XP_TAP_RETX(X)
#undef X
	    XP_N_TAP_RETX
};
extern const char *const xp_tap_retx_names[]; /* NULL-terminated */

/* Zeroed has no host. */
struct xp_tap_address {
	uint64_t a[2]; /* MAC and IPv4 in the second word */
	uint32_t host;
	uint8_t version; /* 4, 6; 0: a MAC */
};
struct xp_tap_params {
	struct sim_name host[XP_TAP_MAX_HOSTS];
	struct xp_tap_address address[XP_TAP_MAX_ADDRESSES];
	uint32_t n_hosts, n_addresses;
	enum xp_tap_retx retx;
	uint8_t mark_tos; /* bits of DSCP that mark; 0: 0x80 */
	int may_be_cut;   /* a capture that ends within a packet is one up to
			   there */
	struct xp_frame_region region;
};

/* Add a host by TEXT, [NAME=]ADDRESS[,ADDRESS...]; its name is the first address
 * unless given. Errors SIM_EINVAL (no address; one twice), SIM_ELIMIT. */
int xp_tap_host(struct xp_tap_params *p, const char *text, struct sim_err *e);

/* What was met. */
struct xp_tap_said {
	uint64_t n_packets, n_of_hosts;
	uint64_t n_strange; /* of no host */
	uint64_t n_within;  /* from a host to itself */
	uint64_t n_cut;     /* whose ports or numbers are not captured */
	uint64_t n_forgotten;
	int was_cut;
	uint64_t first_ns, last_ns;
	uint64_t back_ns; /* the most that a time is before an earlier one */
	enum xp_tap_retx retx; /* never AUTO */
};

struct xp_tap;

/* P is borrowed. Errors those of xp_capture_open(); SIM_EINVAL (P has no host). */
int xp_tap_open(struct xp_tap **t, const char *path,
    const struct xp_tap_params *p, struct sim_err *e);
void xp_tap_close(struct xp_tap *t); /* NULL is fine */

/* Have HEAR each packet of the hosts, twice if it is from one to another, in the
 * order of the capture. Errors those of xp_capture_next() and HEAR. */
typedef int xp_tap_hear(void *arg, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e);
int xp_tap_each(struct xp_tap *t, xp_tap_hear *hear, void *arg,
    struct sim_err *e);
const struct xp_tap_said *xp_tap_said(const struct xp_tap *t);

#endif
