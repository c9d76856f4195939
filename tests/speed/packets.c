/* tests/speed/packets.c -- what a kernel takes for a packet, and for a connect.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Over loopback; the defaults of experiments/spec/cost.c are from here. Crafted
 * packets need root.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/speed/bench.h"

enum { N_PACKETS = 100000, N_CONNECTS = 10000 };

struct packets_way {
	int fd;
	struct sockaddr_in to;
};

/* An IPv4 header of protocol 253, which is for experiments, and 20 bytes. */
static void send_crafted(void *arg)
{
	const struct packets_way *w = arg;
	unsigned char p[40] = {0x45, 0, 0, sizeof(p), 0, 1, 0, 0, 64, 253};
	memcpy(p + 12, &w->to.sin_addr, 4);
	memcpy(p + 16, &w->to.sin_addr, 4);
	for (int i = 0; i < N_PACKETS; i++)
		bench_sink += (uint64_t)sendto(w->fd, p, sizeof(p), 0,
		    (const void *)&w->to, sizeof(w->to));
}

/* Both ends, and a reset, which leaves no port behind to wait. */
static void connect_and_end(void *arg)
{
	const struct packets_way *w = arg;
	const struct linger reset = {1, 0};
	for (int i = 0; i < N_CONNECTS; i++) {
		const int a = socket(AF_INET, SOCK_STREAM, 0);
		if (a < 0 ||
		    connect(a, (const void *)&w->to, sizeof(w->to)) < 0) {
			bench_sink++;
			close(a);
			continue;
		}
		const int b = accept(w->fd, NULL, NULL);
		setsockopt(a, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(a);
		close(b);
	}
}

void bench_packets(void)
{
	struct packets_way w = {.to = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(w.to);
	w.fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (w.fd >= 0) {
		bench_row("a crafted packet is sent",
		    1e6 * bench_best(5, send_crafted, &w) / N_PACKETS, "us",
		    '-', 0);
		close(w.fd);
	}
	w.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(w.fd, (const void *)&w.to, sizeof(w.to)) == 0 &&
	    listen(w.fd, 64) == 0 && getsockname(w.fd, (void *)&w.to, &n) == 0)
		bench_row("a connect and its end, both hosts",
		    1e6 * bench_best(5, connect_and_end, &w) / N_CONNECTS, "us",
		    '-', 0);
	close(w.fd);
}
