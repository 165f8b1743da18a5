-- keys: API keys.                                                                  Cost: O(log n) in their number.

-- name: addKey
-- A retry after a lost answer changes nothing. `keyExists` then distinguishes a retry from a conflict with another key.
INSERT INTO keys (id, hash, name, tenant, scopes, quotas, created_at, expires_at)
VALUES (:id, :hash, :name, :tenant, :scopes, :quotas, :createdAt::float8, :expiresAt::float8) ON CONFLICT DO NOTHING;

-- name: keyExists
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
-- 1 after this id, or ""   2 limit
SELECT * FROM keys WHERE n > coalesce((SELECT n FROM keys WHERE id = $1), 0) ORDER BY n LIMIT $2::bigint;

-- name: changeKey
-- A null :name, :scopes or :quotas leaves the column unchanged. :changesExpiry is "true" or "false".
UPDATE keys SET
  name = coalesce(:name, name), scopes = coalesce(:scopes, scopes), quotas = coalesce(:quotas, quotas),
  expires_at = CASE WHEN :changesExpiry::text::boolean THEN :expiresAt::float8 ELSE expires_at END
WHERE id = :id RETURNING *;

-- name: revokeKey
-- 1 at   2 id
UPDATE keys SET revoked_at = coalesce(revoked_at, $1::float8) WHERE id = $2 RETURNING *;

-- name: touchKey
-- 1 at   2 id
UPDATE keys SET last_used_at = greatest(coalesce(last_used_at, 0), $1::float8) WHERE id = $2;

-- name: takeTokens
-- `takeFromBucket` of key-rows.ts as one statement, so that no lock is held while a client is busy. :callId makes it
-- idempotent: a retry of the last call returns the result that is stored in the columns drawn…
WITH bucket AS (
  SELECT id, greatest(full_at, :now::float8) AS from_at, drawn_by = :callId AS is_retry FROM keys WHERE id = :id FOR UPDATE
), sized AS (
  SELECT *, greatest(0, least(:want::float8, floor((:capacity::float8 * :eachMs::float8 - (from_at - :now::float8)) / :eachMs::float8 + 1e-6)))
    AS granted FROM bucket
), moved AS (
  SELECT *, from_at + granted * :eachMs::float8 AS next_full_at,
    greatest(:now::float8, from_at + granted * :eachMs::float8 - (:capacity::float8 - 1) * :eachMs::float8) AS next_at FROM sized
)
UPDATE keys SET
  full_at = CASE WHEN is_retry OR granted = 0 THEN full_at ELSE next_full_at END,
  drawn_by = CASE WHEN granted = 0 THEN drawn_by ELSE :callId END,
  drawn = CASE WHEN is_retry OR granted = 0 THEN drawn ELSE granted END,
  drawn_next_at = CASE WHEN is_retry OR granted = 0 THEN drawn_next_at ELSE next_at END
FROM moved WHERE keys.id = moved.id
RETURNING CASE WHEN is_retry THEN drawn ELSE granted END AS granted,
  CASE WHEN is_retry THEN drawn_next_at ELSE next_at END AS next_at;

-- name: returnTokens
-- 1 ms to subtract   2 id
UPDATE keys SET full_at = full_at - $1::float8 WHERE id = $2;
