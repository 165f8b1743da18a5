-- 002-tries: who fetched a page and when it had the task, and the tries that ended without a page. Where a job keeps no
-- pages, and of pages older than this file, nobody knows: those columns are null.
--
-- A try has the token of its lease. Tokens of a task count its leases, so a number that has neither page nor try is a
-- lease that nobody came back from.

CREATE TABLE workers (
  alias INTEGER PRIMARY KEY,
  name  TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE pages ADD COLUMN worker INTEGER; -- workers.alias
ALTER TABLE pages ADD COLUMN attempt INTEGER;
ALTER TABLE pages ADD COLUMN leased_at REAL; -- epoch ms, with fractions
ALTER TABLE pages ADD COLUMN ended_at REAL;

CREATE TABLE tries (
  job       INTEGER NOT NULL, -- jobs.alias
  task      TEXT    NOT NULL,
  token     INTEGER NOT NULL,
  url       TEXT    NOT NULL, -- of the task, its step included
  worker    INTEGER NOT NULL, -- workers.alias
  attempt   INTEGER NOT NULL,
  leased_at REAL    NOT NULL,
  ended_at  REAL    NOT NULL,
  fate      TEXT    NOT NULL CHECK (fate IN ('retry', 'dead', 'refused', 'returned')),
  because   TEXT    NOT NULL,
  status    INTEGER,
  detail    TEXT,
  PRIMARY KEY (job, task, token)
) STRICT;
