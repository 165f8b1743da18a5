-- 004-passed-on: the fate 'passed', for a lease whose page another task continues, and the step of an attempt. SQLite
-- cannot change a constraint, so `tries` is recreated.

ALTER TABLE pages ADD COLUMN step TEXT;

CREATE TABLE tries_anew (
  job       INTEGER NOT NULL, -- jobs.alias
  task      TEXT    NOT NULL,
  token     INTEGER NOT NULL,
  url       TEXT    NOT NULL, -- of the task, including its step
  worker    INTEGER NOT NULL, -- workers.alias
  attempt   INTEGER NOT NULL,
  leased_at REAL    NOT NULL,
  ended_at  REAL    NOT NULL,
  fate      TEXT    NOT NULL CHECK (fate IN ('retry', 'dead', 'refused', 'returned', 'passed')),
  because   TEXT    NOT NULL,
  status    INTEGER,
  detail    TEXT,
  step      TEXT    NOT NULL,
  PRIMARY KEY (job, task, token)
) STRICT;

INSERT INTO tries_anew
SELECT job, task, token, url, worker, attempt, leased_at, ended_at, fate, because, status, detail, 'fetch' FROM tries;

DROP TABLE tries;
ALTER TABLE tries_anew RENAME TO tries;
