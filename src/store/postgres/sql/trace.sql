-- trace: pages and attempts by task, URL or job. A query by task costs one index lookup for each job: OFFSET 0 forces
-- that plan, because the planner might otherwise scan all pages. A query by URL scans the rows of one job: it is rare,
-- and an index would slow down every page write.

-- name: pagesOfTask
-- 1 task
SELECT found.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN LATERAL (SELECT * FROM pages WHERE pages.job = jobs.alias AND pages.task = $1 OFFSET 0) AS found
  LEFT JOIN workers ON workers.alias = found.worker
ORDER BY found.id;

-- name: pagesOfUrl
-- 1 job id   2 url; the steps of a page have the same URL with a fragment
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN pages ON pages.job + 0 = jobs.alias LEFT JOIN workers ON workers.alias = pages.worker
WHERE jobs.id = $1 AND (pages.url = $2 OR starts_with(pages.url, $2 || '#'))
ORDER BY pages.id LIMIT 20;

-- name: attemptsOfTask
-- 1 task
SELECT found.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN LATERAL (SELECT * FROM tries WHERE tries.job = jobs.alias AND tries.task = $1 OFFSET 0) AS found
  JOIN workers ON workers.alias = found.worker
ORDER BY found.job, found.token;

-- name: attemptsOfUrl
-- 1 job id   2 url; the steps of a page have the same URL with a fragment
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN tries ON tries.job = jobs.alias JOIN workers ON workers.alias = tries.worker
WHERE jobs.id = $1 AND (tries.url = $2 OR starts_with(tries.url, $2 || '#'))
ORDER BY tries.task, tries.token LIMIT 100;

-- name: slowestPages
-- 1 job id   2 limit
SELECT pages.*, $1::text AS job_id, workers.name AS worker_name
FROM (
  SELECT id FROM (
    SELECT id, ended_at - leased_at AS took FROM pages
    WHERE job + 0 = (SELECT alias FROM jobs WHERE jobs.id = $1::text) AND worker IS NOT NULL
    ORDER BY id DESC LIMIT 100000
  ) AS newest ORDER BY took DESC, id LIMIT $2::bigint
) AS slowest JOIN pages ON pages.id = slowest.id JOIN workers ON workers.alias = pages.worker
ORDER BY pages.ended_at - pages.leased_at DESC, pages.id;

-- name: groupAttempts
-- 1 job id   2 limit. Attempts with the fate 'passed' did not fail: another task continues with the page.
SELECT fate, because, status, count(*) AS tries, max(url) AS sample
FROM (
  SELECT fate, because, status, url FROM tries
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = $1) AND fate <> 'passed' LIMIT 100000
) AS first_attempts
GROUP BY fate, because, status
ORDER BY count(*) DESC, because LIMIT $2::bigint;
