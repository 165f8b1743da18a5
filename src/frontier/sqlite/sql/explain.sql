-- explain: facts about why something waits.                             Cost: one b-tree path per dedup scope.

-- The join with jobs drops entries of forgotten jobs, which a shared scope still has.
-- ARGS  1 fingerprint
-- name: tasksOfUrl
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
