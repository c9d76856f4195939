/* models/netns/ebpf.h -- faults by eBPF: what loading and reading share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_NETNS_EBPF_H
#define MODELS_NETNS_EBPF_H

#include "models/bpf/lab.h"
#include "models/netns/cgroup.h"
#include "models/netns/faults_impl.h"
#include "models/netns/program.h"

enum { EBPF_REASON_LENGTH = 48 };

struct netns_faults_ebpf {
	struct netns_faults base;
	struct bpf_object *object;
	struct netns_program_shared links, holes;
	uint32_t n_attached; /* links 0 .. n_attached - 1 */
	struct bpf_link *retransmit, *freed, *syn;
	struct netns_cgroup cgroup;

	struct ring_buffer *events;
	struct netns_retx *out; /* of a read under way */
	size_t n_out, cap_out;

	char reason[LAB_N_REASONS][EBPF_REASON_LENGTH];
};

/* --- netns/ebpf_read.c ---------------------------------------------------- */
/* Open the buffer of retransmissions; names of reasons from the kernel's BTF.
 * Errors SIM_EIO, SIM_EUNSUPPORTED. */
int netns_ebpf_read_open(struct netns_faults_ebpf *f, struct sim_err *e);
void netns_ebpf_read_reasons(struct netns_faults_ebpf *f,
    const struct btf *kernel);
void netns_ebpf_read_close(struct netns_faults_ebpf *f);

int netns_ebpf_count(struct netns_faults *f, struct netns_link_count count[],
    struct sim_err *e);
int netns_ebpf_drops(struct netns_faults *f, struct netns_drop **list,
    size_t *cap, size_t *n, struct sim_err *e);
int netns_ebpf_drop_of(struct netns_faults *f, struct netns_drop *d,
    struct sim_err *e);
/* How often the kernel did not run program NAME, as one was being run already.
 * Errors SIM_EIO. */
int netns_ebpf_missed(const struct netns_faults_ebpf *f, const char *name,
    uint64_t *n, struct sim_err *e);
int netns_ebpf_audit(struct netns_faults *f, struct netns_audit out[],
    size_t *n, struct sim_err *e);
int netns_ebpf_retx_fd(const struct netns_faults *f);
int netns_ebpf_retx_read(struct netns_faults *f, struct netns_retx out[],
    size_t cap, size_t *n, struct sim_err *e);
int netns_ebpf_retx_lost(struct netns_faults *f, uint64_t *n,
    struct sim_err *e);

/* What the program at link L would do with a frame of N bytes, which counts as
 * one that came: 1 if it drops it, 0 if not, or an error. For tests. */
int netns_ebpf_try(struct netns_faults *f, topo_link l, const void *frame,
    uint32_t n, struct sim_err *e);

#endif
