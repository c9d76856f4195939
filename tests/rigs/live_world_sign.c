/* tests/rigs/live_world_sign.c -- signatures that cost a world next to nothing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The arithmetic of Ed25519 was five sixths of what a world took, and is tried by
 * experiments_live_list_sign_test. So in a world what is signed is a sum of the
 * public key and the text: whoever has the key may forge it, but the impostors of a
 * world do not. Keys, texts, marks and all that is decided by them are the real ones.
 */
#include <string.h>

#include "experiments/live/gnutls.late.h"
#include "tests/rigs/live_world.h"
#include "tests/test.h"

/* The pointers themselves are meant here. */
#undef gnutls_privkey_sign_data2
#undef gnutls_pubkey_verify_data2

enum { SUM = 64, TEXT = 4096 }; /* Ed25519's signatures are as long */

static void sum_up(gnutls_pubkey_t key, const gnutls_datum_t *text,
    unsigned char sum[SUM])
{
	unsigned char all[TEXT];
	gnutls_datum_t name;
	assert_true(
	    gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &name) >= 0);
	const size_t n = (size_t)name.size + text->size;
	assert_true(n <= sizeof(all));
	memcpy(all, name.data, name.size);
	memcpy(all + name.size, text->data, text->size);
	gnutls_free(name.data);
	assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA512, all, n, sum), 0);
}

static int sign(gnutls_privkey_t key, gnutls_sign_algorithm_t algo,
    unsigned flags, const gnutls_datum_t *text, gnutls_datum_t *signature)
{
	gnutls_pubkey_t own;
	(void)algo;
	(void)flags;
	assert_true(gnutls_pubkey_init(&own) >= 0);
	assert_true(gnutls_pubkey_import_privkey(own, key, 0, 0) >= 0);
	signature->size = SUM;
	signature->data = malloc(SUM);
	assert_non_null(signature->data);
	sum_up(own, text, signature->data);
	gnutls_pubkey_deinit(own);
	return 0;
}

static int verify(gnutls_pubkey_t key, gnutls_sign_algorithm_t algo,
    unsigned flags, const gnutls_datum_t *text, const gnutls_datum_t *signature)
{
	unsigned char sum[SUM];
	(void)algo;
	(void)flags;
	sum_up(key, text, sum);
	return signature->size == SUM && memcmp(signature->data, sum, SUM) == 0
	    ? 0
	    : GNUTLS_E_PK_SIG_VERIFY_FAILED;
}

void world_sign_cheaply(int is_cheap)
{
	static struct late_gnutls real;
	assert_ok(sim_late_load(&late_gnutls_library, test_err()));
	if (!real.gnutls_privkey_sign_data2)
		real = late_gnutls;
	late_gnutls.gnutls_privkey_sign_data2 =
	    is_cheap ? sign : real.gnutls_privkey_sign_data2;
	late_gnutls.gnutls_pubkey_verify_data2 =
	    is_cheap ? verify : real.gnutls_pubkey_verify_data2;
}
