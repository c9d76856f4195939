/* tests/experiments/everflow/tell_test.c -- traces in words, letter by letter.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/tell.h"

#include "algos/everflow/filter.h"
#include "results/traces.h"
#include "tests/rigs/traces.h"
#include "tests/test.h"
#include "topo/addr.h"

/* What a call writes to OUT, in BUF. */
static FILE *tell_begin(char *buf, size_t size)
{
	memset(buf, 0, size);
	FILE *out = fmemopen(buf, size, "w");
	assert_non_null(out);
	return out;
}

/* A packet from host 3 to a virtual address, with two hops. */
static struct algo_trace tell_trace(struct algo_hop hop[2])
{
	hop[0] = (struct algo_hop){.t_ns = 1500000000,
	    .switch_ns = 1,
	    .node = 1,
	    .in_link = 6,
	    .layer = 1,
	    .ttl = 63,
	    .tos = 46 << 2 | 3};
	hop[1] = (struct algo_hop){.t_ns = 1500002000,
	    .node = 4,
	    .in_link = TOPO_NONE,
	    .ttl = 62,
	    .tos = 1};
	return (struct algo_trace){.t_ns = 1500000000,
	    .end_ns = 1500002000,
	    .marks = ALGO_TRACE_SUSPECT | ALGO_TRACE_MUX,
	    .src_ip = topo_addr_of_host(3),
	    .dst_ip = topo_addr_of_vip(1),
	    .seq = 11,
	    .ack = 12,
	    .n_bytes = 1514,
	    .lost_link = 7,
	    .src_port = 1024,
	    .dst_port = 80,
	    .ip_id = 9,
	    .n_hops = 2,
	    .n_lost = 5,
	    .proto = 6,
	    .flags = 0x12,
	    .kind = OBS_COPY_RETX};
}

/* --- names ---------------------------------------------------------------- */

static void things_have_names_or_numbers(void **state)
{
	struct topo t = traces_net();
	char buf[XP_TELL_NAME];
	(void)state;
	assert_string_equal(xp_tell_switch(&t, 1, buf), "tor1");
	assert_string_equal(xp_tell_switch(&t, 4, buf), "t1.0");
	assert_string_equal(xp_tell_switch(NULL, 4, buf), "switch 4");
	assert_string_equal(xp_tell_switch(&t, TOPO_NONE, buf), "-");
	assert_string_equal(xp_tell_switch(NULL, TOPO_NONE, buf), "-");
	assert_string_equal(xp_tell_link(&t, 6, buf), "host3->tor1");
	assert_string_equal(xp_tell_link(&t, 7, buf), "tor1->host3");
	assert_string_equal(xp_tell_link(NULL, 7, buf), "link 7");
	assert_string_equal(xp_tell_link(&t, TOPO_NONE, buf), "-");
	assert_string_equal(xp_tell_link(NULL, TOPO_NONE, buf), "-");
	topo_close(&t);
}

static void addresses_are_those_of_the_network(void **state)
{
	struct topo t = traces_net();
	char buf[XP_TELL_NAME];
	const uint32_t host = topo_addr_of_host(t.n_hosts - 1);
	const uint32_t at = topo_addr_of_switch(t.n_switches - 1);
	(void)state;
	assert_string_equal(xp_tell_address(&t, topo_addr_of_host(0), buf),
	    "host0");
	assert_string_equal(xp_tell_address(&t, host, buf), "host7");
	assert_string_equal(xp_tell_address(&t, host + 1, buf), "10.0.0.9");
	assert_string_equal(xp_tell_address(&t, topo_addr_of_switch(0), buf),
	    "tor0");
	assert_string_equal(xp_tell_address(&t, at, buf), "t2.1");
	assert_string_equal(xp_tell_address(&t, at + 1, buf), "172.16.0.10");
	assert_string_equal(xp_tell_address(NULL, host, buf), "10.0.0.8");
	assert_string_equal(xp_tell_address(NULL, at, buf), "172.16.0.9");
	topo_close(&t);
}

static void each_mark_has_its_word(void **state)
{
	static const char *const words[] = {
#define X(mark, word, text) word,
	    ALGO_TRACE_MARKS(X)
#undef X
	};
	char buf[256], want[256];
	(void)state;
	for (uint32_t marks = 0; marks < 1u << ALGO_TRACE_N_MARKS; marks++) {
		struct sim_text out = {buf, sizeof(buf), 0};
		sim_put(&out, "|");
		xp_tell_marks(&out, marks);
		strcpy(want, "|");
		for (unsigned i = 0; i < ALGO_TRACE_N_MARKS; i++)
			if (marks >> i & 1) {
				strcat(want, want[1] ? "," : "");
				strcat(want, words[i]);
			}
		assert_string_equal(buf, marks ? want : "|-");
	}
}

static void each_flag_of_tcp_has_its_name(void **state)
{
	static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK",
	    "URG", "ECE", "CWR"};
	char buf[64], want[64];
	(void)state;
	for (unsigned flags = 0; flags < 256; flags++) {
		struct sim_text out = {buf, sizeof(buf), 0};
		sim_put(&out, "+");
		xp_tell_flags(&out, (uint8_t)flags);
		strcpy(want, "+");
		for (unsigned i = 0; i < 8; i++)
			if (flags >> i & 1) {
				strcat(want, want[1] ? "|" : "");
				strcat(want, names[i]);
			}
		assert_string_equal(buf, flags ? want : "+-");
	}
}

/* --- traces --------------------------------------------------------------- */

static void a_row_has_what_its_head_names(void **state)
{
	struct topo t = traces_net();
	struct algo_hop hop[2];
	struct algo_trace x = tell_trace(hop);
	char buf[1024];
	(void)state;
	FILE *out = tell_begin(buf, sizeof(buf));
	xp_tell_row(out, &t, 17, &x, hop);
	x.n_hops = 0;
	x.marks = 0;
	x.flags = 0;
	x.lost_link = TOPO_NONE;
	xp_tell_row(out, NULL, 18, &x, hop);
	fclose(out);
	assert_string_equal(buf,
	    "17\t1.500000000\thost3\t1024\t198.18.0.1\t80\t6\t9\tSYN|"
	    "ACK\tretx\t"
	    "suspect,mux\ttor1->host3\ttor1 t1.0\n"
	    "18\t1.500000000\t10.0.0.4\t1024\t198.18.0.1\t80\t6\t9\t-\tretx\t-"
	    "\t"
	    "-\t\n");
	unsigned n_head = 0, n_row = 0;
	for (const char *p = xp_tell_head; *p; p++)
		n_head += *p == '\t';
	for (const char *p = buf; *p != '\n'; p++)
		n_row += *p == '\t';
	assert_int_equal(n_head, n_row);
	topo_close(&t);
}

static void an_object_has_what_is_known(void **state)
{
	struct topo t = traces_net();
	struct algo_hop hop[2];
	struct algo_trace x = tell_trace(hop);
	char buf[2048];
	(void)state;
	FILE *out = tell_begin(buf, sizeof(buf));
	xp_tell_json(out, &t, 0, 17, &x, hop);
	fclose(out);
	assert_string_equal(buf,
	    "{\"id\": 17, \"t_ns\": 1500000000, \"end_ns\": 1500002000, "
	    "\"src\": \"host3\", \"dst\": \"198.18.0.1\", \"src_port\": 1024, "
	    "\"dst_port\": 80, \"proto\": 6, \"ip_id\": 9, \"flags\": 18, "
	    "\"seq\": 11, \"ack\": 12, \"bytes\": 1514, \"kind\": \"retx\", "
	    "\"marks\": [\"suspect\", \"mux\"], \"lost_link\": "
	    "\"tor1->host3\", \"mirrors_lost\": 5, \"hops\": [{\"t_ns\": "
	    "1500000000, \"switch\": \"tor1\", \"link\": \"host3->tor1\", "
	    "\"switch_ns\": 1, \"layer\": 1, \"ttl\": 63, \"dscp\": 46, "
	    "\"ecn\": 3}, {\"t_ns\": 1500002000, \"switch\": \"t1.0\", "
	    "\"layer\": 0, \"ttl\": 62, \"dscp\": 0, \"ecn\": 1}]}");
	/* Behind others, and of nothing that is known. */
	x.n_hops = 0;
	x.marks = 0;
	x.lost_link = TOPO_NONE;
	out = tell_begin(buf, sizeof(buf));
	xp_tell_json(out, NULL, 1, 18, &x, hop);
	fclose(out);
	assert_memory_equal(buf, ",\n{\"id\": 18, ", 13);
	assert_non_null(strstr(buf,
	    "\"kind\": \"retx\", \"marks\": [], \"mirrors_lost\": 5, "
	    "\"hops\": []}"));
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(things_have_names_or_numbers),
	    cmocka_unit_test(addresses_are_those_of_the_network),
	    cmocka_unit_test(each_mark_has_its_word),
	    cmocka_unit_test(each_flag_of_tcp_has_its_name),
	    cmocka_unit_test(a_row_has_what_its_head_names),
	    cmocka_unit_test(an_object_has_what_is_known),
	};
	return cmocka_run_group_tests_name("experiments/everflow/tell", tests,
	    NULL, NULL);
}
