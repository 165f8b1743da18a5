#!lua flags=allow-oom
-- forget-job: an ended job is not there from now on (F21). What it has left stands in `forgotten`, for clear-forgotten.
-- The home shard decides, the others follow.                                                              Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 "decide", or "follow" where the home shard has
-- Reply: now, "", or the state of a job of which something may still be under way.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
local now = exact(time_of(ARGV[1]))
local job = job_named(ARGV[2])
if not job then return { now, "" } end
if ARGV[3] == "decide" and not job.finished then return { now, job.state } end

redis.call("HDEL", key("jobs"), job.id)
redis.call("ZREM", key("job-order"), ordered(job.n))
redis.call("ZREM", key("ended"), ordered(job.n))
redis.call("ZREM", key("open"), ordered(job.n))
redis.call("ZREM", key("deadlines"), job.n)
redis.call("ZREM", key("unsynced"), job.n)
redis.call("SREM", key("untold"), job.n)
if not job.lapse then redis.call("HDEL", key("scopes"), "job:" .. job.id) end
redis.call("UNLINK", key("about", job.n), key("rules", job.n))
-- A replay finds its letters by their own order until they are gone, and takes none of a cancelled job.
job.state = "cancelled"
write_job(job)
redis.call("ZADD", key("forgotten"), job.n, job.n)
return { now, "" }
