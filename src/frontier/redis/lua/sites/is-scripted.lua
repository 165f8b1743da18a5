#!lua flags=allow-oom
-- is-scripted: whether the site is marked as needing a browser.                                      Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site
-- Reply: now, 1 or 0.
-- @include lib/base.lua
local now, site = time_of(ARGV[1]), ARGV[2]
local expires_at = redis.call("GET", key("scripted", site))
return { exact(now), expires_at and tonumber(expires_at) > now and "1" or "0" }
