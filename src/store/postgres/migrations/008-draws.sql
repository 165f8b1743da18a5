-- 008-draws: the last draw from each key's bucket. Made again because its answer got lost, it is told the same.

ALTER TABLE keys ADD COLUMN drawn_by text, ADD COLUMN drawn integer, ADD COLUMN drawn_next_at double precision;
