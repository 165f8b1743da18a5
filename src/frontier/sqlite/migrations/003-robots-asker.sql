-- Who is to bring a site's robots.txt is asked for as long as it holds its lease, which may be extended.
ALTER TABLE sites DROP COLUMN robots_asked_until;
