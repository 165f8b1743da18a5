-- 012-requests: tasks that are not a plain GET.
-- JSON, see domain/request.ts. Null: a GET without headers of its own.
ALTER TABLE tasks ADD COLUMN request TEXT;
ALTER TABLE dead ADD COLUMN request TEXT;
