#!lua flags=allow-oom
-- order-worker: asks something of a worker.                                         Cost: O(orders that stand).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 the order
-- Reply: now, and 1, or 0 where nobody of that name is there.
-- @include lib/base.lua
local now = time_of(ARGV[1])

local function is_there(worker)
  local word = redis.call("HGET", key("workers"), worker)
  return word and tonumber(string.match(word, "^%S+ (%S+)")) > now
end

-- Those of workers that have gone: another version of Trawl may have let them go without.
local orders = redis.call("HGETALL", key("orders"))
for at = 1, #orders, 2 do
  if not is_there(orders[at]) then redis.call("HDEL", key("orders"), orders[at]) end
end
if not is_there(ARGV[2]) then return { exact(now), 0 } end
redis.call("HSET", key("orders"), ARGV[2], ARGV[3])
return { exact(now), 1 }
