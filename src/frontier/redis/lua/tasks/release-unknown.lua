#!lua flags=allow-oom
-- release-unknown: release the tasks that were granted to a worker in a lost reply.
-- KEYS  1 the shard                                                             Cost: O(n) in the tasks of the worker.
-- ARGV  1 now or ""   2 worker   3… ids of the tasks that the worker knows
-- Reply: now, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local known = {}
for at = 3, #ARGV do known[ARGV[at]] = true end
for _, id in ipairs(redis.call("SMEMBERS", key("held", ARGV[2]))) do
  local task = not known[id] and ended.count < MAX_BATCH and find_claim(id)
  if task then return_task(task, false) end
end
delete_leases()
save()
return { exact(tx.now), unpack(tx.finished) }
