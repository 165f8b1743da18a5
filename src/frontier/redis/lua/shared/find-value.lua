#!lua flags=allow-oom
-- find-value: read a shared value.                                                                    Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 key
-- Reply: now, and if there is a value, its version and the value.
-- @include lib/base.lua
local now, name = time_of(ARGV[1]), ARGV[2]
local stored = redis.call("HMGET", key("value", name), "version", "value", "until")
if not stored[1] or tonumber(stored[3]) <= now then return { exact(now) } end
return { exact(now), stored[1], stored[2] }
