-- job-owners: jobs by owner.                      Cost: O(log n) in all entries. Counting: O(open jobs of the owner).

-- name: addWithin
-- 1 owner   2 job   3 at   4 maximum of open jobs
SELECT note_job($1, $2, $3::float8, $4::bigint) AS answer;

-- name: addEntry
-- 1 owner   2 job   3 at
INSERT INTO job_owners (owner, job, noted_at) VALUES ($1, $2, $3::float8) ON CONFLICT (job) DO NOTHING;

-- name: listEntries
-- 1 owner   2 before this n   3 limit
SELECT n, job, noted_at FROM job_owners WHERE owner = $1 AND n < $2::bigint ORDER BY n DESC LIMIT $3::bigint;

-- name: listOpen
-- 1 owner   2 after this n   3 limit
SELECT n, job, noted_at FROM job_owners WHERE owner = $1 AND is_open AND n > $2::bigint ORDER BY n LIMIT $3::bigint;

-- name: setOpen
-- 1 is open, "true" or "false"   2 jobs, as an array
UPDATE job_owners SET is_open = $1::text::boolean WHERE job = ANY ($2::text[]);

-- name: remove
-- 1 jobs, as an array
DELETE FROM job_owners WHERE job = ANY ($1::text[]);
