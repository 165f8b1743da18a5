-- enqueue: queue URLs that are new in their dedup scope.                          Cost: two b-tree inserts per new URL.

-- ARGS  1 scope   2 fingerprint   3 task
-- name: markSeen
INSERT OR IGNORE INTO seen (scope, fingerprint, task) VALUES (?, ?, ?)

-- The same for scopes whose entries expire. An expired entry is overwritten.
-- ARGS  1 scope   2 fingerprint   3 task   4 job   5 until   6 now
-- name: markSeenUntil
INSERT INTO seen (scope, fingerprint, task, job, until) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (scope, fingerprint) DO UPDATE SET task = ?3, job = ?4, until = ?5 WHERE until <= ?6

-- ARGS  1 scope   2 fingerprint   3 now
-- name: isSeen
SELECT 1 AS yes FROM seen WHERE scope = ? AND fingerprint = ? AND (until IS NULL OR until > ?)

-- name: addTask
INSERT INTO tasks (id, job, lane, site, state, url, kind, depth, handler, carry, request, redirects)
VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)
