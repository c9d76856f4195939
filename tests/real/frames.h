/* tests/real/frames.h -- packets as bytes, sent as they stand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_REAL_FRAMES_H
#define TESTS_REAL_FRAMES_H

#include "models/obs_packet.h"
#include "tests/real/lab.h"

enum { FRAMES_MAX = 512 };

/* P as a frame of P->n_bytes, with right checksums of IP and a wrong one of TCP,
 * so that no host answers. Shape frame[FRAMES_MAX]. */
void frames_write(const struct obs_packet *p, uint8_t frame[]);

/* A raw socket in host H, to be closed; send P by it, which is IPv4. */
int frames_open(const struct lab *lab, topo_host h);
void frames_send(int raw, const struct obs_packet *p);

/* The same of N bytes that begin with an IP header. */
void frames_send_bytes(int raw, const void *bytes, size_t n);

/* A TCP packet without outer headers, of TTL 64. */
struct obs_packet frames_tcp(const struct lab_flow *f, uint8_t flags,
    uint16_t id, uint32_t seq);

/* Send one such packet from its own host. */
void frames_send_once(const struct lab *lab, const struct lab_flow *f,
    uint8_t flags, uint32_t seq);

#endif
