#!lua flags=allow-oom
-- set-site-policy: set or clear the operator's policy of one site.                      Cost: O(turns of the site).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 interval, ms, or "" to clear it   4 burst   5 per site
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
begin(ARGV[1])
local site = site_named(ARGV[2])
site[OPERATOR] = ARGV[3] ~= "" and ARGV[3] .. " " .. ARGV[4] .. " " .. ARGV[5]
tx.policy_changed[site[NUMBER]] = true
save()
return exact(tx.now)
