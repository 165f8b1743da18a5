-- write-attempts: one attempt that ended without a page, in the transaction of its batch.   Cost: O(log n) in `tries`.

-- name: insertAttempt
-- 1 job alias   2 task   3 token   4 url   5 worker alias   6 attempt   7 leased at   8 ended at   9 fate   10 because
-- 11 status   12 detail   13 step
-- Changes nothing if the attempt was written before, or if a later lease of the task has written something. Parameters
-- are positional for the same reason as in write-page.sql.
INSERT INTO tries (job, task, token, url, worker, attempt, leased_at, ended_at, fate, because, status, detail, step)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
WHERE NOT EXISTS (SELECT 1 FROM tries WHERE job = ?1 AND task = ?2 AND token > ?3)
  AND NOT EXISTS (SELECT 1 FROM pages WHERE job = ?1 AND task = ?2 AND token >= ?3)
ON CONFLICT (job, task, token) DO NOTHING;
