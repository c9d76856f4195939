#!/bin/bash
# tests/cli/metrics.sh -- what each number means, in words and as JSON.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

one_is_explained_whole() {
	run_for 0 "$CULPRIT" metrics recall
	says '^recall -- accused links that have a fault / links with a fault$' stdout
	says '^  definition +n_flagged_true / n_links_true$' stdout
	says '^  numerator +n_flagged_true \(links\): count of the accused links' stdout
	says '^  denominator +n_links_true \(links\): count of the links with' stdout
	says '^  range +from 0 to 1$' stdout
	says '^  in figures ' stdout
	says pingmesh_blackhole stdout
	says '^  in claims +fig04_recall' stdout
	says '^  schema.h +RES_RATIOS X\(recall, n_flagged_true, n_links_true' stdout
	cp stdout want
	# As a column is called.
	for name in vote:recall_lo recall_p90 'it is:recall'; do
		run_for 0 "$CULPRIT" metrics "$name"
		same stdout want
	done
	run_for 0 "$CULPRIT" metrics n_icmp_sent
	says '^  on planes +agents, telemetry$' stdout
	says '^  set +seconds|^  set +agents' stdout
}

# Each has a line here, and all that a header has is known by name.
all_are_listed() {
	write_spec
	"$CULPRIT" run spec.yaml -q -o x.h5 >/dev/null
	run_for 0 "$CULPRIT" metrics
	[[ $(awk 'length > 80' stdout) = "" ]] || fail "long lines"
	cp stdout list
	run_for 0 "$CULPRIT" metrics --json
	[[ $(json stdout 'len(d)') = $(grep -cE '^  [a-z]' list) ]]
	[[ $(json stdout '[m["name"] for m in d if not m["definition"] or
	    (m["denominator"] and not m["numerator"])]') = '[]' ]]
	[[ $(json stdout '[m["figures"] for m in d if m["name"] == "n_reloaded"]') = \
		"[['pingmesh_fig06']]" ]]
	for column in $("$CULPRIT" table x.h5 --runs | head -1 | tr ' \t' '_\n' |
		grep -vE '^(run|faults.*|traffic.*)$'); do
		run_for 0 "$CULPRIT" metrics "$column"
	done
}

# What HDF5 says of a dataset is what is said here.
a_dataset_has_the_same_words() {
	write_spec
	"$CULPRIT" run spec.yaml -q -o x.h5 >/dev/null
	for name in top_k_recall n_top_true n_flows; do
		"$CULPRIT" metrics "$name" --json >one
		h5dump -a "/$name/long_name" x.h5 | tr -d '\n' |
			tr -s ' ' >attribute
		grep -qF "\"$(json one 'd["meaning"]')\"" attribute ||
			fail "$name: $(cat attribute)"
	done
}

# Pages and the list are made of the same objects, in lines of 79 columns.
pages_and_the_list_say_what_objects_do() {
	local name
	run_for 0 "$CULPRIT" metrics --json && mv stdout all
	run_for 0 "$CULPRIT" metrics && mv stdout list
	for name in $(json all '" ".join({m["set"] + m["schema"]: m["name"]
	    for m in d if "stated" not in m["name"]}.values())'); do
		run_for 0 "$CULPRIT" metrics "$name" && mv stdout "$name.page"
		run_for 0 "$CULPRIT" metrics "$name" --json
		mv stdout "$name.one"
	done
	python3 - "$tree" <<-'END' || fail "they differ"
		import glob, json, re, sys, textwrap
		every = json.load(open("all"))
		by_name = {m["name"]: m for m in every}
		source = open(sys.argv[1] + "/results/schema.h").read()
		def kind(m):  # of numbers that one macro does not make of many
		    found = re.search(
		        rf'\({m["name"]},[\s\\]*"[^"]*",[\s\\]*(\w+),', source)
		    return found.group(1) if found else ""
		def below(label, text, at):
		    return "\n".join(textwrap.wrap(text, 79,
		        initial_indent="  " + label.ljust(at - 3) + " ",
		        subsequent_indent=at * " ", break_long_words=False,
		        break_on_hyphens=False)) + "\n"
		def page(m):
		    trial = m["of"] == "trial"
		    yield f"{m['name']} -- {m['meaning']}\n"
		    yield below("definition", m["definition"], 15)
		    for part in "numerator", "denominator":
		        if m[part]:
		            p = by_name[m[part]]
		            yield below(part,
		                f"{p['name']} ({p['unit']}): {p['definition']}", 15)
		    yield below("of", "the trial, once a row" if trial else
		        "each algorithm; where it names switches, read switch for link",
		        15)
		    yield below("unit", m["unit"], 15)
		    yield below("range", m["range"], 15)
		    yield below("set", m["set"], 15)
		    yield below("on planes", ", ".join(m["planes"]) if
		        m["set"] != "verdicts" else "any: verdicts are scored on each "
		        "window, as far as it holds what they are about", 15)
		    yield below("in figures", ", ".join(m["figures"]) or "none", 15)
		    yield below("in claims", ", ".join(m["claims"]) or "none", 15)
		    yield below("in tables", ("" if trial else "ALGORITHM:") + m["name"] +
		        (" over all runs, _lo, _hi, _p10, _p50, _p90, _trials; of each "
		        "run with --runs" if m["numerator"] else
		        "; of each run with --runs, its mean with --tidy"), 15)
		    yield below("schema.h", f"{m['schema']} X({m['name']}, " + (
		        f"{m['numerator']}, {m['denominator']}" if m["numerator"] else
		        '"%s", %s' % (m["unit"], kind(m))) + ", ...)", 15)
		pages = glob.glob("*.page")
		assert len(pages) > 15
		for file in pages:
		    m = by_name[file[:-5]]
		    assert open(file).read() == "".join(page(m)), file
		    assert json.load(open(m["name"] + ".one")) == m
		heads = {"RES_RATIOS": "Ratios of each algorithm, pooled over runs:",
		    "RES_ALGO_METRICS": "Of each algorithm, a number a run:",
		    "RES_TRIAL_RATIOS": "Ratios of the trial, pooled over runs:",
		    "RES_TRIAL_METRICS": "Of the trial, a number a run:",
		    "RES_REACH_RATIOS": "Ratios of an algorithm's number and the trial's:"}
		want, last = "", None
		for m in every:
		    if m["schema"] != last:
		        want += ("\n" if last else "") + heads[m["schema"]] + "\n"
		    last = m["schema"]
		    want += below(m["name"], m["meaning"] +
		        ("" if m["unit"] == "1" else f" [{m['unit']}]"), 25)
		assert open("list").read() == want
	END
}

# By another program, with other means.
figures_and_claims_are_those_that_name_it() {
	run_for 0 "$CULPRIT" metrics --json
	python3 - "$tree" <<-'END' || fail "others name it"
		import glob, json, os, re, sys
		top = sys.argv[1]
		scripts = {}
		for file in glob.glob(top + "/plots/*.gp"):
		    text = open(file).read()
		    name = os.path.basename(file)[:-3]
		    if '\nload "style.gp"' not in text or name == "sweep":
		        continue
		    todo = [text]
		    while todo:
		        found = re.findall(r'\nload "([^"]*)"', todo.pop())
		        for other in found:
		            if other != "style.gp":
		                todo.append(open(f"{top}/plots/{other}").read())
		                text += todo[-1]
		    scripts[name] = text
		blocks = re.split(r"^ *- id: *", open(top +
		    "/results/expected/vigil.yaml").read(), flags=re.M)[1:]
		claims = [(re.match(r"\w+", b).group(), re.findall(
		    r'^ *metric: *"?([\w -]*\w)', b, re.M)) for b in blocks]
		claims = [(c, of[0].split(" - ")) for c, of in claims if of]
		assert len(claims) > 40
		for m in json.load(open("stdout")):
		    name = m["name"]
		    column = rf"{name}(_lo|_hi|_p10|_p50|_p90|_trials)?"
		    pattern = rf"\b{column}\b" if "_" in name else rf'[":]{column}"'
		    assert m["figures"] == sorted(s for s in scripts
		        if re.search(pattern, scripts[s])), (name, m["figures"])
		    mine = [c for c, of in claims if name in of]
		    assert m["claims"] == mine, (name, mine, m["claims"])
	END
}

a_column_is_its_metric() {
	run_for 0 "$CULPRIT" metrics recall && mv stdout want
	for name in recall_hi recall_p10 recall_p50 recall_trials a:b:recall; do
		run_for 0 "$CULPRIT" metrics "$name"
		same stdout want
	done
	for name in recall_l recall_lo_hi recall_lox recalllo _lo; do
		run_for 2 "$CULPRIT" metrics "$name"
		says_once "there is no metric \"$name\""
	done
}

a_wrong_name_is_met_with_the_near_one() {
	run_for 2 "$CULPRIT" metrics top_k_recal
	says_once 'there is no metric "top_k_recal"; did you mean "top_k_recall"?'
	run_for 2 "$CULPRIT" metrics vote:n_flaged
	says_once 'there is no metric "vote:n_flaged"; did you mean "n_flagged"?'
	run_for 2 "$CULPRIT" metrics zzz
	says_once 'there is no metric "zzz"; .culprit metrics. lists them'
	run_for 2 "$CULPRIT" metrics recall precision
	says 'one metric at a time; "precision" is a second'
}

run_tests one_is_explained_whole all_are_listed a_dataset_has_the_same_words \
    pages_and_the_list_say_what_objects_do \
    figures_and_claims_are_those_that_name_it a_column_is_its_metric \
    a_wrong_name_is_met_with_the_near_one
