-- webhooks: webhooks of jobs and their undelivered events.         Cost: O(log n) for each row, unless noted otherwise.

-- name: addWebhook
-- The new webhook is due at once.
INSERT INTO webhooks (job, endpoint, secret, events, batch_records, queue, created_at, look_at)
VALUES (:jobId, :endpoint, :secret, :events, :batchRecords::int, :queue, :createdAt::float8, :createdAt::float8)
ON CONFLICT (job) DO NOTHING;

-- name: findWebhook
-- 1 job
SELECT * FROM webhooks WHERE job = $1;

-- name: claimDue
-- 1 now   2 due again at   3 limit
WITH due AS (
  SELECT job FROM webhooks WHERE look_at <= $1::float8 ORDER BY look_at LIMIT $3::bigint FOR UPDATE SKIP LOCKED
)
UPDATE webhooks SET look_at = $2::float8 FROM due WHERE webhooks.job = due.job RETURNING webhooks.*;

-- name: addEvent
WITH moved AS (
  UPDATE webhooks SET cursor = :cursor::bigint, has_end = :isEnd::int, next_event = next_event + 1
  WHERE job = :jobId AND next_event = :nextEvent::bigint AND has_end = 0 AND round = :round::int RETURNING job
)
INSERT INTO webhook_events (job, number, type, text, made_at)
SELECT job, :nextEvent::bigint, :type, :text, :madeAt::float8 FROM moved RETURNING number;

-- name: listUnqueued
-- 1 job   2 limit
SELECT number FROM webhook_events WHERE job = $1 AND is_queued = 0 ORDER BY number LIMIT $2::bigint;

-- name: markQueued
-- 1 job   2 numbers, as an array   3 known round
UPDATE webhook_events SET is_queued = 1 FROM webhooks
WHERE webhooks.job = $1 AND webhooks.round = $3::int
  AND webhook_events.job = $1 AND webhook_events.number = ANY ($2::bigint[]) RETURNING webhook_events.number;

-- name: findEvent
-- 1 job   2 number
SELECT * FROM webhook_events WHERE job = $1 AND number = $2::bigint;

-- name: countEvents
SELECT count(*) AS events FROM webhook_events;

-- name: markDelivered
-- 1 job   2 number   3 at
WITH gone AS (DELETE FROM webhook_events WHERE job = $1 AND number = $2::bigint RETURNING job)
UPDATE webhooks SET delivered = delivered + 1, last_delivered_at = $3::float8 FROM gone WHERE webhooks.job = gone.job;

-- name: recordFailure
-- 1 at   2 message   3 job
UPDATE webhooks SET failed_at = $1::float8, failure = $2 WHERE job = $3;

-- name: close
-- 1 job   2 known round
UPDATE webhooks SET look_at = NULL WHERE job = $1 AND round = $2::int;

-- name: reopen
-- 1 now   2 jobs, as an array
UPDATE webhooks SET look_at = $1::float8, has_end = 0, round = round + 1 WHERE job = ANY ($2::text[]);

-- name: advanceRound
-- 1 job   2 known round
UPDATE webhooks SET round = round + 1 WHERE job = $1 AND round = $2::int;

-- name: removeWebhooks
-- 1 jobs, as an array                                                               Cost: O(n) in their events.
WITH gone AS (DELETE FROM webhook_events WHERE job = ANY ($1::text[]))
DELETE FROM webhooks WHERE job = ANY ($1::text[]);
