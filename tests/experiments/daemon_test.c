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
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/rigs/json.h"
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
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes, so that nothing is limited */
	if (data.rlim_max != 64 << 20)
		return 2;
#endif
	if (core.rlim_max != 0)
		return 3;
	errno = 0;
	return getpriority(PRIO_PROCESS, 0) < 10;
}

/* Nothing is taken of memory that is not limited, nor given of a processor that
 * others were before. */
static int limit_nothing(void)
{
	struct rlimit before, after;
	if (setpriority(PRIO_PROCESS, 0, 15) < 0 ||
	    getrlimit(RLIMIT_DATA, &before) < 0 ||
	    xp_daemon_limit(0, NULL) < 0 || getrlimit(RLIMIT_DATA, &after) < 0)
		return 1;
	if (before.rlim_max != after.rlim_max ||
	    before.rlim_cur != after.rlim_cur)
		return 2;
	return getpriority(PRIO_PROCESS, 0) != 15;
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
	assert_int_equal(in_child(limit_nothing), 0);
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

/* A name may have as many bytes as a socket's has room for, but one. */
static void a_name_fits_or_is_none(void **state)
{
	enum { ROOM = sizeof(((struct sockaddr_un *)0)->sun_path) };
	char name[ROOM + 1];
	struct xp_notify n;
	(void)state;
	for (size_t size = ROOM - 1; size <= ROOM; size++) {
		memset(name, 'x', sizeof(name));
		name[0] = '/';
		name[size] = '\0';
		setenv("NOTIFY_SOCKET", name, 1);
		xp_notify_open(&n);
		assert_int_equal(n.fd >= 0, size < ROOM);
		if (n.fd >= 0) {
			assert_string_equal(n.to.sun_path, name);
			assert_int_equal(n.n_to,
			    offsetof(struct sockaddr_un, sun_path) + size);
		}
		const int fd = n.fd;
		xp_notify_close(&n);
		assert_int_equal(n.fd, -1);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
}

static void half_of_a_watchdogs_time_is_every(void **state)
{
	static const struct {
		const char *us;
		sim_ns every;
	} q[] = {{"1", 500}, {"3", 1500}, {"30000000", 15 * SIM_SEC},
	    {"18446744073709551", UINT64_C(18446744073709551) * 500},
	    {"18446744073709552", SIM_NEVER}, {"0", SIM_NEVER},
	    {"-1", SIM_NEVER}, {"1s", SIM_NEVER}, {"", SIM_NEVER}};
	struct xp_notify n;
	char me[32];
	(void)state;
	snprintf(me, sizeof(me), "%d", getpid());
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		for (int of_me = 0; of_me < 2; of_me++) {
			setenv("NOTIFY_SOCKET", "@x", 1);
			setenv("WATCHDOG_USEC", q[i].us, 1);
			if (of_me)
				setenv("WATCHDOG_PID", me, 1);
			xp_notify_open(&n);
			assert_null(getenv("WATCHDOG_PID"));
			assert_true(n.every == q[i].every);
			xp_notify_close(&n);
		}
	setenv("NOTIFY_SOCKET", "@x", 1);
	setenv("WATCHDOG_USEC", "2", 1);
	setenv("WATCHDOG_PID", "me", 1);
	xp_notify_open(&n);
	assert_true(n.every == SIM_NEVER);
	xp_notify_close(&n);
}

static void a_sign_of_life_is_given_when_it_is_due(void **state)
{
	struct xp_notify n;
	char name[64];
	const int fd = listen_as(name);
	(void)state;
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "2000", 1);
	xp_notify_open(&n);
	xp_notify_alive(&n, 5 * SIM_MS);
	assert_string_equal(heard(fd), "WATCHDOG=1");
	xp_notify_alive(&n, 6 * SIM_MS - 1);
	assert_string_equal(heard(fd), "");
	xp_notify_alive(&n, 6 * SIM_MS);
	assert_string_equal(heard(fd), "WATCHDOG=1");
	close(fd);
	xp_notify_close(&n);
}

/* --- signals and cost ----------------------------------------------------- */

static int signals_are_asked_for(void)
{
	xp_daemon_block_signals();
	if (xp_daemon_take_signal(0) != XP_DAEMON_NO_SIGNAL)
		return 1;
	raise(SIGPIPE); /* ends nothing, and is none */
	if (xp_daemon_take_signal(0) != XP_DAEMON_NO_SIGNAL)
		return 2;
	raise(SIGTERM);
	if (xp_daemon_take_signal(0) != XP_DAEMON_END)
		return 3;
	raise(SIGINT);
	if (xp_daemon_take_signal(SIM_SEC) != XP_DAEMON_END)
		return 4;
	raise(SIGUSR1);
	if (xp_daemon_take_signal(SIM_NEVER) != XP_DAEMON_STATUS)
		return 5;
	xp_daemon_block_hangup();
	raise(SIGHUP);
	if (xp_daemon_take_signal(0) != XP_DAEMON_AGAIN)
		return 6;
	return xp_daemon_take_signal(SIM_MS) != XP_DAEMON_NO_SIGNAL;
}

/* Who did not ask for hang-ups is ended by one. */
static void each_signal_has_its_meaning(void **state)
{
	int status;
	(void)state;
	assert_int_equal(in_child(signals_are_asked_for), 0);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		xp_daemon_block_signals();
		raise(SIGHUP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
}

static void a_process_tells_what_it_costs(void **state)
{
	const size_t more = 64 << 20;
	struct xp_daemon_cost before, after;
	char text[256] = "{", *room = malloc(more);
	(void)state;
	assert_non_null(room);
	xp_daemon_cost(&before);
	memset(room, 1, more);
	xp_daemon_cost(&after);
	assert_int_equal(before.rss_bytes % (uint64_t)sysconf(_SC_PAGESIZE), 0);
	assert_true(after.rss_bytes >= before.rss_bytes + more / 2);
	assert_true(after.rss_bytes <= before.rss_bytes + 2 * more);
	assert_true(after.cpu_s >= before.cpu_s && before.cpu_s > 0);
	assert_true(after.cpu_s < 600);
	assert_int_equal(after.n_refused_calls, 0);
	free(room);
	struct sim_text out = {text, sizeof(text), 1};
	xp_daemon_put_cost(&out);
	sim_put(&out, "}");
	assert_true(json_is_whole(text));
	assert_memory_equal(text, "{\"rss_bytes\": ", 14);
	assert_non_null(strstr(text, ", \"cpu_s\": "));
	assert_non_null(strstr(text, ", \"n_refused_calls\": 0}"));
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
	    cmocka_unit_test(a_name_fits_or_is_none),
	    cmocka_unit_test(half_of_a_watchdogs_time_is_every),
	    cmocka_unit_test(a_sign_of_life_is_given_when_it_is_due),
	    cmocka_unit_test(each_signal_has_its_meaning),
	    cmocka_unit_test(a_process_tells_what_it_costs),
	};
	return cmocka_run_group_tests_name("experiments/daemon", tests, NULL,
	    NULL);
}
