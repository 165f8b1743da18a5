-- read-pages: pages by job, in the order they were written, and by id.   Cost: O(log n) + O(log n) a row returned.

-- name: readPages
-- 1 job id   2 id to read on from   3 most rows
SELECT id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, fetched_at, took_ms,
  records, invalid, screenshot_ref, pdf_ref, unchanged
FROM pages
WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND id > ?2
ORDER BY id LIMIT ?3;

-- name: findPage
-- 1 page id
SELECT pages.*, jobs.id AS job_id FROM pages JOIN jobs ON jobs.alias = pages.job WHERE pages.id = ?1;
