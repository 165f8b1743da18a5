-- The broker file, version 4: vitals of a worker, JSON. Null if an older Trawl announced it.
ALTER TABLE workers ADD COLUMN vitals TEXT;
