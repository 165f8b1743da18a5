-- fleet: who is there, and what waits for them.        Cost: a row a worker; listQueues reads every lane there is once.

-- ARGS  1 name   2 queues, JSON   3 unknown spiders, JSON   4 version   5 vitals, JSON or null   6 now   7 until
-- name: announce
INSERT INTO workers (name, queues, unknown_spiders, version, vitals, seen_at, until)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET queues = excluded.queues, unknown_spiders = excluded.unknown_spiders,
  version = excluded.version, vitals = excluded.vitals, seen_at = excluded.seen_at, until = excluded.until
RETURNING ordered

-- ARGS  1 order   2 name   3 now
-- name: order
UPDATE workers SET ordered = ? WHERE name = ? AND until > ? RETURNING name

-- name: withdraw
DELETE FROM workers WHERE name = ?

-- name: forgetLapsed
DELETE FROM workers WHERE until <= ?

-- name: listWorkers
SELECT * FROM workers WHERE until > ? ORDER BY name

-- Lanes of a stopped job that nobody has emptied yet hold nothing that will be fetched.
-- name: listQueues
SELECT lanes.queue, sum(lanes.queued + lanes.delayed) AS waiting
FROM lanes JOIN jobs ON jobs.n = lanes.job AND jobs.stopped = 0
GROUP BY lanes.queue HAVING sum(lanes.queued + lanes.delayed) > 0

-- name: schemaVersion
SELECT user_version AS answer FROM pragma_user_version

-- name: journalMode
SELECT journal_mode AS answer FROM pragma_journal_mode
