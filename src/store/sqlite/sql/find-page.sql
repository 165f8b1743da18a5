-- find-page: a job's page of one URL, the newest if several tasks led to it.               Cost: O(log n).

-- name: findPage
-- 1 job id   2 fingerprint of the URL   3 the URL, which the fingerprint may share with another
SELECT id, task, depth, url, status, headers, content_type, body_bytes, body_ref, fetched_at, took_ms,
  records
FROM pages
WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND url_print = ?2 AND url = ?3
ORDER BY id DESC LIMIT 1;
