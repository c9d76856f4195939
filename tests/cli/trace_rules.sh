#!/bin/bash
# tests/cli/trace_rules.sh -- culprit trace rules: TCAM, eBPF, SONiC.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

rows_are_told_and_counted() {
	run_for 0 "$CULPRIT" trace rules
	says '^ 0  outer .* gre.mirror=0x01/0x01 -> never$' stdout
	says '^ 5  outer .* ip.id=0x0001/0x03ff .* -> sample$' stdout
	says '^16 rows$' stdout
	run_for 0 "$CULPRIT" trace rules -p sample=random -p sample_n=300 \
	    -p 'rules=[sample]' -p inner=false
	says ' -> sample 1 in 300$' stdout
	says '^2 rows$' stdout
}

a_spec_has_rules_of_its_own() {
	write_spec 'plane: everflow
everflow: { rules: [control, sample], sample_n: 64, mirror: { truncate: 96 } }'
	sed -i '/^algorithms/d; /^  zip:/d; /^claims/,/^  - /d' spec.yaml
	run_for 0 "$CULPRIT" trace rules spec.yaml
	says '^9 rows$' stdout
	says ' ip.id=0x0001/0x003f ' stdout
	run_for 0 "$CULPRIT" trace rules spec.yaml -s everflow.sample_n=32
	says ' ip.id=0x0001/0x001f ' stdout
	# shellcheck disable=SC2086
	run_for 0 "$CULPRIT" trace rules spec.yaml $sonic
	says '"truncate_size": "96"' stdout
	run_for 2 "$CULPRIT" trace rules spec.yaml -p sample_n=32
	says 'SPEC, which takes --set'
	run_for 2 "$CULPRIT" trace rules -s everflow.sample_n=32
	says '[-]-set is for a SPEC'
	write_spec
	run_for 2 "$CULPRIT" trace rules spec.yaml
	says 'mirrors no packets; plane everflow does'
}

mistakes_are_told() {
	run_for 2 "$CULPRIT" trace rules -p sample_n=3
	says 'power of two'
	run_for 2 "$CULPRIT" trace rules -p sampel_n=4
	says 'sample_n'
	run_for 2 "$CULPRIT" trace rules --as xml
	says 'none of tcam, sonic and bpf'
	run_for 2 "$CULPRIT" trace rules --as sonic
	says 'takes --source and --collector'
	run_for 2 "$CULPRIT" trace rules --collector 10.0.0.1
	says 'for --as sonic'
	run_for 2 "$CULPRIT" trace rules --as sonic --source 10.0.0 \
	    --collector 10.0.0.1
	says '.-source: '
}

# Value, mask, share, header and kind stand where the struct has them.
bytes_are_those_of_the_rows() {
	run_for 0 "$CULPRIT" trace rules --as bpf -p rules='[control, sample]' \
	    -p sample=random -p sample_n=1000
	/usr/bin/python3 - stdout <<-'END'
		import struct, sys
		rows = [bytes.fromhex(x) for x in open(sys.argv[1])]
		key = struct.Struct('=IIHHHHBBBBBBBB')
		assert key.size == 24 and len(rows) == 8, len(rows)
		def row(b):
		    assert len(b) == 56
		    return key.unpack(b[:24]), key.unpack(b[24:48]), \
		        struct.unpack('=IBBBB', b[48:])
		value, mask, (one_in, inner, kind, *zero) = row(rows[0])
		assert value[2] == 0x800 and value[6] == 47 and kind == 0xff
		value, mask, (one_in, inner, kind, *zero) = row(rows[1])
		assert (value[9], mask[9], value[6], mask[6]) == (2, 2, 6, 255)
		assert (one_in, inner, kind, zero) == (0, 0, 0, [0, 0])
		assert row(rows[4])[2][:3] == (1000, 0, 2)
		assert row(rows[5])[2][1] == 1
	END
}

check_sonic() {
	/usr/bin/python3 - "$tree/tests/data/sonic.schema.json" stdout "$@" <<-'END'
		import json, jsonschema, sys
		schema, config = (json.load(open(f)) for f in sys.argv[1:3])
		jsonschema.validate(config, schema)
		sessions, rules = config['MIRROR_SESSION'], config['ACL_RULE']
		for name, rule in rules.items():
		    table, _, _ = name.partition('|')
		    kind = config['ACL_TABLE_TYPE'][config['ACL_TABLE'][table]['type']]
		    for key in rule:
		        assert key == 'PRIORITY' or key in kind['MATCHES'] + \
		            kind['ACTIONS'], key
		    to = rule.get('MIRROR_INGRESS_ACTION')
		    assert to is None or to in sessions, to
		for s in sessions.values():
		    assert s.get('policer') in [None, *config.get('POLICER', {})]
		first = max(rules.values(), key=lambda r: int(r['PRIORITY']))
		assert first['PACKET_ACTION'] == 'FORWARD'
		assert first['DST_IP'] == '10.9.9.9/32'
		assert len(rules) == int(sys.argv[3]), len(rules)
	END
}

sonic="--as sonic --source 172.16.0.3 --collector 10.9.9.9"

sonic_gets_what_it_can_match() {
	# shellcheck disable=SC2086
	run_for 0 "$CULPRIT" trace rules $sonic --ports Ethernet0,Ethernet4
	check_sonic 9
	says '"ports": \["Ethernet0", "Ethernet4"\]' stdout
	says '"AETH_SYNDROME": "0x60/0xe0"' stdout
	says 'row 5 \(sample\) is left out: no rule matches the IP ID\.'
	says 'row 4 \(debug\) is not the same: DSCP has no mask'
	[[ $(grep -c 'inner .* is left out' stderr) = 6 ]]
	# 9 rules and 7 that are left out are all 16 rows.
	[[ $(grep -c 'left out' stderr) = 7 ]]
}

sonic_samples_by_chance_and_polices() {
	# shellcheck disable=SC2086
	run_for 0 "$CULPRIT" trace rules $sonic -p sample=random \
	    -p sample_n=4096 --policer 1000 --truncate 96
	check_sonic 10
	says '"sample_rate": "4096"' stdout
	says '"truncate_size": "96"' stdout
	says '"cir": "1000"' stdout
	# shellcheck disable=SC2086
	run_for 0 "$CULPRIT" trace rules $sonic -p sample=random -p sample_n=100
	check_sonic 9
	says 'row 5 \(sample\) is left out: sample_rate is 256 or more'
}

help_has_each_key() {
	run_for 0 "$CULPRIT" trace rules --help
	for key in rules sample sample_n sample_pattern inner; do
		says "^  $key=" stdout
	done
}

run_tests rows_are_told_and_counted a_spec_has_rules_of_its_own \
    mistakes_are_told \
    bytes_are_those_of_the_rows sonic_gets_what_it_can_match \
    sonic_samples_by_chance_and_polices help_has_each_key
