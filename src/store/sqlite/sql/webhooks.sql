-- webhooks: whom a job tells what.                      Cost: one b-tree path a row touched, unless it says otherwise.

-- name: addWebhook
-- It is due at once: 1 job   2 endpoint   3 secret   4 events   5 records of a batch   6 queue   7 now
INSERT INTO webhooks (job, endpoint, secret, events, batch_records, queue, created_at, look_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) ON CONFLICT (job) DO NOTHING;

-- name: findWebhook
-- 1 job
SELECT * FROM webhooks WHERE job = ?;

-- name: findDue
-- 1 now   2 most
SELECT * FROM webhooks WHERE look_at <= ? ORDER BY look_at LIMIT ?;

-- name: putOff
-- 1 until   2 job
UPDATE webhooks SET look_at = ? WHERE job = ?;

-- name: moveCursor
-- 1 cursor   2 whether this is the end   3 job   4 the next event, as known   5 round, as known
UPDATE webhooks SET cursor = ?, has_end = ?, next_event = next_event + 1
WHERE job = ? AND next_event = ? AND has_end = 0 AND round = ?;

-- name: addEvent
-- 1 job   2 number   3 type   4 text   5 made at
INSERT INTO webhook_events (job, number, type, text, made_at) VALUES (?, ?, ?, ?, ?);

-- name: listUnqueued
-- 1 job   2 most
SELECT number FROM webhook_events WHERE job = ? AND is_queued = 0 ORDER BY number LIMIT ?;

-- name: markQueued
-- 1 job   2 number   3 round, as known
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

-- name: noteFailure
-- 1 at   2 words   3 job
UPDATE webhooks SET failed_at = ?, failure = ? WHERE job = ?;

-- name: close
-- 1 job   2 round, as known
UPDATE webhooks SET look_at = NULL WHERE job = ? AND round = ?;

-- name: reopen
-- 1 now   2 job
UPDATE webhooks SET look_at = ?, has_end = 0, round = round + 1 WHERE job = ?;

-- name: leaveRound
-- 1 job   2 round, as known
UPDATE webhooks SET round = round + 1 WHERE job = ? AND round = ?;

-- name: dropEvents
-- 1 job                                                                                       Cost: its events.
DELETE FROM webhook_events WHERE job = ?;

-- name: dropWebhook
-- 1 job
DELETE FROM webhooks WHERE job = ?;
