/* tests/real/tun_lab.h -- hosts over TUN under test: connects, bytes, traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One thread has both ends of all sockets and the network, so whoever waits
 * here serves it. A test begins with tun_lab_needs(state), which skips it, with
 * the reason, where no such network can be made; lab.h has the group's set-up.
 */
#ifndef TESTS_REAL_TUN_LAB_H
#define TESTS_REAL_TUN_LAB_H

#include <sys/types.h>

#include "models/tun/net.h"
#include "tests/real/lab.h"

struct tun_lab {
	struct topo t;
	struct tun_net_params params;
	struct scene scene;
	struct tun_net *net;
};

void tun_lab_needs(void **state);

/* 2 pods of 3 ToRs of 2 hosts, 2 T1s a pod, 2 T2s; parameters by default, but
 * no delay and no limit to answers. Change what is to be changed, then start. */
void tun_lab_open(struct tun_lab *lab);
void tun_lab_start(struct tun_lab *lab);
void tun_lab_close(struct tun_lab *lab);

/* A fault from now on; before or after the start. */
void tun_lab_fault(struct tun_lab *lab, topo_link l, double rate);

/* Begin an epoch with the scene as it stands now. */
void tun_lab_renew(struct tun_lab *lab);

/* Serve the network until FD has one of EVENTS, or MS pass: what it has. */
int tun_lab_wait(struct tun_lab *lab, int fd, int events, int ms);

/* Set "ipv4/..." in every host. */
void tun_lab_knob(struct tun_lab *lab, const char *name, const char *value);

/* Sockets of a host that never wait, to be closed; TCP ones reset then. Port 0:
 * whatever is free. */
int tun_lab_raw(struct tun_lab *lab, topo_host h, int protocol);
int tun_lab_socket(struct tun_lab *lab, topo_host h, uint16_t port);
int tun_lab_listen(struct tun_lab *lab, topo_host h, uint16_t port);

/* Connect FD to a host: how that begins, not how it ends. */
void tun_lab_connect(int fd, topo_host dst, uint16_t port);

/* A connection by F with both its ends. */
struct tun_lab_pair {
	int client, server;
};
struct tun_lab_pair tun_lab_pair(struct tun_lab *lab, const struct lab_flow *f);
void tun_lab_close_pair(const struct tun_lab_pair *p);

/* Send BYTES from the client and read them at the server. */
void tun_lab_send(struct tun_lab *lab, const struct tun_lab_pair *p,
    size_t bytes);

/* Segments that a socket has sent again; the kernel's idea of the RTT, us. */
unsigned tun_lab_retx(int fd);
unsigned tun_lab_rtt_us(int fd);

struct topo_tuple tun_lab_tuple(const struct lab_flow *f);
unsigned tun_lab_path(const struct tun_lab *lab, const struct topo_tuple *t,
    topo_link path[]);

/* A probe of F: a TCP packet with a checksum that no receiver takes. */
void tun_lab_probe(int raw, const struct lab_flow *f, unsigned ttl);

/* The next "time exceeded" about a probe of F at an ICMP socket: its TTL then
 * and the address the answer is from. 0: none comes within MS. */
unsigned tun_lab_answer(struct tun_lab *lab, int icmp, const struct lab_flow *f,
    int ms, uint32_t *from);

#endif
