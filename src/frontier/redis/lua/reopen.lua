#!lua
-- reopen: an ended job is about to get dead letters back; on its home shard, before they go to the others. Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  job.generation = job.generation + 1
  if job.state == "finished" or job.state == "failed" then
    job.state, job.stopped, job.finished, job.deadline = "running", 0, nil, nil
  end
  write_job(job)
end
return { exact(step.now) }
