#!lua flags=allow-oom
-- discover: queue links of a page before the page is settled. Unlike enqueue it also runs on a server that is out of
-- memory (F13). Links of a job that has ended are refused one by one.                                  Cost: see admit.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 number of lanes, then 3 values per lane, then 3 values per task (see admit), then
--       the receipt
-- Reply: now, 1 if the job exists.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/seen.lua lib/admit.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local lanes, from = read_lanes(4, tonumber(ARGV[3]))
local job = job_named(ARGV[2])
if not job then return { exact(tx.now), 0 } end
admit(job, lanes, from, (#ARGV - from + 1) / 3, "discovered")
save()
save_scopes()
return save_reply({ exact(tx.now), 1 })
