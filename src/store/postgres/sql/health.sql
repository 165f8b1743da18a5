-- health: settings and state of the server.                                             Cost: O(n) in its connections.

-- name: health
SELECT
  current_setting('server_version') AS version,
  pg_is_in_recovery() AS is_standby,
  current_setting('fsync') AS fsync,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
  current_setting('max_connections')::integer AS most_connections,
  (
    SELECT bool_and(
      has_table_privilege(pg_class.oid, 'SELECT') AND has_table_privilege(pg_class.oid, 'INSERT')
      AND has_table_privilege(pg_class.oid, 'UPDATE') AND has_table_privilege(pg_class.oid, 'DELETE')
    )
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = current_schema() AND relkind = 'r' AND relname <> 'trawl_store'
  ) AS can_write;
