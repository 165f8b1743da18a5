-- archive: archived and deleted jobs. Cost: O(log n) for each row. Erasing: O(rows removed), at most `limit` of a kind.

-- name: keep
-- 1 id   2 created at   3 finished at   4 view
INSERT INTO archived_jobs (id, created_at, finished_at, view)
SELECT $1::text, $2::float8, $3::float8, $4::text WHERE NOT EXISTS (SELECT FROM deleted_jobs WHERE id = $1::text)
ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, finished_at = excluded.finished_at, view = excluded.view
WHERE excluded.finished_at >= archived_jobs.finished_at;

-- name: find
-- 1 id
SELECT archived_jobs.*, EXISTS (SELECT FROM deleted_jobs WHERE id = $1::text) AS is_deleted
FROM (SELECT) AS one LEFT JOIN archived_jobs ON archived_jobs.id = $1::text;

-- name: findAll
-- 1 ids, as an array
SELECT * FROM archived_jobs WHERE id = ANY ($1::text[])
AND NOT EXISTS (SELECT FROM deleted_jobs WHERE deleted_jobs.id = archived_jobs.id);

-- name: listArchived
-- 1 created before   2 limit
-- A job that was archived and deleted at the same time may be in both tables.
SELECT * FROM archived_jobs
WHERE created_at < $1::float8 AND NOT EXISTS (SELECT FROM deleted_jobs WHERE deleted_jobs.id = archived_jobs.id)
ORDER BY created_at DESC LIMIT $2::bigint;

-- name: filterDeleted
-- 1 ids, as an array
SELECT id FROM deleted_jobs WHERE id = ANY ($1::text[]);

-- name: mark
-- 1 id   2 at
WITH archived AS (DELETE FROM archived_jobs WHERE id = $1::text), owner AS (DELETE FROM job_owners WHERE job = $1::text)
INSERT INTO deleted_jobs (id, deleted_at) VALUES ($1::text, $2::float8) ON CONFLICT (id) DO NOTHING;

-- name: listUncleaned
-- 1 from   2 limit
SELECT id, deleted_at FROM deleted_jobs WHERE NOT is_clean AND deleted_at >= $1::float8 ORDER BY deleted_at
LIMIT $2::bigint;

-- name: setClean
-- 1 id
UPDATE deleted_jobs SET is_clean = true WHERE id = $1;

-- name: erase
-- 1 job id   2 limit   3 at
-- Takes the same lock as writers, in the same order, so that no row of the job is written during the deletion.
WITH job AS (
  UPDATE jobs SET records = 0 WHERE id = $1::text RETURNING alias
), dropped_archived AS (
  DELETE FROM archived_jobs WHERE id = $1::text -- the job may have been archived while it was deleted
), dropped_records AS (
  DELETE FROM records WHERE (job, id) IN (
    SELECT r.job, r.id FROM job CROSS JOIN LATERAL (
      SELECT records.job, records.id FROM records WHERE records.job = job.alias ORDER BY records.id LIMIT $2::bigint) AS r)
  RETURNING 1
), dropped_invalid AS (
  DELETE FROM invalid_records WHERE (job, id) IN (
    SELECT r.job, r.id FROM job CROSS JOIN LATERAL (
      SELECT invalid_records.job, invalid_records.id FROM invalid_records WHERE invalid_records.job = job.alias
      ORDER BY invalid_records.id LIMIT $2::bigint) AS r)
  RETURNING 1
), dropped_attempts AS (
  DELETE FROM tries WHERE (job, task, token) IN (
    SELECT t.job, t.task, t.token FROM job CROSS JOIN LATERAL (
      SELECT tries.job, tries.task, tries.token FROM tries WHERE tries.job = job.alias
      ORDER BY tries.task, tries.token LIMIT $2::bigint) AS t)
  RETURNING 1
), emptied_memories AS (
  -- Removes the content and keeps the entry. Without the entry, the next run of the set would report the page as new.
  UPDATE page_memories SET content = NULL, etag = NULL, last_modified = NULL WHERE n IN (
    SELECT n FROM page_memories WHERE page_memories.job = $1::text
      AND (content IS NOT NULL OR etag IS NOT NULL OR last_modified IS NOT NULL) LIMIT $2::bigint)
  RETURNING 1
), dropped_pages AS (
  DELETE FROM pages WHERE id IN (
    SELECT p.id FROM job CROSS JOIN LATERAL (
      SELECT pages.id FROM pages WHERE pages.job + 0 = job.alias ORDER BY pages.id LIMIT $2::bigint) AS p)
  RETURNING body_ref, screenshot_ref, pdf_ref
), orphaned AS (
  INSERT INTO loose_bodies (ref, since)
  SELECT DISTINCT ref, $3::float8 FROM dropped_pages, unnest(ARRAY[body_ref, screenshot_ref, pdf_ref]) AS ref
  WHERE ref IS NOT NULL
  ON CONFLICT (ref) DO UPDATE SET since = excluded.since
)
SELECT greatest(
  (SELECT count(*) FROM dropped_records), (SELECT count(*) FROM dropped_invalid), (SELECT count(*) FROM dropped_attempts),
  (SELECT count(*) FROM emptied_memories), (SELECT count(*) FROM dropped_pages)) AS most;

-- name: readPassed
-- 1 job id   2 after this task   3 limit
SELECT DISTINCT task FROM tries
WHERE job = (SELECT alias FROM jobs WHERE id = $1) AND task > $2 AND fate = 'passed' ORDER BY task LIMIT $3::bigint;

-- name: listOrphanBodies
-- 1 orphaned before   2 limit
SELECT ref,
  EXISTS (SELECT FROM pages WHERE body_ref = ref) OR EXISTS (SELECT FROM pages WHERE screenshot_ref = ref)
    OR EXISTS (SELECT FROM pages WHERE pdf_ref = ref) AS is_referenced
FROM loose_bodies WHERE since < $1::float8 ORDER BY since LIMIT $2::bigint;

-- name: dropOrphanBodies
-- 1 refs, as an array   2 orphaned before
DELETE FROM loose_bodies WHERE ref = ANY ($1::text[]) AND since < $2::float8;
