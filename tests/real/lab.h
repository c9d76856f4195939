/* tests/real/lab.h -- a network of namespaces under test: flows and traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A test here begins with lab_needs(state), which skips it, with the reason,
 * where no network can be built.
 */
#ifndef TESTS_REAL_LAB_H
#define TESTS_REAL_LAB_H

#include "models/netns/net.h"
#include "tests/test.h"
#include "topo/topo.h"

struct lab {
	struct topo t;
	struct netns_net *net;
};

struct lab_flow {
	topo_host src, dst;
	uint16_t src_port, dst_port;
};

/* For cmocka's group: get the right to build networks and keep to one CPU, so
 * that packets stay in order. */
int lab_begin(void **state);
int lab_begin_with_folder(void **state); /* and test_folder_make() */
void lab_needs(void **state);

/* Build a Clos, or the network of T, which is taken over. Fails the test. */
void lab_open(struct lab *lab, const struct topo_clos *shape, uint32_t seed);
void lab_open_topo(struct lab *lab, struct topo *t,
    const struct netns_params *p);
void lab_close(struct lab *lab);

/* A TCP socket that listens in a host, to be closed. */
int lab_listen(const struct lab *lab, topo_host h, uint16_t port);

/* Connect by F to a socket that lab_listen() gave, send BYTES, have them read
 * at the far end, and reset. Asserts that the far end sees F's source. */
void lab_exchange(const struct lab *lab, int listener, const struct lab_flow *f,
    size_t bytes);

/* The links of F's path by probes with its five-tuple, a bad checksum and a
 * TTL of 1, 2, ...; a hop that does not answer within a second is TOPO_NONE. The
 * last link is that to the destination's host, implied. Returns their number. */
unsigned lab_trace(const struct lab *lab, const struct lab_flow *f,
    topo_link path[]);

/* N probes of F at a TTL; how many are answered until WAIT_MS pass without. */
unsigned lab_probe(const struct lab *lab, const struct lab_flow *f,
    unsigned ttl, unsigned n, unsigned wait_ms);

double lab_seconds(void);

#endif
