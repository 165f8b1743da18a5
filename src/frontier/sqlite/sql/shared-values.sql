-- shared values: small values that all workers share (F24).                                   Cost: one b-tree path.

-- ARGS  1 key   2 now
-- name: find
SELECT version, value FROM shared_values WHERE key = ? AND until > ?

-- ARGS  1 key   2 version   3 value   4 until
-- name: keep
INSERT INTO shared_values (key, version, value, until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (key) DO UPDATE SET version = ?2, value = ?3, until = ?4

-- name: expire
DELETE FROM shared_values WHERE until <= ?
