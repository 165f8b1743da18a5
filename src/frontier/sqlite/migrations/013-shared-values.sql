-- 013-shared-values: small values that all workers share, such as the cookies of a session.

CREATE TABLE shared_values (
  key     TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value   TEXT NOT NULL,
  until   REAL NOT NULL -- epoch ms
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_values_expiry ON shared_values (until);
