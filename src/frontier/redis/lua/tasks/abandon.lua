#!lua flags=allow-oom
-- abandon: queue the tasks of a worker that is known to be dead.                    Cost: a few small writes per task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 max tasks   4 1 if it is known which tasks may have caused the crash   5… their
--       ids and tokens
-- Reply: now, number of tasks moved, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local moved, is_known, causes = 0, ARGV[4] == "1", {}
for at = 5, #ARGV, 2 do causes[ARGV[at] .. " " .. ARGV[at + 1]] = true end
local ids = redis.call("SRANDMEMBER", key("held", ARGV[2]), ARGV[3])
-- In order of id, as on the other backends: the order in which lanes are created decides their order of service.
table.sort(ids, function(one, other) return tonumber(one) < tonumber(other) end)
for _, id in ipairs(ids) do
  local task = find_claim(id)
  local is_crash = not task.ahead
  if is_known then is_crash = causes[id .. " " .. task.token] end
  return_task(task, is_crash)
  moved = moved + 1
end
delete_leases()
save()
return { exact(tx.now), moved, unpack(tx.finished) }
