-- sites: robots.txt as last seen, and listing.                                     Cost: one b-tree path a row.

-- name: findRobots
SELECT robots_kind, robots_text, robots_fetched_at, robots_fresh_until FROM sites
WHERE site = ? AND robots_kind IS NOT NULL

-- name: keepRobots
UPDATE sites SET robots_kind = ?, robots_text = ?, robots_fetched_at = ? WHERE n = ?

-- name: listSites
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site > ? ORDER BY site LIMIT ?

-- ARGS  1 job id   2 the site to go on after   3 most
-- name: listJobSites
SELECT job_sites.*, coalesce(blocked_until, 0) AS blocked_until,
  (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS waiting,
  (SELECT coalesce(sum(leased), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS in_flight
FROM job_sites LEFT JOIN sites USING (site)
WHERE job_sites.job = (SELECT n FROM jobs WHERE id = ?1) AND job_sites.site > ?2 ORDER BY job_sites.site LIMIT ?3
