-- 001-initial: pages, their records, and the aliases of jobs. Append-only: later changes are new files.
--
-- Ids come from the single row of `sequence` and are never reused, so a reader's cursor never skips a row. A page takes
-- as many ids as it has rows. The ids of its records and invalid records start at the id of the page and are
-- consecutive, so the rows of a replaced page are found without an index from records to pages.
--
-- No foreign keys: one code path writes all of these tables in one transaction, and each check costs a lookup per
-- record.

CREATE TABLE sequence (next_id INTEGER NOT NULL) STRICT;
INSERT INTO sequence (next_id) VALUES (1);

CREATE TABLE jobs (
  alias INTEGER PRIMARY KEY,
  id    TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE pages (
  id           INTEGER PRIMARY KEY,
  job          INTEGER NOT NULL, -- jobs.alias
  task         TEXT    NOT NULL,
  token        INTEGER NOT NULL, -- the lease that wrote it; a lower token is rejected
  depth        INTEGER NOT NULL,
  url          TEXT    NOT NULL,
  status       INTEGER NOT NULL,
  headers      TEXT    NOT NULL, -- JSON object
  content_type TEXT,
  body_bytes   INTEGER NOT NULL,
  body_ref     TEXT,
  fetched_at   REAL    NOT NULL, -- epoch ms, with fractions
  took_ms      REAL    NOT NULL,
  records      INTEGER NOT NULL,
  invalid      INTEGER NOT NULL,
  UNIQUE (job, task)
) STRICT;

CREATE INDEX pages_by_job ON pages (job);

CREATE TABLE records (
  id     INTEGER PRIMARY KEY,
  job    INTEGER NOT NULL,
  page   INTEGER NOT NULL, -- pages.id
  fields TEXT    NOT NULL  -- JSON object
) STRICT;

CREATE INDEX records_by_job ON records (job);

CREATE TABLE invalid_records (
  id     INTEGER PRIMARY KEY,
  job    INTEGER NOT NULL,
  page   INTEGER NOT NULL, -- pages.id
  fields TEXT    NOT NULL, -- JSON object
  reason TEXT    NOT NULL
) STRICT;

CREATE INDEX invalid_records_by_job ON invalid_records (job);
