-- 005-webhooks: webhooks of jobs, and their undelivered events.
--
-- Secrets are stored in plain text, because signing needs them.

CREATE TABLE webhooks (
  job               text COLLATE "C" PRIMARY KEY, -- its id
  endpoint          text    NOT NULL,
  secret            text    NOT NULL,
  events            text    NOT NULL, -- separated by spaces
  batch_records     integer NOT NULL,
  queue             text    NOT NULL,
  created_at        double precision NOT NULL, -- epoch ms, like all columns that end in _at
  cursor            bigint  NOT NULL DEFAULT 0, -- records up to this id are in events
  next_event        bigint  NOT NULL DEFAULT 1,
  has_end           integer NOT NULL DEFAULT 0,
  round             integer NOT NULL DEFAULT 1,
  look_at           double precision, -- null: closed
  delivered         bigint  NOT NULL DEFAULT 0,
  last_delivered_at double precision,
  failed_at         double precision,
  failure           text
);

CREATE INDEX webhooks_due ON webhooks (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE webhook_events (
  job       text COLLATE "C" NOT NULL,
  number    bigint NOT NULL,
  type      text   NOT NULL CHECK (type IN ('job.finished', 'job.failed', 'job.cancelled', 'records')),
  text      text   NOT NULL, -- the request body
  made_at   double precision NOT NULL,
  is_queued integer NOT NULL DEFAULT 0,
  PRIMARY KEY (job, number)
);

CREATE INDEX webhook_events_unqueued ON webhook_events (job, number) WHERE is_queued = 0;
