#!lua flags=allow-oom
-- mark-scripted: the pages of a site show nothing without a browser.                                 Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 for how long to think so, ms
-- Reply: now.
-- @include lib/base.lua
local now, site, for_ms = time_of(ARGV[1]), ARGV[2], tonumber(ARGV[3])
-- The value tells by the caller's time; that the key goes by itself only tidies up.
redis.call("SET", key("scripted", site), exact(now + for_ms), "PX", math.ceil(for_ms))
return exact(now)
