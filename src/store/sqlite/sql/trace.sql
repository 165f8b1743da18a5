-- trace: pages and attempts by task, URL or job. A query by task costs one index lookup for each job: CROSS JOIN forces
-- that plan, because SQLite would otherwise scan all pages. A query by URL scans the rows of one job in batches: it is
-- rare, and an index would slow down every page write.

-- name: pagesOfTask
-- 1 task
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN pages ON pages.job = jobs.alias AND pages.task = ?1 LEFT JOIN workers ON workers.alias = pages.worker
ORDER BY pages.id;

-- name: lastPageOfBatch
-- The last page of a batch of a job's pages.   1 job id   2 after this page   3 batch size
SELECT max(id) AS last FROM (
  SELECT id FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND id > ?2 ORDER BY id LIMIT ?3
);

-- name: pagesOfUrl
-- 1 job id   2 url; the steps of a page have the same URL with a fragment   3 after this page   4 up to this page
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN pages ON pages.job = jobs.alias LEFT JOIN workers ON workers.alias = pages.worker
WHERE jobs.id = ?1 AND pages.id > ?3 AND pages.id <= ?4
  AND (pages.url = ?2 OR substr(pages.url, 1, length(?2) + 1) = ?2 || '#')
ORDER BY pages.id LIMIT 20;

-- name: attemptsOfTask
-- 1 task
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN tries ON tries.job = jobs.alias AND tries.task = ?1 JOIN workers ON workers.alias = tries.worker
ORDER BY tries.job, tries.token;

-- name: lastTaskOfBatch
-- The last task of a batch of a job's attempts. All attempts of a task are in one batch.
-- 1 job id   2 after this task   3 batch size
SELECT max(task) AS last FROM (
  SELECT task FROM tries WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND task > ?2 ORDER BY task LIMIT ?3
);

-- name: attemptsOfUrl
-- 1 job id   2 url; the steps of a page have the same URL with a fragment   3 after this task   4 up to this task
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN tries ON tries.job = jobs.alias JOIN workers ON workers.alias = tries.worker
WHERE jobs.id = ?1 AND tries.task > ?3 AND tries.task <= ?4
  AND (tries.url = ?2 OR substr(tries.url, 1, length(?2) + 1) = ?2 || '#')
ORDER BY tries.task, tries.token LIMIT 100;

-- name: slowestPages
-- 1 job id   2 limit
SELECT pages.*, ?1 AS job_id, workers.name AS worker_name
FROM (
  SELECT id FROM (
    SELECT id, ended_at - leased_at AS took FROM pages
    WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND worker IS NOT NULL ORDER BY id DESC LIMIT 100000
  ) ORDER BY took DESC, id LIMIT ?2
) AS slowest CROSS JOIN pages ON pages.id = slowest.id JOIN workers ON workers.alias = pages.worker
ORDER BY pages.ended_at - pages.leased_at DESC, pages.id;

-- name: groupAttempts
-- 1 job id   2 limit. Attempts with the fate 'passed' did not fail: another task continues with the page.
SELECT fate, because, status, count(*) AS tries, max(url) AS sample
FROM (
  SELECT fate, because, status, url FROM tries
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND fate <> 'passed' LIMIT 100000
) AS first_attempts
GROUP BY fate, because, status
ORDER BY count(*) DESC, because LIMIT ?2;
