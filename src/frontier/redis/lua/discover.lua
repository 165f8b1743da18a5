#!lua flags=allow-oom
-- discover: queues links of a page ahead of its settlement, which works also on a server that is full (F13). Of a job
-- that has ended they are refused one by one.                                                    Cost: see admit.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 how many lanes, then 3 words for each, then 3 words for each task (see admit), then
--       the receipt
-- Reply: now, 1 if there is such a job.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/seen.lua lib/admit.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local lanes, from = read_lanes(4, tonumber(ARGV[3]))
local job = job_named(ARGV[2])
if not job then return { exact(step.now), 0 } end
admit(job, lanes, from, (#ARGV - from + 1) / 3, "discovered")
save()
save_scopes()
return keep_answer({ exact(step.now), 1 })
