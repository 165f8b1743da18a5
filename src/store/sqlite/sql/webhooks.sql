-- webhooks: webhooks of jobs and their undelivered events.         Cost: O(log n) for each row, unless noted otherwise.

-- name: addWebhook
-- The new webhook is due at once.
INSERT INTO webhooks (job, endpoint, secret, events, batch_records, queue, created_at, look_at)
VALUES (:jobId, :endpoint, :secret, :events, :batchRecords, :queue, :createdAt, :createdAt) ON CONFLICT (job) DO NOTHING;

-- name: findWebhook
-- 1 job
SELECT * FROM webhooks WHERE job = ?;

-- name: findDue
-- 1 now   2 limit
SELECT * FROM webhooks WHERE look_at <= ? ORDER BY look_at LIMIT ?;

-- name: setNextCheck
-- 1 at   2 job
UPDATE webhooks SET look_at = ? WHERE job = ?;

-- name: moveCursor
UPDATE webhooks SET cursor = :cursor, has_end = :isEnd, next_event = next_event + 1
WHERE job = :jobId AND next_event = :nextEvent AND has_end = 0 AND round = :round;

-- name: addEvent
INSERT INTO webhook_events (job, number, type, text, made_at) VALUES (:jobId, :number, :type, :text, :madeAt);

-- name: listUnqueued
-- 1 job   2 limit
SELECT number FROM webhook_events WHERE job = ? AND is_queued = 0 ORDER BY number LIMIT ?;

-- name: markQueued
-- 1 job   2 number   3 known round
UPDATE webhook_events SET is_queued = 1
WHERE job = ?1 AND number = ?2 AND EXISTS (SELECT 1 FROM webhooks WHERE job = ?1 AND round = ?3);

-- name: findEvent
-- 1 job   2 number
SELECT * FROM webhook_events WHERE job = ? AND number = ?;

-- name: countEvents
SELECT count(*) AS events FROM webhook_events;

-- name: dropEvent
-- 1 job   2 number
DELETE FROM webhook_events WHERE job = ? AND number = ?;

-- name: countDelivery
-- 1 at   2 job
UPDATE webhooks SET delivered = delivered + 1, last_delivered_at = ? WHERE job = ?;

-- name: recordFailure
-- 1 at   2 message   3 job
UPDATE webhooks SET failed_at = ?, failure = ? WHERE job = ?;

-- name: close
-- 1 job   2 known round
UPDATE webhooks SET look_at = NULL WHERE job = ? AND round = ?;

-- name: reopen
-- 1 now   2 job
UPDATE webhooks SET look_at = ?, has_end = 0, round = round + 1 WHERE job = ?;

-- name: advanceRound
-- 1 job   2 known round
UPDATE webhooks SET round = round + 1 WHERE job = ? AND round = ?;

-- name: dropEvents
-- 1 job                                                                              Cost: O(n) in its events.
DELETE FROM webhook_events WHERE job = ?;

-- name: dropWebhook
-- 1 job
DELETE FROM webhooks WHERE job = ?;
