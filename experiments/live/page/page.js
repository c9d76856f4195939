// experiments/live/page/page.js -- what the page asks for, and where it goes.
// SPDX-License-Identifier: GPL-3.0-or-later

const EVERY_MS = 10000;
// Until the collector has said those of the jobs, none: nothing is above them.
const BOUNDS = {drop_rate: NaN, p99_us: NaN, yellow_us: NaN, red_us: NaN, http_failed: NaN, http_p99_us: NaN};
const PATTERNS = {
	normal: ["Normal", "Every pod reaches every other in time."],
	unclear: ["No pattern", "Pairs are slow or silent without the form of a pod or of the spine."],
	pod_down: ["Pod down", "A white cross: nothing comes from the pod or reaches it."],
	pod_failure: ["Pod failure", "A red cross: whatever enters or leaves the pod is slow."],
	spine_failure: ["Spine failure", "Red but for the diagonal: pods are well in themselves, and slow to each other."],
	none: ["No heat map", "Nothing was found for this window."],
};

const state = {
	now: null, answered_ms: NaN, answered_wall: NaN, build: document.querySelector("meta[name=build]").content,
	dc: 0, n_dcs: 1, windows: [], at_s: null, levels: [], job: "10min", of: "connect", alerts: [], playing: 0,
	bounds: BOUNDS, asked: 0, problem: null, n_failed: 0,
};
const heat = {n: 0, cell: [], show: "p99", bounds: BOUNDS, at: null, pods: []};

// --- asking --------------------------------------------------------------------
// One question at a time: the collector answers no more, as it has batches to take.
let line = Promise.resolve();
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
const askNow = async (path) => {
	for (let n = 0; ; n++) {
		const answer = await fetch(path, {signal: AbortSignal.timeout(20000)});
		if (answer.ok)
			return answer.json();
		const said = await answer.json().catch(() => ({}));
		if (answer.status !== 503 || n === 6)
			throw new Error(said.error || "status " + answer.status);
		await wait(400 * (n + 1));
	}
};
const ask = (path) => {
	const answer = line.then(() => askNow(path));
	line = answer.catch(() => null);
	return answer;
};

// --- the clock -----------------------------------------------------------------
// Time that passed since the last answer: of two clocks the one that went further, as
// one stops while a machine sleeps and the other may be set.
const sinceAnswer = () => Math.max(performance.now() - state.answered_ms,
	Date.now() - state.answered_wall) / 1000;
const windowOf = (name) => {
	const of = state.now && state.now.database && rows(state.now.database[name]);
	return of && of.find((w) => w.job === "10min") || null;
};
const LOOK = {good: "#1f9e7a", past: "#57606a", wait: "#57606a", empty: "#57606a"};
let icon = "";
const tellState = () => {
	const age = sinceAnswer();
	const is = freshness({answer_age_s: age, now_s: state.now ? state.now.now_s + age : NaN,
		problem: state.now && state.now.problem || null, newest: windowOf("newest"),
		with_data: windowOf("with_data"), last_batch_s: state.now && state.now.last_batch_s,
		started_s: state.now && state.now.started_s, shown_s: state.at_s === null ? null : shownEnd()});
	const reloaded = state.now && state.now.page !== state.build;
	document.body.dataset.level = is.level;
	find("word").textContent = is.word;
	const bad = ["old", "lost", "clock"].includes(is.level);
	find("says").textContent = bad ? "" : is.says;
	document.title = (is.level === "good" || is.level === "past" ? "" : is.word + " \u2013 ") + "Pingmesh";
	const words = bad ? is.word + ": " + is.says + "."
		: reloaded ? "The collector was replaced by another version: reload this page." 
			: state.problem ? state.problem : "";
	if (find("alarm").textContent !== words)
		find("alarm").textContent = words;
	find("alarm").hidden = words === "";
	const look = LOOK[is.level] || "#b3331d";
	if (look !== icon) {
		icon = look;
		const c = make("canvas", {width: 16, height: 16}), g = c.getContext("2d");
		g.fillStyle = look;
		g.fillRect(1, 1, 14, 14);
		find("icon").href = c.toDataURL();
	}
};

// --- time ----------------------------------------------------------------------
const length = () => LENGTH["10min"];
const index = () => {
	if (state.at_s === null)
		return state.windows.length - 1;
	return state.windows.findIndex((w) => w.from_s === state.at_s);
};
const shown = () => state.windows[index()] || null;
const shownEnd = () => shown() ? shown().to_s : null;
const wordOf = (w) => w.state === "empty" || w.n_records === 0 ? "none"
	: w.pattern === "normal" ? "good" : w.pattern === "unclear" ? "fair" : w.pattern ? "bad" : "none";

const paintStrip = () => {
	const canvas = find("strip"), ratio = window.devicePixelRatio || 1, of = colours();
	const n = Math.max(1, state.windows.length);
	canvas.width = Math.round(canvas.clientWidth * ratio);
	canvas.height = Math.round(canvas.clientHeight * ratio);
	const g = canvas.getContext("2d"), step = canvas.width / n;
	g.fillStyle = of.shade;
	g.fillRect(0, 0, canvas.width, canvas.height);
	state.windows.forEach((w, i) => {
		const word = wordOf(w), x = Math.round(i * step);
		g.fillStyle = word === "none" ? "#ffffff" : of[word];
		const high = word === "good" ? .55 : word === "fair" ? .8 : 1;
		g.fillRect(x, canvas.height * (1 - high), Math.max(1, Math.round((i + 1) * step) - x - (step > 4 ? 1 : 0)),
			canvas.height * high);
	});
	const i = index();
	if (i >= 0) {
		g.strokeStyle = of.ink;
		g.lineWidth = 2 * ratio;
		g.strokeRect(i * step + ratio, ratio, Math.max(3 * ratio, step - 2 * ratio), canvas.height - 2 * ratio);
	}
};
const tellTime = () => {
	const n = state.windows.length, i = index(), w = shown(), slider = find("slider");
	slider.max = String(Math.max(0, n - 1));
	slider.value = String(Math.max(0, i));
	const words = w ? utc(w.from_s) + "\u2013" + hour(w.to_s) : "no window";
	slider.setAttribute("aria-valuetext", words + (w ? ", " + (PATTERNS[w.pattern || "none"] || [w.pattern])[0] : ""));
	slider.disabled = n < 2;
	find("when").textContent = words;
	find("back").disabled = i <= 0;
	find("on").disabled = i < 0 || i >= n - 1;
	find("live").setAttribute("aria-pressed", String(state.at_s === null));
	find("play").setAttribute("aria-pressed", String(state.playing !== 0));
	find("first").textContent = n ? utc(state.windows[0].from_s) : "";
	find("last").textContent = n ? utc(state.windows[n - 1].to_s) : "";
	paintStrip();
};

// --- the heat map --------------------------------------------------------------
const tellPattern = (w, pods) => {
	const pattern = w && w.n_records && w.pattern || "none";
	const words = PATTERNS[pattern] || [pattern, ""];
	const of = (word) => pods.flatMap((p, i) => p === word ? [i] : []);
	const name = (list) => list.length ? " Pod" + (list.length > 1 ? "s " : " ") + list.join(", ") + "." : "";
	sign(find("sign"), pattern);
	find("name").textContent = words[0];
	find("means").textContent = words[1] + (pattern === "pod_down" ? name(of("down"))
		: pattern === "pod_failure" ? name(of("failed")) : "");
	find("pattern").dataset.bad = pattern === "none" ? "" : pattern === "normal" ? "0" : "1";
	find("pattern").dataset.pattern = pattern;
};
const tellLegend = () => {
	const b = state.bounds;
	const words = heat.show === "p99"
		? [["good", "below " + time(b.yellow_us)], ["fair", "to " + time(b.red_us)], ["bad", "above " + time(b.red_us)]]
		: [["good", "below " + rate(b.drop_rate / 10)], ["fair", "more, or one lost SYN"],
			["bad", "above " + rate(b.drop_rate) + ", 2 or more"]];
	words.push(["none", "white: no success (\u2013: tried)"]);
	find("legend").replaceChildren(...words.map(([w, text]) => make("li", {}, make("i", {class: "of-" + w}), text)));
};
const fact = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));
const tellPair = () => {
	const at = heat.at;
	const cell = at && heat.cell[at.src * heat.n + at.dst];
	find("pair-name").textContent = at ? `Pod ${at.src} to pod ${at.dst}` : "A pair";
	find("facts").replaceChildren(...(!at ? [make("p", {class: "soft"}, "Point at a cell; click it, or press Enter, for its history.")]
		: !cell ? [make("p", {class: "soft"}, "No probe in this window.")]
			: [fact("P99", time(cell.p99_us)), fact("P50", time(cell.p50_us)), fact("Drop rate", rate(cell.drop_rate)),
				fact("Connected", count(cell.n_success)), fact("Lost a SYN", count(cell.n_drop)),
				fact("Failed", count(cell.n_failed))]));
};
const spanOf = (points) => {
	const s = Number(find("span").value), last = points.length ? points[points.length - 1].s : 0;
	return {from_s: Math.max(last - s, points.length ? points[0].s : 0), to_s: last};
};
const pickTime = (s) => {
	const near = state.windows.reduce((best, w) => !best || Math.abs(w.from_s + length() / 2 - s) <
		Math.abs(best.from_s + length() / 2 - s) ? w : best, null);
	if (near)
		goTo(near.from_s);
};
// What a level is of: the members of a point that are drawn, their bounds and words.
const OF = {
	connect: {rate: "drop_rate", bounds: ["p99_us", "drop_rate"], word: "drop rate"},
	http: {rate: "failed", bounds: ["http_p99_us", "http_failed"], word: "share without status 200"},
};
const levelCharts = (points, size, label, wide, kind = OF.connect) => {
	const {from_s, to_s} = spanOf(points);
	const of = points.filter((p) => p.s >= from_s);
	const base = {from_s, to_s, length: size, at_s: shown() ? shown().from_s : null,
		pick: pickTime, wide, begin: utc(from_s), end: utc(to_s)};
	return [chart({...base, points: of.map((p) => ({s: p.s, y: p.p99_us})), min: 100, max: 1e7, bound: state.bounds[kind.bounds[0]],
		text: time, label: label + ", P99 over time"}),
	chart({...base, points: of.map((p) => ({s: p.s, y: p[kind.rate]})), min: 1e-6, max: 1, bound: state.bounds[kind.bounds[1]],
		text: (v) => v === 1 ? "1" : "1e" + Math.round(Math.log10(v)), label: label + ", " + kind.word + " over time"})];
};
const openPair = async (at) => {
	find("history").replaceChildren(make("p", {class: "soft"}, "Asking\u2026"));
	const of = rows((await ask(`/v1/pair/10min/${state.dc}/${at.src}/${at.dst}`)).windows).reverse();
	const points = of.map((w) => ({s: w.from_s, p99_us: w.p99_us, drop_rate: w.drop_rate}));
	find("history").replaceChildren(make("p", {class: "soft"}, `Pod ${at.src} to pod ${at.dst}: P99, then drop rate`),
		...levelCharts(points, length(), "pair", Math.max(300, find("history").clientWidth)));
};
const paint = heatMap(find("heat"), heat, {move: () => tellPair(), open: (at) => tell(openPair(at))});

const loadHeat = async () => {
	const w = shown();
	const asked = ++state.asked;
	let cells = [], pods = [], of = w;
	if (w) {
		const got = await ask(`/v1/heat/10min/${state.dc}/${w.from_s}`);
		cells = rows(got.cells);
		pods = got.pods;
		of = rows(got.window)[0] || w;
	}
	// Somebody moved on meanwhile.
	if (asked !== state.asked)
		return;
	heat.n = pods.length;
	heat.pods = pods;
	heat.cell = Array(heat.n * heat.n).fill(null);
	for (const c of cells)
		heat.cell[c.src * heat.n + c.dst] = c;
	if (heat.at && (heat.at.src >= heat.n || heat.at.dst >= heat.n))
		heat.at = null;
	find("nothing").hidden = heat.n > 0;
	find("nothing").textContent = !w ? "No window has been made yet." : "No probe came in this window.";
	const words = ["good", "fair", "bad", "none"].map((k) => [k,
		heat.cell.filter((c) => classOf(c, heat.show, heat.bounds) === k).length]);
	find("heat").dataset.from = w ? String(w.from_s) : "";
	find("heat").dataset.cells = words.map(([k, n]) => k + "=" + n).join(" ");
	tellPattern(of, pods);
	tellPair();
	paint();
};

// --- tables --------------------------------------------------------------------
const whereOf = (a) => a.name !== null ? (a.scope === "service" ? a.name : a.scope + " " + a.name)
	: a.scope === "dc" ? "data centre" : a.scope + " " + a.id;
const KINDS = {drop_rate: "drop rate", p99_us: "P99", black_hole: "black hole", random_drops: "silent drops",
	pattern: "pattern", http_failed: "GETs without status 200", http_p99_us: "P99 of GETs"};
const VERDICTS = {not_network: "not the network", network: "the network", servers: "its servers, not the network",
	unknown: "not known whether it is the network"};
// "P99: the network, of 10min"
const wordsOf = (a) => {
	const says = a.kind === "pattern" ? (PATTERNS[a.says] || [a.says])[0]
		: a.says === "unknown" ? "" : VERDICTS[a.says] || a.says;
	return (KINDS[a.kind] || a.kind) + (says ? ": " + says : "") + ", of " + a.job;
};
// Without its date where that is the collector's.
const shortly = (s) => utc(s).slice(0, 10) === utc(state.now.now_s).slice(0, 10) ? hour(s) : utc(s);
const isOpen = (a) => {
	const newest = state.now && state.now.database ? rows(state.now.database.with_data) : [];
	return newest.some((w) => w.job === a.job && a.until_s >= w.to_s);
};
const valueOf = (a, v) => v === null ? "" : ["p99_us", "http_p99_us"].includes(a.kind) ? time(v)
	: ["drop_rate", "http_failed"].includes(a.kind) ? rate(v)
	: String(Number(v.toPrecision(3)));
// Those of a whole network come before those of its parts.
const WIDE = ["service", "dc", "pod", "tor", "server"];
const byScope = (a, b) => (b.kind === "pattern") - (a.kind === "pattern") ||
	WIDE.indexOf(a.scope) - WIDE.indexOf(b.scope) || b.since_s - a.since_s;
const tellAlerts = () => {
	const open = state.alerts.filter(isOpen).sort(byScope);
	const list = find("past").checked ? [...open, ...state.alerts.filter((a) => !isOpen(a))] : open;
	find("open").textContent = open.length ? open.length + " open" : "none open";
	find("open").className = open.length ? "count is-bad" : "count is-good";
	find("alert-rows").replaceChildren(...list.map((a) => make("tr", {class: isOpen(a) ? "open" : "over"},
		make("td", {class: "time"}, shortly(a.since_s)), make("td", {class: "time"}, isOpen(a) ? "open" : shortly(a.until_s)),
		make("td", {}, whereOf(a)), make("td", {}, wordsOf(a)),
		make("td", {class: "num"}, valueOf(a, a.worst), a.bound !== null ? " > " + valueOf(a, a.bound) : ""))));
	if (!list.length)
		find("alert-rows").append(make("tr", {}, make("td", {colspan: 5, class: "soft"}, "None.")));
};
const loadAlerts = async () => {
	state.alerts = rows((await ask(`/v1/alerts/${state.dc}`)).alerts);
	tellAlerts();
};
const loadHoles = async () => {
	const got = await ask(`/v1/holes/${state.dc}`);
	const w = rows(got.window)[0];
	const list = [...rows(got.black_holes).map((b) => ["ToR " + b.tor, `black hole: ${b.n_symptom} of ${b.n_alive} servers`,
		b.score === null ? "" : "score " + Number(b.score.toPrecision(3)), b.action]),
	...rows(got.random_drops).map((r) => [r.pod === r.pod2 ? "pod " + r.pod : `pods ${r.pod} and ${r.pod2}`,
		`drops at random: ${count(r.n_drop)} of ${count(r.n_success)}`,
		rate(r.drop_rate_lo) + " to " + rate(r.drop_rate_hi), ""])];
	find("holes-of").textContent = w ? "Of " + utc(w.from_s) + "\u2013" + hour(w.to_s) + " UTC"
		: "No hour has been looked through yet.";
	find("hole-rows").replaceChildren(...list.map((r) => make("tr", {}, ...r.map((text, i) =>
		make("td", i === 2 ? {class: "num"} : {}, text)))));
	if (!list.length)
		find("hole-rows").append(make("tr", {}, make("td", {colspan: 4, class: "soft"}, w ? "None found." : "")));
};
// Lists have no order unless they are signed: without, who has another than most is behind.
const LISTS = {newest: "newest", older: "older", other: "another", none: "none"};
const listsOf = (sum) => (sum.n_behind ? count(sum.n_behind) + " probe by an older list, or another than most; " : "") +
	(sum.n_listless ? count(sum.n_listless) + " have no list; " : "") +
	(sum.n_untold ? count(sum.n_untold) + " do not say which they have." : sum.n_behind || sum.n_listless
		? "the others have the newest." : "All have the newest list.");
const loadAgents = async () => {
	const got = await ask("/v1/agents"), sum = rows(got.sum)[0], list = rows(got.agents);
	const now = state.now.now_s;
	const silent = list.filter((a) => now - a.last_s > 1200).length;
	find("agents-of").textContent = !sum.n ? "No batch of any agent has been looked through."
		: `${count(sum.n)} agents were heard of, ${silent >= 1000 ? "1,000 or more" : count(silent)} of them not for 20 minutes; ` +
			`${count(sum.n_records)} records, ${count(sum.n_lost)} lost. ` + listsOf(sum) +
			" Those behind come first, then those silent for longest.";
	find("agent-rows").replaceChildren(...list.slice(0, 300).map((a) => make("tr", {},
		make("td", {}, a.address), make("td", {class: "num"}, (state.n_dcs > 1 ? a.dc + "/" : "") + a.server),
		make("td", {class: now - a.last_s > 1200 ? "time is-bad" : "time"}, lasting(now - a.last_s) + " ago"),
		make("td", {class: "num"}, count(a.n_records)), make("td", {class: "num"}, count(a.n_lost)),
		make("td", {class: "num"}, count(a.n_starts)),
		make("td", {class: a.list_is === null ? "soft" : a.list_is === "newest" ? "" : "is-bad", title: a.list || null},
			a.list_is === null ? "?" : LISTS[a.list_is] || a.list_is))));
};
const tellDogs = () => {
	const list = state.now.database ? rows(state.now.database.watchdogs) : [];
	find("dogs").replaceChildren(...list.map((d) => make("li", {}, make("b", {class: d.ok ? "is-good" : "is-bad"},
		(d.ok ? "\u2713 " : "\u2717 ") + d.name), ` (${d.job}) ${d.says}`)));
	if (!list.length)
		find("dogs").append(make("li", {class: "soft"}, "No window, so no watchdog has spoken."));
	find("foot").textContent = "culprit " + state.now.culprit + " \u00b7 batches keep " +
		count(Math.round(state.now.store_bytes / 1e6)) + " of " + count(Math.round(state.now.store_most / 1e6)) + " MB";
};

// --- service level ---------------------------------------------------------------
const httpWords = (p) => {
	const n = [["another status", p.n_other], ["no HTTP", p.n_malformed], ["cut off", p.n_cut], ["late", p.n_late]];
	const bad = n.filter(([, k]) => k > 0).map(([word, k]) => count(k) + " " + word);
	return `P99 ${time(p.p99_us)}, ${count(p.n_ok)} of ${count(p.n_asked)} with status 200` +
		(bad.length ? "; " + bad.join(", ") : "");
};
const levelWords = (p) => !p ? "nothing in this window" : state.of === "http" ? httpWords(p)
	: `P99 ${time(p.p99_us)}, drop rate ${rate(p.drop_rate)}` +
		(p.verdict && p.verdict !== "not_network" ? "; " + (VERDICTS[p.verdict] || p.verdict) : "");
const tellLevels = () => {
	const by = new Map();
	for (const r of state.levels) {
		const key = r.scope + r.id;
		if (!by.has(key))
			by.set(key, {...r, points: []});
		by.get(key).points.push({...r, s: r.from_s});
	}
	const size = LENGTH[state.job], at = shown(), kind = OF[state.of];
	const [slow, lossy] = kind.bounds.map((b) => state.bounds[b]);
	find("cards").replaceChildren(...[...by.values()].sort((a, b) => (a.scope > b.scope) - (a.scope < b.scope) || a.id - b.id)
		.map((of) => {
			const p = at && [...of.points].reverse().find((x) => x.s <= at.from_s && at.from_s < x.s + size) || null;
			const bad = p && (p.p99_us > slow || p[kind.rate] > lossy);
			const name = of.scope === "dc" ? "Data centre " + state.dc : of.name || "service " + of.id;
			return make("article", {class: bad ? "card alerts" : "card"}, make("h3", {}, name),
				make("p", {class: "soft"}, levelWords(p)), ...levelCharts(of.points, size, name, 300, kind));
		}));
	if (!by.size)
		find("cards").append(make("p", {class: "soft"}, state.of === "http"
			? "No HTTP ping in any window of this length; a controller asks for them with -p http_probes=true."
			: "No window of this length has been made yet."));
	find("bounds").textContent = `dashed: the bounds, ${time(slow)} and ${rate(lossy)}`;
};
// Rows of GETs have numbers of services alone; their names are those of the connects.
const loadLevels = async () => {
	const of = state.of, job = state.job;
	let list = rows((await ask(`/v1/sla/${job}/${state.dc}`)).levels);
	if (of === "http") {
		const names = new Map(list.filter((r) => r.name !== null).map((r) => [r.scope + r.id, r.name]));
		list = rows((await ask(`/v1/http/${job}/${state.dc}`)).levels).map((r) => ({...r,
			name: names.get(r.scope + r.id) || null, failed: (r.n_asked - r.n_ok) / r.n_asked}));
	}
	// Somebody chose another meanwhile.
	if (of !== state.of || job !== state.job)
		return;
	state.levels = list.reverse();
	tellLevels();
};

// --- all together ----------------------------------------------------------------
// What went wrong is said, once a try, until one goes well.
const tell = async (promise) => {
	try {
		await promise;
		return true;
	} catch (e) {
		state.problem = "The collector said: " + e.message;
		tellState();
		return false;
	}
};
const goTo = (from_s) => {
	const last = state.windows[state.windows.length - 1];
	state.at_s = last && from_s === last.from_s ? null : from_s;
	tellTime();
	tellState();
	tellLevels();
	tell(loadHeat());
};
const loadWindows = async () => {
	const all = rows((await ask(`/v1/windows/10min/${state.dc}`)).windows).reverse();
	const last = all.length ? all[all.length - 1].to_s : 0;
	state.windows = all.filter((w) => w.to_s > last - Number(find("span").value));
	if (state.at_s !== null && index() < 0)
		state.at_s = null;
	tellTime();
};
const loadAll = async () => {
	await loadWindows();
	await loadHeat();
	await loadAlerts();
	await loadLevels();
	await loadHoles();
	await loadAgents();
};

// The bounds by which alerts were made are those that are drawn.
const NAMES = {max_drop_rate: "drop_rate", max_p99_us: "p99_us", yellow_us: "yellow_us", red_us: "red_us",
	max_http_failed: "http_failed", max_http_p99_us: "http_p99_us"};
const takeBounds = () => {
	for (const {key, value} of state.now.database ? rows(state.now.database.bounds) : [])
		if (Number(value) > 0)
			state.bounds[NAMES[key]] = Number(value);
	tellLegend();
};

// Where there are several. A choice that is none any more is given up.
const tellDcs = () => {
	const list = state.now.database ? rows(state.now.database.dcs).map((r) => r.dc) : [];
	const had = [...find("dc").options].map((o) => Number(o.value));
	state.n_dcs = list.length;
	find("dcs").hidden = list.length < 2;
	if (String(had) === String(list) || !list.length)
		return;
	find("dc").replaceChildren(...list.map((dc) => make("option", {value: dc}, String(dc))));
	state.dc = list.includes(state.dc) ? state.dc : list[0];
	find("dc").value = String(state.dc);
};

let seen = "";
const look = async () => {
	try {
		state.now = await ask("/v1/now");
		state.answered_ms = performance.now();
		state.answered_wall = Date.now();
		state.problem = null;
		tellState();
		tellDogs();
		tellDcs();
		takeBounds();
		// Only when a window was made or remade has anything else changed.
		const made = JSON.stringify([state.now.database, state.dc, find("span").value]);
		if (state.now.database && made !== seen) {
			await loadAll();
			seen = made;
		}
	} catch (e) {
		if (e.name !== "TypeError" && e.name !== "TimeoutError")
			state.problem = "The collector said: " + e.message;
	}
	tellState();
};
const goOn = async () => {
	await look();
	setTimeout(goOn, EVERY_MS);
};

const by = (i) => {
	const w = state.windows[index() + i];
	if (w)
		goTo(w.from_s);
	return w;
};
const stop = () => {
	clearInterval(state.playing);
	state.playing = 0;
	tellTime();
};
find("slider").addEventListener("input", () => goTo(state.windows[Number(find("slider").value)].from_s));
find("back").addEventListener("click", () => by(-1));
find("on").addEventListener("click", () => by(1));
find("live").addEventListener("click", () => state.windows.length && goTo(state.windows[state.windows.length - 1].from_s));
find("play").addEventListener("click", () => {
	if (state.playing)
		return stop();
	if (state.at_s === null && state.windows.length)
		goTo(state.windows[0].from_s);
	state.playing = setInterval(() => {
		if (state.at_s === null || !by(1))
			stop();
	}, 700);
	tellTime();
});
for (const b of document.querySelectorAll("[data-show]"))
	b.addEventListener("click", () => {
		heat.show = b.dataset.show;
		for (const o of document.querySelectorAll("[data-show]"))
			o.setAttribute("aria-pressed", String(o === b));
		tellLegend();
		tell(loadHeat());
	});
for (const b of document.querySelectorAll("[data-of]"))
	b.addEventListener("click", () => {
		state.of = b.dataset.of;
		for (const o of document.querySelectorAll("[data-of]"))
			o.setAttribute("aria-pressed", String(o === b));
		tell(loadLevels());
	});
find("job").addEventListener("change", () => {
	state.job = find("job").value;
	tell(loadLevels());
});
find("span").addEventListener("change", look);
find("past").addEventListener("change", tellAlerts);
find("dc").addEventListener("change", () => {
	state.dc = Number(find("dc").value);
	look();
});
document.addEventListener("visibilitychange", () => document.hidden || look());
addEventListener("resize", paintStrip);

const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark"
	: matchMedia("(prefers-color-scheme: dark)").matches;
const tellTheme = () => {
	find("theme").textContent = isDark() ? "Light" : "Dark";
	paint();
	paintStrip();
};
find("theme").addEventListener("click", () => {
	document.documentElement.dataset.theme = isDark() ? "light" : "dark";
	tellTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellTheme);
tellTheme();
tellLegend();
tellPattern(null, []);
tellPair();
setInterval(tellState, 1000);
goOn();
