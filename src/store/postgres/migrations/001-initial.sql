-- 001-initial: pages, the records found on them, how leases went, and the short numbers that stand for jobs and workers.
-- Append-only: later changes get a file of their own.
--
-- A writer locks its jobs' rows in `jobs` before it takes any id, and until it has committed. So the ids of one job grow in
-- the order of commits, and a reader that follows a job by cursor misses nothing; writers of different jobs do not wait
-- for each other. Pages are numbered over all jobs; records within their job, those of one page in a row: that is how a
-- replaced page's records are found again without an index.
--
-- JSON is kept as text: jsonb refuses \u0000 and lone surrogates, and would change what a page said. To ask for a field:
-- fields::json ->> 'title'. Texts are compared byte by byte, as SQLite does, whatever the language of the database.
--
-- No foreign keys: one function writes all of these tables, and the checks would cost a look-up a record.

CREATE TABLE jobs (
  alias       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  next_record bigint NOT NULL DEFAULT 1, -- the next id of a record
  records     bigint NOT NULL DEFAULT 0  -- how many are kept: counting them would read them all
) WITH (fillfactor = 50); -- every batch rewrites a row, beside the old one while there is room

CREATE TABLE workers (
  alias integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name  text COLLATE "C" NOT NULL UNIQUE
);

CREATE SEQUENCE page_ids;

CREATE TABLE pages (
  id             bigint           PRIMARY KEY, -- of page_ids
  job            integer          NOT NULL, -- jobs.alias
  task           text COLLATE "C" NOT NULL,
  token          bigint           NOT NULL, -- the lease that wrote it; a lower one is refused
  depth          integer          NOT NULL,
  url            text COLLATE "C" NOT NULL,
  status         integer          NOT NULL,
  headers        text             NOT NULL, -- JSON object
  content_type   text,
  body_bytes     bigint           NOT NULL,
  body_ref       text,
  screenshot_ref text,
  pdf_ref        text,
  fetched_at     double precision NOT NULL, -- epoch ms, with fractions
  took_ms        double precision NOT NULL,
  first          bigint           NOT NULL, -- the id of its first record, and of its first invalid record
  records        integer          NOT NULL,
  invalid        integer          NOT NULL,
  worker         integer,                   -- workers.alias; null, as all below, where a job keeps no pages
  attempt        integer,
  leased_at      double precision,
  ended_at       double precision,
  step           text,
  UNIQUE (job, task)
);

-- To read a job's pages in order. By job + 0, which only `readPages` and its like ask for: an index that begins with the
-- job itself would be taken for looking up a task, while the planner thinks that the table is small.
CREATE INDEX pages_by_job ON pages ((job + 0), id);

CREATE TABLE records (
  job    integer NOT NULL,
  id     bigint  NOT NULL,
  page   bigint  NOT NULL, -- pages.id
  fields text    NOT NULL, -- JSON object
  PRIMARY KEY (job, id)
);

CREATE TABLE invalid_records (
  job    integer NOT NULL,
  id     bigint  NOT NULL,
  page   bigint  NOT NULL, -- pages.id
  fields text    NOT NULL, -- JSON object
  reason text    NOT NULL,
  PRIMARY KEY (job, id)
);

CREATE TABLE tries (
  job       integer          NOT NULL, -- jobs.alias
  task      text COLLATE "C" NOT NULL,
  token     bigint           NOT NULL,
  url       text COLLATE "C" NOT NULL, -- of the task, its step included
  worker    integer          NOT NULL, -- workers.alias
  attempt   integer          NOT NULL,
  leased_at double precision NOT NULL,
  ended_at  double precision NOT NULL,
  fate      text COLLATE "C" NOT NULL CHECK (fate IN ('retry', 'dead', 'refused', 'returned', 'passed')),
  because   text COLLATE "C" NOT NULL,
  status    integer,
  detail    text,
  step      text             NOT NULL,
  PRIMARY KEY (job, task, token)
);
