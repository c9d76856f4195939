// What a report does when it is clicked. Without it all is there to be opened
// and read. No text is ever taken for markup: only what stands in the page is
// shown, hidden and moved.
"use strict";
(() => {
	const all = (query, within) =>
		Array.from((within || document).querySelectorAll(query));
	const root = document.documentElement;
	root.classList.add("js");

	// --- light and dark ---------------------------------------------------
	// A page that is opened as a file may not be allowed to keep anything.
	const kept = {
		get() {
			try {
				return localStorage.getItem("culprit-theme");
			} catch (e) {
				return null;
			}
		},
		set(value) {
			try {
				localStorage.setItem("culprit-theme", value);
			} catch (e) {
				// The choice holds until the page is left.
			}
		},
	};
	const isDark = () => root.dataset.theme
		? root.dataset.theme === "dark"
		: matchMedia("(prefers-color-scheme: dark)").matches;
	const toggle = document.getElementById("theme");
	const tellTheme = () => {
		toggle.textContent = isDark() ? "Light colours" : "Dark colours";
		toggle.setAttribute("aria-pressed", String(isDark()));
	};
	const had = kept.get();
	if (had === "dark" || had === "light")
		root.dataset.theme = had;
	toggle.hidden = false;
	toggle.addEventListener("click", () => {
		root.dataset.theme = isDark() ? "light" : "dark";
		kept.set(root.dataset.theme);
		tellTheme();
	});
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", tellTheme);
	tellTheme();

	// --- tables -----------------------------------------------------------
	// Numbers by value, what has none at the end; all else as words. Rows
	// that are equal keep their order.
	const keyOf = (row, column) => {
		const cell = row.cells[column];
		return cell.dataset.v !== undefined ? cell.dataset.v
			: cell.textContent.trim();
	};
	const compare = (a, b, isNumber, sign) => {
		if (!isNumber)
			return sign * a.localeCompare(b, "en", {numeric: true});
		if (a === "" || b === "")
			return (a === "") - (b === "");
		return sign * (parseFloat(a) - parseFloat(b));
	};
	const sortBy = (table, head) => {
		const down = head.getAttribute("aria-sort") === "ascending";
		const column = head.cellIndex;
		const isNumber = head.classList.contains("num");
		all("thead th[aria-sort]", table).forEach((h) =>
			h.setAttribute("aria-sort", "none"));
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		const body = table.tBodies[0];
		const rows = Array.from(body.rows);
		rows.map((row, i) => ({row, i, key: keyOf(row, column)}))
			.sort((x, y) => compare(x.key, y.key, isNumber,
				down ? -1 : 1) || x.i - y.i)
			.forEach((x) => body.append(x.row));
	};
	all("table.sortable").forEach((table) => {
		all("thead th", table).forEach((head) => {
			if (!head.textContent.trim())
				return;
			const button = document.createElement("button");
			button.type = "button";
			button.append(...head.childNodes);
			head.append(button);
			head.setAttribute("aria-sort", "none");
			button.addEventListener("click", () =>
				sortBy(table, head));
		});
	});

	// --- claims by their verdict ------------------------------------------
	const filters = document.getElementById("verdicts");
	const told = document.getElementById("claims-told");
	const filter = (verdict) => {
		let n = 0;
		all("#claims tbody tr").forEach((row) => {
			row.hidden = verdict !== "" &&
				row.dataset.verdict !== verdict;
			n += !row.hidden;
		});
		all("button", filters).forEach((b) => b.setAttribute(
			"aria-pressed", String(b.dataset.verdict === verdict)));
		told.textContent = n === 1 ? "1 claim" : n + " claims";
	};
	if (filters) {
		filters.hidden = false;
		all("button", filters).forEach((b) =>
			b.addEventListener("click", () =>
				filter(b.dataset.verdict)));
		filter("");
	}

	// --- one cell ---------------------------------------------------------
	const optionsOf = (select, cells, key, text) => {
		const seen = new Set();
		select.replaceChildren();
		cells.forEach((cell) => {
			if (seen.has(cell.dataset[key]))
				return;
			seen.add(cell.dataset[key]);
			const option = document.createElement("option");
			option.value = cell.dataset[key];
			option.textContent = cell.dataset[text];
			select.append(option);
		});
	};
	const open = (box, cell) => {
		const same = box.cells.filter((c) =>
			c.dataset.point === cell.dataset.point);
		box.point.value = cell.dataset.point;
		optionsOf(box.run, same, "run", "runText");
		box.run.value = cell.dataset.run;
		box.cells.forEach((c) => {
			c.open = c === cell;
		});
	};
	const boxes = new Map();
	all(".cells").forEach((element) => {
		const box = {
			cells: all("details.cell", element),
			point: element.querySelector("select.point"),
			run: element.querySelector("select.run"),
		};
		if (box.cells.length === 0)
			return;
		boxes.set(element.dataset.figure, box);
		element.querySelector(".bar").hidden = false;
		box.cells.sort((a, b) =>
			a.dataset.point - b.dataset.point ||
			a.dataset.place - b.dataset.place);
		optionsOf(box.point, box.cells, "point", "pointText");
		box.cells.forEach((c) => {
			c.open = false;
		});
		box.point.addEventListener("change", () => open(box,
			box.cells.find((c) =>
				c.dataset.point === box.point.value)));
		box.run.addEventListener("change", () => open(box,
			box.cells.find((c) =>
				c.dataset.point === box.point.value &&
				c.dataset.run === box.run.value)));
		element.querySelector(".open").addEventListener("click", () => {
			const now = box.cells.findIndex((c) => c.open);
			open(box, box.cells[(now + 1) % box.cells.length]);
		});
		open(box, box.cells[0]);
	});

	// --- whose scores a drawing shows -------------------------------------
	all("fieldset.says").forEach((choice) => {
		const drawing = choice.closest(".cell")
			.querySelector("svg[role=img]");
		choice.hidden = false;
		choice.addEventListener("change", (event) => {
			all(".c-says", drawing).forEach((group) =>
				group.setAttribute("visibility",
					group.dataset.says === event.target.value
						? "visible" : "hidden"));
		});
	});

	// --- where one is -----------------------------------------------------
	// #figure, #figure/point/run, or the id of anything within a <details>.
	const go = () => {
		const [id, point, run] =
			decodeURIComponent(location.hash.slice(1)).split("/");
		const target = id && document.getElementById(id);
		if (!target)
			return;
		for (let at = target; at; at = at.parentElement)
			if (at.tagName === "DETAILS")
				at.open = true;
		const box = boxes.get(id);
		const cell = box && point !== undefined && box.cells.find((c) =>
			c.dataset.point === point &&
			(run === undefined || c.dataset.run === run));
		if (cell)
			open(box, cell);
		(cell || target).scrollIntoView();
	};
	addEventListener("hashchange", go);
	go();

	const links = new Map(all(".side li a").map((a) =>
		[a.getAttribute("href").slice(1), a]));
	const near = new IntersectionObserver((entries) => {
		entries.filter((e) => e.isIntersecting).forEach((e) => {
			links.forEach((a) => a.removeAttribute("aria-current"));
			const link = links.get(e.target.id);
			if (link)
				link.setAttribute("aria-current", "true");
		});
	}, {rootMargin: "-10% 0px -80% 0px"});
	all("main > section, main > article").forEach((s) => near.observe(s));

	const find = document.getElementById("find");
	find.hidden = false;
	find.addEventListener("input", () => {
		const word = find.value.trim().toLowerCase();
		links.forEach((a) => {
			a.parentElement.hidden = word !== "" &&
				!a.textContent.toLowerCase().includes(word) &&
				!(a.title || "").toLowerCase().includes(word);
		});
	});
})();
