-- read-records: one job's records in the order they were written.        Cost: O(log n) + O(log n) a row returned.

-- name: readRecords
-- 1 job id   2 id to read on from   3 most rows
SELECT records.id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM records JOIN pages ON pages.id = records.page
WHERE records.job = (SELECT alias FROM jobs WHERE id = ?1) AND records.id > ?2
ORDER BY records.id LIMIT ?3;

-- name: readRecordsOfPage
-- 1 page id   2 most rows. They are numbered from the page's own id on.
SELECT records.id, jobs.id AS job_id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM pages JOIN jobs ON jobs.alias = pages.job
  JOIN records ON records.id >= pages.id AND records.id < pages.id + pages.records
WHERE pages.id = ?1
ORDER BY records.id LIMIT ?2;
