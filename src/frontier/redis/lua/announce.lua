#!lua flags=allow-oom
-- announce: a worker tells that it is there.                                                         Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 for how long, ms   4 what it says of itself, JSON
-- Reply: now.
-- @include lib/base.lua
local now = time_of(ARGV[1])
redis.call("HSET", key("workers"), ARGV[2], exact(now) .. " " .. exact(now + tonumber(ARGV[3])) .. " " .. ARGV[4])
return { exact(now) }
