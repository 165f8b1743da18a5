#!lua flags=allow-oom
-- list-workers: who is there; those whose announcement has lapsed are forgotten.                 Cost: O(workers).
-- KEYS  1 the shard
-- ARGV  1 now or ""
-- Reply: now, then when it was last heard of, what is asked of it or "", and what it says of itself, JSON, for each.
-- @include lib/base.lua
local now = time_of(ARGV[1])
local reply, rows = { exact(now) }, redis.call("HGETALL", key("workers"))
for at = 1, #rows, 2 do
  local seen_at, until_at, presence = string.match(rows[at + 1], "^(%S+) (%S+) (.*)$")
  if tonumber(until_at) > now then
    reply[#reply + 1], reply[#reply + 2] = seen_at, redis.call("HGET", key("orders"), rows[at]) or ""
    reply[#reply + 1] = presence
  else
    redis.call("HDEL", key("workers"), rows[at])
    redis.call("HDEL", key("orders"), rows[at])
  end
end
return reply
