-- sites: robots.txt as last seen, and listing.                                     Cost: one b-tree path a row.

-- name: findRobots
SELECT robots_kind, robots_text, robots_fetched_at, robots_fresh_until FROM sites
WHERE site = ? AND robots_kind IS NOT NULL

-- name: keepRobots
UPDATE sites SET robots_kind = ?, robots_text = ?, robots_fetched_at = ? WHERE n = ?

-- name: listSites
SELECT sites.*, (SELECT coalesce(sum(queued + delayed), 0) FROM lanes WHERE lanes.site = sites.n) AS waiting
FROM sites WHERE site > ? ORDER BY site LIMIT ?
