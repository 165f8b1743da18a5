-- alias-job: the short number that stands for a job in every row.                       Cost: O(log n) in the jobs.

-- name: createAlias
-- 1 job id
INSERT INTO jobs (id) VALUES (?) ON CONFLICT (id) DO NOTHING;

-- name: findAlias
-- 1 job id
SELECT alias FROM jobs WHERE id = ?;
