-- write-tries: one try that ended without a page, inside the batch's transaction.        Cost: O(log n) in the tries.

-- name: insertTry
-- 1 job alias   2 task   3 token   4 url   5 worker alias   6 attempt   7 leased at   8 ended at   9 fate   10 because
-- 11 status   12 detail   13 step
-- Told late, after a later lease has told of itself, or again, it changes nothing.
INSERT INTO tries (job, task, token, url, worker, attempt, leased_at, ended_at, fate, because, status, detail, step)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
WHERE NOT EXISTS (SELECT 1 FROM tries WHERE job = ?1 AND task = ?2 AND token > ?3)
  AND NOT EXISTS (SELECT 1 FROM pages WHERE job = ?1 AND task = ?2 AND token >= ?3)
ON CONFLICT (job, task, token) DO NOTHING;
