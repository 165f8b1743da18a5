#!lua
-- reopen: an ended job is about to get dead letters back; on its home shard, before they go to the others. Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
local function reopen(job)
  job.generation = job.generation + 1
  if job.state == "finished" or job.state == "failed" then
    job.state, job.stopped, job.finished, job.deadline = "running", 0, nil, nil
    redis.call("ZREM", key("deadlines"), job.n)
  end
  write_job(job)
end

for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job then reopen(job) end
end
return { exact(step.now) }
