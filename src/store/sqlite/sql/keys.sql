-- keys: API keys.                                                                  Cost: O(log n) in their number.

-- name: addKey
INSERT INTO keys (id, hash, name, tenant, scopes, quotas, created_at, expires_at)
VALUES (:id, :hash, :name, :tenant, :scopes, :quotas, :createdAt, :expiresAt);

-- name: hasAny
SELECT EXISTS (SELECT 1 FROM keys) AS answer;

-- name: findKey
-- 1 id
SELECT * FROM keys WHERE id = ?;

-- name: findByHash
-- 1 hash
SELECT * FROM keys WHERE hash = ?;

-- name: listKeys
-- 1 after this id, or ""   2 limit
SELECT * FROM keys WHERE n > coalesce((SELECT n FROM keys WHERE id = ?), 0) ORDER BY n LIMIT ?;

-- name: changeKey
UPDATE keys SET name = :name, scopes = :scopes, quotas = :quotas, expires_at = :expiresAt WHERE id = :id;

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

-- name: returnTokens
-- 1 ms to subtract   2 id
UPDATE keys SET full_at = full_at - ? WHERE id = ?;
