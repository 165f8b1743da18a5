-- 009-backoff-cause: why a site is in backoff: '429', '503' or 'robots'. Null: unknown.
ALTER TABLE sites ADD COLUMN backoff_cause TEXT;
