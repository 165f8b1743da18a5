#!lua flags=allow-oom
-- allot: gives a shard pages that were reserved for it, if it has as many as the caller thinks: so that a call made twice,
-- because its answer was lost, gives them once. A crash between the two leaves a job with fewer pages than its limit,
-- never with more.                                                                                        Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 how many it has had so far   4 how many more
-- Reply: now, how many it had before this call.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
local job = job_named(ARGV[2])
if not job then return { exact(step.now), 0 } end
local had = job.page_limit or 0
if had == tonumber(ARGV[3]) then
  job.page_limit = had + tonumber(ARGV[4])
  write_job(job)
end
return { exact(step.now), had }
