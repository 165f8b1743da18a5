-- 003-keys: API keys, and jobs by owner.
--
-- Only the SHA-256 of a key is stored. Keys are 256 random bits, so a salt is not needed.

CREATE TABLE keys (
  n            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id           text COLLATE "C" NOT NULL UNIQUE,
  hash         text COLLATE "C" NOT NULL UNIQUE,
  name         text NOT NULL,
  tenant       text, -- null: sees every job
  scopes       text NOT NULL, -- separated by spaces
  quotas       text NOT NULL, -- JSON
  created_at   double precision NOT NULL, -- epoch ms, like all columns that end in _at
  expires_at   double precision,
  last_used_at double precision,
  revoked_at   double precision,
  full_at      double precision NOT NULL DEFAULT 0 -- when its token bucket is full again
);

CREATE TABLE job_owners (
  n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner    text COLLATE "C" NOT NULL,
  job      text COLLATE "C" NOT NULL UNIQUE,
  noted_at double precision NOT NULL,
  is_open  boolean NOT NULL DEFAULT true
);

CREATE INDEX job_owners_by_owner ON job_owners (owner, n);
CREATE INDEX job_owners_open ON job_owners (owner, n) WHERE is_open;
