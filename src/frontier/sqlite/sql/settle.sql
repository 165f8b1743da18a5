-- settle, release, reap, abandon: end leases.                                     Cost: one b-tree path for each lease.

-- ARGS  1 JSON list of task ids
-- name: leasedTasks
SELECT * FROM tasks WHERE state = 'leased' AND id IN (SELECT value FROM json_each(?))

-- name: extend
UPDATE tasks SET lease_until = ? WHERE id = ? AND token = ? AND state = 'leased'

-- ARGS  1 JSON list of task ids
-- name: dropTasks
DELETE FROM tasks WHERE id IN (SELECT value FROM json_each(?))

-- ARGS  1 lane   2 not before   3 failures   4 history   5 id
-- name: delayTask
UPDATE tasks SET state = 'delayed', lane = ?, not_before = ?, failures = ?, history = ?, crashes = 0, worker = NULL,
  lease_until = NULL
WHERE id = ?

-- ARGS  1 lane   2 state   3 crashes   4 id
-- name: returnTask
UPDATE tasks SET lane = ?, state = ?, crashes = ?, worker = NULL, lease_until = NULL WHERE id = ?

-- ARGS  1 now   2 max
-- name: expiredTasks
SELECT * FROM tasks WHERE state = 'leased' AND lease_until <= ? ORDER BY lease_until LIMIT ?

-- There are only as many leases as requests in flight, so this scans their index instead of maintaining another one.
-- ARGS  1 worker   2 max
-- name: tasksOfWorker
SELECT * FROM tasks INDEXED BY tasks_leased WHERE state = 'leased' AND worker = ? LIMIT ?

-- name: addDead
INSERT INTO dead (id, job, site, queue, priority, url, kind, depth, handler, carry, request, redirects, token, reason,
  status, died_at, history)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
