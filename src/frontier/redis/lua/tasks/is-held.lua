#!lua flags=allow-oom
-- is-held: whether a claim is still valid.                                                           Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 task id   3 token
-- Reply: now, 1 or 0.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua lib/leases.lua
tx.now = time_of(ARGV[1])
return { exact(tx.now), find_claim(ARGV[2], ARGV[3]) and 1 or 0 }
