-- job-owners: whose a job is.                          Cost: O(log n) in all notes; counting, O(open jobs of the owner).

-- name: findNote
-- 1 job
SELECT n FROM job_owners WHERE job = ?;

-- name: countOpen
-- 1 owner
SELECT count(*) AS answer FROM job_owners WHERE owner = ? AND is_open = 1;

-- name: addNote
-- 1 owner   2 job   3 at
INSERT INTO job_owners (owner, job, noted_at) VALUES (?, ?, ?);

-- name: listNotes
-- 1 owner   2 before this n   3 most
SELECT n, job, noted_at FROM job_owners WHERE owner = ? AND n < ? ORDER BY n DESC LIMIT ?;

-- name: listOpen
-- 1 owner   2 after this n   3 most
SELECT n, job, noted_at FROM job_owners WHERE owner = ? AND is_open = 1 AND n > ? ORDER BY n LIMIT ?;

-- name: setOpen
-- 1 whether   2 job
UPDATE job_owners SET is_open = ? WHERE job = ?;

-- name: forget
-- 1 job
DELETE FROM job_owners WHERE job = ?;
