-- schedules: schedules and their occurrences (table `slots`).      Cost: O(log n) for each row, unless noted otherwise.

-- name: addSchedule
INSERT INTO schedules (id, tenant, name, timing, overlap, catch_up, catch_up_most, job, paused, created_at, done_until,
  next_at, version)
VALUES (:id, :tenant, :name, :timing, :overlap, :catchUp, :maxCatchUp::int, :job, :paused::int, :createdAt::bigint,
  :doneUntil::bigint, :nextAt::bigint, 1)
ON CONFLICT (id) DO NOTHING RETURNING id;

-- name: findSchedule
SELECT * FROM schedules WHERE id = $1;

-- name: listSchedules
-- 1 after id   2 limit
SELECT * FROM schedules WHERE id > $1 ORDER BY id LIMIT $2::bigint;

-- name: listOfTenant
-- 1 tenant   2 after id   3 limit
SELECT * FROM schedules WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3::bigint;

-- name: changeSchedule
UPDATE schedules SET name = :name, timing = :timing, overlap = :overlap, catch_up = :catchUp,
  catch_up_most = :maxCatchUp::int, job = :job, paused = :paused::int, done_until = :doneUntil::bigint,
  next_at = :nextAt::bigint, version = version + 1
WHERE id = :id AND version = :version::bigint RETURNING id;

-- name: removeSchedule
WITH removed_occurrences AS (DELETE FROM slots WHERE schedule = $1)
DELETE FROM schedules WHERE id = $1 RETURNING id;

-- name: listDue
-- 1 now   2 limit                                                      Cost: also O(n) in the open occurrences of each.
SELECT *, (SELECT count(*) FROM slots WHERE schedule = schedules.id AND state IN ('waiting', 'firing')) AS open_slots
FROM schedules WHERE next_at <= $1::bigint ORDER BY next_at LIMIT $2::bigint;

-- name: advance
-- :instants, :kinds and :skipped are arrays: the occurrences to add, and why each is skipped, or null.
WITH moved AS (
  UPDATE schedules SET done_until = :doneUntil::bigint, next_at = :nextAt::bigint, version = version + 1
  WHERE id = :id AND version = :version::bigint RETURNING id, done_until
), added AS (
  INSERT INTO slots (schedule, at, kind, state, free_at, token, because, ended_at)
  SELECT moved.id, new.at, new.kind, CASE WHEN new.skipped IS NULL THEN 'waiting' ELSE 'skipped' END, 0, 0, new.skipped,
    CASE WHEN new.skipped IS NULL THEN NULL ELSE moved.done_until END
  FROM moved, unnest(:instants::bigint[], :kinds::text[], :skipped::text[]) AS new (at, kind, skipped)
  ON CONFLICT DO NOTHING
)
SELECT id FROM moved;

-- name: forgetOccurrences
-- 1 schedule   2 number to keep                                            Cost: O(n) in the occurrences that are kept.
-- Keeps the last occurrence that submitted a job, at any age: every later occurrence checks whether that job is active.
DELETE FROM slots WHERE schedule = $1 AND state NOT IN ('waiting', 'firing')
  AND NOT (state = 'fired' AND at = (SELECT max(at) FROM slots WHERE schedule = $1 AND state = 'fired'))
  AND at < (SELECT at FROM slots WHERE schedule = $1 ORDER BY at DESC LIMIT 1 OFFSET $2::bigint);

-- name: claim
-- 1 now   2 until   3 limit           Cost: O(n) in the free occurrences, including those that wait for an earlier one.
WITH free AS (
  SELECT schedule, at, kind FROM slots WHERE state IN ('waiting', 'firing') AND free_at <= $1::bigint AND NOT EXISTS (
    SELECT 1 FROM slots AS ahead
    WHERE ahead.schedule = slots.schedule AND ahead.state IN ('waiting', 'firing')
      AND (ahead.at, ahead.kind) < (slots.at, slots.kind))
  ORDER BY free_at, at LIMIT $3::bigint FOR UPDATE SKIP LOCKED
), held AS (
  UPDATE slots SET token = token + 1, free_at = $2::bigint FROM free
  WHERE slots.schedule = free.schedule AND slots.at = free.at AND slots.kind = free.kind RETURNING slots.*
)
SELECT held.*, row_to_json(schedules)::text AS of_schedule
FROM held JOIN schedules ON schedules.id = held.schedule ORDER BY held.at;

-- name: claimOf
-- 1 now   2 until   3 schedule
WITH free AS (
  SELECT schedule, at, kind FROM slots
  WHERE state IN ('waiting', 'firing') AND free_at <= $1::bigint AND schedule = $3 AND NOT EXISTS (
    SELECT 1 FROM slots AS ahead
    WHERE ahead.schedule = slots.schedule AND ahead.state IN ('waiting', 'firing')
      AND (ahead.at, ahead.kind) < (slots.at, slots.kind))
  LIMIT 1 FOR UPDATE SKIP LOCKED
), held AS (
  UPDATE slots SET token = token + 1, free_at = $2::bigint FROM free
  WHERE slots.schedule = free.schedule AND slots.at = free.at AND slots.kind = free.kind RETURNING slots.*
)
SELECT held.*, row_to_json(schedules)::text AS of_schedule FROM held JOIN schedules ON schedules.id = held.schedule;

-- name: decideOccurrence
UPDATE slots SET state = 'firing', because = NULL
WHERE schedule = :scheduleId AND at = :at::bigint AND kind = :kind AND token = :token::bigint
  AND state IN ('waiting', 'firing')
RETURNING at;

-- name: settleOccurrence
-- :from is the state that the occurrence must have.
UPDATE slots SET state = :state, because = :because, job_id = :jobId, ended_at = :endedAt::bigint
WHERE schedule = :scheduleId AND at = :at::bigint AND kind = :kind AND token = :token::bigint AND state = :from
RETURNING at;

-- name: releaseOccurrence
UPDATE slots SET free_at = :freeAt::bigint, because = :because
WHERE schedule = :scheduleId AND at = :at::bigint AND kind = :kind AND token = :token::bigint
  AND state IN ('waiting', 'firing');

-- name: listOccurrences
-- 1 schedule   2 before   3 limit
SELECT * FROM slots WHERE schedule = $1 AND at < $2::bigint ORDER BY at DESC, kind DESC LIMIT $3::bigint;

-- name: findOccurrence
SELECT * FROM slots WHERE schedule = :scheduleId AND at = :at::bigint AND kind = :kind;

-- name: findFiredBefore
-- Cost: O(n) in the occurrences between the result and :at.
SELECT * FROM slots WHERE schedule = :scheduleId AND (at, kind) < (:at::bigint, :kind) AND state = 'fired'
ORDER BY at DESC, kind DESC LIMIT 1;
