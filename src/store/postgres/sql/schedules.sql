-- schedules: the book of schedules and their slots.        Cost: one b-tree path a row touched, unless it says otherwise.

-- name: addSchedule
INSERT INTO schedules (id, tenant, name, timing, overlap, catch_up, catch_up_most, job, paused, created_at, done_until,
  next_at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7::int, $8, $9::int, $10::bigint, $11::bigint, $12::bigint, 1)
ON CONFLICT (id) DO NOTHING RETURNING id;

-- name: findSchedule
SELECT * FROM schedules WHERE id = $1;

-- name: listSchedules
-- 1 after id   2 most
SELECT * FROM schedules WHERE id > $1 ORDER BY id LIMIT $2::bigint;

-- name: listOfTenant
-- 1 tenant   2 after id   3 most
SELECT * FROM schedules WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3::bigint;

-- name: changeSchedule
-- The last two: id and the version that is known.
UPDATE schedules SET name = $1, timing = $2, overlap = $3, catch_up = $4, catch_up_most = $5::int, job = $6,
  paused = $7::int, done_until = $8::bigint, next_at = $9::bigint, version = version + 1
WHERE id = $10 AND version = $11::bigint RETURNING id;

-- name: removeSchedule
WITH slots_gone AS (DELETE FROM slots WHERE schedule = $1)
DELETE FROM schedules WHERE id = $1 RETURNING id;

-- name: listDue
-- 1 now   2 most                                                               Cost: also the open slots of those.
SELECT *, (SELECT count(*) FROM slots WHERE schedule = schedules.id AND state IN ('waiting', 'firing')) AS open_slots
FROM schedules WHERE next_at <= $1::bigint ORDER BY next_at LIMIT $2::bigint;

-- name: advance
-- 1 done until   2 next   3 id   4 version known   5 instants   6 kinds   7 reasons of those that are skipped
WITH moved AS (
  UPDATE schedules SET done_until = $1::bigint, next_at = $2::bigint, version = version + 1
  WHERE id = $3 AND version = $4::bigint RETURNING id, done_until
), added AS (
  INSERT INTO slots (schedule, at, kind, state, free_at, token, because, ended_at)
  SELECT moved.id, new.at, new.kind, CASE WHEN new.skipped IS NULL THEN 'waiting' ELSE 'skipped' END, 0, 0, new.skipped,
    CASE WHEN new.skipped IS NULL THEN NULL ELSE moved.done_until END
  FROM moved, unnest($5::bigint[], $6::text[], $7::text[]) AS new (at, kind, skipped)
  ON CONFLICT DO NOTHING
)
SELECT id FROM moved;

-- name: forgetSlots
-- 1 schedule   2 kept                                                          Cost: the slots that are kept.
-- The last one that led to a job stays, however long ago: whether that still runs is asked of every slot to come.
DELETE FROM slots WHERE schedule = $1 AND state NOT IN ('waiting', 'firing')
  AND NOT (state = 'fired' AND at = (SELECT max(at) FROM slots WHERE schedule = $1 AND state = 'fired'))
  AND at < (SELECT at FROM slots WHERE schedule = $1 ORDER BY at DESC LIMIT 1 OFFSET $2::bigint);

-- name: claim
-- 1 now   2 until   3 most                           Cost: the slots that are free, those that wait behind others too.
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

-- name: decideSlot
-- 1 schedule   2 at   3 kind   4 token
UPDATE slots SET state = 'firing', because = NULL
WHERE schedule = $1 AND at = $2::bigint AND kind = $3 AND token = $4::bigint AND state IN ('waiting', 'firing')
RETURNING at;

-- name: settleSlot
-- 1 state   2 because   3 job   4 ended at   5 schedule   6 at   7 kind   8 token   9 state it must have
UPDATE slots SET state = $1, because = $2, job_id = $3, ended_at = $4::bigint
WHERE schedule = $5 AND at = $6::bigint AND kind = $7 AND token = $8::bigint AND state = $9 RETURNING at;

-- name: releaseSlot
-- 1 free at   2 because   3 schedule   4 at   5 kind   6 token
UPDATE slots SET free_at = $1::bigint, because = $2
WHERE schedule = $3 AND at = $4::bigint AND kind = $5 AND token = $6::bigint AND state IN ('waiting', 'firing');

-- name: listSlots
-- 1 schedule   2 before   3 most
SELECT * FROM slots WHERE schedule = $1 AND at < $2::bigint ORDER BY at DESC, kind DESC LIMIT $3::bigint;

-- name: findSlot
-- 1 schedule   2 at   3 kind
SELECT * FROM slots WHERE schedule = $1 AND at = $2::bigint AND kind = $3;

-- name: findFiredBefore
-- 1 schedule   2 at   3 kind                                                   Cost: the slots since then.
SELECT * FROM slots WHERE schedule = $1 AND (at, kind) < ($2::bigint, $3) AND state = 'fired'
ORDER BY at DESC, kind DESC LIMIT 1;
