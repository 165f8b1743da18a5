#!lua flags=allow-oom
-- recover: check whether the server was restarted or replaced. If so, it may have lost its last writes, so every site
-- with a rate waits as if a term had just been opened (see assume_lost_term).                               Cost: O(1).
-- KEYS  1 the shard
-- Reply: 1 if this is another run of the server than the last known one.
-- @include lib/base.lua
local run = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
local before = redis.call("HGET", key("meta"), "run")
if before == run then return 0 end
redis.call("HSET", key("meta"), "run", run)
if not before then return 0 end
-- Grows with every restart, even if the clock of this server is behind that of the last one.
local floor = tonumber(redis.call("HGET", key("meta"), "floor") or 0)
redis.call("HSET", key("meta"), "floor", exact(math.max(time_of(""), floor + 1)))
-- Ids of lost tasks are not used again, because the store may contain pages with these ids.
redis.call("HINCRBY", key("meta"), "next_task", 1000000)
redis.call("DEL", key("alarm"))
return 1
