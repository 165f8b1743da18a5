-- read-pages: one job's pages in the order they were written.            Cost: O(log n) + O(log n) a row returned.

-- name: readPages
-- 1 job id   2 id to read on from   3 most rows
SELECT id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, fetched_at, took_ms,
  records, invalid, screenshot_ref, pdf_ref
FROM pages
WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND id > ?2
ORDER BY id LIMIT ?3;
