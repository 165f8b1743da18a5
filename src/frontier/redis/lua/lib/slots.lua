-- slots: when a site may be requested, and reserving slots. See politeness.
local function rate_ready_at(site)
  return site[ARRIVAL] - (site[BURST] - 1) * spacing_of(site[INTERVAL])
end

-- The earliest time at which the site's own limits allow the next request.
local function ready_at(site)
  if site[IN_FLIGHT] >= site[PER_SITE] then return NEVER end
  if is_fetching_robots(site) then return NEVER end
  return math.max(rate_ready_at(site), site[BLOCKED_UNTIL])
end

-- How many requests a site allows now, up to `max`.
local function capacity_now(site, max)
  if ready_at(site) > tx.now then return 0 end
  local free = math.min(max, site[PER_SITE] - site[IN_FLIGHT])
  if site[INTERVAL] == 0 then return math.max(1, free) end
  local from = math.max(site[ARRIVAL], tx.now)
  local slots = math.floor((tx.now - from) / spacing_of(site[INTERVAL]) + site[BURST] - 1 + 1e-9) + 1
  -- A site that is ready allows at least one request: with a burst, a rounding error of 1e-9 could yield 0.
  return math.max(1, math.min(free, slots))
end

-- Reserves one slot at `now`, or at the first free time after it.
local function take_slot(site, now)
  if site[INTERVAL] == 0 then return end
  local send_at = math.max(now, rate_ready_at(site))
  site[ARRIVAL] = math.max(site[ARRIVAL], send_at) + spacing_of(site[INTERVAL])
end
