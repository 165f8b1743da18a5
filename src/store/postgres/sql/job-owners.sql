-- job-owners: whose a job is.                          Cost: O(log n) in all notes; counting, O(open jobs of the owner).

-- name: noteWithin
-- 1 owner   2 job   3 at   4 most that may be open
SELECT note_job($1, $2, $3::float8, $4::bigint) AS answer;

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
