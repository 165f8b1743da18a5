#!lua flags=allow-oom
-- seal: record that no more URLs will be submitted, so that the job may finish (F11); on its owner shard.   Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3… the receipt
-- Reply: now, 1 if the job exists, then the job's id if it has nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/job-state.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local job = job_named(ARGV[2])
if not job then return { exact(tx.now), 0 } end
if job.sealed == 0 then
  job.sealed = 1
  raise_generation(job)
end
save()
return save_reply({ exact(tx.now), 1, unpack(tx.finished) })
