-- 002-tries: the worker and times of a page, and attempts that ended without a page. These columns are null if the job
-- keeps no pages, and for pages that are older than this file.
--
-- An attempt has the token of its lease. Tokens count the leases of a task, so a token with neither page nor attempt is
-- a lease whose worker crashed.

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
  url       TEXT    NOT NULL, -- of the task, including its step
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
