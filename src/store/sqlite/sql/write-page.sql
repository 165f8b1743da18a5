-- write-page: one page with its records, inside the transaction of its batch.             Cost: O(log n) in the pages.
-- `insertPage` runs first. If it changes nothing, the task has a page already, and `findWritten` returns its token.
--
-- Parameters are positional because this is the hot path: with one SQLite driver, binding 23 named values takes 24 µs,
-- and binding 23 positional values takes 8 µs.

-- name: nextId
SELECT next_id FROM sequence;

-- name: setNextId
-- 1 next id
UPDATE sequence SET next_id = ?;

-- name: insertPage
INSERT INTO pages (
  id, job, task, token, depth, url, status, headers,
  content_type, body_bytes, body_ref, fetched_at, took_ms, records, invalid,
  screenshot_ref, pdf_ref, unchanged, worker, attempt, leased_at, ended_at, step
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (job, task) DO NOTHING;

-- name: insertRecord
-- 1 id   2 job alias   3 page id   4 fields, JSON
INSERT INTO records (id, job, page, fields) VALUES (?, ?, ?, ?);

-- name: insertInvalid
-- 1 id   2 job alias   3 page id   4 fields, JSON   5 reason
INSERT INTO invalid_records (id, job, page, fields, reason) VALUES (?, ?, ?, ?, ?);

-- name: findWritten
-- 1 job alias   2 task id
SELECT id, token, records, invalid FROM pages WHERE job = ? AND task = ?;

-- name: dropRecords
-- 1 page id   2 its number of records
DELETE FROM records WHERE id >= ?1 AND id < ?1 + ?2 AND page = ?1;

-- name: dropInvalid
-- 1 page id   2 its number of invalid records
DELETE FROM invalid_records WHERE id >= ?1 AND id < ?1 + ?2 AND page = ?1;

-- name: dropPage
-- 1 page id
DELETE FROM pages WHERE id = ?;
