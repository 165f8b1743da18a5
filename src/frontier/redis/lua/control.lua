#!lua flags=allow-oom
-- control: changes a job (F12), on its home shard. Lease calls obey at once; the job's lanes follow, see sync, and so
-- do other shards, see word.                                                                              Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 "pause", "resume", "cancel", "priority" or "policy"   4… the new values
-- Reply: now, "ok", or "missing", or the state that does not allow it.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/stop.lua lib/word.lua
begin(ARGV[1])
local STATE = { pause = "paused", resume = "running", cancel = "cancelled" }
local job, change = job_named(ARGV[2]), ARGV[3]
if not job then return { exact(step.now), "missing" } end

local target = STATE[change]
if target and job.state ~= target then
  -- What has ended runs again by a replay only.
  if job.state ~= "running" and job.state ~= "paused" then return { exact(step.now), job.state } end
  job.state = target
end
if change == "cancel" then stop(job) end
if change == "priority" then job.priority = tonumber(ARGV[4]) end
if change == "policy" then
  job.interval, job.burst, job.per_site = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
end
unsync(job)
proclaim(job)
save()
return { exact(step.now), "ok" }
