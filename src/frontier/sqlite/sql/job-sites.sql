-- job-sites: counters of a job at each of its sites.                 Cost: one b-tree path per site and per lane there.

-- Tasks at the offline site (#site) count for the site whose pages they process.
-- ARGS  1 job id   2 list sites after this one   3 max
-- name: listJobSites
SELECT job_sites.*, coalesce(blocked_until, 0) AS blocked_until, sites.backoff_cause,
  (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS waiting,
  (SELECT coalesce(sum(leased), 0) FROM lanes WHERE lanes.job = job_sites.job
    AND lanes.site IN (SELECT n FROM sites WHERE site IN (job_sites.site, '#' || job_sites.site))) AS in_flight
FROM job_sites LEFT JOIN sites USING (site)
WHERE job_sites.job = (SELECT n FROM jobs WHERE id = ?1) AND job_sites.site > ?2 ORDER BY job_sites.site LIMIT ?3
