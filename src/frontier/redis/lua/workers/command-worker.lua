#!lua flags=allow-oom
-- command-worker: give a command to a worker, in place of an earlier one.            Cost: O(stored commands).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 the command
-- Reply: now, then 1, or 0 if no such worker is announced.
-- @include lib/base.lua
local now = time_of(ARGV[1])

local function is_announced(worker)
  local entry = redis.call("HGET", key("workers"), worker)
  return entry and tonumber(string.match(entry, "^%S+ (%S+)")) > now
end

-- Deletes commands to workers that are gone: an older version of Trawl does not delete them.
local commands = redis.call("HGETALL", key("orders"))
for at = 1, #commands, 2 do
  if not is_announced(commands[at]) then redis.call("HDEL", key("orders"), commands[at]) end
end
if not is_announced(ARGV[2]) then return { exact(now), 0 } end
redis.call("HSET", key("orders"), ARGV[2], ARGV[3])
return { exact(now), 1 }
