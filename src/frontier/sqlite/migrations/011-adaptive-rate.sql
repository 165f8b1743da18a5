-- 011-adaptive-rate: the slowdown of a site, and whether its throttled responses belong to single pages.
-- Requests are spaced by the interval times this number.
ALTER TABLE sites ADD COLUMN slowdown REAL NOT NULL DEFAULT 1;
-- JSON, see domain/slowdown.ts. Null: unknown.
ALTER TABLE sites ADD COLUMN slowdown_cause TEXT;
-- See domain/throttling.ts.
ALTER TABLE sites ADD COLUMN isolated INTEGER NOT NULL DEFAULT 0;
-- 1: the last response was good, or there was none.
ALTER TABLE sites ADD COLUMN is_good INTEGER NOT NULL DEFAULT 1;
