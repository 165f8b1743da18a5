-- read: what one job has, in the order it was written, and a page by id.   Cost: O(log n) + O(log n) a row returned.

-- name: readRecords
-- 1 job id   2 id to read on from   3 most rows
SELECT records.id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM jobs JOIN records ON records.job = jobs.alias JOIN pages ON pages.id = records.page
WHERE jobs.id = $1 AND records.id > $2::bigint
ORDER BY records.id LIMIT $3::bigint;

-- name: readPages
-- 1 job id   2 id to read on from   3 most rows
SELECT pages.*
FROM jobs JOIN pages ON pages.job = jobs.alias
WHERE jobs.id = $1 AND pages.id > $2::bigint
ORDER BY pages.id LIMIT $3::bigint;

-- name: findPage
-- 1 page id
SELECT pages.*, jobs.id AS job_id FROM pages JOIN jobs ON jobs.alias = pages.job WHERE pages.id = $1::bigint;

-- name: readInvalid
-- 1 job id   2 id to read on from   3 most rows
SELECT invalid_records.id, pages.task, pages.url, invalid_records.fields, invalid_records.reason
FROM jobs JOIN invalid_records ON invalid_records.job = jobs.alias
  JOIN pages ON pages.id = invalid_records.page
WHERE jobs.id = $1 AND invalid_records.id > $2::bigint
ORDER BY invalid_records.id LIMIT $3::bigint;

-- name: countRecords
-- 1 job id
SELECT records FROM jobs WHERE id = $1;
