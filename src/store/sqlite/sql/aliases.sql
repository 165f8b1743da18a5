-- aliases: short integers for jobs and workers.                                       Cost: O(log n) in their number.

-- name: createJob
-- 1 job id
INSERT INTO jobs (id) VALUES (?) ON CONFLICT (id) DO NOTHING;

-- name: findJob
-- 1 job id
SELECT alias FROM jobs WHERE id = ?;

-- name: createWorker
-- 1 name
INSERT INTO workers (name) VALUES (?) ON CONFLICT (name) DO NOTHING;

-- name: findWorker
-- 1 name
SELECT alias FROM workers WHERE name = ?;
