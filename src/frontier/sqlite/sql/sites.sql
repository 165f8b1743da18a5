-- sites: robots.txt, sites that need a browser, listings.                          Cost: one b-tree path per row.

-- name: findRobots
SELECT robots_kind, robots_text, robots_fetched_at, robots_fresh_until FROM sites
WHERE site = ? AND robots_kind IS NOT NULL

-- name: keepRobots
UPDATE sites SET robots_kind = ?, robots_text = ?, robots_fetched_at = ? WHERE n = ?

-- ARGS  1 site   2 until
-- name: markScripted
INSERT INTO scripted_sites (site, until) VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET until = excluded.until;

-- ARGS  1 site   2 now
-- name: findScripted
SELECT 1 AS found FROM scripted_sites WHERE site = ? AND until > ?;

-- ARGS  1 now
-- name: expireScripted
DELETE FROM scripted_sites WHERE until <= ?;

-- ARGS  1 list sites after this one   2 text that the name contains   3 max
-- name: listSites
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site > ?1 AND instr(site, ?2) > 0 ORDER BY site LIMIT ?3

-- Reads every lane once.
-- ARGS  1 text that the name contains   2 max
-- name: listBusySites
SELECT sites.*, busy.waiting FROM
  (SELECT lanes.site AS n, sum(queued + delayed) AS waiting FROM lanes GROUP BY lanes.site) AS busy
  JOIN sites USING (n)
WHERE busy.waiting > 0 AND instr(sites.site, ?1) > 0 ORDER BY busy.waiting DESC, sites.site LIMIT ?2

-- name: findSite
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site = ?

-- ARGS  1 number of the site   2 max
-- name: listSiteJobs
SELECT jobs.id, jobs.name, jobs.state, jobs.interval_ms, jobs.burst, jobs.per_site, jobs.site_rules,
  sum(lanes.queued + lanes.delayed) AS waiting, sum(lanes.leased) AS in_flight
FROM lanes JOIN jobs ON jobs.n = lanes.job WHERE lanes.site = ?1
GROUP BY lanes.job HAVING sum(lanes.queued + lanes.delayed + lanes.leased) > 0
ORDER BY waiting DESC, in_flight DESC, jobs.id LIMIT ?2
