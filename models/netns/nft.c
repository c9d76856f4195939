/* models/netns/nft.c -- faults by nft rules, where eBPF is not allowed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of each node, with a chain and three counters of each link that it
 * receives: l<link> of what came, r<link> and h<link> of what was lost at
 * random and to holes. To change a fault is to write a chain anew; counters
 * stay. The command nft runs in the node's namespace and does all or nothing.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/netns/faults_impl.h"
#include "sim/vec.h"

#define WHOLE (UINT32_C(1) << 31) /* a rate of 1 */

struct netns_faults_nft {
	struct netns_faults base;
	struct netns_faults_link *is; /* [n_links] as the rules are now */
	uint8_t *dirty;               /* [nodes] */
	size_t n_holes, cap_holes;
	struct blackhole_rule *hole; /* of `is` */
	uint32_t n_nodes, n_open;    /* nodes 0 .. n_open - 1 have a table */
};

/* --- running nft ---------------------------------------------------------- */

enum { IN, OUT, ERR };

static int nft_no_memory(struct sim_err *e)
{
	return sim_fail(e, SIM_ENOMEM, "No memory for rules of nft.");
}

/* In the child: enter the node, take the three files for stdin, stdout and
 * stderr, become nft. 127 is what shells return for a command that is not
 * there. */
static _Noreturn void be_nft(const int fd[3], int ns, const char *const argv[])
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *plain[] = {path, NULL};
	if (setns(ns, CLONE_NEWNET) == 0 && dup2(fd[IN], 0) >= 0 &&
	    dup2(fd[OUT], 1) >= 0 && dup2(fd[ERR], 2) >= 0)
		execvpe("nft", (char *const *)argv,
		    getenv("PATH") ? environ : plain);
	dprintf(fd[ERR], "%s", strerror(errno));
	_exit(127);
}

/* Read all that was written to FD; *TEXT is to be freed. */
static int nft_read_all(int fd, char **text, struct sim_err *e)
{
	const off_t n = lseek(fd, 0, SEEK_END);
	int rc = SIM_ZALLOC(text, (size_t)(n > 0 ? n : 0) + 1, e);
	if (rc == 0 && n > 0 && pread(fd, *text, (size_t)n, 0) != n)
		rc = sim_fail(e, SIM_EIO, "nft cannot be heard: %s.",
		    strerror(errno));
	return rc;
}

/* Returns the exit status, or an error. */
static int nft_spawn(const int fd[3], int ns, const char *const argv[],
    struct sim_err *e)
{
	int status = 0;
	const pid_t child = fork();
	if (child == 0)
		be_nft(fd, ns, argv);
	if (child < 0)
		return sim_fail(e, SIM_EIO, "nft cannot be started: %s.",
		    strerror(errno));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return sim_fail(e, SIM_EIO, "nft is lost: %s.",
			    strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int nft_failed(topo_node n, int status, int err, struct sim_err *e)
{
	char *why = NULL;
	int rc = nft_read_all(err, &why, e);
	if (rc < 0)
		return rc;
	why[strcspn(why, "\n")] = '\0';
	rc = status == 127
	    ? sim_fail(e, SIM_EUNSUPPORTED,
		  "Faults without eBPF take the command nft: %.300s.", why)
	    : sim_fail(e, SIM_EIO, "nft in node %u: %.700s.", n, why);
	free(why);
	return rc;
}

/* Run nft in node N with INPUT; what it prints goes to *OUTPUT, to be freed,
 * unless that is NULL. Input and output are files in memory and not pipes, so
 * that neither side can wait for the other with a full pipe. */
static int nft_run(const struct netns_faults *f, topo_node n,
    const char *const argv[], const char *input, char **output,
    struct sim_err *e)
{
	const ssize_t size = (ssize_t)strlen(input);
	int fd[3], rc = 0;
	for (int i = 0; i < 3; i++)
		fd[i] = memfd_create("nft", MFD_CLOEXEC);
	if (fd[IN] < 0 || fd[OUT] < 0 || fd[ERR] < 0 ||
	    write(fd[IN], input, (size_t)size) != size ||
	    lseek(fd[IN], 0, SEEK_SET) < 0)
		rc = nft_no_memory(e);
	if (rc == 0 && (rc = nft_spawn(fd, netns_fd(f->net, n), argv, e)) > 0)
		rc = nft_failed(n, rc, fd[ERR], e);
	if (rc == 0 && output)
		rc = nft_read_all(fd[OUT], output, e);
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}

static int nft_feed(const struct netns_faults *f, topo_node n,
    const char *rules, struct sim_err *e)
{
	static const char *const argv[] = {"nft", "-f", "-", NULL};
	return nft_run(f, n, argv, rules, NULL, e);
}

/* --- rules ---------------------------------------------------------------- */

/* The nearest of 2^31 steps; nft takes 32 bits. */
static uint32_t nft_share_of(double rate)
{
	return (uint32_t)(rate * WHOLE + 0.5);
}

/* A hole takes all keys, or a share of them. nft does not have the simulator's
 * hash, so it is jhash by half the salt: the share of keys is right, which ones
 * is another matter. A share of 1 needs no hash. */
static void put_hole(FILE *out, topo_link l, const struct blackhole_rule *h)
{
	const uint32_t below = (uint32_t)(h->below >> 1);
	if (below == 0)
		return;
	fprintf(out, "add rule netdev culprit l%u meta l4proto { tcp, udp } ",
	    l);
	if (below < WHOLE && h->type == BLACKHOLE_RULE_PAIR)
		fprintf(out, "jhash ip saddr . ip daddr");
	else if (below < WHOLE)
		fprintf(out,
		    "jhash ip saddr . ip daddr . meta l4proto . th sport . "
		    "th dport");
	if (below < WHOLE)
		fprintf(out, " mod %u seed 0x%x < %u ", WHOLE,
		    (uint32_t)(h->salt >> 32), below);
	fprintf(out, "counter name h%u drop\n", l);
}

/* The chain is flushed and written anew in one transaction, and its counters
 * are objects of their own, so they count on. The order is that of faults.h:
 * count, loss, holes. */
static void put_chain(FILE *out, topo_link l,
    const struct netns_faults_link *link, const struct blackhole_rule hole[])
{
	const uint32_t below = nft_share_of(link->rate);
	fprintf(out,
	    "flush chain netdev culprit l%u\n"
	    "add rule netdev culprit l%u counter name l%u\n",
	    l, l, l);
	if (below >= WHOLE)
		fprintf(out,
		    "add rule netdev culprit l%u counter name r%u drop\n", l,
		    l);
	else if (below > 0)
		fprintf(out,
		    "add rule netdev culprit l%u numgen random mod %u < %u "
		    "counter name r%u drop\n",
		    l, WHOLE, below, l);
	for (uint32_t i = 0; i < link->n_holes; i++)
		put_hole(out, l, &hole[link->first_hole + i]);
}

/* Write the rules of all links into node N; if MAKE, their chains and counters
 * before them. */
static int nft_write_node(struct netns_faults_nft *f, topo_node n,
    const struct netns_faults_link link[], const struct blackhole_rule hole[],
    int make, struct sim_err *e)
{
	char *rules = NULL;
	size_t size;
	FILE *out = open_memstream(&rules, &size);
	if (!out)
		return nft_no_memory(e);
	if (make)
		fprintf(out, "add table netdev culprit\n");
	for (topo_link l = 0; l < f->base.t->n_links; l++) {
		if (netns_faults_end(&f->base, l) != n)
			continue;
		if (make)
			fprintf(out,
			    "add counter netdev culprit l%u\n"
			    "add counter netdev culprit r%u\n"
			    "add counter netdev culprit h%u\n"
			    "add chain netdev culprit l%u { type filter hook "
			    "ingress device l%u priority 0; }\n",
			    l, l, l, l, l);
		put_chain(out, l, &link[l], hole);
	}
	/* A stream in memory fails only for want of memory. */
	const int full = ferror(out);
	int rc = fclose(out) != 0 || full ? nft_no_memory(e)
					  : nft_feed(&f->base, n, rules, e);
	free(rules);
	return rc;
}

/* --- changing ------------------------------------------------------------- */

/* Running nft takes some milliseconds a node, so nodes whose rules would be the
 * same are left alone. */
static int same_holes(const struct netns_faults_nft *f,
    const struct netns_faults_link *is, const struct netns_faults_link *want)
{
	for (uint32_t i = 0; i < is->n_holes; i++) {
		const struct blackhole_rule *a = &f->hole[is->first_hole + i];
		const struct blackhole_rule *b =
		    &f->base.plan.hole[want->first_hole + i];
		if (a->type != b->type || a->below != b->below ||
		    a->salt != b->salt)
			return 0;
	}
	return 1;
}

/* Keep a copy: the plan is built anew before the next comparison. */
static void nft_keep(struct netns_faults_nft *f)
{
	const struct netns_faults_plan *plan = &f->base.plan;
	memcpy(f->is, plan->link, f->base.t->n_links * sizeof(f->is[0]));
	if (plan->n_holes > 0)
		memcpy(f->hole, plan->hole, plan->n_holes * sizeof(f->hole[0]));
	f->n_holes = plan->n_holes;
}

static int nft_apply(struct netns_faults *base, struct sim_err *e)
{
	struct netns_faults_nft *f = (struct netns_faults_nft *)base;
	const struct netns_faults_plan *plan = &base->plan;
	int rc = SIM_RESERVE(&f->hole, &f->cap_holes, plan->n_holes, e);
	if (rc < 0)
		return rc;
	for (topo_link l = 0; l < base->t->n_links; l++) {
		const struct netns_faults_link *is = &f->is[l];
		const struct netns_faults_link *want = &plan->link[l];
		if (nft_share_of(is->rate) != nft_share_of(want->rate) ||
		    is->n_holes != want->n_holes || !same_holes(f, is, want))
			f->dirty[netns_faults_end(base, l)] = 1;
	}
	/* A node where nft failed stays marked, and is written again at the
	 * next change, though `is` then says that nothing is to be done. */
	for (topo_node n = 0; rc == 0 && n < f->n_nodes; n++) {
		if (!f->dirty[n])
			continue;
		rc = nft_write_node(f, n, plan->link, plan->hole, 0, e);
		f->dirty[n] = rc < 0;
	}
	nft_keep(f);
	return rc;
}

/* --- counters ------------------------------------------------------------- */

/* nft lists a counter as "counter l17 {" and, on the next line, "packets 3
 * bytes 120". Returns 0 if there is one that was not made here. */
static int read_counters(const char *text, struct netns_link_count count[],
    uint32_t n_links)
{
	char kind;
	uint32_t l;
	unsigned long long packets, bytes;
	while ((text = strstr(text, "counter ")) != NULL) {
		if (sscanf(text, "counter %c%u { packets %llu bytes %llu",
			&kind, &l, &packets, &bytes) != 4 ||
		    l >= n_links)
			return 0;
		text += strlen("counter ");
		if (kind == 'l') {
			count[l].packets = packets;
			count[l].bytes = bytes;
		} else if (kind == 'r') {
			count[l].n_random = packets;
		} else {
			count[l].n_hole = packets;
		}
	}
	return 1;
}

static int count_links(struct netns_faults *f, struct netns_link_count count[],
    struct sim_err *e)
{
	static const char *const argv[] = {"nft", "list", "counters", NULL};
	const struct netns_faults_nft *x = (struct netns_faults_nft *)f;
	int rc = 0;
	memset(count, 0, f->t->n_links * sizeof(count[0]));
	for (topo_node n = 0; rc == 0 && n < x->n_nodes; n++) {
		char *list = NULL;
		rc = nft_run(f, n, argv, "", &list, e);
		if (rc == 0 && !read_counters(list, count, f->t->n_links))
			rc = sim_fail(e, SIM_EIO,
			    "nft in node %u lists counters that are not ours.",
			    n);
		free(list);
	}
	for (topo_link l = 0; rc == 0 && l < f->t->n_links; l++)
		/* nft knows no flows, so none of these drops is known by
		 * flow. */
		count[l].n_untold = count[l].n_random + count[l].n_hole;
	return rc;
}

/* --- opening and closing -------------------------------------------------- */

static void close_nft(struct netns_faults *base)
{
	struct netns_faults_nft *f = (struct netns_faults_nft *)base;
	for (topo_node n = 0; n < f->n_open; n++)
		nft_feed(base, n, "delete table netdev culprit\n", NULL);
	free(f->is);
	free(f->dirty);
	free(f->hole);
}

static const struct netns_faults_ops nft_ops = {
    .apply = nft_apply,
    .count = count_links,
    .close = close_nft,
};

static int open_nodes(struct netns_faults_nft *f, struct sim_err *e)
{
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < f->n_nodes; n++) {
		rc = nft_write_node(f, n, f->is, f->hole, 1, e);
		f->n_open += rc == 0;
	}
	return rc;
}

int netns_faults_nft_open(struct netns_faults **out,
    const struct netns_net *net, const struct topo *t,
    const struct netns_faults_params *p, struct sim_err *e)
{
	struct netns_faults_nft *f = NULL;
	int rc;
	if (p->syn_timeout_s > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "The timeout of SYNs takes eBPF.");
	if ((rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->base = (struct netns_faults){.ops = &nft_ops,
	    .net = net,
	    .t = t,
	    .p = *p,
	    .caps = {.by = NETNS_FAULTS_NFT}};
	f->n_nodes = t->n_hosts + t->n_switches;
	/* Zeroed, `is` says that no link loses anything, which is what the
	 * first rules do. */
	if ((rc = SIM_ZALLOC(&f->is, t->n_links, e)) == 0 &&
	    (rc = SIM_ZALLOC(&f->dirty, f->n_nodes, e)) == 0)
		rc = open_nodes(f, e);
	if (rc < 0) {
		close_nft(&f->base);
		free(f);
		return rc;
	}
	*out = &f->base;
	return 0;
}
