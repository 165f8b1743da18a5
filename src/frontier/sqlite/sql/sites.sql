-- sites: robots.txt as last seen, and listing.                                     Cost: one b-tree path a row.

-- name: findRobots
SELECT robots_kind, robots_text, robots_fetched_at, robots_fresh_until FROM sites
WHERE site = ? AND robots_kind IS NOT NULL

-- name: keepRobots
UPDATE sites SET robots_kind = ?, robots_text = ?, robots_fetched_at = ? WHERE n = ?

-- ARGS  1 the site to go on after   2 what its name has in it   3 most
-- name: listSites
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site > ?1 AND instr(site, ?2) > 0 ORDER BY site LIMIT ?3

-- Reads every lane there is once.
-- ARGS  1 what its name has in it   2 most
-- name: listBusySites
SELECT sites.*, busy.waiting FROM
  (SELECT lanes.site AS n, sum(queued + delayed) AS waiting FROM lanes GROUP BY lanes.site) AS busy
  JOIN sites USING (n)
WHERE busy.waiting > 0 AND instr(sites.site, ?1) > 0 ORDER BY busy.waiting DESC, sites.site LIMIT ?2

-- name: findSite
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site = ?

-- ARGS  1 site, its number   2 most
-- name: listSiteJobs
SELECT jobs.id, jobs.name, jobs.state, jobs.interval_ms, jobs.burst, jobs.per_site, jobs.site_rules,
  sum(lanes.queued + lanes.delayed) AS waiting, sum(lanes.leased) AS in_flight
FROM lanes JOIN jobs ON jobs.n = lanes.job WHERE lanes.site = ?1
GROUP BY lanes.job HAVING sum(lanes.queued + lanes.delayed + lanes.leased) > 0
ORDER BY waiting DESC, in_flight DESC, jobs.id LIMIT ?2

-- ARGS  1 job id   2 the site to go on after   3 most
-- name: listJobSites
SELECT job_sites.*, coalesce(blocked_until, 0) AS blocked_until,
  (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS waiting,
  (SELECT coalesce(sum(leased), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS in_flight
FROM job_sites LEFT JOIN sites USING (site)
WHERE job_sites.job = (SELECT n FROM jobs WHERE id = ?1) AND job_sites.site > ?2 ORDER BY job_sites.site LIMIT ?3
