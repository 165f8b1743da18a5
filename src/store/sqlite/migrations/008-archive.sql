-- 008-archive: archived jobs, deleted jobs, and orphan bodies (table `loose_bodies`).

CREATE TABLE archived_jobs (
  id          TEXT PRIMARY KEY,
  created_at  REAL NOT NULL, -- epoch ms, like all columns that end in _at
  finished_at REAL NOT NULL,
  view        TEXT NOT NULL  -- JSON: the last state in the broker
) STRICT;

CREATE INDEX archived_jobs_by_creation ON archived_jobs (created_at);

-- Rows are never removed.
CREATE TABLE deleted_jobs (
  id         TEXT PRIMARY KEY,
  deleted_at REAL    NOT NULL,
  is_clean   INTEGER NOT NULL DEFAULT 0 -- 1: no rows of it are left
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_jobs_unclean ON deleted_jobs (deleted_at) WHERE is_clean = 0;

CREATE TABLE loose_bodies (
  ref   TEXT PRIMARY KEY,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX loose_bodies_by_age ON loose_bodies (since);

-- To find pages that refer to a body. Most pages have no body and are in none of these.
CREATE INDEX pages_by_body ON pages (body_ref) WHERE body_ref IS NOT NULL;
CREATE INDEX pages_by_screenshot ON pages (screenshot_ref) WHERE screenshot_ref IS NOT NULL;
CREATE INDEX pages_by_pdf ON pages (pdf_ref) WHERE pdf_ref IS NOT NULL;
