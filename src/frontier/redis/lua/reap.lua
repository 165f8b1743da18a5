#!lua flags=allow-oom
-- reap: hands expired leases back, the longest expired first (F6).                  Cost: a few small writes a task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 most tasks
-- Reply: now, how many were moved, then jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local expired = redis.call("ZRANGEBYSCORE", key("expiry"), "-inf", exact(step.now), "LIMIT", 0, ARGV[2])
for _, member in ipairs(expired) do
  hand_back(claimed(string.format("%.0f", number_in(member))), true)
end
forget_ended()
save()
return { exact(step.now), #expired, unpack(step.finished) }
