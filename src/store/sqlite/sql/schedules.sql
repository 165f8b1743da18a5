-- schedules: the book of schedules and their slots.        Cost: one b-tree path a row touched, unless it says otherwise.

-- name: addSchedule
INSERT INTO schedules (id, tenant, name, timing, overlap, catch_up, catch_up_most, job, paused, created_at, done_until,
  next_at, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING;

-- name: findSchedule
SELECT * FROM schedules WHERE id = ?;

-- name: listSchedules
-- 1 after id   2 most
SELECT * FROM schedules WHERE id > ? ORDER BY id LIMIT ?;

-- name: listOfTenant
-- 1 tenant   2 after id   3 most
SELECT * FROM schedules WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?;

-- name: changeSchedule
-- The last two: id and the version that is known.
UPDATE schedules SET name = ?, timing = ?, overlap = ?, catch_up = ?, catch_up_most = ?, job = ?, paused = ?,
  done_until = ?, next_at = ?, version = version + 1
WHERE id = ? AND version = ?;

-- name: removeSlots
DELETE FROM slots WHERE schedule = ?;

-- name: removeSchedule
DELETE FROM schedules WHERE id = ?;

-- name: listDue
-- 1 now   2 most                                                               Cost: also the open slots of those.
SELECT *, (SELECT count(*) FROM slots WHERE schedule = schedules.id AND state IN ('waiting', 'firing')) AS open_slots
FROM schedules WHERE next_at <= ? ORDER BY next_at LIMIT ?;

-- name: advance
-- 1 done until   2 next   3 id   4 version known
UPDATE schedules SET done_until = ?, next_at = ?, version = version + 1 WHERE id = ? AND version = ?;

-- name: addSlot
-- 1 schedule   2 at   3 kind   4 state   5 because   6 ended at
INSERT INTO slots (schedule, at, kind, state, free_at, token, because, ended_at)
VALUES (?, ?, ?, ?, 0, 0, ?, ?) ON CONFLICT DO NOTHING;

-- name: forgetSlots
-- 1 schedule   2 schedule   3 schedule   4 kept                                Cost: the slots that are kept.
-- The last one that led to a job stays, however long ago: whether that still runs is asked of every slot to come.
DELETE FROM slots WHERE schedule = ? AND state NOT IN ('waiting', 'firing')
  AND NOT (state = 'fired' AND at = (SELECT max(at) FROM slots WHERE schedule = ? AND state = 'fired'))
  AND at < (SELECT at FROM slots WHERE schedule = ? ORDER BY at DESC LIMIT 1 OFFSET ?);

-- name: findFree
-- 1 now   2 most                                     Cost: the slots that are free, those that wait behind others too.
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

-- name: holdSlot
-- 1 free at   2 schedule   3 at   4 kind
UPDATE slots SET token = token + 1, free_at = ? WHERE schedule = ? AND at = ? AND kind = ?;

-- name: decideSlot
-- 1 schedule   2 at   3 kind   4 token
UPDATE slots SET state = 'firing', because = NULL
WHERE schedule = ? AND at = ? AND kind = ? AND token = ? AND state IN ('waiting', 'firing');

-- name: settleSlot
-- 1 state   2 because   3 job   4 ended at   5 schedule   6 at   7 kind   8 token   9 state it must have
UPDATE slots SET state = ?, because = ?, job_id = ?, ended_at = ?
WHERE schedule = ? AND at = ? AND kind = ? AND token = ? AND state = ?;

-- name: releaseSlot
-- 1 free at   2 because   3 schedule   4 at   5 kind   6 token
UPDATE slots SET free_at = ?, because = ?
WHERE schedule = ? AND at = ? AND kind = ? AND token = ? AND state IN ('waiting', 'firing');

-- name: listSlots
-- 1 schedule   2 before   3 most
SELECT * FROM slots WHERE schedule = ? AND at < ? ORDER BY at DESC, kind DESC LIMIT ?;

-- name: findSlot
-- 1 schedule   2 at   3 kind
SELECT * FROM slots WHERE schedule = ? AND at = ? AND kind = ?;

-- name: findFiredBefore
-- 1 schedule   2 at   3 kind                                                   Cost: the slots since then.
SELECT * FROM slots WHERE schedule = ? AND (at, kind) < (?, ?) AND state = 'fired' ORDER BY at DESC, kind DESC LIMIT 1;
