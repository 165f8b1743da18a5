-- 005-forgetting: an index of jobs by their end, and the forgotten jobs that still have rows. `used_numbers` contains
-- the highest numbers of forgotten jobs and scopes. No number is used again: processes cache seen URLs by scope number,
-- and rows of a forgotten job still contain its number.
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE forgotten (
  job   INTEGER PRIMARY KEY,
  scope INTEGER -- its own dedup scope; null if it shared one
) STRICT;

CREATE TABLE used_numbers (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  job   INTEGER NOT NULL,
  scope INTEGER NOT NULL
) STRICT;
INSERT INTO used_numbers VALUES (1, 0, 0);
