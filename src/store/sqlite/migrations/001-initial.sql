-- 001-initial: pages, the records found on them, and the short numbers that stand for jobs. Append-only: later changes
-- get a file of their own.
--
-- Ids come from the one row of `sequence` and are never used again, so a reader's cursor never skips a row: a page takes
-- as many as it has rows, and its records and invalid records are numbered from the page's own id on. They are
-- contiguous, which is how a replaced page's rows are found again without an index from records to pages.
--
-- No foreign keys: one code path writes all of these tables in one transaction, and the checks cost a look-up a record.

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
  token        INTEGER NOT NULL, -- the lease that wrote it; a lower one is refused
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
