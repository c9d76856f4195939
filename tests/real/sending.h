/* tests/real/sending.h -- one TCP transfer, and what the kernel counts of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_REAL_SENDING_H
#define TESTS_REAL_SENDING_H

#include "tests/real/lab.h"

/* What the kernel says of a host, by /proc/net: segments sent again, bytes of its
 * interface. */
struct sending_count {
	unsigned long long retx, in_bytes, out_bytes;
};
struct sending_count sending_count(const struct lab *lab, topo_host h);

/* Packets above the MTU, which this network has not unless asked. */
void sending_allow_gso(const struct lab *lab, topo_host h);

/* BYTES from one host to another, which then closes; the sender is another
 * process. CONTROL of congestion by its name; NULL: usual. */
void sending_transfer(const struct lab *lab, topo_host from, topo_host to,
    size_t bytes, const char *control);

#endif
