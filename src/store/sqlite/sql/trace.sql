-- trace: what is kept of single tasks, for whoever wants to know how they went. By task it is a look-up a job: CROSS JOIN
-- makes sure of that, where SQLite would rather read all pages. By URL it reads through what one job has, a
-- stretch at a time: people ask rarely, and an index would cost every page that is written.

-- name: pagesOfTask
-- 1 task
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN pages ON pages.job = jobs.alias AND pages.task = ?1 LEFT JOIN workers ON workers.alias = pages.worker
ORDER BY pages.id;

-- name: pagesEdge
-- Where a stretch of a job's pages ends.   1 job id   2 the page before it   3 how many
SELECT max(id) AS edge FROM (
  SELECT id FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND id > ?2 ORDER BY id LIMIT ?3
);

-- name: pagesOfUrl
-- 1 job id   2 url; steps of its page have the same one, and a fragment   3 the page before   4 the last page
SELECT pages.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN pages ON pages.job = jobs.alias LEFT JOIN workers ON workers.alias = pages.worker
WHERE jobs.id = ?1 AND pages.id > ?3 AND pages.id <= ?4
  AND (pages.url = ?2 OR substr(pages.url, 1, length(?2) + 1) = ?2 || '#')
ORDER BY pages.id LIMIT 20;

-- name: triesOfTask
-- 1 task
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs CROSS JOIN tries ON tries.job = jobs.alias AND tries.task = ?1 JOIN workers ON workers.alias = tries.worker
ORDER BY tries.job, tries.token;

-- name: triesEdge
-- Where a stretch of a job's tries ends; all of a task are in one.   1 job id   2 the task before it   3 how many
SELECT max(task) AS edge FROM (
  SELECT task FROM tries WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND task > ?2 ORDER BY task LIMIT ?3
);

-- name: triesOfUrl
-- 1 job id   2 url; steps of its page have the same one, and a fragment   3 the task before   4 the last task
SELECT tries.*, jobs.id AS job_id, workers.name AS worker_name
FROM jobs JOIN tries ON tries.job = jobs.alias JOIN workers ON workers.alias = tries.worker
WHERE jobs.id = ?1 AND tries.task > ?3 AND tries.task <= ?4
  AND (tries.url = ?2 OR substr(tries.url, 1, length(?2) + 1) = ?2 || '#')
ORDER BY tries.task, tries.token LIMIT 100;

-- name: slowestPages
-- 1 job id   2 most rows
SELECT pages.*, ?1 AS job_id, workers.name AS worker_name
FROM (
  SELECT id FROM (
    SELECT id, ended_at - leased_at AS took FROM pages
    WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND worker IS NOT NULL ORDER BY id DESC LIMIT 100000
  ) ORDER BY took DESC, id LIMIT ?2
) AS slowest CROSS JOIN pages ON pages.id = slowest.id JOIN workers ON workers.alias = pages.worker
ORDER BY pages.ended_at - pages.leased_at DESC, pages.id;

-- name: groupTries
-- 1 job id   2 most rows. What was passed on did not fail: its page comes with the task that took it over.
SELECT fate, because, status, count(*) AS tries, max(url) AS sample
FROM (
  SELECT fate, because, status, url FROM tries
  WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?1) AND fate <> 'passed' LIMIT 100000
) AS looked_at
GROUP BY fate, because, status
ORDER BY count(*) DESC, because LIMIT ?2;
