/* models/netns/program.c -- programs for the kernel: loaded, shared, attached.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/vec.h"

enum {
	LOG_BYTES = 1 << 20,
	LOG_TOLD = 700, /* of its end */
};

static int say_nothing(enum libbpf_print_level level, const char *format,
    va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

libbpf_print_fn_t netns_program_quiet(void)
{
	return libbpf_set_print(say_nothing);
}

/* Asked first of all, by making the smallest of maps: most who cannot have
 * eBPF, such as users of containers, learn it here in one sentence. */
int netns_program_permit(struct sim_err *e)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "lab_try", 4, 8, 1, NULL);
	if (fd < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "eBPF is refused here: %s. It takes CAP_BPF, "
		    "CAP_PERFMON and CAP_NET_ADMIN outside of any user "
		    "namespace.",
		    strerror(errno));
	close(fd);
	return 0;
}

/* --- loading -------------------------------------------------------------- */

/* The end of the verifier's log, where it says what it refused, as one line of
 * a message. */
static int program_refused(const char *log, int why, struct sim_err *e)
{
	char told[LOG_TOLD + 1];
	size_t n = strlen(log);
	while (n > 0 && log[n - 1] == '\n')
		n--;
	const size_t from = n > LOG_TOLD ? n - LOG_TOLD : 0;
	memcpy(told, log + from, n - from);
	told[n - from] = '\0';
	for (char *c = told; *c; c++)
		if (*c == '\n')
			*c = '|';
	if (why == EPERM)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "The kernel does not allow to load eBPF: %s.",
		    strerror(why));
	return sim_fail(e, SIM_EDEP,
	    "The kernel refuses the program for its links: %s%s%s.",
	    strerror(why), n > 0 ? "; the end of its log: " : "", told);
}

/* The log is only needed while loading, and is too large for the stack. */
int netns_program_load(struct bpf_object **o, const char *name,
    const void *image, size_t n,
    int (*set_up)(void *arg, struct bpf_object *o, struct sim_err *e),
    void *arg, struct sim_err *e)
{
	char *log = NULL;
	int rc = SIM_ZALLOC(&log, LOG_BYTES, e);
	if (rc < 0)
		return rc;
	struct bpf_object_open_opts options = {.sz = sizeof(options),
	    .object_name = name,
	    .kernel_log_buf = log,
	    .kernel_log_size = LOG_BYTES};
	*o = bpf_object__open_mem(image, n, &options);
	if (!*o)
		rc = sim_fail(e, SIM_EDEP,
		    "libbpf cannot read the program for the kernel: %s.",
		    strerror(errno));
	else if ((rc = set_up(arg, *o, e)) == 0 &&
	    (rc = bpf_object__load(*o)) < 0)
		rc = program_refused(log, -rc, e);
	free(log);
	return rc;
}

/* Constants are set before loading: the verifier then knows them, and the
 * program in the kernel need not look them up. */
int netns_program_constants(struct bpf_object *o, const void *value, size_t n,
    struct sim_err *e)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, ".rodata");
	return m && bpf_map__set_initial_value(m, value, n) == 0
	    ? 0
	    : sim_fail(e, SIM_EDEP,
		  "The program for the kernel has no place for its "
		  "configuration.");
}

int netns_program_size(struct bpf_object *o, const char *map, size_t n,
    struct sim_err *e)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, map);
	/* A map of no entries is refused. */
	return bpf_map__set_max_entries(m, (__u32)(n > 0 ? n : 1)) == 0
	    ? 0
	    : sim_fail(e, SIM_EDEP, "The kernel's table of %s cannot be sized.",
		  map);
}

int netns_program_cpus(uint32_t *n, struct sim_err *e)
{
	const int got = libbpf_num_possible_cpus();
	if (got < 0)
		return sim_fail(e, SIM_EIO,
		    "The number of processors cannot be read: %s.",
		    strerror(-got));
	*n = (uint32_t)got;
	return 0;
}

int netns_program_map(const struct bpf_object *o, const char *map)
{
	return bpf_object__find_map_fd_by_name(o, map);
}

int netns_program_fd(const struct bpf_object *o, const char *program)
{
	return bpf_program__fd(bpf_object__find_program_by_name(o, program));
}

/* --- sharing -------------------------------------------------------------- */

int netns_program_share(const struct bpf_object *o, const char *map,
    size_t value_size, size_t n, struct netns_program_shared *s,
    struct sim_err *e)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Whole pages, as the kernel maps no less. */
	const size_t size = (value_size * n + page - 1) / page * page;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    netns_program_map(o, map), 0);
	if (at == MAP_FAILED)
		return sim_fail(e, SIM_EIO,
		    "The kernel's table of %s cannot be mapped: %s.", map,
		    strerror(errno));
	*s = (struct netns_program_shared){at, size};
	return 0;
}

void netns_program_unshare(struct netns_program_shared *s)
{
	if (s->at)
		munmap(s->at, s->size);
	*s = (struct netns_program_shared){0};
}

/* --- attaching ------------------------------------------------------------ */

/* By the old clsact hook, which takes 0.1 ms an interface; the newer TCX waits
 * for a grace period of the kernel, some 10 ms, at each. Where another program
 * is, so is the hook. */
int netns_program_attach(const struct bpf_object *o, const char *program,
    uint32_t ifindex, enum bpf_tc_attach_point side, uint32_t priority,
    struct sim_err *e)
{
	struct bpf_tc_hook hook = {.sz = sizeof(hook),
	    .ifindex = (int)ifindex,
	    .attach_point = side};
	struct bpf_tc_opts options = {.sz = sizeof(options),
	    .handle = 1,
	    .priority = priority,
	    .prog_fd = netns_program_fd(o, program)};
	/* A hook that is there already is no news. */
	libbpf_print_fn_t before = netns_program_quiet();
	int rc = bpf_tc_hook_create(&hook);
	if (rc == 0 || rc == -EEXIST)
		rc = bpf_tc_attach(&hook, &options);
	libbpf_set_print(before);
	return rc == 0 ? 0
		       : sim_fail(e, SIM_EIO,
			     "The program cannot be attached to interface %u: "
			     "%s.",
			     ifindex, strerror(-rc));
}

/* The hook stays, as others may have programs there; it goes with its
 * interface. */
void netns_program_detach(uint32_t ifindex, enum bpf_tc_attach_point side,
    uint32_t priority)
{
	struct bpf_tc_hook hook = {.sz = sizeof(hook),
	    .ifindex = (int)ifindex,
	    .attach_point = side};
	struct bpf_tc_opts options = {.sz = sizeof(options),
	    .handle = 1,
	    .priority = priority};
	bpf_tc_detach(&hook, &options);
}

/* Of newer headers than those that this may be built with. */
enum { TCX_INGRESS = 46, TCX_EGRESS = 47 };

/* Kernels that do not know these hooks call them invalid. */
int netns_program_hold(const struct bpf_object *o, const char *program,
    uint32_t ifindex, enum bpf_tc_attach_point side, int *fd, struct sim_err *e)
{
	*fd = bpf_link_create(netns_program_fd(o, program), (int)ifindex,
	    (enum bpf_attach_type)(
		side == BPF_TC_INGRESS ? TCX_INGRESS : TCX_EGRESS),
	    NULL);
	if (*fd >= 0)
		return 0;
	const int why = errno;
	*fd = -1;
	if (why == EINVAL || why == ENOTSUP)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "This kernel has no hooks that end with their program: "
		    "they take Linux 6.6.");
	return sim_fail(e, SIM_EIO,
	    "The program cannot be attached to interface %u: %s.", ifindex,
	    strerror(why));
}

/* The kernel's bpf_link_info up to what it says of TCX. */
int netns_program_holds(int fd)
{
	struct {
		__u32 type, id, program, pad, ifindex, side;
	} info = {0};
	__u32 n = sizeof(info);
	return bpf_obj_get_info_by_fd(fd, &info, &n) == 0 && info.ifindex != 0;
}

/* --- trying --------------------------------------------------------------- */

/* The kernel writes what is left of the context back into it. */
int netns_program_try(int fd, const struct __sk_buff *skb,
    const struct netns_frame *frame, struct netns_program_result *r,
    struct sim_err *e)
{
	struct __sk_buff in = *skb;
	struct bpf_test_run_opts options = {.sz = sizeof(options),
	    .data_in = frame->bytes,
	    .data_size_in = frame->n,
	    .data_out = r->after,
	    .data_size_out = r->after ? frame->n : 0,
	    .ctx_in = &in,
	    .ctx_size_in = sizeof(in),
	    .repeat = (int)frame->repeat};
	if (bpf_prog_test_run_opts(fd, &options) < 0)
		return sim_fail(e, SIM_EIO, "The program cannot be tried: %s.",
		    strerror(errno));
	r->verdict = (int)options.retval;
	r->ns = options.duration;
	return 0;
}

int netns_program_try_empty(const struct netns_frame *frame, double *ns,
    struct sim_err *e)
{
	static const struct __sk_buff skb;
	const struct bpf_insn insn[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K,
					    .dst_reg = BPF_REG_0},
	    {.code = BPF_JMP | BPF_EXIT}};
	const int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "empty", "GPL",
	    insn, 2, NULL);
	if (fd < 0)
		return sim_fail(e, SIM_EIO,
		    "An empty program cannot be loaded: %s.", strerror(errno));
	struct netns_program_result r = {0};
	const int rc = netns_program_try(fd, &skb, frame, &r, e);
	close(fd);
	*ns = r.ns;
	return rc;
}
