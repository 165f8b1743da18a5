-- 009-page-memories: page memory of recrawl sets, and unchanged pages.
--
-- `n` orders the memories of a page. `job` is the id of the job, not its alias.

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
  content       BLOB, -- JSON, deflated; null if it was too large
  fetched_at    REAL    NOT NULL,
  UNIQUE (set_name, page, job)
) STRICT;

ALTER TABLE pages ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;

CREATE INDEX pages_unchanged ON pages (job) WHERE unchanged = 1;
