-- 005-keys: API keys, and jobs by owner.
--
-- Only the SHA-256 of a key is stored. Keys are 256 random bits, so a salt is not needed.

CREATE TABLE keys (
  n            INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  hash         TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  tenant       TEXT, -- null: sees every job
  scopes       TEXT NOT NULL, -- separated by spaces
  quotas       TEXT NOT NULL, -- JSON
  created_at   REAL NOT NULL, -- epoch ms, like all columns that end in _at
  expires_at   REAL,
  last_used_at REAL,
  revoked_at   REAL,
  full_at      REAL NOT NULL DEFAULT 0 -- when its token bucket is full again
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
