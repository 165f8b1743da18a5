#!lua flags=allow-oom
-- reserve: takes pages of a job's limit for a shard to admit; on the job's home shard, which has what nobody has taken.
-- KEYS  1 the shard                                                                                       Cost: O(1).
-- ARGV  1 now or ""   2 job id   3 how many are wanted   4… the receipt
-- Reply: now, how many there were.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local job = job_named(ARGV[2])
if not job then return { exact(step.now), 0 } end
local taken = math.min(tonumber(ARGV[3]), math.max(0, job.pages_left or 0))
if taken > 0 then
  job.pages_left = job.pages_left - taken
  write_job(job)
end
return keep_answer({ exact(step.now), taken })
