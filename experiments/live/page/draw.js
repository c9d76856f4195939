// experiments/live/page/draw.js -- elements, numbers in words, colours, charts.
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Data become text of elements and never markup.

const find = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const add = (to, what) => {
	for (const x of [what].flat())
		if (x !== null && x !== undefined)
			to.append(x);
	return to;
};
const make = (tag, of = {}, ...inside) => {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(of))
		if (v !== null && v !== undefined)
			e.setAttribute(k, v);
	return add(e, inside);
};
const draw = (tag, of = {}, ...inside) => {
	const e = document.createElementNS(SVG, tag);
	for (const [k, v] of Object.entries(of))
		e.setAttribute(k, v);
	return add(e, inside);
};

// Rows of a table of JSON as objects.
const rows = (table) => table ? table.rows.map((r) =>
	Object.fromEntries(table.columns.map((c, i) => [c, r[i]]))) : [];

// --- numbers -----------------------------------------------------------------
const count = (n) => n === null ? "\u2013" : n.toLocaleString("en-US");
const time = (us) => us === null || us === undefined || Number.isNaN(us) ? "\u2013"
	: us < 1000 ? us.toFixed(0) + " \u00b5s"
		: us < 1e6 ? Number((us / 1000).toPrecision(3)) + " ms"
			: Number((us / 1e6).toPrecision(3)) + " s";
const rate = (x) => x === null || x === undefined || Number.isNaN(x) ? "\u2013"
	: x === 0 ? "0" : x < 1e-2 ? Number((x * 1000).toPrecision(2)) + " in 1,000"
		: Number((x * 100).toPrecision(3)) + " %";

// --- classes -----------------------------------------------------------------
// By P99 they are the paper's. By drop rate one lost SYN of a pair is no finding
// yet, so it makes none red.
const classOf = (cell, show, bounds) => {
	if (!cell || !cell.n_success)
		return "none";
	if (show === "p99")
		return cell.p99_us === null ? "none" : cell.p99_us < bounds.yellow_us ? "good"
			: cell.p99_us > bounds.red_us ? "bad" : "fair";
	return cell.drop_rate > bounds.drop_rate && cell.n_drop > 1 ? "bad"
		: cell.drop_rate > bounds.drop_rate / 10 ? "fair" : "good";
};
const colours = () => {
	const of = getComputedStyle(document.documentElement);
	const names = ["good", "fair", "bad", "none", "ink", "soft", "rule", "accent", "card", "shade"];
	return Object.fromEntries(names.map((n) => [n, of.getPropertyValue("--" + n).trim()]));
};

// --- charts ------------------------------------------------------------------
const HIGH = 74, LEFT = 44, RIGHT = 4, TOP = 6, LOW = 62;

// Runs of neighbours that have a value: where one is missing, no line is drawn.
const runs = (points, length) => {
	const out = [];
	let last = null;
	for (const p of points) {
		if (p.y !== null && last && p.s - last.s < 1.5 * length)
			out[out.length - 1].push(p);
		else if (p.y !== null)
			out.push([p]);
		last = p.y === null ? null : p;
	}
	return out;
};

// Values over time on a logarithmic scale from OF.min to OF.max, with the bound as a
// line; zeros lie on the ground. OF: points [{s, y}], from_s, to_s, length, bound,
// text(y), label, at_s, pick(s), wide (in units of its text's size).
const chart = (of) => {
	const WIDE = of.wide;
	const svg = draw("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, class: "chart", role: "img",
		"aria-label": of.label});
	const x = (s) => LEFT + (WIDE - LEFT - RIGHT) * (s - of.from_s) / Math.max(1, of.to_s - of.from_s);
	const lo = Math.log10(of.min), hi = Math.log10(of.max);
	const y = (v) => LOW - (LOW - TOP) * Math.min(1, Math.max(0,
		(Math.log10(Math.max(v, of.min)) - lo) / (hi - lo)));
	for (const v of [of.min, of.max])
		add(svg, [draw("line", {class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(v), y2: y(v)}),
			draw("text", {x: LEFT - 5, y: y(v) + 3.5, "text-anchor": "end"}, of.text(v))]);
	if (of.bound)
		add(svg, [draw("line", {class: "bound", x1: LEFT, x2: WIDE - RIGHT, y1: y(of.bound), y2: y(of.bound)}),
			draw("text", {x: LEFT - 5, y: y(of.bound) + 3.5, "text-anchor": "end"}, of.text(of.bound))]);
	if (of.at_s !== null)
		add(svg, draw("line", {class: "at", x1: x(of.at_s), x2: x(of.at_s), y1: TOP - 4, y2: LOW + 4}));
	for (const run of runs(of.points, of.length))
		add(svg, draw("polyline", {class: "line",
			points: run.map((p) => x(p.s).toFixed(1) + "," + y(p.y).toFixed(1)).join(" ")}));
	const few = of.points.length <= 48;
	for (const p of of.points)
		if (p.y !== null && (few || p.y > of.bound))
			add(svg, draw("circle", {class: p.y > of.bound ? "spot bad" : "spot", cx: x(p.s).toFixed(1),
				cy: y(p.y).toFixed(1), r: p.y > of.bound ? 2.6 : 1.7}));
	add(svg, [draw("text", {x: LEFT, y: HIGH - 1}, of.begin), draw("text", {x: WIDE - RIGHT, y: HIGH - 1,
		"text-anchor": "end"}, of.end)]);
	svg.addEventListener("click", (event) => {
		const box = svg.getBoundingClientRect();
		const s = of.from_s + (of.to_s - of.from_s) *
			((event.clientX - box.left) / box.width * WIDE - LEFT) / (WIDE - LEFT - RIGHT);
		of.pick(s);
	});
	return svg;
};

// What a pattern looks like, as the paper's figure has it.
const sign = (to, pattern) => {
	const cells = [];
	for (let i = 0; i < 4; i++)
		for (let k = 0; k < 4; k++) {
			const cross = i === 1 || k === 1;
			const word = pattern === "pod_down" && cross ? "none"
				: pattern === "pod_failure" && cross ? "bad"
					: pattern === "spine_failure" && i !== k ? "bad"
						: pattern === "normal" || pattern === "pod_down" ||
							pattern === "pod_failure" || pattern === "spine_failure" ? "good"
							: pattern === "unclear" && (i * 7 + k * 5) % 3 === 0 ? "fair"
								: pattern === "unclear" ? "good" : "none";
			cells.push(draw("rect", {class: "cell-" + word, x: k * 10 + .5, y: i * 10 + .5, width: 9, height: 9}));
		}
	to.replaceChildren(...cells);
};
