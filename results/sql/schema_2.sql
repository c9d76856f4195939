-- results/sql/schema_2.sql -- what version 2 has more than schema.sql.
-- SPDX-License-Identifier: GPL-3.0-or-later

-- GETs of HTTP pings in 10min, by scope; a scope without any has no row. Their
-- connects are in the other tables, with those of all pings. Longer windows have no
-- rows: a quantile of quantiles is none, and counts add up.
CREATE TABLE http (
	window INTEGER NOT NULL REFERENCES window ON DELETE CASCADE,
	dc INTEGER NOT NULL,
	scope TEXT NOT NULL CHECK (scope IN ('tor', 'pod', 'dc', 'service')),
	scope_id INTEGER NOT NULL,
	n_asked INTEGER NOT NULL, -- pings that connected
	n_ok INTEGER NOT NULL, -- of these, answered by status 200
	n_other INTEGER NOT NULL, -- by another status
	n_malformed INTEGER NOT NULL, -- by what is no HTTP
	n_cut INTEGER NOT NULL, -- ended before their answer
	n_late INTEGER NOT NULL, -- not answered in time
	p50_us REAL, -- from GET to a status 200; exact
	p99_us REAL,
	PRIMARY KEY (window, dc, scope, scope_id)
) STRICT, WITHOUT ROWID;
