-- dead letters: list, group, replay, discard.   Cost: one b-tree path per letter; grouping reads all letters it counts.
-- In every filter, null means "any". A task at an offline site (#site) matches the filter of its site.
-- ARGS  1 job   2 reason   3 site   4 status   5 after id   6 max

-- ARGS  7 if 1, only letters of jobs that can be replayed
-- name: list
SELECT dead.*, jobs.id AS job_id FROM dead JOIN jobs ON jobs.n = dead.job
WHERE (?1 IS NULL OR jobs.id = ?1) AND (?2 IS NULL OR reason = ?2) AND (?3 IS NULL OR site IN (?3, '#' || ?3))
  AND (?4 IS NULL OR status = ?4) AND dead.id > ?5
  AND (?7 = 0 OR (jobs.state <> 'cancelled' AND (jobs.stopped = 0 OR jobs.finished_at IS NOT NULL)))
ORDER BY dead.id LIMIT ?6

-- ARGS  8 task ids, a JSON list
-- name: listByIds
SELECT dead.*, jobs.id AS job_id FROM json_each(?8) AS chosen CROSS JOIN dead ON dead.id = chosen.value JOIN jobs ON jobs.n = dead.job
WHERE (?1 IS NULL OR jobs.id = ?1) AND (?2 IS NULL OR reason = ?2) AND (?3 IS NULL OR site IN (?3, '#' || ?3))
  AND (?4 IS NULL OR status = ?4) AND dead.id > ?5
  AND (?7 = 0 OR (jobs.state <> 'cancelled' AND (jobs.stopped = 0 OR jobs.finished_at IS NOT NULL)))
ORDER BY dead.id LIMIT ?6

-- name: group
SELECT reason, ltrim(site, '#') AS online, status, count(*) AS count, min(url) AS sample,
  sum(count(*)) OVER () AS letters FROM dead JOIN jobs ON jobs.n = dead.job
WHERE (?1 IS NULL OR jobs.id = ?1) AND (?2 IS NULL OR reason = ?2) AND (?3 IS NULL OR site IN (?3, '#' || ?3))
  AND (?4 IS NULL OR status = ?4) AND dead.id > ?5
GROUP BY reason, online, status ORDER BY count DESC, reason, online, status LIMIT ?6

-- name: countAll
SELECT count(*) AS letters FROM dead

-- name: drop
DELETE FROM dead WHERE id = ?

-- name: requeue
INSERT INTO tasks (id, job, lane, site, state, url, kind, depth, handler, carry, request, redirects, token, not_before)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
