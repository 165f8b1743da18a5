-- transaction: loads rows, and writes the changed ones back once each.             Cost: one b-tree path per statement.

-- name: job
SELECT * FROM jobs WHERE n = ?

-- name: jobById
SELECT * FROM jobs WHERE id = ?

-- name: saveJob
UPDATE jobs SET state = ?, sealed = ?, stopped = ?, priority = ?, interval_ms = ?, burst = ?, per_site = ?,
  page_limit = ?, admitted = ?, finished_at = ?, deadline_at = ?, synced_lane = ?,
  submitted = ?, discovered = ?, queued = ?, delayed = ?, leased = ?, done = ?, dead = ?, cancelled = ?, duplicate = ?,
  refused = ?, pages = ?, records = ?, invalid = ?, bytes = ?
WHERE n = ?

-- name: site
SELECT n, site, arrival_at, in_flight, blocked_until, backoff_cause, incidents, interval_ms, burst, per_site, wants_robots,
  operator_interval_ms, operator_burst, operator_per_site, crawl_delay_ms, robots_fresh_until, robots_asker,
  term, term_worker, term_ends_at, slowdown, slowdown_cause, isolated, is_good
FROM sites WHERE n = ?

-- name: siteNumber
SELECT n FROM sites WHERE site = ?

-- name: addSite
INSERT INTO sites (site) VALUES (?) RETURNING n

-- name: saveSite
UPDATE sites SET arrival_at = ?, in_flight = ?, blocked_until = ?, backoff_cause = ?, incidents = ?, interval_ms = ?, burst = ?,
  per_site = ?, wants_robots = ?, operator_interval_ms = ?, operator_burst = ?, operator_per_site = ?,
  crawl_delay_ms = ?, robots_fresh_until = ?, robots_asker = ?, term = ?, term_worker = ?, term_ends_at = ?,
  slowdown = ?, slowdown_cause = ?, isolated = ?, is_good = ?
WHERE n = ?

-- The strictest policy of the lanes at a site. Paused jobs do not count.
-- name: strictest
SELECT max(CASE WHEN jobs.state <> 'paused' THEN lanes.interval_ms END) AS interval_ms,
  min(CASE WHEN jobs.state <> 'paused' THEN lanes.burst END) AS burst,
  min(CASE WHEN jobs.state <> 'paused' THEN lanes.per_site END) AS per_site,
  max(lanes.robots) AS robots
FROM lanes JOIN jobs ON jobs.n = lanes.job WHERE lanes.site = ?

-- name: lane
SELECT * FROM lanes WHERE n = ?

-- name: laneNumber
SELECT n FROM lanes WHERE job = ? AND site = ? AND queue = ? AND priority = ?

-- name: addLane
INSERT INTO lanes (job, site, queue, priority, rank, interval_ms, burst, per_site, robots, wake_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 9e15) RETURNING n

-- name: saveLane
UPDATE lanes SET rank = ?, interval_ms = ?, burst = ?, per_site = ?, queued = ?, delayed = ?, leased = ?, wake_at = ?,
  served = ?
WHERE n = ?

-- name: dropLane
DELETE FROM lanes WHERE n = ?

-- name: firstRetryAt
SELECT min(not_before) AS at FROM tasks WHERE lane = ? AND state = 'delayed'

-- A turn keeps the time of its last service, so that the site that was served longest ago is served first.
-- ARGS  1 when the site may be requested   2 now   3 site   4 whether it has a rate
-- name: refreshTurns
INSERT INTO turns (queue, rank, site, due_at, served_at, paced)
SELECT queue, rank, site, max(min(wake_at), ?1, ?2), ?2, ?4 FROM lanes WHERE site = ?3 GROUP BY queue, rank
ON CONFLICT (queue, rank, site) DO UPDATE SET paced = ?4,
  due_at = max((SELECT min(wake_at) FROM lanes
    WHERE lanes.site = turns.site AND lanes.queue = turns.queue AND lanes.rank = turns.rank), ?1, served_at)

-- name: dropEmptyTurns
DELETE FROM turns WHERE site = ? AND NOT EXISTS (
  SELECT 1 FROM lanes WHERE lanes.site = turns.site AND lanes.queue = turns.queue AND lanes.rank = turns.rank)

-- ARGS  1 job   2 site   3 done   4 dead   5 pages   6 records   7 invalid   8 bytes   9 when its last page was
--       settled, or null
-- name: addToJobSite
INSERT INTO job_sites (job, site, done, dead, pages, records, invalid, bytes, last_page_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (job, site) DO UPDATE SET done = done + excluded.done, dead = dead + excluded.dead,
  pages = pages + excluded.pages, records = records + excluded.records, invalid = invalid + excluded.invalid,
  bytes = bytes + excluded.bytes, last_page_at = coalesce(excluded.last_page_at, last_page_at)

-- name: totals
SELECT next_task, next_served, pending FROM totals

-- name: saveTotals
UPDATE totals SET next_task = ?, next_served = ?, pending = ?
