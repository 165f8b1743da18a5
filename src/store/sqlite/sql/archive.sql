-- archive: archived and deleted jobs. Cost: O(log n) for each row. Erasing: O(rows removed), at most `limit` of a kind.

-- name: keep
-- 1 id   2 created at   3 finished at   4 view
INSERT INTO archived_jobs (id, created_at, finished_at, view)
SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM deleted_jobs WHERE id = ?1)
ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, finished_at = excluded.finished_at, view = excluded.view
WHERE excluded.finished_at >= archived_jobs.finished_at;

-- name: findArchived
-- 1 id
SELECT * FROM archived_jobs WHERE id = ?;

-- name: findAllArchived
-- 1 ids, as a JSON array
SELECT * FROM archived_jobs WHERE id IN (SELECT value FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM deleted_jobs WHERE deleted_jobs.id = archived_jobs.id);

-- name: isDeleted
-- 1 id
SELECT 1 FROM deleted_jobs WHERE id = ?;

-- name: filterDeleted
-- 1 ids, as a JSON array
SELECT id FROM deleted_jobs WHERE id IN (SELECT value FROM json_each(?));

-- name: listArchived
-- 1 created before   2 limit
SELECT * FROM archived_jobs WHERE created_at < ? ORDER BY created_at DESC LIMIT ?;

-- name: mark
-- 1 id   2 at
INSERT INTO deleted_jobs (id, deleted_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING;

-- name: dropArchived
-- 1 id
DELETE FROM archived_jobs WHERE id = ?;

-- name: dropOwner
-- 1 id
DELETE FROM job_owners WHERE job = ?;

-- name: listUncleaned
-- 1 from   2 limit
SELECT id, deleted_at FROM deleted_jobs WHERE is_clean = 0 AND deleted_at >= ? ORDER BY deleted_at LIMIT ?;

-- name: setClean
-- 1 id
UPDATE deleted_jobs SET is_clean = 1 WHERE id = ?;

-- name: findAlias
-- 1 id
SELECT alias FROM jobs WHERE id = ?;

-- name: dropRecords
-- 1 job   2 limit
DELETE FROM records WHERE id IN (SELECT id FROM records WHERE job = ? LIMIT ?);

-- name: dropInvalid
-- 1 job   2 limit
DELETE FROM invalid_records WHERE id IN (SELECT id FROM invalid_records WHERE job = ? LIMIT ?);

-- name: dropAttempts
-- 1 job   2 limit
DELETE FROM tries WHERE rowid IN (SELECT rowid FROM tries WHERE job = ? LIMIT ?);

-- name: emptyMemories
-- 1 job id   2 limit
-- Removes the content and keeps the entry. Without the entry, the next run of the set would report the page as new.
UPDATE page_memories SET content = NULL, etag = NULL, last_modified = NULL WHERE n IN (
  SELECT n FROM page_memories
  WHERE job = ? AND (content IS NOT NULL OR etag IS NOT NULL OR last_modified IS NOT NULL) LIMIT ?);

-- name: listPages
-- 1 job   2 limit
SELECT id, body_ref, screenshot_ref, pdf_ref FROM pages WHERE job = ? ORDER BY id LIMIT ?;

-- name: dropPage
-- 1 id
DELETE FROM pages WHERE id = ?;

-- name: addOrphanBody
-- 1 ref   2 at
INSERT INTO loose_bodies (ref, since) VALUES (?, ?) ON CONFLICT (ref) DO UPDATE SET since = excluded.since;

-- name: readPassed
-- 1 job id   2 after this task   3 limit
SELECT DISTINCT task FROM tries WHERE job = (SELECT alias FROM jobs WHERE id = ?) AND task > ? AND fate = 'passed'
ORDER BY task LIMIT ?;

-- name: listOrphanBodies
-- 1 orphaned before   2 limit
SELECT ref,
  EXISTS (SELECT 1 FROM pages WHERE body_ref = ref) OR EXISTS (SELECT 1 FROM pages WHERE screenshot_ref = ref)
    OR EXISTS (SELECT 1 FROM pages WHERE pdf_ref = ref) AS is_referenced
FROM loose_bodies WHERE since < ? ORDER BY since LIMIT ?;

-- name: dropOrphanBodies
-- 1 ref   2 orphaned before
DELETE FROM loose_bodies WHERE ref = ? AND since < ?;
