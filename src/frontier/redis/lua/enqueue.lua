#!lua
-- enqueue: queues URLs of a running job, as many as the cap leaves room for (F9, F13).          Cost: see admit.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 most that may wait   4 how many lanes, then 3 words for each, then 3 words for each
--       task (see admit), then the receipt
-- Reply: now, state, how many were looked at, queued, duplicates, then index and reason of each refused one.
--        State is "" or why nothing was done: "missing", "sealed", or the state of a stopped job.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/seen.lua lib/admit.lua
begin(ARGV[1])
local receipt = answered()
if receipt then return receipt end
local most = tonumber(ARGV[3])
local lanes, from = read_lanes(5, tonumber(ARGV[4]))
local job = job_named(ARGV[2])

if not job then return { exact(step.now), "missing", 0, 0, 0 } end
if job.sealed == 1 then return { exact(step.now), "sealed", 0, 0, 0 } end
if job.stopped == 1 then return { exact(step.now), job.state, 0, 0, 0 } end
local count = math.min((#ARGV - from + 1) / 3, math.max(0, most - step.totals.pending))

local answer = admit(job, lanes, from, count, "submitted")
save()
save_scopes()
return keep_answer({ exact(step.now), "", count, answer.queued, answer.duplicates, unpack(answer.refused) })
