/* models/netns/program.h -- programs for the kernel: loaded, shared, attached.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What eBPF needs whatever a program is for. Nothing is pinned in a file system,
 * so that all of it ends with this process.
 */
#ifndef MODELS_NETNS_PROGRAM_H
#define MODELS_NETNS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>

#include "models/netns/cost.h"
#include "sim/err.h"

/* A map that is memory of both sides. */
struct netns_program_shared {
	void *at; /* NULL: not mapped */
	size_t size;
};

/* The order of programs at one end of a link: the first that decides does so for
 * all. */
enum {
	NETNS_PROGRAM_FAULTS = 1,
	NETNS_PROGRAM_MIRROR = 2,
	NETNS_PROGRAM_MUX = 3,
	NETNS_PROGRAM_SAMPLER = 4,
	NETNS_PROGRAM_PHANTOM = 5 /* of a switch; the others are hosts' */
};

/* libbpf prints to stderr unless told otherwise. A library prints nothing; what
 * matters of it is in our errors. The printer is global to libbpf, so whoever
 * else uses it gets his own back: libbpf_set_print() of what this returns. */
libbpf_print_fn_t netns_program_quiet(void);

/* Whether eBPF is allowed at all. Errors SIM_EUNSUPPORTED. */
int netns_program_permit(struct sim_err *e);

/* Open the object of N bytes at IMAGE, have it set up, load it. *O is set before
 * anything can fail but the opening, to be closed with bpf_object__close().
 * Errors SIM_EUNSUPPORTED, SIM_EDEP (refused by the verifier: the end of its
 * log), SIM_ENOMEM and those of SET_UP. */
int netns_program_load(struct bpf_object **o, const char *name,
    const void *image, size_t n,
    int (*set_up)(void *arg, struct bpf_object *o, struct sim_err *e),
    void *arg, struct sim_err *e);

/* While an object is set up: its constants, all of them; the entries of a map,
 * at least 1. Errors SIM_EDEP. */
int netns_program_constants(struct bpf_object *o, const void *value, size_t n,
    struct sim_err *e);
int netns_program_size(struct bpf_object *o, const char *map, size_t n,
    struct sim_err *e);

/* Processors that there can be. Errors SIM_EIO. */
int netns_program_cpus(uint32_t *n, struct sim_err *e);

int netns_program_map(const struct bpf_object *o, const char *map);
int netns_program_fd(const struct bpf_object *o, const char *program);

/* Map a table of N values into this process, so that a change is a few stores
 * and no system call an entry. Errors SIM_EIO. */
int netns_program_share(const struct bpf_object *o, const char *map,
    size_t value_size, size_t n, struct netns_program_shared *s,
    struct sim_err *e);
void netns_program_unshare(struct netns_program_shared *s);

/* Attach to one side of an interface of the namespace where the thread is, after
 * programs of lower PRIORITY. Errors SIM_EIO. Cost 0.1 ms. */
int netns_program_attach(const struct bpf_object *o, const char *program,
    uint32_t ifindex, enum bpf_tc_attach_point side, uint32_t priority,
    struct sim_err *e);
void netns_program_detach(uint32_t ifindex, enum bpf_tc_attach_point side,
    uint32_t priority);

/* The same by a link, behind other programs' (TCX): it is there for as long as
 * *FD is open in some process, so nothing is left of it however this one ends,
 * and letting go of it takes no right. Errors SIM_EUNSUPPORTED (before Linux
 * 6.6), SIM_EIO. Cost 10 ms, for which the kernel waits. */
int netns_program_hold(const struct bpf_object *o, const char *program,
    uint32_t ifindex, enum bpf_tc_attach_point side, int *fd,
    struct sim_err *e);

/* Whether a link's interface is still there, and its program at it. Takes no
 * right. */
int netns_program_holds(int fd);

/* Run the program FD on a frame of the interface SKB says, in the namespace
 * where the thread is, without a packet. Errors SIM_EIO. */
struct netns_program_result {
	int verdict; /* TC_ACT_* */
	double ns;   /* of one run */
	void *
	    after; /* where the frame is to be left, of as many bytes; or NULL */
};
int netns_program_try(int fd, const struct __sk_buff *skb,
    const struct netns_frame *frame, struct netns_program_result *r,
    struct sim_err *e);

/* The same of a program that does nothing. */
int netns_program_try_empty(const struct netns_frame *frame, double *ns,
    struct sim_err *e);

#endif
