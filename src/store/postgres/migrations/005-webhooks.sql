-- 005-webhooks: whom a job tells what, and the events that have not been delivered.
--
-- Secrets are kept as they are: who signs with one must have it.

CREATE TABLE webhooks (
  job               text COLLATE "C" PRIMARY KEY, -- its id
  endpoint          text    NOT NULL,
  secret            text    NOT NULL,
  events            text    NOT NULL, -- with spaces between
  batch_records     integer NOT NULL,
  queue             text    NOT NULL,
  created_at        double precision NOT NULL, -- epoch ms, as are all that end so
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
  text      text   NOT NULL, -- what is sent
  made_at   double precision NOT NULL,
  is_queued integer NOT NULL DEFAULT 0,
  PRIMARY KEY (job, number)
);

CREATE INDEX webhook_events_unqueued ON webhook_events (job, number) WHERE is_queued = 0;
