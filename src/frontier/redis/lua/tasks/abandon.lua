#!lua flags=allow-oom
-- abandon: queue the tasks of a worker that is known to be dead.                    Cost: a few small writes per task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 max tasks
-- Reply: now, number of tasks moved, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local moved = 0
local ids = redis.call("SRANDMEMBER", key("held", ARGV[2]), ARGV[3])
-- In order of id, as on the other backends: the order in which lanes are created decides their order of service.
table.sort(ids, function(one, other) return tonumber(one) < tonumber(other) end)
for _, id in ipairs(ids) do
  return_task(find_claim(id), true)
  moved = moved + 1
end
delete_leases()
save()
return { exact(tx.now), moved, unpack(tx.finished) }
