-- 007-worker-orders: the command to a worker; it ends with the announcement. Null: none.
ALTER TABLE workers ADD COLUMN ordered TEXT;
