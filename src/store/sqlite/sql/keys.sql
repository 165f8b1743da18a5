-- keys: who may ask the API.                                                       Cost: O(log n) in their number.

-- name: addKey
-- 1 id   2 hash   3 name   4 tenant   5 scopes   6 quotas   7 created at   8 expires at
INSERT INTO keys (id, hash, name, tenant, scopes, quotas, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: hasAny
SELECT EXISTS (SELECT 1 FROM keys) AS answer;

-- name: findKey
-- 1 id
SELECT * FROM keys WHERE id = ?;

-- name: findByHash
-- 1 hash
SELECT * FROM keys WHERE hash = ?;

-- name: listKeys
-- 1 the id to go on after, or ""   2 most
SELECT * FROM keys WHERE n > coalesce((SELECT n FROM keys WHERE id = ?), 0) ORDER BY n LIMIT ?;

-- name: changeKey
-- 1 name   2 scopes   3 quotas   4 expires at   5 id
UPDATE keys SET name = ?, scopes = ?, quotas = ?, expires_at = ? WHERE id = ?;

-- name: revokeKey
-- 1 at   2 id
UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL;

-- name: touchKey
-- 1 at   2 id
UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?;

-- name: readBucket
-- 1 id
SELECT full_at FROM keys WHERE id = ?;

-- name: setBucket
-- 1 full at   2 id
UPDATE keys SET full_at = ? WHERE id = ?;

-- name: putBack
-- 1 ms to take off   2 id
UPDATE keys SET full_at = full_at - ? WHERE id = ?;
