-- 005-keys: who may ask the API, and whose a job is.
--
-- Of a key only its SHA-256 is kept: keys are 256 random bits, which nobody guesses from it, salted or not.

CREATE TABLE keys (
  n            INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  hash         TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  tenant       TEXT, -- null: sees every job
  scopes       TEXT NOT NULL, -- with spaces between
  quotas       TEXT NOT NULL, -- JSON
  created_at   REAL NOT NULL, -- epoch ms, as are all that end so
  expires_at   REAL,
  last_used_at REAL,
  revoked_at   REAL,
  full_at      REAL NOT NULL DEFAULT 0 -- when its bucket of URLs is full again
) STRICT;

CREATE TABLE job_owners (
  n        INTEGER PRIMARY KEY AUTOINCREMENT,
  owner    TEXT NOT NULL,
  job      TEXT NOT NULL UNIQUE,
  noted_at REAL NOT NULL,
  is_open  INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX job_owners_by_owner ON job_owners (owner, n);
CREATE INDEX job_owners_open ON job_owners (owner, n) WHERE is_open = 1;
