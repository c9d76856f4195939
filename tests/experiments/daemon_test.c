/* tests/experiments/daemon_test.c -- rights given up, and signs of life.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What cannot be undone is done in a child.
 */
#include "experiments/live/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

/* --- rights --------------------------------------------------------------- */
static int in_child(int (*fn)(void))
{
	int status;
	fflush(NULL);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* 1 if /proc/self/status has the line "NAME:\tVALUE". */
static int has(const char *name, const char *value)
{
	char line[256], want[256];
	int found = 0;
	snprintf(want, sizeof(want), "%s:\t%s\n", name, value);
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		found |= strcmp(line, want) == 0;
	if (f)
		fclose(f);
	return found;
}

static int has_no_rights(void)
{
	return has("CapInh", "0000000000000000") &&
	    has("CapPrm", "0000000000000000") &&
	    has("CapEff", "0000000000000000") &&
	    has("CapAmb", "0000000000000000") && has("NoNewPrivs", "1");
}

static int drop_as_default(void)
{
	const int was_root = geteuid() == 0;
	if (xp_daemon_drop(NULL, NULL) < 0)
		return 1;
	if (!has_no_rights())
		return 2;
	if (was_root &&
	    (!has("CapBnd", "0000000000000000") || geteuid() == 0 ||
		getegid() == 0 || getgroups(0, NULL) != 0))
		return 3;
	return was_root && (setuid(0) == 0 || access("/etc/shadow", R_OK) == 0)
	    ? 4
	    : 0;
}

/* Dropping rights to root itself still takes all that root may do. */
static int drop_and_stay(void)
{
	if (xp_daemon_drop("root", NULL) < 0)
		return 1;
	if (!has_no_rights() || geteuid() != 0)
		return 2;
	return setuid(1) == 0 || chroot("/") == 0 ? 3 : 0;
}

/* As the agent's unit has it: capset() is refused, with nothing to give up, and
 * then with something. */
static int drop_where_capset_is_refused(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capset, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog filter = {4, code};
	const int was_root = geteuid() == 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return 1;
	/* Root that stays root keeps what it has. */
	if (was_root && xp_daemon_drop("root", NULL) != SIM_EIO)
		return 2;
	return xp_daemon_drop(NULL, NULL) < 0 || !has_no_rights() ? 3 : 0;
}

/* A folder that is made belongs to whom the daemon becomes; one that was there
 * stays as it was, and so does what a link leads to. */
static int folder_is_given(void)
{
	char dir[] = "/tmp/culprit_daemon_XXXXXX", made[64], link[64];
	struct stat st;
	int bad = !mkdtemp(dir);
	const uid_t me = geteuid();
	snprintf(made, sizeof(made), "%s/made", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	bad |= xp_daemon_folder(dir, NULL, NULL) < 0 || stat(dir, &st) < 0 ||
	    st.st_uid != me;
	bad |= symlink(dir, link) < 0 || xp_daemon_folder(link, NULL, NULL) < 0;
	bad |= stat(dir, &st) < 0 || st.st_uid != me;
	bad |= xp_daemon_folder(made, NULL, NULL) < 0 || stat(made, &st) < 0;
	bad |= me == 0 ? st.st_uid == 0 : st.st_uid != me;
	bad |= xp_daemon_folder(made, "nosuch-user", NULL) != SIM_EINVAL;
	bad |= xp_daemon_folder("/proc/none/x", NULL, NULL) != SIM_EIO;
	rmdir(made);
	unlink(link);
	rmdir(dir);
	return bad;
}

static int no_such_user(void)
{
	struct sim_err e;
	return xp_daemon_drop("nobody-of-this-name", &e) != SIM_EINVAL ||
	    !strstr(e.msg, "there is no user \"nobody-of-this-name\"");
}

static int limit(void)
{
	struct rlimit data, core;
	if (xp_daemon_limit(64, NULL) < 0 ||
	    getrlimit(RLIMIT_DATA, &data) < 0 ||
	    getrlimit(RLIMIT_CORE, &core) < 0)
		return 1;
	if (data.rlim_max != 64 << 20 || core.rlim_max != 0)
		return 2;
	errno = 0;
	return getpriority(PRIO_PROCESS, 0) < 10;
}

static void all_rights_are_given_up_for_good(void **state)
{
	(void)state;
	assert_int_equal(in_child(drop_as_default), 0);
	assert_int_equal(in_child(no_such_user), 0);
	assert_int_equal(in_child(drop_where_capset_is_refused), 0);
	if (geteuid() == 0)
		assert_int_equal(in_child(drop_and_stay), 0);
}

static void limits_are_set(void **state)
{
	(void)state;
	assert_int_equal(in_child(limit), 0);
}

static void a_folder_is_given_to_whom_it_will_be(void **state)
{
	(void)state;
	assert_int_equal(folder_is_given(), 0);
}

/* --- signs of life -------------------------------------------------------- */
/* A socket that hears as systemd does; its name is no file's. */
static int listen_as(char name[64])
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const int n = snprintf(name, 64, "@culprit-test-%d", getpid());
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	memcpy(at.sun_path + 1, name + 1, (size_t)n - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			     (socklen_t)(offsetof(struct sockaddr_un,
					     sun_path) +
				 (size_t)n)),
	    0);
	return fd;
}

static const char *heard(int fd)
{
	static char text[128];
	const ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void systemd_hears_what_is_said(void **state)
{
	struct xp_notify n;
	char name[64];
	const int fd = listen_as(name);
	(void)state;
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	xp_notify_open(&n);
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
	xp_notify_say(&n, "READY=1");
	assert_string_equal(heard(fd), "READY=1");
	/* The watchdog's time is two seconds, so it is told every second. */
	unsigned n_alive = 0;
	for (sim_ns at = 0; at < 10 * SIM_SEC; at += 250 * SIM_MS) {
		xp_notify_alive(&n, at);
		n_alive += strcmp(heard(fd), "WATCHDOG=1") == 0;
	}
	assert_int_equal(n_alive, 10);
	close(fd);
	xp_notify_say(&n, "STOPPING=1"); /* nobody hears it: no error */
	xp_notify_close(&n);
}

static void without_systemd_nothing_is_said(void **state)
{
	static const char *const bad[] = {"", "relative", "/",
	    "@a name that is longer than that of any socket of this family can "
	    "be, for it has more than one hundred and eight bytes"};
	struct xp_notify n;
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	xp_notify_open(&n);
	assert_int_equal(n.fd, -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("NOTIFY_SOCKET", bad[i], 1);
		setenv("WATCHDOG_USEC", i % 2 ? "0" : "soon", 1);
		xp_notify_open(&n);
		assert_true(n.every == SIM_NEVER);
		xp_notify_say(&n, "READY=1");
		xp_notify_alive(&n, SIM_SEC);
		xp_notify_close(&n);
	}
}

/* WATCHDOG_PID names another process, so this one has no watchdog. */
static void a_watchdog_of_another_is_none(void **state)
{
	struct xp_notify n;
	(void)state;
	setenv("NOTIFY_SOCKET", "@x", 1);
	setenv("WATCHDOG_USEC", "1000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	xp_notify_open(&n);
	assert_true(n.every == SIM_NEVER);
	xp_notify_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_rights_are_given_up_for_good),
	    cmocka_unit_test(limits_are_set),
	    cmocka_unit_test(a_folder_is_given_to_whom_it_will_be),
	    cmocka_unit_test(systemd_hears_what_is_said),
	    cmocka_unit_test(without_systemd_nothing_is_said),
	    cmocka_unit_test(a_watchdog_of_another_is_none),
	};
	return cmocka_run_group_tests_name("experiments/daemon", tests, NULL,
	    NULL);
}
