-- results/sql/schema_3.sql -- what version 3 has more than schema_2.sql.
-- SPDX-License-Identifier: GPL-3.0-or-later

-- Which list an agent probes by, as its counters of 5 minutes say: the version, 16
-- hexadecimal digits; empty: none. NULL: it is from before 0.10.0, and does not say.
ALTER TABLE agent ADD COLUMN list TEXT;
ALTER TABLE agent ADD COLUMN list_issued_ns INTEGER; -- of signed lists; else 0
ALTER TABLE agent ADD COLUMN list_told_ns INTEGER; -- its clock

-- Agents, and how their lists are: newest, older, other, none. The newest is the one
-- that was issued last, of agents heard within 20 minutes of the last; lists without
-- signatures have no order, so it is the one that most of these have, and an agent
-- with another has an `other`.
CREATE VIEW agent_list AS
SELECT a.*, CASE
    WHEN a.list IS NULL THEN NULL
    WHEN a.list = '' THEN 'none'
    WHEN a.list = n.list THEN 'newest'
    WHEN a.list_issued_ns > 0 AND a.list_issued_ns < n.issued_ns THEN 'older'
    ELSE 'other' END AS list_is
FROM agent a LEFT JOIN (
	SELECT list, max(list_issued_ns) AS issued_ns FROM agent
	WHERE list <> '' AND list_told_ns >
	    (SELECT max(list_told_ns) FROM agent) - 1200000000000
	GROUP BY list
	ORDER BY max(list_issued_ns) DESC, count(*) DESC, list LIMIT 1
) n;

-- Table `http` has rows of all windows: of 5min, of agents' counters, without
-- services, its times the mean of servers' own; of 1hour and 1day, counts that add up,
-- and times the end of a bucket, at most 1/64 too high. Table `sla` has rows of
-- servers in all windows, likewise.

-- Counts of times, as in `histogram`, of scopes that have none there: connect times
-- of servers, and times of GETs. n_success are the counted ones.
CREATE TABLE time_counts (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	what TEXT NOT NULL CHECK (what IN ('connect', 'http')),
	scope TEXT NOT NULL
	    CHECK (scope IN ('server', 'tor', 'pod', 'dc', 'service')),
	scope_id INTEGER NOT NULL,
	n_success INTEGER NOT NULL,
	n_drop INTEGER NOT NULL,
	counts BLOB NOT NULL,
	PRIMARY KEY (window, dc, what, scope, scope_id)
) STRICT, WITHOUT ROWID;

-- Alerts may be of HTTP pings, too: the share of GETs without a status 200, and P99.
DROP VIEW alert_open;
DROP VIEW alert_span;
CREATE TABLE alert_3 (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN
	    ('drop_rate', 'p99_us', 'black_hole', 'random_drops', 'pattern',
	    'http_failed', 'http_p99_us')),
	scope TEXT NOT NULL,
	scope_id INTEGER NOT NULL,
	name TEXT,
	value REAL, -- of a black hole its score; of words NULL
	bound REAL, -- NULL: it has none
	says TEXT, -- what to do, or what was found, in a word
	PRIMARY KEY (window, dc, kind, scope, scope_id)
) STRICT, WITHOUT ROWID;
INSERT INTO alert_3 SELECT * FROM alert;
DROP TABLE alert;
ALTER TABLE alert_3 RENAME TO alert;

CREATE VIEW alert_span AS
SELECT s.job, s.dc, s.kind, s.scope, s.scope_id, s.name,
    min(s.from_ns) AS since_ns, max(s.to_ns) AS until_ns,
    count(*) AS n_windows, max(s.value) AS worst, s.bound, s.says,
    max(s.window) = (SELECT n.window FROM newest n WHERE n.job = s.job)
	AS is_open
FROM (
	SELECT b.*, sum(b.begins) OVER (PARTITION BY b.job, b.dc, b.kind,
	    b.scope, b.scope_id ORDER BY b.from_ns) AS span
	FROM (
		SELECT w.job, w.from_ns, w.to_ns, a.*,
		    coalesce(w.from_ns > lag(w.to_ns) OVER (PARTITION BY w.job,
		    a.dc, a.kind, a.scope, a.scope_id ORDER BY w.from_ns), 1)
			AS begins
		FROM alert a JOIN window w ON w.id = a.window
	) b
) s
GROUP BY s.job, s.dc, s.kind, s.scope, s.scope_id, s.span;

CREATE VIEW alert_open AS SELECT * FROM alert_span WHERE is_open;
