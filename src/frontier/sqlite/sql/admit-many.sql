-- admit-many: queue a batch of URLs. Arrays are JSON: one statement writes all rows of a table.
-- Cost: two b-tree inserts per URL, and eleven per new site.

-- Fails if one of the URLs is seen or occurs twice.
-- ARGS  1 scope   2 first task   3 fingerprints
-- name: markAllSeen
INSERT INTO seen (scope, fingerprint, task) SELECT ?1, value, ?2 + key FROM json_each(?3)

-- The sites that exist. `lane`: the job's lane there, if tasks wait in it and may be granted.
-- ARGS  1 names   2 job   3 queue   4 priority
-- name: knownSites
SELECT sites.site AS name, sites.n AS site, lanes.n AS lane
FROM json_each(?1) AS given CROSS JOIN sites ON sites.site = given.value
LEFT JOIN lanes ON lanes.job = ?2 AND lanes.site = sites.n AND lanes.queue = ?3 AND lanes.priority = ?4
  AND lanes.queued > 0 AND lanes.wake_at = 0

-- ARGS  1 lane and number of new tasks of each lane
-- name: addToLanes
UPDATE lanes SET queued = queued + given.count
FROM (SELECT value ->> 0 AS n, value ->> 1 AS count FROM json_each(?1)) AS given WHERE lanes.n = given.n

-- The highest numbers so far. The number of a deleted lane is never used again.
-- name: lastNumbers
SELECT coalesce((SELECT max(n) FROM sites), 0) AS site,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'lanes'), 0) AS lane

-- ARGS  1 first number   2 interval   3 burst   4 per site   5 robots   6 names
-- name: addSites
INSERT INTO sites (n, site, interval_ms, burst, per_site, wants_robots) SELECT ?1 + key, value, ?2, ?3, ?4, ?5 FROM json_each(?6)

-- ARGS  1 first number   2 job   3 first site   4 queue   5 priority   6 rank   7 interval   8 burst   9 per site
--       10 robots   11 number of tasks of each lane
-- name: addLanes
INSERT INTO lanes (n, job, site, queue, priority, rank, interval_ms, burst, per_site, robots, queued, wake_at)
SELECT ?1 + key, ?2, ?3 + key, ?4, ?5, ?6, ?7, ?8, ?9, ?10, value, 0 FROM json_each(?11)

-- ARGS  1 queue   2 rank   3 first site   4 now   5 whether the sites have a rate   6 an array with an entry per site
-- name: addTurns
INSERT INTO turns (queue, rank, site, due_at, served_at, paced) SELECT ?1, ?2, ?3 + key, ?4, ?4, ?5 FROM json_each(?6)

-- ARGS  1 job   2 names
-- name: addJobSites
INSERT INTO job_sites (job, site, done, dead, pages, records, invalid, bytes)
SELECT ?1, value, 0, 0, 0, 0, 0, 0 FROM json_each(?2) WHERE true ON CONFLICT (job, site) DO NOTHING

-- ARGS  1 first task   2 job   3 kind   4 depth   5 handler   6 lane   7 site   8 URLs
-- name: addTasksOfLane
INSERT INTO tasks (id, job, lane, site, state, url, kind, depth, handler, redirects)
SELECT ?1 + key, ?2, ?6, ?7, 'queued', value, ?3, ?4, ?5, 0 FROM json_each(?8)

-- ARGS  1 first task   2 job   3 kind   4 depth   5 handler   6 lane, site and URL of each task
-- name: addTasksOfLanes
INSERT INTO tasks (id, job, lane, site, state, url, kind, depth, handler, redirects)
SELECT ?1 + key, ?2, value ->> 0, value ->> 1, 'queued', value ->> 2, ?3, ?4, ?5, 0 FROM json_each(?6)
