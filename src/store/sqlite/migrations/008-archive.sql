-- 008-archive: jobs that have left the broker, jobs that somebody has deleted, and bodies that may be nobody's any more.

CREATE TABLE archived_jobs (
  id          TEXT PRIMARY KEY,
  created_at  REAL NOT NULL, -- epoch ms, as are all that end so
  finished_at REAL NOT NULL,
  view        TEXT NOT NULL  -- JSON: the job as the broker last had it
) STRICT;

CREATE INDEX archived_jobs_by_creation ON archived_jobs (created_at);

-- Marks stay for good.
CREATE TABLE deleted_jobs (
  id         TEXT PRIMARY KEY,
  deleted_at REAL    NOT NULL,
  is_clean   INTEGER NOT NULL DEFAULT 0 -- 1: nothing is left of it
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_jobs_unclean ON deleted_jobs (deleted_at) WHERE is_clean = 0;

CREATE TABLE loose_bodies (
  ref   TEXT PRIMARY KEY,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX loose_bodies_by_age ON loose_bodies (since);

-- Whether any page refers to a body. Most pages keep none, and are in none of these.
CREATE INDEX pages_by_body ON pages (body_ref) WHERE body_ref IS NOT NULL;
CREATE INDEX pages_by_screenshot ON pages (screenshot_ref) WHERE screenshot_ref IS NOT NULL;
CREATE INDEX pages_by_pdf ON pages (pdf_ref) WHERE pdf_ref IS NOT NULL;
