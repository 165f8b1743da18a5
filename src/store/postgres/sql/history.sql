-- history: counts and gauges of the fleet, by bucket.                      Cost: O(log n) in all buckets for each row.

-- name: ping
SELECT 1;

-- name: addCounts
-- Arrays, sorted so that concurrent writers cannot deadlock: 1 width   2 at   3 pages   4 done   5 failed   6 dead
-- 7 records   8 bytes   9 latencies, each an array as text
INSERT INTO history (width, at, pages, done, failed, dead, records, bytes, latencies)
SELECT width, at, pages, done, failed, dead, records, bytes, latencies::bigint[]
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
  $9::text[]) AS added (width, at, pages, done, failed, dead, records, bytes, latencies)
ORDER BY width, at
ON CONFLICT (width, at) DO UPDATE SET
  pages = history.pages + excluded.pages,
  done = history.done + excluded.done,
  failed = history.failed + excluded.failed,
  dead = history.dead + excluded.dead,
  records = history.records + excluded.records,
  bytes = history.bytes + excluded.bytes,
  latencies = ARRAY(
    SELECT coalesce(known, 0) + coalesce(more, 0)
    FROM unnest(history.latencies, excluded.latencies) WITH ORDINALITY AS counts (known, more, bucket)
    ORDER BY bucket
  );

-- name: setGauges
-- :widths and :starts are arrays.
INSERT INTO history (width, at, waiting, in_flight, workers)
SELECT width, at, :waiting::bigint, :inFlight::bigint, :workers::bigint
FROM unnest(:widths::bigint[], :starts::bigint[]) AS buckets (width, at)
ORDER BY width, at
ON CONFLICT (width, at) DO UPDATE SET
  waiting = excluded.waiting, in_flight = excluded.in_flight, workers = excluded.workers;

-- name: readBuckets
-- 1 width   2 from   3 to   4 limit
SELECT at, pages, done, failed, dead, records, bytes, array_to_json(latencies)::text AS latencies,
  waiting, in_flight, workers
FROM history WHERE width = $1::bigint AND at >= $2::bigint AND at < $3::bigint ORDER BY at LIMIT $4::bigint;

-- name: pruneBuckets
-- 1 width   2 before   3 limit
DELETE FROM history WHERE width = $1::bigint AND at IN (
  SELECT at FROM history WHERE width = $1::bigint AND at < $2::bigint ORDER BY at LIMIT $3::bigint
) RETURNING at;
