// experiments/live/page/fresh.js -- how old is what is shown, in words.
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A page that nobody reloads goes on showing what was good yesterday. So each second
// this is asked anew, by the collector's clock as it was told plus the time since:
// the browser's own may be wrong, and a laptop that slept is not told.

const LENGTH = {"5min": 300, "10min": 600, "1hour": 3600, "1day": 86400};
const LOST_S = 45; // no answer for so long
const SLACK_S = 120; // for jobs to be made once they are due

const utc = (s) => {
	const t = new Date(s * 1000).toISOString();
	return t.slice(0, 10) + " " + t.slice(11, 16);
};
const hour = (s) => utc(s).slice(11);

// "3 min", "2 h 5 min", "4 days"
const lasting = (s) => {
	const n = Math.max(0, Math.floor(s));
	if (n < 90)
		return n + " s";
	if (n < 5400)
		return Math.round(n / 60) + " min";
	if (n < 2 * 86400)
		return Math.floor(n / 3600) + " h " + Math.floor(n % 3600 / 60) + " min";
	return Math.floor(n / 86400) + " days";
};

// WHAT has now_s, answer_age_s (NaN: none yet), problem (or null), newest and
// with_data ({from_s, to_s, due_s} or null), last_batch_s, started_s, shown_s (the end
// of the window that is looked at, or null: the newest).
const freshness = (what) => {
	const {now_s: now, newest, with_data: seen} = what;
	if (Number.isNaN(what.answer_age_s))
		return {level: "wait", word: "Asking", says: "the collector\u2026"};
	if (what.answer_age_s > LOST_S)
		return {level: "lost", word: "No answer", says: "from the collector for " +
			lasting(what.answer_age_s) + "; what is shown is of " +
			(seen ? hour(seen.to_s) : "then") + " UTC or before"};
	if (what.problem)
		return {level: "old", word: "No data", says: what.problem};
	if (!newest)
		return {level: "empty", word: "Empty", says:
			"no window has been made yet; the first takes its length and two minutes"};
	const length = newest.to_s - newest.from_s;
	if (newest.to_s > now + 60)
		return {level: "clock", word: "Clocks disagree", says: "the newest window ends " +
			lasting(newest.to_s - now) + " after the collector's now"};
	const next = newest.due_s + length + SLACK_S;
	const batch = what.last_batch_s
		? "the last batch came " + lasting(now - what.last_batch_s) + " ago"
		: "no batch came since the collector began, " + lasting(now - what.started_s) + " ago";
	if (now > next)
		return {level: "old", word: "Old", says: "the newest window ended " +
			lasting(now - newest.to_s) + " ago, and the next is overdue; " + batch +
			(what.last_batch_s > newest.to_s ? ": does `culprit jobs --continuous` run?" : "")};
	if (!seen)
		return {level: "empty", word: "Empty", says: "windows are made, and no probe came in any; " + batch};
	if (seen.to_s < newest.to_s)
		return {level: "old", word: "Old", says: "no probe has come for the last " +
			lasting(now - seen.to_s) + "; " + batch};
	if (what.shown_s !== null && what.shown_s < seen.to_s)
		return {level: "past", word: "Past", says: "this window ended " +
			lasting(now - what.shown_s) + " ago; newer ones are there"};
	return {level: "good", word: "Fresh", says: "the newest window ended " +
		lasting(now - seen.to_s) + " ago, at " + hour(seen.to_s) + " UTC"};
};
