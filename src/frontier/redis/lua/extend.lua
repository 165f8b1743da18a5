#!lua flags=allow-oom
-- extend: keeps claims alive.                                                    Cost: O(log n) in leases for each claim.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 lease, ms   3… id and token of each claim
-- Reply: now, then 1 for each claim that holds, 0 where the lease has gone and the result must be dropped.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
step.now = time_of(ARGV[1])
local lease_until = step.now + tonumber(ARGV[2])
local reply = { exact(step.now) }
for at = 3, #ARGV, 2 do
  local task = claimed(ARGV[at], ARGV[at + 1])
  if task then redis.call("ZADD", key("expiry"), "XX", exact(lease_until), ordered(task.id)) end
  reply[#reply + 1] = task and 1 or 0
end
return reply
