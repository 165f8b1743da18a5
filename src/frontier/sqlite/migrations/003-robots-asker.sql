-- Other tasks wait for the task that fetches robots.txt until its lease ends, so no fixed end is stored.
ALTER TABLE sites DROP COLUMN robots_asked_until;
