-- read-invalid: one job's records that failed their schema.              Cost: O(log n) + O(log n) a row returned.

-- name: readInvalid
-- 1 job id   2 id to read on from   3 most rows
SELECT invalid_records.id, pages.task, pages.url, invalid_records.fields, invalid_records.reason
FROM invalid_records JOIN pages ON pages.id = invalid_records.page
WHERE invalid_records.job = (SELECT alias FROM jobs WHERE id = ?1) AND invalid_records.id > ?2
ORDER BY invalid_records.id LIMIT ?3;
