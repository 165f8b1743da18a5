#!lua flags=allow-oom
-- release: hands tasks back untouched: no attempt counted, no crash.                Cost: a few small writes a task.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… id and token of each claim
-- Reply: now, then jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
for at = 2, #ARGV, 2 do
  local task = claimed(ARGV[at], ARGV[at + 1])
  if task then hand_back(task, false) end
end
forget_ended()
save()
return { exact(step.now), unpack(step.finished) }
