#!lua flags=allow-oom
-- spend: buys one more request at a site, giving an unused one back if it was the last sold (F2).        Cost: O(log n).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 arrival time that names the unused slot, or ""   4 how far ahead to sell, ms
-- Reply: now, the time the slot counts from, the site's arrival time before, its interval, its burst.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake.lua lib/save.lua
begin(ARGV[1], ARGV[4])
local site = site_named(ARGV[2])
if tonumber(ARGV[3]) == site[ARRIVAL] then site[ARRIVAL] = site[ARRIVAL] - spacing_of(site[INTERVAL]) end
local from, before = math.max(site[INTERVAL] == 0 and clock() or step.now, site[BLOCKED_UNTIL]), site[ARRIVAL]
take_slot(site, from)
save()
return { exact(clock()), exact(from), exact(before), exact(site[INTERVAL]), site[BURST] }
