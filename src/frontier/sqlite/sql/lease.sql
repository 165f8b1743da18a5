-- lease: grant tasks that may be fetched now.   Cost: O(log n) in sites with work, plus one b-tree path for each grant.

-- name: firstDueAt
SELECT min(due_at) AS at FROM turns WHERE queue = ?

-- The next rank that has turns, so that ranks without turns cost nothing.
-- name: rankFrom
SELECT min(rank) AS rank FROM turns WHERE queue = ? AND rank >= ?

-- ARGS  1 queue   2 rank   3 whether the sites have a rate   4 due by   5 max   6 number of turns to skip
-- name: dueTurns
SELECT site, due_at, served FROM turns WHERE queue = ? AND rank = ? AND paced = ? AND due_at <= ?
ORDER BY due_at, served LIMIT ? OFFSET ?

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

-- ARGS  1 ahead   2 worker   3 lease until   4 lane   5 max
-- name: takeQueued
UPDATE tasks SET state = 'leased', token = token + 1, crashes = crashes + 1 - ?1, ahead = ?1, worker = ?2,
  lease_until = ?3
WHERE id IN (SELECT id FROM tasks WHERE lane = ?4 AND state = 'queued' ORDER BY id LIMIT ?5)
RETURNING id, token, url, kind, depth, handler, carry, request, redirects, failures

-- ARGS  1 ahead   2 worker   3 lease until   4 lane   5 now   6 max
-- name: takeRetries
UPDATE tasks SET state = 'leased', token = token + 1, crashes = crashes + 1 - ?1, ahead = ?1, worker = ?2,
  lease_until = ?3
WHERE id IN (SELECT id FROM tasks WHERE lane = ?4 AND state = 'delayed' AND not_before <= ?5
  ORDER BY not_before, id LIMIT ?6)
RETURNING id, token, url, kind, depth, handler, carry, request, redirects, failures

-- The first task of a term starts at once, so its lease counts as a crash until it ends cleanly.
-- name: countStart
UPDATE tasks SET crashes = crashes + 1, ahead = 0 WHERE id = ?

-- Whether tasks may be granted at a site on other queues than these.
-- ARGS  1 site   2 JSON list of queues   3 now
-- name: findOtherQueue
SELECT 1 FROM lanes JOIN jobs ON jobs.n = lanes.job
WHERE lanes.site = ?1 AND lanes.wake_at <= ?3 AND lanes.queue NOT IN (SELECT value FROM json_each(?2))
  AND jobs.state = 'running' AND jobs.stopped = 0 AND (jobs.deadline_at IS NULL OR jobs.deadline_at > ?3)
LIMIT 1

-- A term was returned: its site is due again.
-- ARGS  1 when the site may be requested   2 site
-- name: refreshReturned
UPDATE turns SET due_at = max((SELECT min(wake_at) FROM lanes
  WHERE lanes.site = turns.site AND lanes.queue = turns.queue AND lanes.rank = turns.rank), ?1, served_at)
WHERE site = ?2

-- name: served
UPDATE turns SET served_at = ?, served = ? WHERE queue = ? AND rank = ? AND site = ?
