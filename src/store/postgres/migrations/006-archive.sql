-- 006-archive: jobs that have left the broker, jobs that somebody has deleted, and bodies that may be nobody's any more.

CREATE TABLE archived_jobs (
  id          text COLLATE "C" PRIMARY KEY,
  created_at  double precision NOT NULL, -- epoch ms, as are all that end so
  finished_at double precision NOT NULL,
  view        text             NOT NULL  -- JSON: the job as the broker last had it
);

CREATE INDEX archived_jobs_by_creation ON archived_jobs (created_at);

-- Marks stay for good.
CREATE TABLE deleted_jobs (
  id         text COLLATE "C" PRIMARY KEY,
  deleted_at double precision NOT NULL,
  is_clean   boolean          NOT NULL DEFAULT false -- true: nothing is left of it
);

CREATE INDEX deleted_jobs_unclean ON deleted_jobs (deleted_at) WHERE NOT is_clean;

CREATE TABLE loose_bodies (
  ref   text COLLATE "C" PRIMARY KEY,
  since double precision NOT NULL
);

CREATE INDEX loose_bodies_by_age ON loose_bodies (since);

-- Whether any page refers to a body. Most pages keep none, and are in none of these.
CREATE INDEX pages_by_body ON pages (body_ref) WHERE body_ref IS NOT NULL;
CREATE INDEX pages_by_screenshot ON pages (screenshot_ref) WHERE screenshot_ref IS NOT NULL;
CREATE INDEX pages_by_pdf ON pages (pdf_ref) WHERE pdf_ref IS NOT NULL;
