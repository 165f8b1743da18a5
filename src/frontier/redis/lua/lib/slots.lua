-- slots: when a site may be hit, and taking leave to do it. See politeness.
local function rate_ready_at(site)
  return site[ARRIVAL] - (site[BURST] - 1) * spacing_of(site[INTERVAL])
end

-- From when on a site may be hit, as far as the site itself goes.
local function ready_at(site)
  if site[IN_FLIGHT] >= site[PER_SITE] then return NEVER end
  if is_asking(site) then return NEVER end
  return math.max(rate_ready_at(site), site[BLOCKED_UNTIL])
end

-- How many requests a site takes now, `most` at the most.
local function room_now(site, most)
  if ready_at(site) > step.now then return 0 end
  local free = math.min(most, site[PER_SITE] - site[IN_FLIGHT])
  if site[INTERVAL] == 0 then return math.max(1, free) end
  local from = math.max(site[ARRIVAL], step.now)
  local slots = math.floor((step.now - from) / spacing_of(site[INTERVAL]) + site[BURST] - 1 + 1e-9) + 1
  -- A site that is ready takes one: with a burst, rounding may hide that by a billionth.
  return math.max(1, math.min(free, slots))
end

-- Takes one slot at `now` or at the first instant after it that is free.
local function take_slot(site, now)
  if site[INTERVAL] == 0 then return end
  local send_at = math.max(now, rate_ready_at(site))
  site[ARRIVAL] = math.max(site[ARRIVAL], send_at) + spacing_of(site[INTERVAL])
end
