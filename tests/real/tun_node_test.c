/* tests/real/tun_node_test.c -- hosts over TUN: made, refused, and gone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/netns/caps.h"
#include "tests/real/tun_lab.h"
#include "topo/addr.h"

static int has_address(topo_host h)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(topo_addr_of_host(h))};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = bind(fd, (const struct sockaddr *)&at, sizeof(at));
	close(fd);
	return rc == 0;
}

/* MTU and length of queue of the device here. */
static void device(int *mtu, int *queue)
{
	struct ifreq r = {.ifr_name = "tun0"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*mtu = ioctl(fd, SIOCGIFMTU, &r) == 0 ? r.ifr_mtu : -1;
	*queue = ioctl(fd, SIOCGIFTXQLEN, &r) == 0 ? r.ifr_qlen : -1;
	close(fd);
}

/* What a datagram from here to ADDR would say: 0 or why not. */
static int reach(uint32_t addr)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
	    .sin_port = htons(9),
	    .sin_addr.s_addr = htonl(addr)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int why = connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0
	    ? errno
	    : 0;
	close(fd);
	return why;
}

static int has_ipv6(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in6 at = {.sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int rc =
	    fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&at, sizeof(at));
	if (fd >= 0)
		close(fd);
	return rc == 0;
}

static void hosts_have_one_address_and_know_the_network_alone(void **state)
{
	struct tun_lab lab;
	tun_lab_needs(state);
	tun_lab_open(&lab);
	lab.params.mtu = 1400;
	tun_lab_start(&lab);
	for (topo_host h = 0; h < lab.t.n_hosts; h++) {
		int mtu, queue;
		assert_ok(tun_net_enter(lab.net, h, test_err()));
		device(&mtu, &queue);
		struct if_nameindex *all = if_nameindex();
		unsigned n = 0;
		while (all && all[n].if_index != 0)
			n++;
		if_freenameindex(all);
		const int own = has_address(h), others = has_address(h + 1);
		const int near = reach(topo_addr_of_switch(1)) |
		    reach(topo_addr_of_link(1)) | reach(topo_addr_of_host(11));
		const int far = reach(0xc0000201), six = has_ipv6();
		assert_ok(tun_net_leave(lab.net, test_err()));
		assert_int_equal(n, 2);
		assert_int_equal(mtu, 1400);
		assert_int_equal(queue, 8192);
		assert_true(own && !others);
		assert_int_equal(near, 0);
		assert_int_equal(far, ENETUNREACH);
		assert_false(six);
	}
	tun_lab_close(&lab);
}

static ino_t here(void)
{
	struct stat s;
	assert_int_equal(stat("/proc/thread-self/ns/net", &s), 0);
	return s.st_ino;
}

static void the_thread_ends_where_it_began(void **state)
{
	const ino_t before = here();
	struct tun_lab lab;
	tun_lab_needs(state);
	tun_lab_open(&lab);
	tun_lab_start(&lab);
	assert_true(here() == before);
	assert_ok(tun_net_enter(lab.net, 3, test_err()));
	assert_true(here() != before);
	assert_ok(tun_net_leave(lab.net, test_err()));
	assert_true(here() == before);
	tun_lab_close(&lab);
	assert_true(here() == before);
}

static void making_takes_about_2_ms_a_host(void **state)
{
	tun_lab_needs(state);
	for (unsigned n_hosts = 2; n_hosts <= 20; n_hosts += 18) {
		const struct topo_clos shape = {.n_pods = 2,
		    .n_tors = 3,
		    .n_t1 = 2,
		    .n_t2 = 2,
		    .n_hosts = n_hosts};
		struct tun_lab lab;
		tun_lab_open(&lab);
		topo_close(&lab.t);
		assert_ok(topo_open_clos(&lab.t, &shape, test_err()));
		const double start = lab_seconds();
		tun_lab_start(&lab);
		const double took = lab_seconds() - start;
		print_message("time: %u hosts in %.3f s\n", lab.t.n_hosts,
		    took);
		assert_true(took < 0.02 * lab.t.n_hosts + 1);
		tun_lab_close(&lab);
	}
}

/* --- failure -------------------------------------------------------------- */

static int make(void *arg, struct sim_err *e)
{
	struct tun_lab *lab = arg;
	const ino_t before = here();
	struct tun_net *net;
	int rc = tun_net_open(&net, &lab->t, &lab->params, e);
	assert_true(here() == before);
	tun_net_close(net);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	static const struct topo_clos rack = {.n_pods = 1,
	    .n_tors = 1,
	    .n_t1 = 1,
	    .n_t2 = 0,
	    .n_hosts = 2};
	struct tun_lab lab;
	tun_lab_needs(state);
	tun_lab_open(&lab);
	topo_close(&lab.t);
	assert_ok(topo_open_clos(&lab.t, &rack, test_err()));
	test_each_alloc_fails(make, &lab);
	tun_lab_close(&lab);
}

/* Run FN in a child, which is to say 0. */
static void in_child(int (*fn)(void))
{
	int status;
	const pid_t child = fork();
	if (child == 0)
		_exit(fn());
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with %#x", (unsigned)status);
}

/* Whether opening says UNSUPPORTED and TEXT, in a child. */
static int refuses(const char *text)
{
	struct tun_lab lab;
	struct sim_err e = {0};
	tun_lab_open(&lab);
	const int rc = tun_net_open(&lab.net, &lab.t, &lab.params, &e);
	const int ok = rc == SIM_EUNSUPPORTED && strstr(e.msg, text) != NULL;
	if (!ok)
		fprintf(stderr, "%d: %s\n", rc, e.msg);
	tun_lab_close(&lab);
	return !ok;
}

static int without_right(void)
{
	enum { NOBODY = 65534 };
	if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return 2;
	return refuses("CAP_SYS_ADMIN");
}

static int without_device(void)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/dev/net", "tmpfs", 0, NULL) < 0)
		return 2;
	return refuses("/dev/net/tun cannot be opened: No such file");
}

static void without_right_or_device_it_says_so(void **state)
{
	tun_lab_needs(state);
	if (geteuid() != 0)
		skip();
	in_child(without_right);
	in_child(without_device);
}

/* --- the end -------------------------------------------------------------- */

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	const int ok =
	    fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

static int can_make(void)
{
	struct tun_lab lab;
	struct sim_err e;
	tun_lab_open(&lab);
	const int rc = tun_net_open(&lab.net, &lab.t, &lab.params, &e);
	tun_lab_close(&lab);
	return rc == 0;
}

/* In a user namespace that may have no more than two networks' worth of
 * namespaces, 30 networks whose makers are killed, most while they make them;
 * then another can be made only if all were given back. */
static int kill_and_make(void)
{
	int as_user;
	if (unshare(CLONE_NEWUSER) < 0 ||
	    !write_file("/proc/self/setgroups", "deny") ||
	    !write_file("/proc/self/uid_map", "0 0 1") ||
	    !write_file("/proc/self/gid_map", "0 0 1") ||
	    !write_file("/proc/sys/user/max_net_namespaces", "25") ||
	    netns_permit(&as_user, NULL) < 0)
		return 2;
	for (unsigned i = 0; i < 30; i++) {
		const pid_t child = fork();
		if (child == 0) {
			struct tun_lab lab;
			struct sim_err e;
			tun_lab_open(&lab);
			tun_net_open(&lab.net, &lab.t, &lab.params, &e);
			pause();
		}
		usleep(i * 2000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	for (unsigned i = 0; i < 200; i++) {
		if (can_make())
			return 0;
		usleep(50000);
	}
	return 1;
}

static void nothing_is_left_after_sigkill(void **state)
{
	tun_lab_needs(state);
	if (geteuid() != 0 || access("/proc/self/ns/user", F_OK) < 0)
		skip();
	in_child(kill_and_make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hosts_have_one_address_and_know_the_network_alone),
	    cmocka_unit_test(the_thread_ends_where_it_began),
	    cmocka_unit_test(making_takes_about_2_ms_a_host),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(without_right_or_device_it_says_so),
	    cmocka_unit_test(nothing_is_left_after_sigkill),
	};
	return cmocka_run_group_tests_name("models/tun/node", tests, lab_begin,
	    NULL);
}
