-- The task that fetches robots.txt has that duty as long as it holds its lease, which may be extended.
ALTER TABLE sites DROP COLUMN robots_asked_until;
