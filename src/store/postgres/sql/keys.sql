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

-- name: lockKey
-- 1 id
SELECT * FROM keys WHERE id = $1 FOR UPDATE;

-- name: changeKey
-- 1 name   2 scopes   3 quotas   4 expires at   5 id
UPDATE keys SET name = $1, scopes = $2, quotas = $3, expires_at = $4::float8 WHERE id = $5 RETURNING *;

-- name: revokeKey
-- 1 at   2 id
UPDATE keys SET revoked_at = coalesce(revoked_at, $1::float8) WHERE id = $2 RETURNING *;

-- name: touchKey
-- 1 at   2 id
UPDATE keys SET last_used_at = greatest(coalesce(last_used_at, 0), $1::float8) WHERE id = $2;

-- name: setBucket
-- 1 full at   2 id
UPDATE keys SET full_at = $1::float8 WHERE id = $2;

-- name: putBack
-- 1 ms to take off   2 id
UPDATE keys SET full_at = full_at - $1::float8 WHERE id = $2;
