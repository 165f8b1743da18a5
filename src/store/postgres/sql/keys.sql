-- keys: who may ask the API.                                                       Cost: O(log n) in their number.

-- name: addKey
-- 1 id   2 hash   3 name   4 tenant   5 scopes   6 quotas   7 created at   8 expires at
-- Made twice, after an answer that got lost, it changes nothing; isThere tells that from a key of somebody else's.
INSERT INTO keys (id, hash, name, tenant, scopes, quotas, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7::float8, $8::float8) ON CONFLICT DO NOTHING;

-- name: isThere
-- 1 id   2 hash
SELECT EXISTS (SELECT 1 FROM keys WHERE id = $1 AND hash = $2) AS answer;

-- name: hasAny
SELECT EXISTS (SELECT 1 FROM keys) AS answer;

-- name: findKey
-- 1 id
SELECT * FROM keys WHERE id = $1;

-- name: findByHash
-- 1 hash
SELECT * FROM keys WHERE hash = $1;

-- name: listKeys
-- 1 the id to go on after, or ""   2 most
SELECT * FROM keys WHERE n > coalesce((SELECT n FROM keys WHERE id = $1), 0) ORDER BY n LIMIT $2::bigint;

-- name: changeKey
-- 1 id   2 name   3 scopes   4 quotas; null: as it is   5 whether it is to end at another time   6 when, or null for never
UPDATE keys SET
  name = coalesce($2, name), scopes = coalesce($3, scopes), quotas = coalesce($4, quotas),
  expires_at = CASE WHEN $5::text::boolean THEN $6::float8 ELSE expires_at END
WHERE id = $1 RETURNING *;

-- name: revokeKey
-- 1 at   2 id
UPDATE keys SET revoked_at = coalesce(revoked_at, $1::float8) WHERE id = $2 RETURNING *;

-- name: touchKey
-- 1 at   2 id
UPDATE keys SET last_used_at = greatest(coalesce(last_used_at, 0), $1::float8) WHERE id = $2;

-- name: draw
-- 1 id   2 how many are wanted   3 ms for each   4 how many it holds   5 now   6 the call
-- As `drawn` in key-row.ts, in one statement: nobody holds the key while a client thinks.
WITH bucket AS (
  SELECT id, greatest(full_at, $5::float8) AS from_at, drawn_by = $6 AS is_again FROM keys WHERE id = $1 FOR UPDATE
), sized AS (
  SELECT *, greatest(0, least($2::float8, floor(($4::float8 * $3::float8 - (from_at - $5::float8)) / $3::float8 + 1e-6)))
    AS granted FROM bucket
), moved AS (
  SELECT *, from_at + granted * $3::float8 AS next_full_at,
    greatest($5::float8, from_at + granted * $3::float8 - ($4::float8 - 1) * $3::float8) AS next_at FROM sized
)
UPDATE keys SET
  full_at = CASE WHEN is_again OR granted = 0 THEN full_at ELSE next_full_at END,
  drawn_by = CASE WHEN granted = 0 THEN drawn_by ELSE $6 END,
  drawn = CASE WHEN is_again OR granted = 0 THEN drawn ELSE granted END,
  drawn_next_at = CASE WHEN is_again OR granted = 0 THEN drawn_next_at ELSE next_at END
FROM moved WHERE keys.id = moved.id
RETURNING CASE WHEN is_again THEN drawn ELSE granted END AS granted,
  CASE WHEN is_again THEN drawn_next_at ELSE next_at END AS next_at;

-- name: putBack
-- 1 ms to take off   2 id
UPDATE keys SET full_at = full_at - $1::float8 WHERE id = $2;
