/* experiments/live/listen.c -- a socket that listens, from a text.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/text.h"

enum { BACKLOG = 512 };

/* Numbers alone are taken: a name would be looked up, which may wait, and may
 * give several addresses. */
static int find_address(const char *at, struct addrinfo **out,
    struct sim_err *e)
{
	const struct addrinfo hints = {
	    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
	    .ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(at, ':');
	char host[64], quote[64];
	uint64_t port;
	size_t n = colon ? (size_t)(colon - at) : 0;
	const char *first = at;
	/* Colons of an IPv6 address would be taken for that of the port, hence
	 * the brackets. */
	if (n > 2 && at[0] == '[' && at[n - 1] == ']') {
		first++;
		n -= 2;
	}
	snprintf(host, sizeof(host), "%.*s", (int)n, first);
	if (n == 0 || n >= sizeof(host) || (first == at && strchr(host, ':')) ||
	    sim_parse_u64(colon + 1, &port, NULL) < 0 || port > 65535 ||
	    getaddrinfo(host, colon + 1, &hints, out) != 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s is no address to listen at: 127.0.0.1:8080 and "
		    "[::1]:8080 are; port 0 stands for any.",
		    sim_quote(quote, at));
	return 0;
}

/* Returns the socket, or -1 with errno. */
static int open_at(const struct addrinfo *a, struct sockaddr_storage *where)
{
	const int yes = 1;
	socklen_t n = sizeof(*where);
	const int fd =
	    socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/* A daemon that was ended can be started at once, though connections of
	 * its last life are in TIME_WAIT. An IPv6 socket is of IPv6 alone,
	 * whatever the machine's default is. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    (a->ai_family != AF_INET6 ||
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) ==
		    0) &&
	    bind(fd, a->ai_addr, a->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, (struct sockaddr *)where, &n) == 0)
		return fd;
	const int why = errno;
	close(fd);
	errno = why;
	return -1;
}

int xp_http_listen(int *fd, struct sockaddr_storage *where, const char *at,
    struct sim_err *e)
{
	struct addrinfo *a;
	int rc = find_address(at, &a, e);
	if (rc < 0)
		return rc;
	/* The first address is the only one, as it was given in numbers. */
	*fd = open_at(a, where);
	if (*fd < 0)
		rc = sim_fail(e, SIM_EIO, "cannot listen at %s: %s.%s", at,
		    strerror(errno),
		    errno == EADDRINUSE ? " Another program has that port; "
					  "port 0 takes a free one."
					: "");
	freeaddrinfo(a);
	return rc;
}

int xp_http_listen_files(uint32_t n, struct sim_err *e)
{
	const rlim_t want = n;
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= want)
		return 0;
	l.rlim_cur = want < l.rlim_max ? want : l.rlim_max;
	/* Found out now, and not when the last connection that was promised is
	 * refused. */
	if (l.rlim_cur < want || setrlimit(RLIMIT_NOFILE, &l) < 0)
		return sim_fail(e, SIM_EIO,
		    "That many connections take %u open files, and this "
		    "process may have %llu (ulimit -n).",
		    n, (unsigned long long)l.rlim_max);
	return 0;
}

const char *xp_http_listen_url(const struct sockaddr_storage *where,
    const char *scheme, char buf[80])
{
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";
	const int is_v6 = where->ss_family == AF_INET6;
	getnameinfo((const struct sockaddr *)where, sizeof(*where), host,
	    sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(buf, 80, is_v6 ? "%s://[%s]:%s/" : "%s://%s:%s/", scheme, host,
	    port);
	return buf;
}

int xp_http_listen_is_local(const struct sockaddr_storage *where)
{
	if (where->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)where)
				 ->sin_addr.s_addr) >>
		    24 ==
		    IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(
	    &((const struct sockaddr_in6 *)(const void *)where)->sin6_addr);
}
