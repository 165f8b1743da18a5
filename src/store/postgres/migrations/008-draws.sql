-- 008-draws: the last `takeTokens` call of each key, with its result. A retry of that call returns the same result.

ALTER TABLE keys ADD COLUMN drawn_by text, ADD COLUMN drawn integer, ADD COLUMN drawn_next_at double precision;
