-- 007-worker-orders: what is asked of a worker; it goes with the announcement. Null: nothing is.
ALTER TABLE workers ADD COLUMN ordered TEXT;
