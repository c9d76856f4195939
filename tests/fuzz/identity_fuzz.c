/* tests/fuzz/identity_fuzz.c -- certificates and keys that somebody has forged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says which of an agent's three files is changed; the rest are
 * changes (fuzz_change()). Unless that byte has its bit 2, what they put are
 * letters of base 64, which change what a text stands for and not its form.
 */
#include <ftw.h>
#include <sys/stat.h>

#include "experiments/live/ca.h"
#include "experiments/live/identity.h"
#include "results/file.h"
#include "tests/fuzz/fuzz.h"

enum { FILES = XP_IDENTITY_FILES, MAX = 4096 };

static struct {
	unsigned char *text;
	size_t n;
	int fd; /* a file in memory that only its owner may read */
	char path[32];
} good[FILES];

/* GnuTLS itself loses the first certificate of a chain whose second it cannot read. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:gnutls_certificate_set_x509_key_mem2\n"
	       "leak:gnutls_x509_crt_init\n";
}

static int remove_one(const char *path, const struct stat *st, int type,
    struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

/* Without GnuTLS there is nothing to be read. */
static void make_good(void)
{
	static const char *const names[FILES] = {"ca.pem", "10.0.0.1.pem",
	    "10.0.0.1.key"};
	char folder[] = "/tmp/culprit-identity-XXXXXX", path[128];
	struct sim_err e = {0};
	struct xp_ca *ca = NULL;
	void *bytes;
	int is_new;
	must(mkdtemp(folder) != NULL);
	if (xp_ca_open(&ca, folder, &is_new, &e) == 0)
		must(xp_ca_issue(ca, XP_CA_AGENT, "10.0.0.1", 1763894400, 3650,
			 &e) == 0);
	for (int i = 0; ca && i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		must(res_file_read(path, &bytes, &good[i].n, &e) == 0);
		good[i].text = bytes;
		good[i].fd = memfd_create("pem", MFD_CLOEXEC);
		must(good[i].fd >= 0 && fchmod(good[i].fd, 0600) == 0);
		must(pwrite(good[i].fd, bytes, good[i].n, 0) ==
		    (ssize_t)good[i].n);
		snprintf(good[i].path, sizeof(good[i].path), "/proc/self/fd/%d",
		    good[i].fd);
	}
	xp_ca_close(ca);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Where and how much stays, what is put becomes letters. */
static void make_letters(uint8_t *bytes, size_t n)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	while (n >= 5) {
		size_t k = bytes[3] % 64u + 1;
		bytes += 4;
		n -= 4;
		k = k < n ? k : n;
		for (size_t i = 0; i < k; i++)
			bytes[i] = (uint8_t)letters[bytes[i] % 64];
		bytes += k;
		n -= k;
	}
}

static void put(int i, const void *text, size_t n)
{
	must(pwrite(good[i].fd, text, n, 0) == (ssize_t)n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsigned char text[MAX];
	uint8_t changes[MAX];
	struct xp_identity x;
	struct sim_err e = {0};
	static int is_made;
	if (!is_made++)
		make_good();
	if (n < 1 || n > MAX || !good[0].text)
		return 0;
	const int i = bytes[0] % 4 % FILES;
	must(good[i].n <= MAX);
	memcpy(changes, bytes + 1, n - 1);
	if (!(bytes[0] & 4))
		make_letters(changes, n - 1);
	memcpy(text, good[i].text, good[i].n);
	fuzz_change(text, good[i].n, changes, n - 1);
	put(i, text, good[i].n);
	const struct xp_identity_params p = {.ca = good[0].path,
	    .cert = good[1].path,
	    .key = good[2].path};
	const int rc = xp_identity_open(&x, &p, &e);
	must(rc == 0 || e.msg[0] != '\0');
	/* Nothing is changed, and they fit together. */
	must(n >= 6 || rc == 0);
	xp_identity_close(&x);
	put(i, good[i].text, good[i].n);
	return 0;
}
