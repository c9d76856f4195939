-- results/sql/schema.sql -- what Pingmesh's jobs find, window by window.
-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Version 1, to which schema_2.sql and schema_3.sql add; PRAGMA user_version has
-- it. Names tell units: _ns are nanoseconds since 1970 (UTC), _us microseconds; n_ are counts, _rate and _share in [0, 1].
-- What was not measured is NULL. A scope is a server, ToR or pod by its number in
-- the data centre, the data centre itself (0), or a service by its place.

-- What all rows rest upon: network, services, timers, max_drop_rate, max_p99_us,
-- min_probes; and where each job goes on, next_10min and so on, in ns.
CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Each window once, also one of which nothing came. Windows begin at whole
-- multiples of their length since 1970.
CREATE TABLE window (
	id INTEGER PRIMARY KEY, -- from_ns / 1e9 * 4 + place of the job: by time
	job TEXT NOT NULL CHECK (job IN ('5min', '10min', '1hour', '1day')),
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL CHECK (to_ns > from_ns),
	due_ns INTEGER NOT NULL, -- to_ns and the grace for late batches
	made_ns INTEGER NOT NULL, -- when it was made, the first time
	-- made; empty: no record; redone: once more, with late records;
	-- too_large: more records than are allowed, so nothing was found
	state TEXT NOT NULL
	    CHECK (state IN ('made', 'empty', 'redone', 'too_large')),
	n_records INTEGER NOT NULL, -- probes; of 5min, rows of counters
	n_late INTEGER NOT NULL DEFAULT 0, -- of these, came after made_ns
	n_waiting INTEGER NOT NULL DEFAULT 0, -- came late, and wait for it to be redone
	n_aside INTEGER NOT NULL DEFAULT 0, -- came too late even for that
	first_file INTEGER, -- of the store, that it was read from
	UNIQUE (job, from_ns)
) STRICT;
CREATE INDEX window_waiting ON window (to_ns) WHERE n_waiting > 0;

-- A row a window and data centre.
CREATE TABLE summary (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	n_probes INTEGER NOT NULL, -- sent
	n_silent INTEGER, -- servers not heard of; NULL: longer than 10min
	seen_share REAL, -- share of servers heard of
	drop_rate REAL,
	p99_us REAL,
	n_alerts INTEGER, -- scopes that alert
	pod_pattern TEXT, -- of the heat map: normal, unclear, pod_down,
	-- pod_failure, spine_failure; NULL: no heat map
	tor_pattern TEXT, -- the same of ToRs; NULL: longer than 10min
	random_drops TEXT, -- none, unclear, pod, spine; from 1hour on
	PRIMARY KEY (window, dc)
) STRICT, WITHOUT ROWID;

-- Connects that lost a SYN, by the ends of probes; counts of shorter windows add
-- up to those of longer ones.
CREATE TABLE drop_rate (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	probes TEXT NOT NULL, -- all, intra_tor, intra_pod, inter_pod, inter_dc
	n_success INTEGER NOT NULL, -- connected
	n_drop INTEGER NOT NULL, -- of these, after a lost SYN
	n_unclear INTEGER NOT NULL, -- of these, late for no known reason
	n_failed INTEGER NOT NULL, -- timed out or refused; in no rate
	drop_rate REAL, -- n_drop / n_success
	drop_rate_lo REAL, -- exact interval
	drop_rate_hi REAL,
	PRIMARY KEY (window, dc, probes)
) STRICT, WITHOUT ROWID;

-- Service level. Quantiles of 10min are exact; of 1hour and 1day the end of a
-- bucket, at most 1/64 too high; of 5min the mean of servers' own.
-- Servers have rows in 1hour and 1day since version 3.
CREATE TABLE sla (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	scope TEXT NOT NULL
	    CHECK (scope IN ('server', 'tor', 'pod', 'dc', 'service')),
	scope_id INTEGER NOT NULL,
	name TEXT, -- of a service; of a server, its address
	n_success INTEGER NOT NULL, -- probes that connected
	n_drop INTEGER NOT NULL, -- of these, after a lost SYN
	drop_rate REAL, -- n_drop / n_success
	p50_us REAL,
	p99_us REAL,
	p999_us REAL, -- of 1hour and 1day
	verdict TEXT, -- of a service in 10min: unknown, not_network, network, servers
	PRIMARY KEY (window, dc, scope, scope_id)
) STRICT, WITHOUT ROWID;

-- The heat map: from pod to pod. Pairs without a probe have no row; with probes
-- and no success, p99_us is NULL.
CREATE TABLE pod_pair (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	src_pod INTEGER NOT NULL,
	dst_pod INTEGER NOT NULL,
	n_success INTEGER NOT NULL,
	n_drop INTEGER NOT NULL,
	n_failed INTEGER NOT NULL, -- timed out or refused
	n_success_tors INTEGER NOT NULL, -- of n_success, between two ToRs
	n_drop_tors INTEGER NOT NULL,
	drop_rate REAL, -- n_drop / n_success
	p50_us REAL, -- the end of a bucket, at most 1/64 too high
	p99_us REAL, -- likewise; of 10min exact
	PRIMARY KEY (window, dc, src_pod, dst_pod)
) STRICT, WITHOUT ROWID;

-- What is above its bound in a window. alert_span has since when and until when.
CREATE TABLE alert (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN
	    ('drop_rate', 'p99_us', 'black_hole', 'random_drops', 'pattern')),
	scope TEXT NOT NULL,
	scope_id INTEGER NOT NULL,
	name TEXT,
	value REAL, -- of a black hole its score; of words NULL
	bound REAL, -- NULL: it has none
	says TEXT, -- what to do, or what was found, in a word
	PRIMARY KEY (window, dc, kind, scope, scope_id)
) STRICT, WITHOUT ROWID;

-- ToRs with a score above 0, of 1hour.
CREATE TABLE black_hole (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	tor INTEGER NOT NULL,
	n_alive INTEGER NOT NULL, -- servers that an answer was seen of
	n_symptom INTEGER NOT NULL, -- of these, in black-holed pairs
	score REAL,
	action TEXT NOT NULL, -- none, reload, defer, escalate
	PRIMARY KEY (window, dc, tor)
) STRICT, WITHOUT ROWID;

-- Pairs of pods between which more is dropped at random than is normal.
CREATE TABLE random_drop (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	pod INTEGER NOT NULL,
	pod2 INTEGER NOT NULL,
	n_success INTEGER NOT NULL, -- either way
	n_drop INTEGER NOT NULL,
	drop_rate_lo REAL, -- exact interval
	drop_rate_hi REAL,
	PRIMARY KEY (window, dc, pod, pod2)
) STRICT, WITHOUT ROWID;

-- Is the service of measuring itself well? By window.
CREATE TABLE watchdog (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	name TEXT NOT NULL, -- on_time, data, servers, black_holes
	ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
	says TEXT NOT NULL,
	PRIMARY KEY (window, name)
) STRICT, WITHOUT ROWID;

-- Servers that batches came from.
CREATE TABLE agent (
	ip INTEGER PRIMARY KEY, -- as a number; of IPv6, as if it had 10.0.0.0/8
	address TEXT NOT NULL, -- 10.0.0.1 or fd00::1
	dc INTEGER NOT NULL,
	server INTEGER NOT NULL, -- its number in the data centre
	first_seen_ns INTEGER NOT NULL, -- its clock
	last_seen_ns INTEGER NOT NULL,
	born_ns INTEGER NOT NULL, -- start of the newest agent there
	n_starts INTEGER NOT NULL,
	n_batches INTEGER NOT NULL, -- the number of that agent's last one
	n_records INTEGER NOT NULL, -- in batches that came in their order
	n_lost INTEGER NOT NULL -- records that agent says it lost
) STRICT;

-- Counts of connect times by scope, from which longer windows are merged: a
-- quantile of quantiles is none. scope_id2 is of pod pairs, else 0. The counts are
-- pairs of numbers, seven bits a byte, low ones first, the eighth bit set but in
-- the last: how many buckets after the one before, and how many probes. Buckets
-- are 1/64 of an octave from 1 us on (experiments/pingmesh/dsa/pool.h).
CREATE TABLE histogram (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	scope TEXT NOT NULL
	    CHECK (scope IN ('tor', 'pod', 'dc', 'service', 'pod_pair')),
	scope_id INTEGER NOT NULL,
	scope_id2 INTEGER NOT NULL,
	n_success INTEGER NOT NULL,
	n_drop INTEGER NOT NULL,
	counts BLOB NOT NULL,
	PRIMARY KEY (window, dc, scope, scope_id, scope_id2)
) STRICT, WITHOUT ROWID;

-- How far the collector's files were read, and what of them was left out.
CREATE TABLE store (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	file INTEGER NOT NULL, -- number of the file that is read
	at_byte INTEGER NOT NULL,
	first_ns INTEGER, -- of the earliest record
	last_ns INTEGER, -- of the latest
	n_batches INTEGER NOT NULL DEFAULT 0,
	n_records INTEGER NOT NULL DEFAULT 0,
	n_failed INTEGER NOT NULL DEFAULT 0, -- never sent by their host
	n_foreign INTEGER NOT NULL DEFAULT 0, -- not between two of the servers
	n_odd INTEGER NOT NULL DEFAULT 0, -- time and outcome do not agree
	n_untimely INTEGER NOT NULL DEFAULT 0, -- not of the days before they came
	n_before INTEGER NOT NULL DEFAULT 0, -- of before the first window
	n_bytes_damaged INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Where in those files the records of a time stand.
CREATE TABLE chunk (
	file INTEGER NOT NULL,
	from_byte INTEGER NOT NULL,
	to_byte INTEGER NOT NULL,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	PRIMARY KEY (file, from_byte)
) STRICT, WITHOUT ROWID;

-- The newest window of each job in which something came.
CREATE VIEW newest AS
SELECT job, max(id) AS window, max(from_ns) AS from_ns, max(to_ns) AS to_ns
FROM window WHERE state IN ('made', 'redone') GROUP BY job;

-- The heat map as it is now: rows of pod_pair of the newest 10 minutes.
CREATE VIEW heat_map AS
SELECT n.from_ns, n.to_ns, p.* FROM newest n JOIN pod_pair p USING (window)
WHERE n.job = '10min';

-- The level of each service over time, newest last.
CREATE VIEW service_sla AS
SELECT w.job, w.from_ns, w.to_ns, s.* FROM window w JOIN sla s ON s.window = w.id
WHERE s.scope = 'service' ORDER BY w.id, s.dc, s.scope_id;

-- Alerts of windows that follow each other, as one. An alert is open if it is in
-- the newest window of its job in which something came.
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

-- The newest word of each watchdog, by job.
CREATE VIEW watchdog_now AS
SELECT w.job, d.name, d.ok, d.says, max(w.to_ns) AS to_ns
FROM watchdog d JOIN window w ON w.id = d.window GROUP BY w.job, d.name;
