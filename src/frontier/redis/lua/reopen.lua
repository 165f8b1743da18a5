#!lua
-- reopen: an ended job is about to get dead letters back; on its home shard, before they go to the others. Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/run-again.lua
begin(ARGV[1])
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  if job then
    job.generation = job.generation + 1
    run_again(job)
    write_job(job)
  end
end
return { exact(step.now) }
