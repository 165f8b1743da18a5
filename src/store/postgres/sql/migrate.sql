-- migrate: state and version of a schema.                                                                 Cost: O(1).

-- name: findFacts
-- 1 schema. `others`: number of tables in it; used only if the schema is not a store yet.
SELECT
  current_setting('server_version_num') AS server_version,
  current_setting('server_encoding') AS server_encoding,
  EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS has_schema,
  EXISTS (
    SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relname = 'trawl_store'
  ) AS is_ours,
  (
    SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')
  ) AS others;

-- name: findVersion
SELECT version FROM trawl_store;

-- name: lock
-- 1 schema. The lock is released at the end of the transaction. The first number is "Trwl" in ASCII.
SELECT pg_advisory_xact_lock(1416787820, hashtext($1));

-- name: mark
-- Identifies the schema as a store.
CREATE TABLE trawl_store (version integer NOT NULL);
INSERT INTO trawl_store (version) VALUES (0);

-- name: setVersion
-- 1 version
UPDATE trawl_store SET version = $1;
