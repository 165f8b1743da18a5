#!lua flags=allow-oom
-- seal: no more URLs will be submitted to a job, so it may finish (F11); on its home shard.           Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3… the receipt
-- Reply: now, 1 if there is such a job, then the job if it has nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/word.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local job = job_named(ARGV[2])
if not job then return { exact(step.now), 0 } end
if job.sealed == 0 then
  job.sealed = 1
  proclaim(job)
end
save()
return keep_answer({ exact(step.now), 1, unpack(step.finished) })
