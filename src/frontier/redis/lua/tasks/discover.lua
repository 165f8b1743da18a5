#!lua flags=allow-oom
-- discover: queue links of a task before the task is settled. Unlike enqueue it also runs on a server that is out of
-- memory (F13). Links of a job that has ended are refused.                                        Cost: see admit-many.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 list   4 sites   5 routes   6 runs   7 fingerprints   8 bodies
--       (3 to 8: see admit-many; 4 to 8 are JSON lists), then the receipt
-- Reply: now, 1 if the job exists.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/receipt.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/seen.lua lib/admit.lua lib/admit-many.lua
begin(ARGV[1])
local receipt = previous_reply()
if receipt then return receipt end
local job = job_named(ARGV[2])
if not job then return { exact(tx.now), 0 } end
local tasks = {
  list = tonumber(ARGV[3]), sites = cjson.decode(ARGV[4]), routes = cjson.decode(ARGV[5]), runs = cjson.decode(ARGV[6]),
  fingerprints = cjson.decode(ARGV[7]), bodies = cjson.decode(ARGV[8]),
}
local count = #tasks.bodies

if job.stopped == 1 or job.finished then
  job.discovered, job.refused = job.discovered + count, job.refused + count
else admit_many(job, tasks, count, "discovered") end
save()
save_scopes()
return save_reply({ exact(tx.now), 1 })
