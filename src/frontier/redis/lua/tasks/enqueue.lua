#!lua
-- enqueue: queue URLs of a running job, as many as the cap allows (F9, F13).                      Cost: see admit-many.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 max waiting tasks   4 list   5 sites   6 routes   7 runs   8 fingerprints   9 bodies
--       (4 to 9: see admit-many; 5 to 9 are JSON lists), then the receipt
-- Reply: now, state, number of tasks processed, queued, duplicates, then index and reason of each refused task.
--        State is "", or why nothing was queued: "missing", "sealed", or the state of a stopped job.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/seen.lua lib/admit.lua lib/admit-many.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local max = tonumber(ARGV[3])
local job = job_named(ARGV[2])

if not job then return { exact(tx.now), "missing", 0, 0, 0 } end
if job.sealed == 1 then return { exact(tx.now), "sealed", 0, 0, 0 } end
if job.stopped == 1 then return { exact(tx.now), job.state, 0, 0, 0 } end
local tasks = {
  list = tonumber(ARGV[4]), sites = cjson.decode(ARGV[5]), routes = cjson.decode(ARGV[6]), runs = cjson.decode(ARGV[7]),
  fingerprints = cjson.decode(ARGV[8]), bodies = cjson.decode(ARGV[9]),
}
local count = math.min(#tasks.bodies, math.max(0, max - tx.totals.pending))

local answer = admit_many(job, tasks, count, "submitted")
save()
save_scopes()
return save_reply({ exact(tx.now), "", count, answer.queued, answer.duplicates, unpack(answer.refused) })
