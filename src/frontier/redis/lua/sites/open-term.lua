#!lua flags=allow-oom
-- open-term: return a term of a site if the worker has one, and open the next one (F2).    Cost: O(turns of the site).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 worker   3 site   4… if a term is returned: six values, see return_term
-- Reply: now, then the term (see open_term), or "" if the site has no rate.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
begin(ARGV[1])
local worker, site = ARGV[2], site_named(ARGV[3])
if ARGV[4] then return_term(site, 4) end
local term = site[INTERVAL] > 0 and open_term(site, worker) or ""
save()
return { exact(tx.now), term }
