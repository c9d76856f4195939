/* experiments/live/doctor_store.c -- a collector's folder, looked at by a doctor.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/doctor_store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "results/segments.h"
#include "sim/vec.h"

struct doctor_folder {
	const char *dir;
	int fd;
	unsigned char *buf;    /* [ALGO_PINGMESH_WIRE_MAX] */
	struct topo_ip *agent; /* with a window, in any order, some again */
	size_t n_agents, cap_agents;
};

static int doctor_note_window(struct doctor_folder *f,
    struct xp_doctor_store *s, const struct algo_pingmesh_wire_id *id, size_t n,
    double since_s, struct sim_err *e)
{
	struct algo_pingmesh_window w;
	if (algo_pingmesh_wire_decode_window(&w, NULL, f->buf, n, NULL) < 0)
		return 0;
	const double end_s = 1e-9 * (double)w.end_ns;
	s->window_s = fmax(s->window_s, end_s);
	if (end_s < since_s)
		return 0;
	const int rc =
	    SIM_RESERVE(&f->agent, &f->cap_agents, f->n_agents + 1, e);
	if (rc == 0)
		f->agent[f->n_agents++] = id->src;
	return rc;
}

static int doctor_read_file(struct doctor_folder *f, struct xp_doctor_store *s,
    const char *name, double since_s, struct sim_err *e)
{
	struct algo_pingmesh_wire_id id;
	struct stat st;
	uint64_t size;
	size_t n = 0;
	int fd, rc = res_segments_read(f->fd, f->dir, name, &fd, &size, e);
	if (rc < 0)
		return rc;
	if (fstat(fd, &st) == 0)
		s->written_s = fmax(s->written_s, (double)st.st_mtime);
	FILE *in = fdopen(fd, "rb");
	if (!in) {
		close(fd);
		return sim_fail(e, SIM_EIO, "cannot read %s/%s: %s.", f->dir,
		    name, strerror(errno));
	}
	/* What a collector is just writing ends the file, as damage does. */
	while ((rc = xp_batch_next(in, f->buf, &n, &id, e)) == XP_BATCH_MORE)
		if (id.kind == ALGO_PINGMESH_OF_COUNTERS &&
		    (rc = doctor_note_window(f, s, &id, n, since_s, e)) < 0)
			break;
	fclose(in);
	return rc < 0 ? rc : 0;
}

static int doctor_by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct topo_ip));
}

static uint64_t doctor_distinct(struct doctor_folder *f)
{
	uint64_t n = 0;
	if (f->n_agents > 0)
		qsort(f->agent, f->n_agents, sizeof(*f->agent),
		    doctor_by_address);
	for (size_t i = 0; i < f->n_agents; i++)
		n += i == 0 || !topo_ip_same(&f->agent[i], &f->agent[i - 1]);
	return n;
}

int xp_doctor_look(struct xp_doctor_store *s, const char *dir, double since_s,
    struct sim_err *e)
{
	struct doctor_folder f = {.dir = dir};
	struct dirent **found = NULL;
	*s = (struct xp_doctor_store){.written_s = NAN, .window_s = NAN};
	f.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int n = f.fd < 0 ? -1 : xp_batch_files(f.fd, &found);
	int rc = n < 0
	    ? sim_fail(e, SIM_EIO, "cannot list %s: %s.", dir, strerror(errno))
	    : SIM_ZALLOC(&f.buf, ALGO_PINGMESH_WIRE_MAX, e);
	for (int i = 0; i < n; i++) {
		if (rc == 0 && i + 2 >= n)
			rc = doctor_read_file(&f, s, found[i]->d_name, since_s,
			    e);
		free(found[i]);
	}
	s->n_files = n > 0 ? (uint64_t)n : 0;
	s->n_agents = doctor_distinct(&f);
	free(found);
	free(f.buf);
	free(f.agent);
	if (f.fd >= 0)
		close(f.fd);
	return rc;
}
