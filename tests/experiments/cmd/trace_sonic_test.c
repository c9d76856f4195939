/* tests/experiments/cmd/trace_sonic_test.c -- mirror rules for SONiC, word by word.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace_sonic.h"

#include "tests/test.h"

static char config[8192], notes[2048];

/* Writes S; returns how many rows are left out. */
static unsigned sonic(const struct cmd_sonic *s)
{
	memset(config, 0, sizeof(config));
	memset(notes, 0, sizeof(notes));
	FILE *out = fmemopen(config, sizeof(config), "w"),
	     *told = fmemopen(notes, sizeof(notes), "w");
	assert_true(out && told);
	const unsigned n = cmd_sonic_write(s, out, told);
	assert_int_equal(fclose(out) | fclose(told), 0);
	return n;
}

#define SESSION                                                                \
	"            \"type\": \"ERSPAN\",\n"                                  \
	"            \"src_ip\": \"10.0.0.1\",\n"                              \
	"            \"dst_ip\": \"10.9.9.9\",\n"                              \
	"            \"gre_type\": \"0x88be\",\n"                              \
	"            \"dscp\": \"0\",\n"                                       \
	"            \"ttl\": \"64\",\n"                                       \
	"            \"queue\": \"0\",\n"
#define TYPE                                                                   \
	"    \"ACL_TABLE_TYPE\": {\n"                                          \
	"        \"EVERFLOW_TYPE\": {\n"                                       \
	"            \"MATCHES\": [\"ETHER_TYPE\", \"IP_PROTOCOL\", "          \
	"\"SRC_IP\", \"DST_IP\", \"L4_SRC_PORT\", \"L4_DST_PORT\", "           \
	"\"TCP_FLAGS\", \"DSCP\", \"BTH_OPCODE\", \"AETH_SYNDROME\"],\n"       \
	"            \"ACTIONS\": [\"PACKET_ACTION\", "                        \
	"\"MIRROR_INGRESS_ACTION\"],\n"                                        \
	"            \"BIND_POINTS\": [\"PORT\", \"PORTCHANNEL\"]\n"           \
	"        }\n"                                                          \
	"    },\n"
#define TABLE(ports)                                                           \
	"    \"ACL_TABLE\": {\n"                                               \
	"        \"EVERFLOW\": {\n"                                            \
	"            \"policy_desc\": \"what is mirrored for Everflow\",\n"    \
	"            \"type\": \"EVERFLOW_TYPE\",\n"                           \
	"            \"stage\": \"ingress\",\n"                                \
	"            \"ports\": [" ports "]\n"                                 \
	"        }\n"                                                          \
	"    },\n"

/* Of the four rows of the test below. */
#define RULES                                                                  \
	"    \"ACL_RULE\": {\n"                                                \
	"        \"EVERFLOW|RULE_0\": {\n"                                     \
	"            \"PRIORITY\": \"9999\",\n"                                \
	"            \"IP_PROTOCOL\": \"47\",\n"                               \
	"            \"DST_IP\": \"10.9.9.9/32\",\n"                           \
	"            \"PACKET_ACTION\": \"FORWARD\"\n"                         \
	"        },\n"                                                         \
	"        \"EVERFLOW|RULE_1\": {\n"                                     \
	"            \"PRIORITY\": \"9998\",\n"                                \
	"            \"IP_PROTOCOL\": \"6\",\n"                                \
	"            \"L4_SRC_PORT\": \"80\",\n"                               \
	"            \"L4_DST_PORT\": \"443\",\n"                              \
	"            \"TCP_FLAGS\": \"0x02/0x07\",\n"                          \
	"            \"MIRROR_INGRESS_ACTION\": \"everflow\"\n"                \
	"        },\n"                                                         \
	"        \"EVERFLOW|RULE_2\": {\n"                                     \
	"            \"PRIORITY\": \"9997\",\n"                                \
	"            \"ETHER_TYPE\": \"0x0800\",\n"                            \
	"            \"DSCP\": \"46\",\n"                                      \
	"            \"BTH_OPCODE\": \"0x11/0x1f\",\n"                         \
	"            \"AETH_SYNDROME\": \"0x60/0xe0\",\n"                      \
	"            \"MIRROR_INGRESS_ACTION\": \"everflow\"\n"                \
	"        },\n"                                                         \
	"        \"EVERFLOW|RULE_3\": {\n"                                     \
	"            \"PRIORITY\": \"9996\",\n"                                \
	"            \"ETHER_TYPE\": \"0x86dd\",\n"                            \
	"            \"MIRROR_INGRESS_ACTION\": \"everflow_sample\"\n"         \
	"        }\n"                                                          \
	"    }\n"

/* Rows with each field that SONiC has, samples, a policer and ports. */
static void a_configuration_is_this(void **state)
{
	static const struct mirror_params mirror = {.truncate = 96,
	    .policer = 1000,
	    .police_burst = 17};
	static const struct algo_mirror_table t = {.n = 4,
	    .row = {
		{.value = {.proto = 47, .ethertype = 0x800, .is_mirror = 1},
		    .mask = {.proto = 255, .ethertype = 0xffff, .is_mirror = 1},
		    .kind = OBS_MATCH_NEVER},
		{.value = {.proto = 6,
		     .src_port = 80,
		     .dst_port = 443,
		     .tcp_flags = 2},
		    .mask = {.proto = 255,
			.src_port = 0xffff,
			.dst_port = 0xffff,
			.tcp_flags = 7}},
		{.value = {.ethertype = 0x800,
		     .tos = 46 << 2,
		     .bth_opcode = 0x11,
		     .aeth = 0x60},
		    .mask = {.ethertype = 0xffff,
			.tos = 0xfc,
			.bth_opcode = 0x1f,
			.aeth = 0xe0}},
		{.value = {.ethertype = 0x86dd},
		    .mask = {.ethertype = 0xffff},
		    .one_in = 256},
	    }};
	const struct cmd_sonic s = {&t, &mirror, "10.0.0.1", "10.9.9.9",
	    "Ethernet0,b,Ethernet44"};
	(void)state;
	assert_int_equal(sonic(&s), 0);
	assert_string_equal(notes,
	    "culprit: row 0 (never) is not the same: no rule matches the "
	    "protocol of GRE: all GRE to the collector is spared.\n");
	assert_string_equal(config,
	    "{\n"
	    "    \"MIRROR_SESSION\": {\n"
	    "        \"everflow\": {\n" SESSION
	    "            \"truncate_size\": \"96\",\n"
	    "            \"policer\": \"everflow\"\n"
	    "        },\n"
	    "        \"everflow_sample\": {\n" SESSION
	    "            \"truncate_size\": \"96\",\n"
	    "            \"sample_rate\": \"256\",\n"
	    "            \"policer\": \"everflow\"\n"
	    "        }\n"
	    "    },\n"
	    "    \"POLICER\": {\n"
	    "        \"everflow\": {\n"
	    "            \"meter_type\": \"packets\",\n"
	    "            \"mode\": \"sr_tcm\",\n"
	    "            \"cir\": \"1000\",\n"
	    "            \"cbs\": \"17\",\n"
	    "            \"red_packet_action\": \"drop\"\n"
	    "        }\n"
	    "    },\n" TYPE TABLE("\"Ethernet0\", \"b\", \"Ethernet44\"") RULES
	    "}\n");
}

/* One row each, of which SONiC has no rule; with no ports, policer or sample. */
static void what_sonic_cannot_have_is_left_out_and_told(void **state)
{
	static const struct {
		struct obs_match_row row;
		const char *why;
	} t[] = {
	    {{.inner = 1},
		"no rule matches flags, DSCP, ID, TTL or RoCE of an inner "
		"header"},
	    {{.mask = {.ip_id = 1}}, "no rule matches the IP ID"},
	    {{.mask = {.ttl = 1}}, "no rule matches the TTL"},
	    {{.mask = {.tos = 1}}, "no rule matches ECN"},
	    {{.mask = {.tos = 2}}, "no rule matches ECN"},
	    {{.one_in = 2}, "sample_rate is 256 or more"},
	    {{.one_in = 255}, "sample_rate is 256 or more"},
	};
	static const struct mirror_params mirror = {.truncate = 128};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct algo_mirror_table table = {1, {t[i].row}};
		const struct cmd_sonic s = {&table, &mirror, "10.0.0.1",
		    "10.9.9.9", NULL};
		char want[256];
		assert_int_equal(sonic(&s), 1);
		snprintf(want, sizeof(want),
		    "culprit: row 0 (%s%s) is left out: %s.\n",
		    t[i].row.inner ? "inner " : "",
		    algo_mirror_action(&t[i].row), t[i].why);
		assert_string_equal(notes, want);
		assert_string_equal(config,
		    "{\n"
		    "    \"MIRROR_SESSION\": {\n"
		    "        \"everflow\": {\n" SESSION
		    "            \"truncate_size\": \"128\"\n"
		    "        }\n"
		    "    },\n" TYPE TABLE("") "    \"ACL_RULE\": {}\n"
					      "}\n");
	}
}

/* A sample of 1 is all, and has no session of its own; a mask that is a part of
 * the DSCP is taken for the whole. */
static void what_is_narrower_there_is_told(void **state)
{
	static const struct mirror_params mirror = {.truncate = 128};
	static const struct algo_mirror_table t = {2,
	    {{.mask = {.tos = 0x04}, .value = {.tos = 0x04}, .one_in = 1},
		{.mask = {.tos = 0xfc}}}};
	const struct cmd_sonic s = {&t, &mirror, "10.0.0.1", "10.9.9.9",
	    "Ethernet0"};
	char want[256];
	(void)state;
	assert_int_equal(sonic(&s), 0);
	snprintf(want, sizeof(want),
	    "culprit: row 0 (%s) is not the same: DSCP has no mask: only "
	    "packets with no other bit of it are taken.\n",
	    algo_mirror_action(&t.row[0]));
	assert_string_equal(notes, want);
	assert_null(strstr(config, "everflow_sample"));
	assert_null(strstr(config, "POLICER"));
	assert_non_null(strstr(config, "\"DSCP\": \"1\""));
	assert_non_null(strstr(config, "\"DSCP\": \"0\""));
	assert_non_null(strstr(config, "\"ports\": [\"Ethernet0\"]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_configuration_is_this),
	    cmocka_unit_test(what_sonic_cannot_have_is_left_out_and_told),
	    cmocka_unit_test(what_is_narrower_there_is_told),
	};
	return cmocka_run_group_tests_name("experiments/cmd/trace_sonic", tests,
	    NULL, NULL);
}
