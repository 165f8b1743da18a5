-- schedules: schedules and their occurrences (table `slots`).      Cost: O(log n) for each row, unless noted otherwise.

-- name: addSchedule
INSERT INTO schedules (id, tenant, name, timing, overlap, catch_up, catch_up_most, job, paused, created_at, done_until,
  next_at, version)
VALUES (:id, :tenant, :name, :timing, :overlap, :catchUp, :maxCatchUp, :job, :paused, :createdAt, :doneUntil, :nextAt, 1)
ON CONFLICT (id) DO NOTHING;

-- name: findSchedule
SELECT * FROM schedules WHERE id = ?;

-- name: listSchedules
-- 1 after id   2 limit
SELECT * FROM schedules WHERE id > ? ORDER BY id LIMIT ?;

-- name: listOfTenant
-- 1 tenant   2 after id   3 limit
SELECT * FROM schedules WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?;

-- name: changeSchedule
UPDATE schedules SET name = :name, timing = :timing, overlap = :overlap, catch_up = :catchUp, catch_up_most = :maxCatchUp,
  job = :job, paused = :paused, done_until = :doneUntil, next_at = :nextAt, version = version + 1
WHERE id = :id AND version = :version;

-- name: removeOccurrences
DELETE FROM slots WHERE schedule = ?;

-- name: removeSchedule
DELETE FROM schedules WHERE id = ?;

-- name: listDue
-- 1 now   2 limit                                                      Cost: also O(n) in the open occurrences of each.
SELECT *, (SELECT count(*) FROM slots WHERE schedule = schedules.id AND state IN ('waiting', 'firing')) AS open_slots
FROM schedules WHERE next_at <= ? ORDER BY next_at LIMIT ?;

-- name: advance
-- 1 done until   2 next at   3 id   4 known version
UPDATE schedules SET done_until = ?, next_at = ?, version = version + 1 WHERE id = ? AND version = ?;

-- name: addOccurrence
INSERT INTO slots (schedule, at, kind, state, free_at, token, because, ended_at)
VALUES (:scheduleId, :at, :kind, :state, 0, 0, :because, :endedAt) ON CONFLICT DO NOTHING;

-- name: forgetOccurrences
-- 1 schedule   2 number to keep                                            Cost: O(n) in the occurrences that are kept.
-- Keeps the last occurrence that submitted a job, at any age: every later occurrence checks whether that job is active.
DELETE FROM slots WHERE schedule = ?1 AND state NOT IN ('waiting', 'firing')
  AND NOT (state = 'fired' AND at = (SELECT max(at) FROM slots WHERE schedule = ?1 AND state = 'fired'))
  AND at < (SELECT at FROM slots WHERE schedule = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2);

-- name: findFree
-- 1 now   2 limit                 Cost: O(n) in the free occurrences, including those that wait for an earlier one.
SELECT * FROM slots WHERE state IN ('waiting', 'firing') AND free_at <= ? AND NOT EXISTS (
  SELECT 1 FROM slots AS ahead
  WHERE ahead.schedule = slots.schedule AND ahead.state IN ('waiting', 'firing')
    AND (ahead.at, ahead.kind) < (slots.at, slots.kind))
ORDER BY free_at, at LIMIT ?;

-- name: findFirstOpen
-- 1 schedule   2 now
SELECT * FROM (
  SELECT * FROM slots WHERE schedule = ? AND state IN ('waiting', 'firing') ORDER BY at, kind LIMIT 1)
WHERE free_at <= ?;

-- name: holdOccurrence
-- 1 free at   2 schedule   3 at   4 kind
UPDATE slots SET token = token + 1, free_at = ? WHERE schedule = ? AND at = ? AND kind = ?;

-- name: decideOccurrence
-- 1 schedule   2 at   3 kind   4 token
UPDATE slots SET state = 'firing', because = NULL
WHERE schedule = ? AND at = ? AND kind = ? AND token = ? AND state IN ('waiting', 'firing');

-- name: settleOccurrence
-- :from is the state that the occurrence must have.
UPDATE slots SET state = :state, because = :because, job_id = :jobId, ended_at = :endedAt
WHERE schedule = :scheduleId AND at = :at AND kind = :kind AND token = :token AND state = :from;

-- name: releaseOccurrence
UPDATE slots SET free_at = :freeAt, because = :because
WHERE schedule = :scheduleId AND at = :at AND kind = :kind AND token = :token AND state IN ('waiting', 'firing');

-- name: listOccurrences
-- 1 schedule   2 before   3 limit
SELECT * FROM slots WHERE schedule = ? AND at < ? ORDER BY at DESC, kind DESC LIMIT ?;

-- name: findOccurrence
-- 1 schedule   2 at   3 kind
SELECT * FROM slots WHERE schedule = ? AND at = ? AND kind = ?;

-- name: findFiredBefore
-- 1 schedule   2 at   3 kind                                 Cost: O(n) in the occurrences between the result and `at`.
SELECT * FROM slots WHERE schedule = ? AND (at, kind) < (?, ?) AND state = 'fired' ORDER BY at DESC, kind DESC LIMIT 1;
