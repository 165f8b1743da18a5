#!lua flags=allow-oom
-- extend: extend leases.                                                    Cost: O(log n) in leases for each claim.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 lease, ms   3… task id and token of each claim
-- Reply: now, then for each claim 1, or 0 if the lease has ended and the caller must drop its result.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
tx.now = time_of(ARGV[1])
local lease_until = tx.now + tonumber(ARGV[2])
local reply = { exact(tx.now) }
for at = 3, #ARGV, 2 do
  local task = find_claim(ARGV[at], ARGV[at + 1])
  if task then redis.call("ZADD", key("expiry"), "XX", exact(lease_until), ordered(task.id)) end
  reply[#reply + 1] = task and 1 or 0
end
return reply
