-- forgetting: a job that has ended leaves.                                    Cost: O(log n) a row removed, `max` a step.

-- name: findJob
SELECT n, scope, expire_after_ms, finished_at, state FROM jobs WHERE id = ?

-- name: note
-- 1 job   2 its own scope, or null
INSERT INTO forgotten (job, scope) VALUES (?, ?)

-- name: useNumbers
-- 1 job   2 scope
UPDATE used_numbers SET job = max(job, ?), scope = max(scope, ?)

-- name: dropJob
DELETE FROM jobs WHERE n = ?

-- name: dropScope
DELETE FROM scopes WHERE n = ?

-- name: firstNote
SELECT job, scope FROM forgotten ORDER BY job LIMIT 1

-- name: dropSeen
-- 1 scope   2 most
DELETE FROM seen WHERE (scope, fingerprint) IN (SELECT scope, fingerprint FROM seen WHERE scope = ? LIMIT ?)

-- name: dropDead
-- 1 job   2 most
DELETE FROM dead WHERE id IN (SELECT id FROM dead WHERE job = ? LIMIT ?)

-- name: dropSites
-- 1 job   2 most
DELETE FROM job_sites WHERE (job, site) IN (SELECT job, site FROM job_sites WHERE job = ? LIMIT ?)

-- name: dropNote
DELETE FROM forgotten WHERE job = ?
