#!lua flags=allow-oom
-- abandon: hands back what a worker known to be dead was holding.                   Cost: a few small writes a task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 most tasks
-- Reply: now, how many were moved, then jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local moved = 0
local ids = redis.call("SRANDMEMBER", key("held", ARGV[2]), ARGV[3])
-- In order of their numbers, as everywhere: new lanes take their turns in order of their making.
table.sort(ids, function(one, other) return tonumber(one) < tonumber(other) end)
for _, id in ipairs(ids) do
  hand_back(claimed(id), true)
  moved = moved + 1
end
forget_ended()
save()
return { exact(step.now), moved, unpack(step.finished) }
