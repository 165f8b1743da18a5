-- explain: the facts behind a wait.                              Cost: one b-tree path for each scope there is.

-- name: tasksOfUrl
-- A set that jobs share remembers URLs of jobs that are forgotten.
SELECT seen.task, jobs.n AS job
FROM scopes CROSS JOIN seen ON seen.scope = scopes.n AND seen.fingerprint = ?
  CROSS JOIN jobs ON jobs.n = coalesce(seen.job, (SELECT n FROM jobs AS own WHERE own.scope = seen.scope))
ORDER BY scopes.n DESC LIMIT 20

-- name: task
SELECT * FROM tasks WHERE id = ?

-- name: dead
SELECT * FROM dead WHERE id = ?

-- name: job
SELECT * FROM jobs WHERE n = ?

-- name: jobById
SELECT * FROM jobs WHERE id = ?

-- name: site
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE n = ?

-- name: siteByName
SELECT n FROM sites WHERE site = ?

-- name: lane
SELECT * FROM lanes WHERE n = ?

-- name: sitesOfJob
SELECT DISTINCT site FROM lanes WHERE job = ? ORDER BY site LIMIT 20

-- name: holders
SELECT worker, count(*) AS leases FROM tasks INDEXED BY tasks_leased WHERE state = 'leased' GROUP BY worker
ORDER BY worker
