-- The broker file, version 1. It has no foreign keys, because one code path writes all of it. Times are epoch
-- milliseconds with fractions; 9e15 means "not until something changes".

-- A job and its ledger. `n` is the number that other tables use for the job.
CREATE TABLE jobs (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'finished', 'failed', 'cancelled')),
  sealed INTEGER NOT NULL DEFAULT 0,
  queue TEXT NOT NULL,
  base_priority INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  interval_ms REAL NOT NULL,
  burst INTEGER NOT NULL,
  per_site INTEGER NOT NULL,
  site_rules TEXT NOT NULL,
  robots INTEGER NOT NULL,
  retries_max INTEGER NOT NULL,
  backoff_ms REAL NOT NULL,
  page_limit INTEGER,
  admitted INTEGER NOT NULL DEFAULT 0,
  deadline_at REAL,
  scope INTEGER NOT NULL,
  expire_after_ms REAL,
  spec TEXT NOT NULL,
  created_at REAL NOT NULL,
  finished_at REAL,
  -- 1 if no more of its tasks are granted, because it is cancelled or past its deadline.
  stopped INTEGER NOT NULL DEFAULT 0,
  -- Lanes up to this one have the job's current state and settings. Null: all lanes have them.
  synced_lane INTEGER,
  submitted INTEGER NOT NULL DEFAULT 0,
  discovered INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0,
  delayed INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  duplicate INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0,
  pages INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  invalid INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX jobs_by_creation ON jobs (created_at, n);
CREATE INDEX jobs_by_scope ON jobs (scope);
CREATE INDEX jobs_unsynced ON jobs (n) WHERE synced_lane IS NOT NULL;
CREATE INDEX jobs_by_deadline ON jobs (deadline_at) WHERE deadline_at IS NOT NULL AND finished_at IS NULL;

-- Dedup scopes: one per job, or a named one that several jobs share.
CREATE TABLE scopes (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Exact dedup. `task` is the task of the URL; `until` is null if entries never expire.
CREATE TABLE seen (
  scope INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  task INTEGER NOT NULL,
  -- The job of the task; null in a job's own scope.
  job INTEGER,
  until REAL,
  PRIMARY KEY (scope, fingerprint)
) WITHOUT ROWID;

-- A site's politeness. The policy that applies is the strictest policy of its jobs, or the operator's policy.
CREATE TABLE sites (
  n INTEGER PRIMARY KEY,
  site TEXT NOT NULL UNIQUE,
  arrival_at REAL NOT NULL DEFAULT 0,
  in_flight INTEGER NOT NULL DEFAULT 0,
  blocked_until REAL NOT NULL DEFAULT 0,
  incidents INTEGER NOT NULL DEFAULT 0,
  interval_ms REAL NOT NULL DEFAULT 0,
  burst INTEGER NOT NULL DEFAULT 1,
  per_site INTEGER NOT NULL DEFAULT 1,
  wants_robots INTEGER NOT NULL DEFAULT 0,
  operator_interval_ms REAL,
  operator_burst INTEGER,
  operator_per_site INTEGER,
  crawl_delay_ms REAL NOT NULL DEFAULT 0,
  robots_kind TEXT,
  robots_text TEXT,
  robots_fetched_at REAL,
  robots_fresh_until REAL NOT NULL DEFAULT 0,
  -- The task that fetches robots.txt now, and until when the others wait for it.
  robots_asker INTEGER,
  robots_asked_until REAL NOT NULL DEFAULT 0
);

-- A lane contains the tasks of one job at one site, on one queue, at one priority. It is deleted when none of them wait
-- or are leased.
CREATE TABLE lanes (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL,
  site INTEGER NOT NULL,
  queue TEXT NOT NULL,
  -- `priority` is the priority at enqueue; `rank` includes later changes of the job's priority.
  priority INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  interval_ms REAL NOT NULL,
  burst INTEGER NOT NULL,
  per_site INTEGER NOT NULL,
  robots INTEGER NOT NULL,
  queued INTEGER NOT NULL DEFAULT 0,
  delayed INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  -- 0: a task may be granted; 9e15: none may be granted; otherwise, when its first retry is due.
  wake_at REAL NOT NULL,
  served INTEGER NOT NULL DEFAULT 0,
  UNIQUE (job, site, queue, priority)
);
CREATE INDEX lanes_of_job ON lanes (job); -- in order of n
CREATE INDEX lanes_by_turn ON lanes (site, queue, rank, wake_at, served);

-- When a site is due, for each queue and priority. To find sites that are due, a lease call reads only this table.
CREATE TABLE turns (
  queue TEXT NOT NULL,
  rank INTEGER NOT NULL,
  site INTEGER NOT NULL,
  due_at REAL NOT NULL,
  served_at REAL NOT NULL,
  served INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, rank, site)
) WITHOUT ROWID;
CREATE INDEX turns_due ON turns (queue, rank, due_at, served);
CREATE INDEX turns_next ON turns (queue, due_at);
CREATE INDEX turns_of_site ON turns (site);

-- Waiting and leased tasks. Ended tasks are deleted; dead ones move to `dead`.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  site INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'delayed', 'leased')),
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  depth INTEGER NOT NULL,
  handler TEXT,
  carry TEXT,
  redirects INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  token INTEGER NOT NULL DEFAULT 0,
  not_before REAL,
  worker TEXT,
  lease_until REAL,
  history TEXT
);
CREATE INDEX tasks_queued ON tasks (lane, id) WHERE state = 'queued';
CREATE INDEX tasks_delayed ON tasks (lane, not_before, id) WHERE state = 'delayed';
CREATE INDEX tasks_leased ON tasks (lease_until) WHERE state = 'leased';

-- Dead letters, with all that is needed to queue them again.
CREATE TABLE dead (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  site TEXT NOT NULL,
  queue TEXT NOT NULL,
  priority INTEGER NOT NULL,
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  depth INTEGER NOT NULL,
  handler TEXT,
  carry TEXT,
  redirects INTEGER NOT NULL,
  token INTEGER NOT NULL,
  reason TEXT NOT NULL,
  status INTEGER,
  died_at REAL NOT NULL,
  history TEXT NOT NULL
);
CREATE INDEX dead_by_group ON dead (job, reason, site, status);

-- Counters of the whole broker.
CREATE TABLE totals (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  next_task INTEGER NOT NULL,
  next_served INTEGER NOT NULL,
  pending INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 1, 1, 0);
