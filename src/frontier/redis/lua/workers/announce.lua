#!lua flags=allow-oom
-- announce: record that a worker is running, and return the command to it.                            Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 time to live, ms   4 its presence, JSON
-- Reply: now, the command or "".
-- @include lib/base.lua
local now = time_of(ARGV[1])
local before = redis.call("HGET", key("workers"), ARGV[2])
-- A command belongs to the announcement it was given to, and expires with it.
if not before or tonumber(string.match(before, "^%S+ (%S+)")) <= now then redis.call("HDEL", key("orders"), ARGV[2]) end
redis.call("HSET", key("workers"), ARGV[2], exact(now) .. " " .. exact(now + tonumber(ARGV[3])) .. " " .. ARGV[4])
return { exact(now), redis.call("HGET", key("orders"), ARGV[2]) or "" }
