#!lua flags=allow-oom
-- announce: a worker tells that it is there, and hears what is asked of it.                          Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 for how long, ms   4 what it says of itself, JSON
-- Reply: now, and the order, or "".
-- @include lib/base.lua
local now = time_of(ARGV[1])
local before = redis.call("HGET", key("workers"), ARGV[2])
-- An order goes with the announcement it was given to: one that has lapsed was another time.
if not before or tonumber(string.match(before, "^%S+ (%S+)")) <= now then redis.call("HDEL", key("orders"), ARGV[2]) end
redis.call("HSET", key("workers"), ARGV[2], exact(now) .. " " .. exact(now + tonumber(ARGV[3])) .. " " .. ARGV[4])
return { exact(now), redis.call("HGET", key("orders"), ARGV[2]) or "" }
