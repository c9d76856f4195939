/* tests/fuzz/graphml_fuzz.c -- any bytes as a network's GraphML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken is written, and read, and written again: the same bytes, with
 * the same names.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "topo/graph.h"

static int read_bytes(struct topo *t, const void *bytes, size_t n)
{
	char path[64];
	const int fd = memfd_create("graphml", 0);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const int rc = topo_graph_read(t, path, NULL);
	close(fd);
	return rc;
}

static size_t write_bytes(const struct topo *t, char **text)
{
	size_t n;
	FILE *f = open_memstream(text, &n);
	must(f && topo_graph_write(t, f, NULL) == 0);
	fclose(f);
	return n;
}

/* Each node is found by the name that it is shown by. */
static void check_names(const struct topo *a, const struct topo *b)
{
	for (topo_node i = 0; i < a->n_hosts + a->n_switches; i++) {
		char x[64], y[64];
		topo_node found;
		topo_node_name(a, i, x);
		topo_node_name(b, i, y);
		must(strcmp(x, y) == 0);
		must(topo_node_parse(a, x, &found, NULL) == 0 && found == i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct topo t, back;
	if (read_bytes(&t, bytes, n) == 0) {
		char *text, *again;
		const size_t size = write_bytes(&t, &text);
		must(read_bytes(&back, text, size) == 0);
		check_names(&t, &back);
		must(write_bytes(&back, &again) == size &&
		    memcmp(text, again, size) == 0);
		free(text);
		free(again);
		topo_close(&back);
	}
	topo_close(&t);
	return 0;
}
