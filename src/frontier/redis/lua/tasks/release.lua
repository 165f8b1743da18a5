#!lua flags=allow-oom
-- release: queue tasks again as if they had not been granted: no attempt, no crash.  Cost: a few small writes per task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… task id and token of each claim
-- Reply: now, then ids of jobs that have nothing left on this shard.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
for at = 2, #ARGV, 2 do
  local task = find_claim(ARGV[at], ARGV[at + 1])
  if task then return_task(task, false) end
end
delete_leases()
save()
return { exact(tx.now), unpack(tx.finished) }
