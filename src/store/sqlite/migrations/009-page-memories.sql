-- 009-page-memories: what recrawl sets remember of their pages, and which pages were found unchanged.
--
-- `n` tells which memory of a page came before which. A job is named by its id: aliases of jobs that were deleted may be
-- given out again.

CREATE TABLE page_memories (
  n             INTEGER PRIMARY KEY,
  set_name      TEXT    NOT NULL,
  page          TEXT    NOT NULL, -- hash of its URL
  job           TEXT    NOT NULL, -- jobs.id
  task          TEXT    NOT NULL,
  token         INTEGER NOT NULL,
  reads         TEXT    NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  fingerprint   TEXT, -- null: the page was gone
  content       BLOB, -- JSON, deflated; null where it was too much
  fetched_at    REAL    NOT NULL,
  UNIQUE (set_name, page, job)
) STRICT;

ALTER TABLE pages ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;

CREATE INDEX pages_unchanged ON pages (job) WHERE unchanged = 1;
