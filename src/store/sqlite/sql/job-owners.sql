-- job-owners: jobs by owner.                      Cost: O(log n) in all entries. Counting: O(open jobs of the owner).

-- name: findEntry
-- 1 job
SELECT n FROM job_owners WHERE job = ?;

-- name: countOpen
-- 1 owner
SELECT count(*) AS answer FROM job_owners WHERE owner = ? AND is_open = 1;

-- name: addEntry
-- 1 owner   2 job   3 at
INSERT INTO job_owners (owner, job, noted_at) VALUES (?, ?, ?);

-- name: listEntries
-- 1 owner   2 before this n   3 limit
SELECT n, job, noted_at FROM job_owners WHERE owner = ? AND n < ? ORDER BY n DESC LIMIT ?;

-- name: listOpen
-- 1 owner   2 after this n   3 limit
SELECT n, job, noted_at FROM job_owners WHERE owner = ? AND is_open = 1 AND n > ? ORDER BY n LIMIT ?;

-- name: setOpen
-- 1 is open, 0 or 1   2 job
UPDATE job_owners SET is_open = ? WHERE job = ?;

-- name: remove
-- 1 job
DELETE FROM job_owners WHERE job = ?;
