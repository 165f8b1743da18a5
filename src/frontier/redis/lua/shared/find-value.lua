#!lua flags=allow-oom
-- find-value: read a shared value.                                                                    Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 key
-- Reply: now, and if there is a value, its version and the value.
-- @include lib/base.lua
local now, name = time_of(ARGV[1]), ARGV[2]
local stored = redis.call("GET", key("value", name))
if not stored then return { exact(now) } end
local version, expires_at, value = string.match(stored, "^(%d+) (%S+) (.*)$")
if tonumber(expires_at) <= now then return { exact(now) } end
return { exact(now), version, value }
