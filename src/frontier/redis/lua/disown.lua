#!lua flags=allow-oom
-- disown: hands back untouched what a worker was granted and never heard of, because the answer was lost on the way.
-- KEYS  1 the shard                                                          Cost: O(n) in what the worker holds.
-- ARGV  1 now or ""   2 worker   3… ids that it knows it holds
-- Reply: now, then jobs that have nothing left.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
begin(ARGV[1])
local known = {}
for at = 3, #ARGV do known[ARGV[at]] = true end
for _, id in ipairs(redis.call("SMEMBERS", key("held", ARGV[2]))) do
  local task = not known[id] and ended.count < BATCH_MOST and claimed(id)
  if task then hand_back(task, false) end
end
forget_ended()
save()
return { exact(step.now), unpack(step.finished) }
