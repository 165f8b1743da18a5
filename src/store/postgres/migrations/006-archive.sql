-- 006-archive: archived jobs, deleted jobs, and orphan bodies (table `loose_bodies`).

CREATE TABLE archived_jobs (
  id          text COLLATE "C" PRIMARY KEY,
  created_at  double precision NOT NULL, -- epoch ms, like all columns that end in _at
  finished_at double precision NOT NULL,
  view        text             NOT NULL  -- JSON: the last state in the broker
);

CREATE INDEX archived_jobs_by_creation ON archived_jobs (created_at);

-- Rows are never removed.
CREATE TABLE deleted_jobs (
  id         text COLLATE "C" PRIMARY KEY,
  deleted_at double precision NOT NULL,
  is_clean   boolean          NOT NULL DEFAULT false -- true: no rows of it are left
);

CREATE INDEX deleted_jobs_unclean ON deleted_jobs (deleted_at) WHERE NOT is_clean;

CREATE TABLE loose_bodies (
  ref   text COLLATE "C" PRIMARY KEY,
  since double precision NOT NULL
);

CREATE INDEX loose_bodies_by_age ON loose_bodies (since);

-- To find pages that refer to a body. Most pages have no body and are in none of these.
CREATE INDEX pages_by_body ON pages (body_ref) WHERE body_ref IS NOT NULL;
CREATE INDEX pages_by_screenshot ON pages (screenshot_ref) WHERE screenshot_ref IS NOT NULL;
CREATE INDEX pages_by_pdf ON pages (pdf_ref) WHERE pdf_ref IS NOT NULL;
