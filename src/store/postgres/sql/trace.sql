-- trace: what is kept of single tasks, for whoever wants to know how they went. By task it is a look-up a job: OFFSET 0
-- makes sure of that, where the planner might rather read all pages. By URL it reads through what one job has: people ask
-- rarely, and an index would cost every page that is written.

-- name: pagesOfTask
-- 1 task
SELECT found.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN LATERAL (SELECT * FROM pages WHERE pages.job = jobs.alias AND pages.task = $1 OFFSET 0) AS found
  LEFT JOIN workers ON workers.alias = found.worker
ORDER BY found.id;

-- name: pagesOfUrl
-- 1 job id   2 url; steps of its page have the same one, and a fragment
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN pages ON pages.job + 0 = jobs.alias LEFT JOIN workers ON workers.alias = pages.worker
WHERE jobs.id = $1 AND (pages.url = $2 OR starts_with(pages.url, $2 || '#'))
ORDER BY pages.id LIMIT 20;

-- name: triesOfTask
-- 1 task
SELECT found.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN LATERAL (SELECT * FROM tries WHERE tries.job = jobs.alias AND tries.task = $1 OFFSET 0) AS found
  JOIN workers ON workers.alias = found.worker
ORDER BY found.job, found.token;

-- name: triesOfUrl
-- 1 job id   2 url; steps of its page have the same one, and a fragment
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN tries ON tries.job = jobs.alias JOIN workers ON workers.alias = tries.worker
WHERE jobs.id = $1 AND (tries.url = $2 OR starts_with(tries.url, $2 || '#'))
ORDER BY tries.task, tries.token LIMIT 100;

-- name: slowestPages
-- 1 job id   2 most rows
SELECT pages.*, $1::text AS job_id, workers.name AS worker_name
FROM (
  SELECT id FROM (
    SELECT id, ended_at - leased_at AS took FROM pages
    WHERE job + 0 = (SELECT alias FROM jobs WHERE jobs.id = $1::text) AND worker IS NOT NULL
    ORDER BY id DESC LIMIT 100000
  ) AS newest ORDER BY took DESC, id LIMIT $2::bigint
) AS slowest JOIN pages ON pages.id = slowest.id JOIN workers ON workers.alias = pages.worker
ORDER BY pages.ended_at - pages.leased_at DESC, pages.id;

-- name: groupTries
-- 1 job id   2 most rows. What was passed on did not fail: its page comes with the task that took it over.
SELECT fate, because, status, count(*) AS tries, max(url) AS sample
FROM (
  SELECT fate, because, status, url FROM tries
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = $1) AND fate <> 'passed' LIMIT 100000
) AS looked_at
GROUP BY fate, because, status
ORDER BY count(*) DESC, because LIMIT $2::bigint;
