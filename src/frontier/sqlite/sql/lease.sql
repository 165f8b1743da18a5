-- lease: grant tasks that may be fetched now.   Cost: O(log n) in sites with work, plus one b-tree path for each grant.

-- name: firstDueAt
SELECT min(due_at) AS at FROM turns WHERE queue = ?

-- The next rank that has turns, so that ranks without turns cost nothing.
-- name: rankFrom
SELECT min(rank) AS rank FROM turns WHERE queue = ? AND rank >= ?

-- ARGS  1 queue   2 rank   3 now   4 max   5 number of turns to skip
-- name: dueTurns
SELECT site FROM turns WHERE queue = ? AND rank = ? AND due_at <= ? ORDER BY due_at, served LIMIT ? OFFSET ?

-- Marks lanes whose first retry is due as ready (wake_at = 0), so that lanesInTurn reads all ready lanes in order.
-- ARGS  1 site   2 queue   3 rank   4 now
-- name: wakeLanes
UPDATE lanes SET wake_at = 0 WHERE site = ? AND queue = ? AND rank = ? AND wake_at > 0 AND wake_at <= ?

-- ARGS  1 site   2 queue   3 rank   4 max   5 number of lanes to skip
-- name: lanesInTurn
SELECT n FROM lanes WHERE site = ? AND queue = ? AND rank = ? AND wake_at = 0 ORDER BY served LIMIT ? OFFSET ?

-- ARGS  1 lane   2 now   3 max
-- name: countDueRetries
SELECT count(*) AS due FROM (
  SELECT 1 FROM tasks WHERE lane = ? AND state = 'delayed' AND not_before <= ? LIMIT ?)

-- ARGS  1 worker   2 lease until   3 lane   4 max
-- name: takeQueued
UPDATE tasks SET state = 'leased', token = token + 1, crashes = crashes + 1, worker = ?, lease_until = ?
WHERE id IN (SELECT id FROM tasks WHERE lane = ? AND state = 'queued' ORDER BY id LIMIT ?)
RETURNING id, token, url, kind, depth, handler, carry, redirects, failures

-- ARGS  1 worker   2 lease until   3 lane   4 now   5 max
-- name: takeRetries
UPDATE tasks SET state = 'leased', token = token + 1, crashes = crashes + 1, worker = ?, lease_until = ?
WHERE id IN (SELECT id FROM tasks WHERE lane = ? AND state = 'delayed' AND not_before <= ?
  ORDER BY not_before, id LIMIT ?)
RETURNING id, token, url, kind, depth, handler, carry, redirects, failures

-- name: served
UPDATE turns SET served_at = ?, served = ? WHERE queue = ? AND rank = ? AND site = ?
