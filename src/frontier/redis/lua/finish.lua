#!lua flags=allow-oom
-- finish: ends a job of which nothing is left on any shard; on its home shard, the others follow.         Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 its generation when the shards were looked at   4 "finished" or "failed"
--       5… the receipt
-- Reply: now, 1 if this call has ended it.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/word.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local job = job_named(ARGV[2])
local is_known = job and job.generation == tonumber(ARGV[3])
if not job or not is_known or not is_over(job) then return { exact(step.now), 0 } end
job.finished = step.now
note_end(job)
if job.state == "running" then job.state = ARGV[4] end
proclaim(job)
write_job(job)
return keep_answer({ exact(step.now), 1 })
