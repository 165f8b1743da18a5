-- 005-forgetting: jobs by their end, and forgotten jobs that still have rows. `used_numbers` contains the highest
-- numbers of forgotten jobs and scopes. No number is used again, because processes cache URLs by these numbers.
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE forgotten (
  job   INTEGER PRIMARY KEY,
  scope INTEGER -- its own set of seen URLs; null where it shared one
) STRICT;

CREATE TABLE used_numbers (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  job   INTEGER NOT NULL,
  scope INTEGER NOT NULL
) STRICT;
INSERT INTO used_numbers VALUES (1, 0, 0);
