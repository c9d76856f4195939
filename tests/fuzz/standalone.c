/* tests/fuzz/standalone.c -- runs a fuzz target over files, without libFuzzer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For compilers without -fsanitize=fuzzer, and to replay a corpus in a gate.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int run_file(const char *path)
{
	enum { MOST = 1 << 22 };
	int rc = -1;
	uint8_t *exact = NULL, *bytes = malloc(MOST);
	FILE *in = fopen(path, "rb");
	if (in && bytes) {
		size_t n = fread(bytes, 1, MOST, in);
		/* A block of just this size lets ASan see a read past it. */
		if (!ferror(in) && (exact = malloc(n ? n : 1))) {
			for (size_t i = 0; i < n; i++)
				exact[i] = bytes[i];
			rc = LLVMFuzzerTestOneInput(exact, n);
		}
	}
	if (rc < 0)
		fprintf(stderr, "%s: cannot be read.\n", path);
	if (in)
		fclose(in);
	free(exact);
	free(bytes);
	return rc;
}

int main(int argc, char **argv)
{
	int bad = 0;
	for (int i = 1; i < argc; i++)
		bad |= run_file(argv[i]) < 0;
	printf("%d inputs\n", argc - 1);
	return bad;
}
