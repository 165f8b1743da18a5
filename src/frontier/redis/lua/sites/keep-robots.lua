#!lua flags=allow-oom
-- keep-robots: store a site's robots.txt and its crawl-delay.                Cost: O(turns of the site), plus the text.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 kind   4 text   5 fetched at   6 fresh until   7 crawl-delay, ms
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
begin(ARGV[1])
local site = site_named(ARGV[2])
redis.call("HSET", key("robots", ARGV[2]), "kind", ARGV[3], "text", ARGV[4], "fetchedAt", ARGV[5], "freshUntil", ARGV[6])
site[ROBOTS_FRESH], site[CRAWL_DELAY], site[ROBOTS_TASK] = tonumber(ARGV[6]), tonumber(ARGV[7]), 0
tx.policy_changed[site[NUMBER]] = true
save()
return exact(tx.now)
