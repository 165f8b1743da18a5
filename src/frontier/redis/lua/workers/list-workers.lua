#!lua flags=allow-oom
-- list-workers: announced workers. Deletes those whose announcement has expired.                 Cost: O(workers).
-- KEYS  1 the shard
-- ARGV  1 now or ""
-- Reply: now, then for each: time of its last announcement, the command to it or "", its description as JSON.
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
