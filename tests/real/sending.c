/* tests/real/sending.c -- one TCP transfer, and what the kernel counts of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/real/sending.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/addr.h"

enum { PORT = 80 };

struct sending_count sending_count(const struct lab *lab, topo_host h)
{
	struct sending_count c = {0};
	char line[512], name[64];
	unsigned long long in, out;
	const char *field;
	assert_ok(netns_enter(lab->net, h, test_err()));
	FILE *snmp = fopen("/proc/thread-self/net/snmp", "r");
	FILE *dev = fopen("/proc/thread-self/net/dev", "r");
	assert_ok(netns_leave(lab->net, test_err()));
	assert_true(snmp && dev);
	while (fgets(line, sizeof(line), snmp))
		if (sscanf(line,
			"Tcp: %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d "
			"%*d %llu",
			&c.retx) == 1)
			break;
	while (fgets(line, sizeof(line), dev)) {
		field = strchr(line, ':');
		if (field && sscanf(line, " %63[^:]", name) == 1 &&
		    strcmp(name, "lo") != 0 &&
		    sscanf(field + 1, "%llu %*u %*u %*u %*u %*u %*u %*u %llu",
			&in, &out) == 2) {
			c.in_bytes += in;
			c.out_bytes += out;
		}
	}
	fclose(snmp);
	fclose(dev);
	return c;
}

void sending_allow_gso(const struct lab *lab, topo_host h)
{
	char command[128];
	assert_ok(netns_enter(lab->net, h, test_err()));
	const uint32_t i = netns_ifindex(topo_link_of(h, TOPO_DOWN));
	char name[IF_NAMESIZE];
	assert_non_null(if_indextoname(i, name));
	snprintf(command, sizeof(command), "ip link set dev %s gso_max_segs 64",
	    name);
	const int rc = system(command);
	assert_ok(netns_leave(lab->net, test_err()));
	assert_int_equal(rc, 0);
}

void sending_transfer(const struct lab *lab, topo_host from, topo_host to,
    size_t bytes, const char *control)
{
	static char buf[65536];
	const int listener = lab_listen(lab, to, PORT);
	const struct sockaddr_in there = {.sin_family = AF_INET,
	    .sin_port = htons(PORT),
	    .sin_addr.s_addr = htonl(topo_addr_of_host(to))};
	const struct timeval patience = {.tv_sec = 20};
	int status;
	size_t n = 0;
	ssize_t k;
	const pid_t child = fork();
	if (child == 0) {
		alarm(60);
		int rc = prctl(PR_SET_PDEATHSIG, SIGKILL);
		rc |= netns_enter(lab->net, from, NULL);
		const int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (control)
			rc |= setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION,
			    control, (socklen_t)strlen(control));
		rc |=
		    connect(fd, (const struct sockaddr *)&there, sizeof(there));
		for (; rc == 0 && n < bytes &&
		     (k = send(fd, buf,
			  bytes - n < sizeof(buf) ? bytes - n : sizeof(buf),
			  0)) > 0;)
			n += (size_t)k;
		shutdown(fd, SHUT_WR);
		_exit(rc != 0 || n != bytes || recv(fd, buf, 1, 0) != 0);
	}
	assert_true(child > 0);
	const int fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			     sizeof(patience)),
	    0);
	while ((k = recv(fd, buf, sizeof(buf), 0)) > 0)
		n += (size_t)k;
	assert_int_equal(n, bytes);
	close(fd);
	close(listener);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
