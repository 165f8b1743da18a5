#!lua flags=allow-oom
-- finish-job: end a job that has no tasks left on any shard, on its owner shard. apply-job-state then updates the other
-- shards.                                                                                                 Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 its generation when the shards were read   4 "finished" or "failed"
--       5… the receipt
-- Reply: now, 1 if this call ended it.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/job-state.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local job = job_named(ARGV[2])
local is_known = job and job.generation == tonumber(ARGV[3])
if not job or not is_known or not is_empty(job) then return { exact(tx.now), 0 } end
job.finished = tx.now
index_ended_job(job)
if job.state == "running" then job.state = ARGV[4] end
raise_generation(job)
write_job(job)
return save_reply({ exact(tx.now), 1 })
