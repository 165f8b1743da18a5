-- 001-initial: pages, their records, attempts, and the aliases of jobs and workers. Append-only: later changes are new
-- files.
--
-- A writer locks the rows of its jobs in `jobs` before it takes any id, and holds the lock until it commits. So the ids
-- of a job are assigned in commit order, and a reader that follows a job by cursor misses no row. Writers of different
-- jobs do not block each other. Page ids are global, record ids are per job. The records of a page have consecutive
-- ids, so the records of a replaced page are found without an index.
--
-- JSON is stored as text: jsonb rejects \u0000 and lone surrogates, and normalizes values. To query a field:
-- fields::json ->> 'title'. Texts are compared bytewise, as in SQLite, whatever the collation of the database.
--
-- No foreign keys: one function writes all of these tables, and each check would cost a lookup per record.

CREATE TABLE jobs (
  alias       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  next_record bigint NOT NULL DEFAULT 1, -- the next id of a record
  records     bigint NOT NULL DEFAULT 0  -- number of stored records: counting them would read them all
) WITH (fillfactor = 50); -- every batch updates a row; free space allows HOT updates

CREATE TABLE workers (
  alias integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name  text COLLATE "C" NOT NULL UNIQUE
);

CREATE SEQUENCE page_ids;

CREATE TABLE pages (
  id             bigint           PRIMARY KEY, -- from page_ids
  job            integer          NOT NULL, -- jobs.alias
  task           text COLLATE "C" NOT NULL,
  token          bigint           NOT NULL, -- the lease that wrote it; a lower token is rejected
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
  worker         integer,                   -- workers.alias; null, like all columns below, if the job keeps no pages
  attempt        integer,
  leased_at      double precision,
  ended_at       double precision,
  step           text,
  UNIQUE (job, task)
);

-- To read a job's pages in order. The index is on job + 0, and only `readPages` and similar queries use this
-- expression. With an index on job, the planner would use that index to look up a task while it assumes that the table
-- is small.
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
  url       text COLLATE "C" NOT NULL, -- of the task, including its step
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
