-- history: what the fleet did, slot by slot.                       Cost: O(log n) in all slots for each that is touched.

-- name: findLatencies
-- 1 width   2 at
SELECT latencies FROM history WHERE width = ? AND at = ?;

-- name: addCounts
-- 1 width   2 at   3 pages   4 done   5 failed   6 dead   7 records   8 bytes   9 latencies, added up
INSERT INTO history (width, at, pages, done, failed, dead, records, bytes, latencies) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (width, at) DO UPDATE SET
  pages = pages + excluded.pages,
  done = done + excluded.done,
  failed = failed + excluded.failed,
  dead = dead + excluded.dead,
  records = records + excluded.records,
  bytes = bytes + excluded.bytes,
  latencies = excluded.latencies;

-- name: noteGauges
-- 1 width   2 at   3 waiting   4 in flight   5 workers
INSERT INTO history (width, at, waiting, in_flight, workers) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (width, at) DO UPDATE SET
  waiting = excluded.waiting, in_flight = excluded.in_flight, workers = excluded.workers;

-- name: readSlots
-- 1 width   2 from   3 to   4 most
SELECT at, pages, done, failed, dead, records, bytes, latencies, waiting, in_flight, workers
FROM history WHERE width = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?;

-- name: pruneSlots
-- 1 width   2 width   3 before   4 most
DELETE FROM history WHERE width = ? AND at IN (SELECT at FROM history WHERE width = ? AND at < ? ORDER BY at LIMIT ?);
