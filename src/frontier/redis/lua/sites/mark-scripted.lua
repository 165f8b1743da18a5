#!lua flags=allow-oom
-- mark-scripted: mark a site whose pages need a browser.                                             Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 for how long, ms
-- Reply: now.
-- @include lib/base.lua
local now, site, for_ms = time_of(ARGV[1]), ARGV[2], tonumber(ARGV[3])
-- Readers compare the value with the caller's time; the expiry of the key only cleans up.
redis.call("SET", key("scripted", site), exact(now + for_ms), "PX", math.ceil(for_ms))
return exact(now)
