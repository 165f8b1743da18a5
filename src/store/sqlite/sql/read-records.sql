-- read-records: one job's records in the order they were written.        Cost: O(log n) + O(log n) a row returned.

-- name: readRecords
-- 1 job id   2 id to read on from   3 most rows
SELECT records.id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM records JOIN pages ON pages.id = records.page
WHERE records.job = (SELECT alias FROM jobs WHERE id = ?1) AND records.id > ?2
ORDER BY records.id LIMIT ?3;
