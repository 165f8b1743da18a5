-- count-records: how many records a job has, and pages that were as before. Cost: O(n) in them, over an index only.

-- name: countRecords
-- 1 job id
SELECT count(*) AS records FROM records WHERE job = (SELECT alias FROM jobs WHERE id = ?1);

-- name: countUnchanged
-- 1 job id
SELECT count(*) AS pages FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND unchanged = 1;
