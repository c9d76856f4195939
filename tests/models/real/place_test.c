/* tests/models/real/place_test.c -- where a client is, and which places are known.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/place.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "experiments/live/places.h"
#include "tests/test.h"

static uint64_t place4(const char *text)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	assert_int_equal(inet_pton(AF_INET, text, &a.sin_addr), 1);
	return real_place_of((const struct sockaddr *)&a);
}

static uint64_t place6(const char *text)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6};
	assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
	return real_place_of((const struct sockaddr *)&a);
}

static void an_address_of_ipv4_is_a_place(void **state)
{
	(void)state;
	assert_int_equal(place4("10.0.0.7"), real_place_of_ipv4(0x0a000007));
	assert_true(place4("10.0.0.7") != place4("10.0.0.8"));
	assert_true(place4("255.255.255.255") != place4("255.255.255.254"));
}

/* Whoever has one address of a /64 has all of them. */
static void a_64_of_ipv6_is_a_place(void **state)
{
	(void)state;
	assert_true(place6("2001:db8:1:2::1") == place6("2001:db8:1:2:f::9"));
	assert_true(place6("2001:db8:1:2::1") != place6("2001:db8:1:3::1"));
	assert_true(place6("2001:db8::1") != place4("10.0.0.7"));
}

/* A fleet in one /64 is many hosts, and what is beyond is as it was. */
static void hosts_near_by_are_places_each(void **state)
{
	struct topo_ip_net near, none = {.bits = 0};
	struct topo_ip a, b, far, four;
	(void)state;
	assert_ok(topo_ip_net_parse("fd00::/64", &near, test_err()));
	assert_ok(topo_ip_parse("fd00::1", &a, test_err()));
	assert_ok(topo_ip_parse("fd00::2", &b, test_err()));
	assert_ok(topo_ip_parse("fd00:0:0:1::1", &far, test_err()));
	four = topo_ip_of_4(0x0a000007);
	assert_true(real_place_near(&near, &a) != real_place_near(&near, &b));
	assert_true(real_place_near(&none, &a) == real_place_near(&none, &b));
	assert_true(real_place_near(&near, &far) == real_place_of_ip(&far));
	assert_true(real_place_near(&near, &four) == real_place_of_ip(&four));
}

/* Or one client would have two places, and two limits. */
static void ipv4_as_ipv6_is_ipv4(void **state)
{
	(void)state;
	assert_true(place6("::ffff:10.0.0.7") == place4("10.0.0.7"));
}

static void addresses_of_sockets_read_back(void **state)
{
	static const char *const texts[] = {"10.0.0.7", "::1", "fd00::7"};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sockaddr_storage at;
		struct topo_ip ip, back;
		assert_ok(topo_ip_parse(texts[i], &ip, test_err()));
		const socklen_t n = real_ip_at(&ip, 8765, &at);
		const struct sockaddr *a = (const struct sockaddr *)&at;
		assert_true(real_ip_of(a, &back));
		assert_true(topo_ip_same(&ip, &back));
		assert_int_equal(n,
		    i == 0 ? sizeof(struct sockaddr_in)
			   : sizeof(struct sockaddr_in6));
		/* Both families have the port in one place. */
		assert_int_equal(ntohs(
				     ((const struct sockaddr_in *)(const void *)
					     a)
					 ->sin_port),
		    8765);
	}
}

static void another_family_is_nowhere(void **state)
{
	const struct sockaddr a = {.sa_family = AF_UNIX};
	struct xp_places p = {{0}};
	(void)state;
	assert_int_equal(real_place_of(&a), 0);
	assert_false(xp_places_has(&p, 0));
}

/* One that is forgotten is unknown, and nobody else is known for it. */
static void who_has_shown_who_it_is_is_known(void **state)
{
	static struct xp_places p;
	enum { N = 1000 };
	unsigned n_known = 0;
	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		const uint64_t place = real_place_of_ipv4(0x0a000001 + i);
		assert_false(xp_places_has(&p, place));
		xp_places_add(&p, place);
		assert_true(xp_places_has(&p, place));
	}
	for (uint32_t i = 0; i < N; i++)
		n_known += (unsigned)xp_places_has(&p,
		    real_place_of_ipv4(0x0a000001 + i));
	/* Of 1,000 in 16,384 slots some 30 fall on another's. */
	assert_in_range(n_known, N - 60, N);
	for (uint32_t i = 0; i < N; i++)
		assert_false(
		    xp_places_has(&p, real_place_of_ipv4(0xc0000001 + i)));
}

/* One batch, or many at a time, is not enough: three marks that are five minutes
 * apart, and never a gap of more than fifteen. */
static void who_sends_for_ten_minutes_has_passed(void **state)
{
	static struct xp_trials t;
	const uint64_t place = real_place_of_ipv4(0x0a000001);
	const uint64_t apart = 1000 * XP_TRIAL_APART_S;
	uint64_t now = 7;
	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_false(xp_trials_batch(&t, place, now));
	assert_false(xp_trials_batch(&t, place, now + apart - 1));
	assert_false(xp_trials_batch(&t, place, now + apart));
	assert_false(xp_trials_batch(&t, place, now + 2 * apart - 1));
	assert_true(xp_trials_batch(&t, place, now + 2 * apart));
	/* Passed, and forgotten here. */
	now += 2 * apart;
	assert_false(xp_trials_batch(&t, place, now));
	assert_false(xp_trials_batch(&t, place, now + apart));
	now += apart + 1000 * XP_TRIAL_GAP_S + 1;
	assert_false(xp_trials_batch(&t, place, now));
	assert_false(xp_trials_batch(&t, place, now + apart));
	assert_true(xp_trials_batch(&t, place, now + 2 * apart));
	assert_false(xp_trials_batch(&t, 0, now));
}

/* Whoever falls on the slot of one who is on trial cannot end that. */
static void a_trial_is_not_ended_by_others(void **state)
{
	static struct xp_trials t;
	const uint64_t place = real_place_of_ipv4(0x0a000001);
	const uint64_t apart = 1000 * XP_TRIAL_APART_S;
	(void)state;
	for (int mark = 0; mark < XP_TRIAL_MARKS; mark++) {
		assert_int_equal(xp_trials_batch(&t, place, mark * apart),
		    mark == XP_TRIAL_MARKS - 1);
		for (uint32_t i = 2; i < 60000 && mark < 2; i++)
			assert_false(xp_trials_batch(&t,
			    real_place_of_ipv4(0x0a000000 + i), mark * apart));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_address_of_ipv4_is_a_place),
	    cmocka_unit_test(a_64_of_ipv6_is_a_place),
	    cmocka_unit_test(hosts_near_by_are_places_each),
	    cmocka_unit_test(ipv4_as_ipv6_is_ipv4),
	    cmocka_unit_test(addresses_of_sockets_read_back),
	    cmocka_unit_test(another_family_is_nowhere),
	    cmocka_unit_test(who_has_shown_who_it_is_is_known),
	    cmocka_unit_test(who_sends_for_ten_minutes_has_passed),
	    cmocka_unit_test(a_trial_is_not_ended_by_others),
	};
	return cmocka_run_group_tests_name("models/real/place", tests, NULL,
	    NULL);
}
