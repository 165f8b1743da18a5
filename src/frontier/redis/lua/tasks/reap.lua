#!lua flags=allow-oom
-- reap: queue the tasks of expired leases again, longest expired first (F6).         Cost: a few small writes per task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 max tasks
-- Reply: now, number of tasks moved, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local expired = redis.call("ZRANGEBYSCORE", key("expiry"), "-inf", exact(tx.now), "LIMIT", 0, ARGV[2])
for _, member in ipairs(expired) do
  local task = find_claim(string.format("%.0f", number_in(member)))
  return_task(task, not task.ahead)
end
delete_leases()
save()
return { exact(tx.now), #expired, unpack(tx.finished) }
