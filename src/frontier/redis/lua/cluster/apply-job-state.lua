#!lua flags=allow-oom
-- apply-job-state: apply a job's state from its owner shard, unless this shard has a later generation.     Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… as read-job-state replies
-- Reply: now, then the job's id if it has nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/stop-job.lua
begin(ARGV[1])
local generation, state, sealed, stopped = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6] == "1"
local deadline, finished, priority = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local interval, burst, per_site = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])

local job = job_named(ARGV[2])
if not job or job.generation >= generation then return { exact(tx.now) } end
local same = job.priority == priority and job.interval == interval and job.burst == burst and job.per_site == per_site
if not same or (job.state == "paused") ~= (state == "paused") then mark_unsynced(job) end
job.generation, job.state, job.sealed, job.finished = generation, state, math.max(job.sealed, sealed), finished
job.priority, job.interval, job.burst, job.per_site = priority, interval, burst, per_site
if stopped and job.stopped == 0 then stop(job) end
-- The deadline may have changed. A job that this shard has already stopped stays stopped.
if deadline and deadline ~= job.deadline and job.stopped == 0 and not finished then
  job.deadline = deadline
  index_deadline(job)
  mark_unsynced(job)
end
-- Neither stopped nor with a deadline: a replay reopened the job, or its deadline was removed.
if not stopped and not deadline then
  -- Its lanes may already treat the job as past its deadline, before the job is stopped.
  if job.stopped == 0 and job.deadline and job.deadline <= tx.now then mark_unsynced(job) end
  job.stopped, job.deadline = 0, nil
  redis.call("ZREM", key("deadlines"), job.n)
end
save()
return { exact(tx.now), unpack(tx.finished) }
