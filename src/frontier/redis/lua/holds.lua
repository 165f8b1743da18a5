#!lua flags=allow-oom
-- holds: whether a claim is still good.                                                               Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 id   3 token
-- Reply: now, 1 or 0.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua lib/leases.lua
step.now = time_of(ARGV[1])
return { exact(step.now), claimed(ARGV[2], ARGV[3]) and 1 or 0 }
