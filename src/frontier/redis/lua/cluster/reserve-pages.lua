#!lua flags=allow-oom
-- reserve-pages: reserve pages of a job's limit for a shard. Runs on the job's owner shard, which counts the pages
-- left.                                                                                                     Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 number of pages wanted   4… the receipt
-- Reply: now, number of pages taken.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local job = job_named(ARGV[2])
if not job then return { exact(tx.now), 0 } end
local taken = math.min(tonumber(ARGV[3]), math.max(0, job.pages_left or 0))
if taken > 0 then
  job.pages_left = job.pages_left - taken
  write_job(job)
end
return save_reply({ exact(tx.now), taken })
