-- count-records: how many records a job has.                             Cost: O(n) in them, over an index only.

-- name: countRecords
-- 1 job id
SELECT count(*) AS records FROM records WHERE job = (SELECT alias FROM jobs WHERE id = ?1);
