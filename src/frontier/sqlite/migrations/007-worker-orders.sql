-- 007-worker-orders: the command to a worker. It is deleted with the announcement. Null: no command.
ALTER TABLE workers ADD COLUMN ordered TEXT;
