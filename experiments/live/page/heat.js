// experiments/live/page/heat.js -- the heat map on its canvas.
// SPDX-License-Identifier: GPL-3.0-or-later

// HEAT has n, cell ([n * n], by row: from), show, bounds, at ({src, dst} or null) and
// pods (words). Redrawn as a whole: 10,000 cells take a few milliseconds.
const heatMap = (canvas, heat, {move, open}) => {
	const EDGE = 34; // of labels
	const place = () => {
		const s = Math.min(canvas.clientWidth, canvas.clientHeight) - EDGE;
		return {x: EDGE, y: EDGE, size: s, step: s / Math.max(1, heat.n)};
	};

	// A mark in a cell tells its class also without its colour.
	const mark = (g, word, x, y, s, cell) => {
		g.lineWidth = 1.5;
		g.strokeStyle = word === "none" ? "#8a8f98" : "rgba(255,255,255,.7)";
		g.fillStyle = "rgba(0,0,0,.55)";
		const c = s / 2, r = Math.min(s / 6, 5);
		g.beginPath();
		if (word === "bad") {
			g.moveTo(x + c - r, y + c - r);
			g.lineTo(x + c + r, y + c + r);
			g.moveTo(x + c + r, y + c - r);
			g.lineTo(x + c - r, y + c + r);
			g.stroke();
		} else if (word === "fair") {
			g.arc(x + c, y + c, Math.min(s / 9, 3), 0, 7);
			g.fill();
		} else if (word === "none" && cell) {
			g.moveTo(x + c - r, y + c);
			g.lineTo(x + c + r, y + c);
			g.stroke();
		}
	};
	const labels = (g, p, of) => {
		g.fillStyle = of.soft;
		g.font = "11px system-ui, \"DejaVu Sans\", sans-serif";
		const every = Math.max(1, Math.ceil(22 / p.step));
		for (let i = 0; i < heat.n; i += every) {
			const bad = heat.pods[i] && heat.pods[i] !== "fine";
			g.fillStyle = bad ? of.ink : of.soft;
			g.textAlign = "center";
			g.textBaseline = "middle";
			g.fillText(String(i), p.x + (i + .5) * p.step, EDGE - 9);
			g.textAlign = "right";
			g.fillText(String(i), EDGE - 6, p.y + (i + .5) * p.step);
		}
		g.fillStyle = of.soft;
		g.textAlign = "left";
		g.fillText("to pod \u2192", EDGE, 8);
		g.save();
		g.translate(8, EDGE);
		g.rotate(Math.PI / 2);
		g.fillText("from pod \u2192", 0, 0);
		g.restore();
	};
	const paint = () => {
		const ratio = window.devicePixelRatio || 1;
		const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
		}
		const g = canvas.getContext("2d"), of = colours(), p = place();
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
		if (!heat.n)
			return;
		const gap = p.step >= 7 ? 1 : 0;
		g.fillStyle = of.rule;
		g.fillRect(p.x, p.y, p.size, p.size);
		for (let i = 0; i < heat.n; i++)
			for (let k = 0; k < heat.n; k++) {
				const cell = heat.cell[i * heat.n + k];
				const word = classOf(cell, heat.show, heat.bounds);
				// Whole pixels, or seams would show.
				const x = Math.round(p.x + k * p.step), y = Math.round(p.y + i * p.step);
				const w = Math.round(p.x + (k + 1) * p.step) - x - gap;
				const h = Math.round(p.y + (i + 1) * p.step) - y - gap;
				g.fillStyle = word === "none" ? "#ffffff" : of[word];
				g.fillRect(x, y, w, h);
				if (p.step >= 18)
					mark(g, word, x, y, p.step - gap, cell);
			}
		g.strokeStyle = of.rule;
		g.lineWidth = 1;
		g.strokeRect(p.x - .5, p.y - .5, p.size + 1, p.size + 1);
		labels(g, p, of);
		if (heat.at) {
			g.strokeStyle = of.ink;
			g.lineWidth = 1;
			g.strokeRect(p.x, p.y + heat.at.src * p.step - .5, p.size, p.step);
			g.strokeRect(p.x + heat.at.dst * p.step - .5, p.y, p.step, p.size);
			g.lineWidth = 2.5;
			g.strokeRect(p.x + heat.at.dst * p.step - .5, p.y + heat.at.src * p.step - .5, p.step, p.step);
		}
	};

	const hit = (event) => {
		const box = canvas.getBoundingClientRect(), p = place();
		const dst = Math.floor((event.clientX - box.left - p.x) / p.step);
		const src = Math.floor((event.clientY - box.top - p.y) / p.step);
		return src >= 0 && dst >= 0 && src < heat.n && dst < heat.n ? {src, dst} : null;
	};
	const go = (at) => {
		if (!at || (heat.at && heat.at.src === at.src && heat.at.dst === at.dst))
			return;
		heat.at = at;
		paint();
		move(at);
	};
	canvas.addEventListener("pointermove", (event) => go(hit(event)));
	canvas.addEventListener("click", (event) => {
		const at = hit(event);
		go(at);
		if (at)
			open(at);
	});
	const KEYS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
	canvas.addEventListener("keydown", (event) => {
		const by = KEYS[event.key], from = heat.at || {src: 0, dst: 0};
		const last = heat.n - 1;
		if (!heat.n)
			return;
		if (by)
			go({src: Math.min(last, Math.max(0, from.src + by[0])), dst: Math.min(last, Math.max(0, from.dst + by[1]))});
		else if (event.key === "Enter" || event.key === " ")
			open(from);
		else
			return;
		event.preventDefault();
	});
	new ResizeObserver(paint).observe(canvas);
	return paint;
};
