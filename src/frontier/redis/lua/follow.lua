#!lua flags=allow-oom
-- follow: takes over what a job's home shard has decided about it, unless a later word was heard before.   Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… as find-word replies
-- Reply: now, then the job if it has nothing left here.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/stop.lua
begin(ARGV[1])
local generation, state, sealed, stopped = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6] == "1"
local deadline, finished, priority = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local interval, burst, per_site = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])

local job = job_named(ARGV[2])
if not job or job.generation >= generation then return { exact(step.now) } end
local same = job.priority == priority and job.interval == interval and job.burst == burst and job.per_site == per_site
if not same or (job.state == "paused") ~= (state == "paused") then unsync(job) end
job.generation, job.state, job.sealed, job.finished = generation, state, math.max(job.sealed, sealed), finished
job.priority, job.interval, job.burst, job.per_site = priority, interval, burst, per_site
if stopped and job.stopped == 0 then stop(job) end
-- The deadline may have been moved; what is out of time here stays so.
if deadline and deadline ~= job.deadline and job.stopped == 0 and not finished then
  job.deadline = deadline
  keep_deadline(job)
  unsync(job)
end
-- A replay has opened it again, or somebody has taken its deadline away. Else what is out of time here stays so.
if not stopped and not deadline then
  -- Lanes know that their job is out of time before it is stopped.
  if job.stopped == 0 and job.deadline and job.deadline <= step.now then unsync(job) end
  job.stopped, job.deadline = 0, nil
  redis.call("ZREM", key("deadlines"), job.n)
end
save()
return { exact(step.now), unpack(step.finished) }
