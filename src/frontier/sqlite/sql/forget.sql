-- forget: remove a job that has ended.                               Cost: O(log n) per row removed, `max` rows a call.

-- name: findJob
SELECT n, scope, expire_after_ms, finished_at, state FROM jobs WHERE id = ?

-- ARGS  1 job   2 its own dedup scope, or null if it shares one
-- name: addForgotten
INSERT INTO forgotten (job, scope) VALUES (?, ?)

-- ARGS  1 job   2 scope
-- name: raiseUsedNumbers
UPDATE used_numbers SET job = max(job, ?), scope = max(scope, ?)

-- name: dropJob
DELETE FROM jobs WHERE n = ?

-- name: dropScope
DELETE FROM scopes WHERE n = ?

-- name: firstForgotten
SELECT job, scope FROM forgotten ORDER BY job LIMIT 1

-- ARGS  1 scope   2 max rows
-- name: dropSeen
DELETE FROM seen WHERE (scope, fingerprint) IN (SELECT scope, fingerprint FROM seen WHERE scope = ? LIMIT ?)

-- ARGS  1 job   2 max rows
-- name: dropDead
DELETE FROM dead WHERE id IN (SELECT id FROM dead WHERE job = ? LIMIT ?)

-- ARGS  1 job   2 max rows
-- name: dropSites
DELETE FROM job_sites WHERE (job, site) IN (SELECT job, site FROM job_sites WHERE job = ? LIMIT ?)

-- name: dropForgotten
DELETE FROM forgotten WHERE job = ?
