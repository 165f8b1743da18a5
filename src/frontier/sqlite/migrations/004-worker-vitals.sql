-- The broker file, version 4: how a worker is doing, JSON. Null where an older Trawl has announced it.
ALTER TABLE workers ADD COLUMN vitals TEXT;
