-- job-owners: whose a job is.                          Cost: O(log n) in all notes; counting, O(open jobs of the owner).

-- name: lockOwner
-- 1 owner
-- Until the transaction ends: of those who count the same owner's jobs, one goes on.
SELECT pg_advisory_xact_lock(hashtextextended('trawl job owner ' || $1, 0));

-- name: findNote
-- 1 job
SELECT n FROM job_owners WHERE job = $1;

-- name: countOpen
-- 1 owner
SELECT count(*) AS answer FROM job_owners WHERE owner = $1 AND is_open;

-- name: addNote
-- 1 owner   2 job   3 at
INSERT INTO job_owners (owner, job, noted_at) VALUES ($1, $2, $3::float8) ON CONFLICT (job) DO NOTHING;

-- name: listNotes
-- 1 owner   2 before this n   3 most
SELECT n, job, noted_at FROM job_owners WHERE owner = $1 AND n < $2::bigint ORDER BY n DESC LIMIT $3::bigint;

-- name: listOpen
-- 1 owner   2 after this n   3 most
SELECT n, job, noted_at FROM job_owners WHERE owner = $1 AND is_open AND n > $2::bigint ORDER BY n LIMIT $3::bigint;

-- name: setOpen
-- 1 whether, "true" or "false"   2 jobs, as an array
UPDATE job_owners SET is_open = $1::text::boolean WHERE job = ANY ($2::text[]);

-- name: forget
-- 1 jobs, as an array
DELETE FROM job_owners WHERE job = ANY ($1::text[]);
