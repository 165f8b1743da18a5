-- 007-webhooks: webhooks of jobs, and their undelivered events.
--
-- Secrets are stored in plain text, because signing needs them.

CREATE TABLE webhooks (
  job               TEXT    PRIMARY KEY, -- its id
  endpoint          TEXT    NOT NULL,
  secret            TEXT    NOT NULL,
  events            TEXT    NOT NULL, -- separated by spaces
  batch_records     INTEGER NOT NULL,
  queue             TEXT    NOT NULL,
  created_at        REAL    NOT NULL, -- epoch ms, like all columns that end in _at
  cursor            INTEGER NOT NULL DEFAULT 0, -- records up to this id are in events
  next_event        INTEGER NOT NULL DEFAULT 1,
  has_end           INTEGER NOT NULL DEFAULT 0,
  round             INTEGER NOT NULL DEFAULT 1,
  look_at           REAL, -- null: closed
  delivered         INTEGER NOT NULL DEFAULT 0,
  last_delivered_at REAL,
  failed_at         REAL,
  failure           TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX webhooks_due ON webhooks (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE webhook_events (
  job       TEXT    NOT NULL,
  number    INTEGER NOT NULL,
  type      TEXT    NOT NULL CHECK (type IN ('job.finished', 'job.failed', 'job.cancelled', 'records')),
  text      TEXT    NOT NULL, -- the request body
  made_at   REAL    NOT NULL,
  is_queued INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job, number)
) STRICT;

CREATE INDEX webhook_events_unqueued ON webhook_events (job, number) WHERE is_queued = 0;
