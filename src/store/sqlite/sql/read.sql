-- read: records and pages of one job in the order they were written, and pages by id.
-- Cost: O(log n) + O(log n) for each row returned. Counting is O(n) in the rows counted, from an index only.

-- name: readRecords
-- 1 job id   2 after this id   3 limit
SELECT records.id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM records JOIN pages ON pages.id = records.page
WHERE records.job = (SELECT alias FROM jobs WHERE id = ?1) AND records.id > ?2
ORDER BY records.id LIMIT ?3;

-- name: readRecordsOfPage
-- 1 page id   2 limit. The ids of a page's records start at the id of the page.
SELECT records.id, jobs.id AS job_id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM pages JOIN jobs ON jobs.alias = pages.job
  JOIN records ON records.id >= pages.id AND records.id < pages.id + pages.records
WHERE pages.id = ?1
ORDER BY records.id LIMIT ?2;

-- name: readPages
-- 1 job id   2 after this id   3 limit
SELECT id, task, token, depth, url, status, headers, content_type, body_bytes, body_ref, fetched_at, took_ms,
  records, invalid, screenshot_ref, pdf_ref, unchanged
FROM pages
WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND id > ?2
ORDER BY id LIMIT ?3;

-- name: findPage
-- 1 page id
SELECT pages.*, jobs.id AS job_id FROM pages JOIN jobs ON jobs.alias = pages.job WHERE pages.id = ?1;

-- name: readInvalid
-- 1 job id   2 after this id   3 limit
SELECT invalid_records.id, pages.task, pages.url, invalid_records.fields, invalid_records.reason
FROM invalid_records JOIN pages ON pages.id = invalid_records.page
WHERE invalid_records.job = (SELECT alias FROM jobs WHERE id = ?1) AND invalid_records.id > ?2
ORDER BY invalid_records.id LIMIT ?3;

-- name: countRecords
-- 1 job id
SELECT count(*) AS records FROM records WHERE job = (SELECT alias FROM jobs WHERE id = ?1);

-- name: countUnchanged
-- 1 job id
SELECT count(*) AS pages FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND unchanged = 1;
