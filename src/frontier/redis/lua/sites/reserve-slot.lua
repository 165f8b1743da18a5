#!lua flags=allow-oom
-- reserve-slot: reserve one more request at a site; return an unused slot if it was the last one reserved (F2).
-- KEYS  1 the shard                                                                                  Cost: O(log n).
-- ARGV  1 now or ""   2 site   3 arrival time that identifies the unused slot, or ""   4 how far ahead to reserve, ms
-- Reply: now, the time the slot counts from, the site's arrival time before, its interval, its burst.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua lib/wake-workers.lua lib/save.lua
begin(ARGV[1], ARGV[4])
local site = site_named(ARGV[2])
if tonumber(ARGV[3]) == site[ARRIVAL] then site[ARRIVAL] = site[ARRIVAL] - spacing_of(site[INTERVAL]) end
local from, before = math.max(site[INTERVAL] == 0 and clock() or tx.now, site[BLOCKED_UNTIL]), site[ARRIVAL]
take_slot(site, from)
save()
return { exact(clock()), exact(from), exact(before), exact(site[INTERVAL]), site[BURST] }
