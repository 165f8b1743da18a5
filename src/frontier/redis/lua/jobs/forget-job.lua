#!lua flags=allow-oom
-- forget-job: make an ended job invisible (F21). The job is added to `forgotten`, and clear-forgotten removes its data.
-- Only the owner shard checks that the job has ended.                                                       Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 "decide" on the owner shard, "follow" on the others
-- Reply: now, then "", or the state of a job that has not ended.
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
-- A replay still finds the dead letters of the job until they are deleted, but skips the letters of cancelled jobs.
job.state = "cancelled"
write_job(job)
redis.call("ZADD", key("forgotten"), job.n, job.n)
return { now, "" }
