-- read: records and pages of one job in the order they were written, and pages by id.
-- Cost: O(log n) + O(log n) for each row returned.

-- name: readRecords
-- 1 job id   2 after this id   3 limit
SELECT found.id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, found.fields
FROM (
  SELECT id, page, fields FROM records
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = $1) AND id > $2::bigint
  ORDER BY id LIMIT $3::bigint
) AS found JOIN pages ON pages.id = found.page
ORDER BY found.id;

-- name: readRecordsOfPage
-- 1 page id   2 limit
SELECT records.id, jobs.id AS job_id, pages.task, pages.url, pages.status, pages.fetched_at, pages.depth, records.fields
FROM pages JOIN jobs ON jobs.alias = pages.job
  JOIN records ON records.job = pages.job AND records.id >= pages.first AND records.id < pages.first + pages.records
WHERE pages.id = $1::bigint
ORDER BY records.id LIMIT $2::bigint;

-- name: readPages
-- 1 job id   2 after this id   3 limit
SELECT * FROM pages
WHERE job + 0 = (SELECT alias FROM jobs WHERE jobs.id = $1) AND id > $2::bigint
ORDER BY id LIMIT $3::bigint;

-- name: findPage
-- 1 page id
SELECT pages.*, jobs.id AS job_id FROM pages JOIN jobs ON jobs.alias = pages.job WHERE pages.id = $1::bigint;

-- name: readInvalid
-- 1 job id   2 after this id   3 limit
SELECT found.id, pages.task, pages.url, found.fields, found.reason
FROM (
  SELECT id, page, fields, reason FROM invalid_records
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = $1) AND id > $2::bigint
  ORDER BY id LIMIT $3::bigint
) AS found JOIN pages ON pages.id = found.page
ORDER BY found.id;

-- name: countRecords
-- 1 job id
SELECT records FROM jobs WHERE id = $1;

-- name: countUnchanged
-- 1 job id                                                    Cost: O(n) in the pages counted, from an index only.
SELECT count(*) AS pages FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = $1) AND unchanged;
