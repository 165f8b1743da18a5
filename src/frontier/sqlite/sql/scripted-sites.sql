-- scripted-sites: which sites need a browser.                                      Cost: one b-tree path a row.

-- name: markScripted
-- 1 site   2 until
INSERT INTO scripted_sites (site, until) VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET until = excluded.until;

-- name: findScripted
-- 1 site   2 now
SELECT 1 AS found FROM scripted_sites WHERE site = ? AND until > ?;

-- name: forgetScripted
-- 1 now
DELETE FROM scripted_sites WHERE until <= ?;
