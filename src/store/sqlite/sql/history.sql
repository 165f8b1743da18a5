-- history: counts and gauges of the fleet, by bucket.                      Cost: O(log n) in all buckets for each row.

-- name: findLatencies
-- 1 width   2 at
SELECT latencies FROM history WHERE width = ? AND at = ?;

-- name: addCounts
-- :latencies is the new sum, as JSON; the other counts are added.
INSERT INTO history (width, at, pages, done, failed, dead, records, bytes, latencies)
VALUES (:width, :at, :pages, :done, :failed, :dead, :records, :bytes, :latencies)
ON CONFLICT (width, at) DO UPDATE SET
  pages = pages + excluded.pages,
  done = done + excluded.done,
  failed = failed + excluded.failed,
  dead = dead + excluded.dead,
  records = records + excluded.records,
  bytes = bytes + excluded.bytes,
  latencies = excluded.latencies;

-- name: setGauges
INSERT INTO history (width, at, waiting, in_flight, workers) VALUES (:width, :at, :waiting, :inFlight, :workers)
ON CONFLICT (width, at) DO UPDATE SET
  waiting = excluded.waiting, in_flight = excluded.in_flight, workers = excluded.workers;

-- name: readBuckets
-- 1 width   2 from   3 to   4 limit
SELECT at, pages, done, failed, dead, records, bytes, latencies, waiting, in_flight, workers
FROM history WHERE width = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?;

-- name: pruneBuckets
-- 1 width   2 before   3 limit
DELETE FROM history
WHERE width = ?1 AND at IN (SELECT at FROM history WHERE width = ?1 AND at < ?2 ORDER BY at LIMIT ?3);
