/* models/netns/icmp.c -- ICMP messages that real switches sent or kept back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/icmp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The K-th word of a line, its group being word 0, or NULL if there are
 * fewer. */
static const char *word_of(const char *line, size_t k)
{
	for (; k > 0 && line; k--) {
		line += strcspn(line, " \n");
		line = *line == ' ' ? line + 1 : NULL;
	}
	return line;
}

/* The first line from LINE on that begins with GROUP, or the end of the
 * text. */
static const char *next_line(const char *line, const char *group)
{
	while (*line && strncmp(line, group, strlen(group)) != 0) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return line;
}

/* Each group has two lines: names, then values in the same order. Which names
 * there are depends on the kernel, so columns are found by name. */
uint64_t netns_icmp_value(const char *snmp, const char *group, const char *name)
{
	const size_t n = strlen(name);
	const char *names = next_line(snmp, group), *at;
	const char *values = next_line(names + strcspn(names, "\n"), group);
	if (!*names || !*values)
		return 0;
	for (size_t k = 1; (at = word_of(names, k)) != NULL; k++)
		if (strncmp(at, name, n) == 0 && strcspn(at, " \n") == n) {
			at = word_of(values, k);
			return at ? strtoull(at, NULL, 10) : 0;
		}
	return 0;
}

/* By thread-self, since it is the calling thread alone that has entered the
 * switch. */
static int read_one(char text[], size_t size, struct sim_err *e)
{
	static const char path[] = "/proc/thread-self/net/snmp";
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	if (n < 0)
		return sim_fail(e, SIM_EIO, "%s cannot be read: %s.", path,
		    strerror(errno));
	text[n] = '\0';
	return 0;
}

int netns_icmp_count(const struct netns_net *net, const struct topo *t,
    struct netns_icmp *out, struct sim_err *e)
{
	char text[8192];
	int rc = 0;
	*out = (struct netns_icmp){0};
	for (topo_switch s = 0; rc == 0 && s < t->n_switches; s++) {
		if ((rc = netns_enter(net, t->n_hosts + s, e)) < 0 ||
		    (rc = read_one(text, sizeof(text), e)) < 0)
			break;
		out->n_sent += netns_icmp_value(text, "Icmp: ", "OutTimeExcds");
		/* What the limit of all ICMP messages held back; the limit for
		 * each host is off (node.c). */
		out->n_suppressed +=
		    netns_icmp_value(text, "Icmp: ", "OutRateLimitGlobal");
	}
	const int back = netns_leave(net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}
