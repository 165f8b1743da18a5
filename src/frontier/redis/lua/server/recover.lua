#!lua flags=allow-oom
-- recover: check whether a server that has lost its scripts was restarted or replaced. If so, it may have lost its last
-- writes too, so every site is treated as if its whole burst had been sent just now.                      Cost: O(1).
-- KEYS  1 the shard
-- Reply: 1 if this is another run of the server than the last known one.
-- @include lib/base.lua
local run = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
local before = redis.call("HGET", key("meta"), "run")
if before == run then return 0 end
redis.call("HSET", key("meta"), "run", run)
if not before then return 0 end
redis.call("HSET", key("meta"), "floor", exact(time_of("")))
-- Ids of lost tasks are not used again: the store has pages under them.
redis.call("HINCRBY", key("meta"), "next_task", 1000000)
redis.call("DEL", key("alarm"))
return 1
