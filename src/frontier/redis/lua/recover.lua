#!lua flags=allow-oom
-- recover: asks a server that has lost its scripts whether it has been restarted or replaced. If so it may have lost its
-- last writes with it, so every site's spacing counts from now on as if its burst had just gone out.       Cost: O(1).
-- KEYS  1 the shard
-- Reply: 1 if this is another run of the server than the one that was here last.
-- @include lib/base.lua
local run = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
local before = redis.call("HGET", key("meta"), "run")
if before == run then return 0 end
redis.call("HSET", key("meta"), "run", run)
if not before then return 0 end
redis.call("HSET", key("meta"), "floor", exact(time_of("")))
-- Numbers of tasks that were lost are not given to others: the store has pages under them.
redis.call("HINCRBY", key("meta"), "next_task", 1000000)
redis.call("DEL", key("alarm"))
return 1
