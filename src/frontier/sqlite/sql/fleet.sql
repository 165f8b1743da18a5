-- fleet: workers, commands to them, and their queues.   Cost: one row per worker; listQueues reads every lane once.

-- ARGS  1 name   2 queues, JSON   3 unknown spiders, JSON   4 version   5 vitals, JSON or null   6 now   7 until
-- name: announce
INSERT INTO workers (name, queues, unknown_spiders, version, vitals, seen_at, until)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET queues = excluded.queues, unknown_spiders = excluded.unknown_spiders,
  version = excluded.version, vitals = excluded.vitals, seen_at = excluded.seen_at, until = excluded.until
RETURNING ordered

-- ARGS  1 command   2 name   3 now
-- name: command
UPDATE workers SET ordered = ? WHERE name = ? AND until > ? RETURNING name

-- name: withdraw
DELETE FROM workers WHERE name = ?

-- name: forgetLapsed
DELETE FROM workers WHERE until <= ?

-- name: listWorkers
SELECT * FROM workers WHERE until > ? ORDER BY name

-- Skips the lanes of stopped jobs: their tasks will not be fetched, even if they are not deleted yet.
-- name: listQueues
SELECT lanes.queue, sum(lanes.queued + lanes.delayed) AS waiting
FROM lanes JOIN jobs ON jobs.n = lanes.job AND jobs.stopped = 0
GROUP BY lanes.queue HAVING sum(lanes.queued + lanes.delayed) > 0

-- name: listHolders
SELECT worker, count(*) AS leases FROM tasks INDEXED BY tasks_leased WHERE state = 'leased' GROUP BY worker
ORDER BY worker
