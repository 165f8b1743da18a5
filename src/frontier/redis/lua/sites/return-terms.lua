#!lua flags=allow-oom
-- return-terms: return terms of sites, so that other workers can get the next ones (F2).   Cost: O(turns) of each site.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… for each term: site, and six values, see return_term
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
begin(ARGV[1])
for at = 2, #ARGV, 7 do return_term(site_named(ARGV[at]), at + 1) end
save()
return exact(tx.now)
